"""Synchronises one document with a channel of a room. Each change is a transaction: the bytes of a Yjs
update. The room's order and its snapshot bring all changes to all participants. Changes that the
room lacks, because they were made offline or the server lost the room, are found by comparing. In
texts on the channel, participants agree who sends a long update, and send the pieces of an update
that is too large for one message."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from pycrdt import Doc, merge_updates

from .._errors import GroupwireError
from .._native import (
    YjsPieces,
    yjs_ask,
    yjs_check,
    yjs_claim,
    yjs_control,
    yjs_cut,
    yjs_diff,
    yjs_done,
    yjs_lacks,
    yjs_least,
    yjs_merge,
    yjs_news,
)
from ._claims import Claims

if TYPE_CHECKING:
    from pycrdt import TransactionEvent

    from .._channel import Channel
    from .._native import Message
    from .._room import Room
    from .._types import Qos

log = logging.getLogger("groupwire")

# The largest message of a room in memory, and of a stored one.
MAX_MESSAGE = 60_000
MAX_STORED = 16 << 20

# A difference of this size is sent without asking whether others have it, too.
SMALL = 1000

# If more updates than this wait for a connection, they are merged.
MAX_QUEUE = 100

# The state vector of an empty document, and its update.
EMPTY = b"\x00"
NOTHING = b"\x00\x00"


@dataclass
class Sent:
    """A change that was sent and is not ordered."""

    update: bytes
    #: If it travels in pieces, their series.
    series: Optional[int] = None


class DocumentSync:
    """A document and its channel."""

    def __init__(self, room: Room, name: str, qos: Qos) -> None:
        self._room = room
        self._name = name
        self._qos = qos
        #: The channel; None while no provider is attached.
        self._channel: Optional[Channel] = None
        #: The document; while no provider is attached, a copy.
        self._doc: Doc[Any] = Doc()
        self._subscription: Any = None
        self._reset: Callable[[], None] = lambda: None
        self._claims = Claims()
        self._pieces = YjsPieces()
        #: Updates of which a part waits for other updates. pycrdt leaves that part out of the
        #: updates that it writes.
        self._loose: list[bytes] = []
        #: Changes that have not been sent.
        self._queue: list[bytes] = []
        self._sent: list[Sent] = []
        #: Messages that the client has not accepted yet.
        self._outbox: list[Union[str, bytes]] = []
        self._series = 0
        #: The updates that the room has, until they have been compared with the document.
        self._collected: Optional[list[bytes]] = None
        self._was_empty = True
        #: True once everything has arrived that the room had when this participant connected.
        self.is_synced = False
        self._has_synced = False
        #: False if the room no longer has changes that never arrived here.
        self._is_complete = True
        #: True if this program has not asked others for such changes yet.
        self._must_ask = False
        #: True if the room refuses changes of this participant.
        self.is_read_only = False
        #: Why the server has not opened the channel for this participant.
        self.refusal: Optional[GroupwireError] = None
        self._is_applying = False
        self._thread = threading.get_ident()
        self._begin()
        room._watchers.append(self._watch)

    @staticmethod
    def of(room: Room, name: str, qos: Qos) -> DocumentSync:
        """The state that the room keeps of a provider before, or a new one. A channel that is
        opened again repeats nothing, so the next provider needs it."""
        if name not in room._kept:
            room._kept[name] = DocumentSync(room, name, qos)
        kept: DocumentSync = room._kept[name]
        return kept

    @property
    def is_saved(self) -> bool:
        """True if the room has ordered all changes of this document."""
        is_waiting = bool(self._queue or self._sent or self._outbox)
        return not is_waiting and (self._collected is None or self._was_empty)

    def attach(self, doc: Doc[Any], reset: Callable[[], None]) -> None:
        """Synchronises this document from now on. ``reset`` is called when an administrator has
        emptied the channel."""
        channel = self._room.channel(self._name, self._qos)
        self.refusal = None
        known, mine = self._everything(), doc.get_update()
        missing = yjs_news(mine, [known])
        self._doc, self._loose, self._reset = doc, [], reset
        # The document and what was kept each get what they lack.
        if known != NOTHING:
            self._apply(known)
        self._subscription = doc.observe(self._changed)
        if missing is not None and self._collected is not None:
            self._was_empty = False
        elif missing is not None:
            self._queue.append(missing)
        channel._taker = self._receive
        self._room._native_room().provide(self._name, [channel._number])
        self._channel = channel

    async def detach(self) -> None:
        """Detaches the document, and closes the channel. May be called again."""
        channel, self._channel = self._channel, None
        if channel is None:
            return
        self._doc.unobserve(self._subscription)
        copy: Doc[Any] = Doc()
        copy.apply_update(self._everything())
        self._doc = copy
        self._reset = lambda: None
        try:
            await channel.close()
        finally:
            channel._taker = None
            self.is_synced = False
            self._has_synced = False

    # What comes from the room.

    def _watch(self, name: str, rest: tuple[Any, ...]) -> None:
        """Takes the events of the room."""
        number = self._channel._number if self._channel else None
        if name == "synced":
            [channel] = rest
            # The event for all channels does not concern one that was opened later, before it has
            # been synced once.
            if self._has_synced if channel is None else channel == number:
                self._synced()
        elif name == "snapshot" and rest[0] == self._name:
            self._load(rest[2])
        elif name == "snapshot_wanted" and rest[0] == self._name:
            self._make_snapshot(rest[1])
        elif name == "gap":
            reason, _uncertain, channel, _position = rest
            self._gap(reason, channel is not None and channel == number)
        elif name == "failed" and number is not None and rest[1] == number:
            if rest[0].code == "refused":
                self.refusal = rest[0]
        elif name == "status" and rest[0] != "connected":
            self.is_synced = False
        elif name == "drain":
            self._drain()
        elif name == "pending" and rest[0] == 0:
            self._refused()

    def _receive(self, message: Message) -> None:
        departed, data = message.departed, message.data
        if departed is not None:
            self._pieces.drop(departed)
            # The room forgot this participant, which is back: its claim and its ask do not count
            # any more.
            if self._claims.departed(departed):
                self._must_ask = self._must_ask or not self._is_complete
                if self.is_synced:
                    self._synced()
        elif isinstance(data, bytes):
            self._take(data, message.own, None)
        else:
            self._control(message.sender, message.own, data)
        self._lead()

    def _control(self, sender: int, own: bool, text: str) -> None:
        control = yjs_control(text)
        if control is None:
            return
        kind, *fields = control
        if kind == "claim":
            self._claims.claim(sender, own)
        elif kind == "done":
            [is_complete] = fields
            if self._claims.done(sender, is_complete):
                self._is_complete = True
            self._answer()
        elif kind == "ask":
            [state] = fields
            self._claims.ask(sender, own, state)
            self._answer()
        elif kind == "piece":
            series, index, count, data = fields
            update = self._pieces.add(sender, series, index, count, data)
            if update is not None:
                self._take(update, own, series)

    def _take(self, update: bytes, own: bool, series: Optional[int]) -> None:
        """Applies an update at its place in the room's order."""
        if own:
            sent = next((sent for sent in self._sent if sent.series == series), None)
            if sent is not None:
                self._sent.remove(sent)
        elif not self._apply(update):
            return
        if self._collected is not None:
            self._collected.append(update)

    def _apply(self, update: bytes) -> bool:
        """Applies an update, and keeps it if a part of it waits for others. Returns False if it is
        malformed: its sender is hostile, or has another version of Yjs."""
        try:
            # pycrdt takes seconds for some malformed updates of a few bytes, and panics on others.
            yjs_check(update)
        except ValueError as error:
            self._warn("an update", error)
            return False
        if not self._integrate(update):
            return False
        if yjs_lacks(update, self._doc.get_state()):
            self._loose.append(update)
            if len(self._loose) > MAX_QUEUE:
                self._loose = [yjs_merge(self._still_loose())]
        # pycrdt does not always find by itself that an update need not wait any longer.
        while self._loose:
            before = len(self._loose)
            self._loose = [waiting for waiting in self._loose if self._integrate(waiting)]
            self._loose = self._still_loose()
            if len(self._loose) == before:
                break
        return True

    def _integrate(self, update: bytes) -> bool:
        """Has pycrdt apply an update. Returns False if it refuses it."""
        self._is_applying = True
        try:
            self._doc.apply_update(update)
        except BaseException as error:
            if isinstance(error, (ValueError, RuntimeError)) or is_panic(error):
                self._warn("an update", error)
                return False
            if not isinstance(error, Exception):
                raise
            # The update is applied; an observer of the application has failed.
            self._room._report(error, f"an observer of the document {self._name!r} has failed")
        finally:
            self._is_applying = False
        return True

    def _load(self, snapshot: bytes) -> None:
        try:
            update = self._pieces.decode(snapshot)
        except ValueError as error:
            self._warn("the snapshot", error)
            return
        if self._apply(update) and self._collected is not None:
            self._collected.append(update)

    def _make_snapshot(self, as_of: int) -> None:
        # The snapshot may contain own changes that are not ordered: an update counts once. Changes
        # of a reader must not get into it.
        if self._is_complete and not self.is_read_only:
            state = self._pieces.encode(self._everything())
            self._room._native_room().snapshot(self._name, as_of, state)

    def _gap(self, reason: str, is_here: bool) -> None:
        if reason == "incarnation":
            self._claims.clear()
            self._pieces.clear()
            self._is_complete = True
            # The document contains the changes that were sent, and will be compared with the room.
            self._sent = []
            self._outbox = []
            self._begin()
        elif reason == "session":
            self._claims.disown()
            # The room may have ordered some pieces as those of the former participant: all are sent
            # again.
            large = [sent.update for sent in self._sent if sent.series is not None]
            self._queue = large + self._queue
            self._sent = [sent for sent in self._sent if sent.series is None]
        elif reason == "reset" and is_here:
            # The next provider begins with an empty document.
            self._room._kept.pop(self._name, None)
            self._room._watchers.remove(self._watch)
            self._reset()
        elif reason == "history" and is_here:
            self._is_complete = False
            # Others need not wait for a claim that this program forgets.
            if self._claims.is_waiting:
                self._post([yjs_done(False)])
            self._claims.forget()
            if self._collected is not None and self.is_synced:
                self._claim()
            self._must_ask = True
            self._ask()

    def _synced(self) -> None:
        self._has_synced = True
        self.is_synced = True
        if len(self._queue) > 1:
            self._queue = [merge_updates(*self._queue)]
        if self._collected is not None:
            self._compare(self._collected)
        self._drain()
        self._ask()
        self._answer()
        self._flush()
        self._lead()

    # What goes to the room.

    def _changed(self, event: TransactionEvent) -> None:
        """Called by pycrdt after each transaction that has changed the document."""
        update = event.update
        if threading.get_ident() != self._thread:
            self._room._loop.call_soon_threadsafe(self._send, update)
        elif not self._is_applying:
            self._send(update)

    def _send(self, update: bytes) -> None:
        self._queue.append(update)
        self._flush()
        if len(self._queue) > MAX_QUEUE:
            self._queue = [merge_updates(*self._queue)]

    def _begin(self) -> None:
        """Begins to collect the room's updates, to compare them with the document."""
        self._collected = []
        self._was_empty = not self._loose and self._doc.get_state() == EMPTY
        self.is_synced = False

    def _compare(self, collected: list[bytes]) -> None:
        """Sends what the room lacks, once everything has arrived."""
        is_same = self._was_empty and not self._queue
        missing = None if is_same else yjs_news(self._everything(), collected)
        # The difference contains the waiting changes.
        self._queue = []
        if missing is not None and len(missing) > SMALL:
            self._was_empty = False
            if self._claim():
                return
        self._collected = None
        if missing is not None:
            self._queue.append(missing)

    def _claim(self) -> bool:
        """Returns False if the room does not take changes."""
        if not self._claims.is_waiting:
            self._claims.is_waiting = self._post([yjs_claim()])
        return self._claims.is_waiting

    def _lead(self) -> None:
        """Sends what the room or other participants lack, if this program leads."""
        if not self._claims.leads or not self.is_synced or self._channel is None:
            return
        least = yjs_least(self._claims.asked)
        self._claims.led()
        if self._collected is not None:
            missing = yjs_news(self._everything(), self._collected)
            self._collected = None
            if missing is not None:
                self._queue.append(missing)
        if least is not None:
            self._queue.append(yjs_diff(self._everything(), least))
        self._flush()
        self._post([yjs_done(self._is_complete)])

    def _answer(self) -> None:
        """Claims to answer others, even if this program itself lacks something: it may have what
        they lack."""
        if self.is_synced and self._claims.asked and self._doc.get_state() != EMPTY:
            self._claim()

    def _ask(self) -> None:
        """Asks for what the room no longer has."""
        if self._must_ask:
            self._must_ask = not self._post([yjs_ask(self._doc.get_state())])

    def _flush(self) -> None:
        """Sends waiting changes, as far as the room accepts them."""
        while self.is_synced and self._queue and self._room.status != "closed":
            sent = Sent(self._queue[0])
            messages: list[Union[str, bytes]] = [sent.update]
            largest = MAX_MESSAGE if self._room.durability == "memory" else MAX_STORED
            if len(sent.update) > largest:
                self._series += 1
                sent.series = self._series
                messages = list(yjs_cut(sent.update, sent.series))
            if not self._post(messages):
                break
            self._queue.pop(0)
            self._sent.append(sent)

    def _post(self, messages: Sequence[Union[str, bytes]]) -> bool:
        """Returns False if nobody has the document, this participant may not publish, or the room
        is closed."""
        if self._channel is None:
            return False
        try:
            for message in messages:
                if self._outbox or self._channel.send(message) == "not-now":
                    self._outbox.append(message)
        except GroupwireError as error:
            if error.code != "not-allowed" and self._room.status != "closed":
                raise
            self.is_read_only = error.code == "not-allowed"
            return False
        self.is_read_only = False
        return True

    def _drain(self) -> None:
        if self._outbox and self._channel is not None:
            waiting, self._outbox = self._outbox, []
            if not self._post(waiting):
                self._take_back()

    def _refused(self) -> None:
        """Called when no transaction is pending: the room has refused what it has not ordered."""
        # Something may have been sent since.
        if self._sent and not self._outbox and self._room.pending == 0:
            self._take_back()

    def _take_back(self) -> None:
        """Queues unordered changes again. If the room still refuses them, ``_post`` notices."""
        self._queue = [sent.update for sent in self._sent] + self._queue
        self._sent = []
        self._flush()

    # The document.

    def _everything(self) -> bytes:
        """The document as one update, with what waits in it."""
        whole = self._doc.get_update()
        self._loose = self._still_loose()
        return yjs_merge([whole, *self._loose]) if self._loose else whole

    def _still_loose(self) -> list[bytes]:
        state = self._doc.get_state()
        return [update for update in self._loose if yjs_lacks(update, state)]

    def _warn(self, what: str, error: BaseException) -> None:
        text = "room %r: %s of the Yjs document %r is malformed, and is left out: %s"
        log.warning(text, self._room.name, what, self._name, error)


def is_panic(error: BaseException) -> bool:
    """True for a panic in pycrdt's native part, which has no class of its own that can be named."""
    return type(error).__name__ == "PanicException"
