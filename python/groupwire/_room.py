"""A room on asyncio: it takes the events of the native part in batches, and hands them out."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
from typing import Any, Awaitable, Callable, Mapping, Optional, Sequence, Union

from . import _types as types
from ._channel import Channel
from ._errors import GroupwireError, TokenError, closed, exception_of, invalid, token_failed
from ._native import Message, NativeRoom
from ._shared import Shared
from ._streams import EVENT_BYTES, Stream, Streams

Token = Union[str, bytes, Callable[[], Union[str, bytes, Awaitable[Union[str, bytes]]]]]
SnapshotMaker = Callable[[], Union[str, bytes, Awaitable[Union[str, bytes]]]]

log = logging.getLogger("groupwire")

# Events that are taken at a time: enough that a batch costs little, and few enough that other
# tasks of the loop get their turn.
BATCH = 256


class Room:
    """A session in a room; :func:`groupwire.connect` makes it.

    Belongs to the event loop that it was made in. ``Channel.send`` may be called from any thread,
    everything else in the loop's. In a process that was forked afterwards, every function raises
    ``ClosedError`` with the code ``forked``.
    """

    def __init__(self, native: NativeRoom, name: str, token: Token) -> None:
        self.name = name
        # None after the end: rooms are parts of reference cycles, and their sockets must not wait for
        # the collector of these.
        self._native: Optional[NativeRoom] = native
        self._last_stats: dict[str, float] = {}
        self._last_pending = 0
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._pid = os.getpid()
        self._channels: dict[int, Channel] = {}
        self._shared: dict[int, Shared] = {}
        self._events: Streams[types.Event] = Streams(self, "the events of the room")
        # Parts of this package that need the events at once, in order with messages: each is called
        # with the name of an event and its values, after the room has taken it.
        self._watchers: list[Callable[[str, tuple[Any, ...]], None]] = []
        # What they keep for a channel that is closed: a channel that is opened again goes on where it
        # was, and repeats nothing.
        self._kept: dict[str, Any] = {}
        self._participants: dict[int, types.Participant] = {}
        self._status: types.Status = "connecting"
        self._id: Optional[int] = None
        self._is_synced = False
        self._fatal: Optional[GroupwireError] = None
        self._trouble: Optional[GroupwireError] = None
        self._conditions: set[tuple[Callable[[], Any], asyncio.Future[None]]] = set()
        self._receipts: dict[int, asyncio.Future[types.Outcome]] = {}
        self._last_tag = 0
        self._page: Optional[asyncio.Future[types.Page]] = None
        self._closing: dict[int, asyncio.Future[None]] = {}
        self._drains = 0
        self._snapshots: dict[str, SnapshotMaker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_held_back = False
        self._fd = native.fd()
        self._loop.add_reader(self._fd, self._on_events)

    def __repr__(self) -> str:
        return f"<Room {self.name!r}, {self._status}>"

    # What the room is.

    @property
    def id(self) -> Optional[int]:
        """This participant's number in the room; None before it has joined."""
        return self._id

    @property
    def status(self) -> types.Status:
        return self._status

    @property
    def participants(self) -> Mapping[int, types.Participant]:
        """The other participants, by their ids."""
        return self._participants

    @property
    def pending(self) -> int:
        """How many own transactions are not confirmed: 0 is "saved" in a stored room."""
        return self._native.pending() if self._native else self._last_pending

    @property
    def durability(self) -> Optional[types.Durability]:
        """What a confirmed transaction survives; None before joining."""
        durability: Any = self._native_room().durability()
        return durability  # type: ignore[no-any-return]

    @property
    def trouble(self) -> Optional[GroupwireError]:
        """Why there is no connection, if the last attempt failed. The room keeps trying."""
        return self._native.trouble() if self._native else self._fatal

    def stats(self) -> dict[str, float]:
        """Totals of messages, bytes and packets, and ``round_trip`` in seconds."""
        return self._native.stats() if self._native else self._last_stats

    # What the room does.

    def channel(
        self,
        name: str,
        qos: Optional[types.Qos] = None,
        *,
        publish: bool = True,
        subscribe: bool = True,
        compress: str = "template",
    ) -> Channel:
        """Opens a channel; one that is open already is returned as it is. Without ``qos`` it is one
        of transactions."""
        if qos is not None and not isinstance(qos, types.Qos):
            kind = type(qos).__name__
            raise TypeError(f"qos must be a Qos, such as groupwire.transaction(), not {kind}")
        native = (qos or types.Qos())._native()
        number = self._native_room().channel(name, native, publish, subscribe, compress)
        channel = self._channels.get(number)
        if channel is None or channel._messages._ended:
            channel = self._channels[number] = Channel(self, number, name)
        return channel

    def shared(self, name: str = "shared", *, author: str = "", previews: bool = True) -> Shared:
        """Opens shared data; one of this name that is open is returned as it is. ``author`` is the id
        of this program among the authors of operations, which no other one ever had; without it a
        random one. Without ``previews`` there is no channel for them."""
        native = self._native_room().shared(name, author, previews)
        return self._shared.setdefault(native.number, Shared(self, native, name))

    def events(self) -> Stream[types.Event]:
        """The events of the room from now on, for ``async for``: see ``groupwire.Event``."""
        return self._events.open()

    def set_presence(self, presence: Any) -> None:
        """Changes the presence of this participant: JSON of at most 4 KB, or bytes."""
        self._native_room().set_presence(presence_bytes(presence))

    def set_token(self, token: Union[str, bytes]) -> None:
        """Gives another token, so that the session goes on when the one before expires."""
        self._native_room().set_token(token)

    async def page(self, after: int = 0) -> types.Page:
        """Some participants with ids above ``after``, in a room too large to announce all."""
        if self._page is None:
            self._page = self._loop.create_future()
            self._native_room().want_page(after)
        return await asyncio.shield(self._page)

    def provide_snapshot(
        self, make: SnapshotMaker, *, part: str = "", channels: Sequence[Channel] = ()
    ) -> None:
        """States that this program makes a part of the room's snapshot, from which later
        participants start: ``make`` returns the state of ``channels`` (all, without any named)
        after all messages that were delivered before it is called."""
        if not callable(make):
            raise TypeError(f"make must be a function, not {type(make).__name__}")
        named = list(channels) or list(self._channels.values())
        self._native_room().provide(part, [channel._number for channel in named])
        self._snapshots[part] = make

    async def joined(self) -> None:
        """Waits until this participant is in the room."""
        await self._until(lambda: self._status == "connected")

    async def synced(self) -> None:
        """Waits until the state that the room had when joining is complete."""
        await self._until(lambda: self._is_synced)

    async def confirmed(self) -> None:
        """Waits until the server has confirmed all own transactions that were sent before."""
        native = self._native_room()
        ticket = native.ticket()
        await self._until(lambda: native.is_confirmed(ticket))

    async def drained(self) -> None:
        """Waits until messages are accepted again, after ``send`` returned ``"not-now"``."""
        before = self._drains
        await self._until(lambda: self._drains != before)

    async def close(self, timeout: float = 5.0) -> None:
        """Leaves the room. While it is connected, it first waits for the confirmation of what was
        sent, at most ``timeout`` seconds."""
        if self._status == "closed":
            return
        native = self._native_room()
        try:
            if self._status == "connected" and timeout > 0:
                await asyncio.wait_for(self.confirmed(), timeout)
        except (asyncio.TimeoutError, GroupwireError):
            pass
        finally:
            native.leave()
        try:
            # The server is told within a second; a slow reader must not hold the end back.
            await asyncio.wait_for(self._until(lambda: self._status == "closed"), 5.0)
        except (asyncio.TimeoutError, GroupwireError):
            pass
        finally:
            self._on_closed()

    async def __aenter__(self) -> Room:
        return self

    async def __aexit__(self, kind: Any, _error: Any, _trace: Any) -> None:
        await self.close(5.0 if kind is None else 0.0)

    # Events.

    def _on_events(self) -> None:
        if self._pid != os.getpid():
            # The loop of a forked process has the descriptor of its parent.
            self._loop.remove_reader(self._fd)
            return
        self._take_events()

    def _take_events(self) -> None:
        if self._holds_back():
            # The descriptor stays readable, so that the loop would call without end.
            self._loop.remove_reader(self._fd)
            self._is_held_back = True
            return
        if self._native is None:
            return
        events = self._native.poll(BATCH)
        for event in events:
            if type(event) is Message:
                channel = self._channels.get(event.channel_number)
                if channel is not None:
                    channel._deliver(event)
            else:
                assert isinstance(event, tuple)
                self._on_event(event[0], event[1:])
                self._tell_watchers(event[0], event[1:])
        self._check_conditions()
        if len(events) == BATCH:
            # The rest comes after other tasks of the loop had their turn.
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self._fd >= 0:
            self._take_events()

    def _holds_back(self) -> bool:
        """True if a reader is too slow. What somebody waits for comes nevertheless: a reader may
        wait for the confirmation of what it sent itself."""
        if self._conditions or self._receipts or self._page or self._closing:
            return False
        if any(channel._holds_back() for channel in self._channels.values()):
            return True
        if any(data._holds_back() for data in self._shared.values()):
            return True
        return self._events.holds_back()

    def _relieved(self) -> None:
        if self._is_held_back and not self._holds_back():
            self._is_held_back = False
            if self._fd >= 0:
                self._loop.add_reader(self._fd, self._on_events)
                self._loop.call_soon(self._go_on)

    def _on_event(self, name: str, rest: tuple[Any, ...]) -> None:
        if name == "participant":
            (number, state, user, presence), change = rest
            participant = types.Participant(number, state, user, presence)
            if change == "left":
                self._participants.pop(number, None)
            else:
                self._participants[number] = participant
            self._emit(types.ParticipantChanged(participant, change))
        elif name == "receipt":
            tag, outcome = rest
            receipt = self._receipts.pop(tag, None)
            if receipt is not None and not receipt.done():
                receipt.set_result(outcome)
        elif name == "status":
            self._status = rest[0]
            self._emit(types.StatusChanged(self._status))
            if self._status == "closed":
                self._on_closed()
        elif name == "joined":
            self._id = rest[0]
            self._trouble = None
        elif name == "synced":
            self._is_synced = self._is_synced or rest[0] is None
        elif name == "pending":
            self._emit(types.Pending(rest[0]))
        elif name == "drain":
            self._drains += 1
        elif name == "opened":
            number, qos, _changed = rest
            self._emit(types.QosChanged(self._name_of(number) or "", types.Qos._of(qos)))
        elif name == "closed":
            self._channel_closed(rest[0])
        elif name == "contract":
            number, contract = rest
            news = types.Contract._of(contract)
            self._emit(types.ContractChanged(self._name_of(number) or "", news))
        elif name == "gap":
            reason, uncertain, number, position = rest
            gap = types.Gap(reason, uncertain, self._name_of(number), position)
            if not self._emit(gap):
                log.warning("room %r: %s, and nobody reads room.events()", self.name, gap)
        elif name == "count":
            self._emit(types.Count(*rest))
        elif name == "page":
            _after, entries, last = rest
            page, self._page = self._page, None
            if page is not None and not page.done():
                page.set_result(types.Page(tuple(types.Participant(*one) for one in entries), last))
        elif name == "snapshot":
            self._emit(types.Snapshot(*rest))
        elif name == "snapshot_wanted":
            self._start(self._make_snapshot(*rest))
        elif name == "token_wanted":
            self._on_token_wanted()
        elif name == "shared_changed":
            self._shared[rest[0]]._on_changed(rest[1])
        elif name == "shared_lost":
            self._shared[rest[0]]._on_lost(rest[1])
        elif name == "failed":
            error, number, fatal = rest
            self._on_failed(types.Failed(error, self._name_of(number), fatal))

    def _tell_watchers(self, name: str, rest: tuple[Any, ...]) -> None:
        for watcher in list(self._watchers):
            try:
                watcher(name, rest)
            except Exception as error:
                self._report(error, f"the event {name!r} could not be taken")

    def _report(self, error: Exception, text: str) -> None:
        """Reports an error that no call can raise, as asyncio does for its callbacks."""
        message = f"room {self.name!r}: {text}"
        self._loop.call_exception_handler({"message": message, "exception": error})

    def _on_failed(self, failed: types.Failed) -> None:
        self._trouble = failed.error
        if failed.fatal:
            self._fatal = failed.error
        if not self._emit(failed) and self._id is not None:
            log.error("room %r: %s", self.name, failed.error)

    def _on_token_wanted(self) -> None:
        if callable(self._token):
            self._start(self._give_token())
        elif not isinstance(self._trouble, TokenError):
            log.warning("room %r: its token expires: pass a function as `token`", self.name)

    async def _give_token(self) -> None:
        try:
            self._native_room().set_token(await token_of(self._token))
        except Exception as error:
            failed = error if isinstance(error, TokenError) else token_failed(error)
            failed.__cause__ = error
            self._on_failed(types.Failed(failed, None, False))
            self._check_conditions()

    async def _make_snapshot(self, part: str, as_of: int) -> None:
        make = self._snapshots.get(part)
        if make is None:
            return
        try:
            made = make()
            made = await made if inspect.isawaitable(made) else made
            state = made.encode() if isinstance(made, str) else made
            self._native_room().snapshot(part, as_of, state)
        except Exception as error:
            text = f"the function that makes the snapshot has failed: {type(error).__name__}: {error}"
            failed = exception_of("part-refused", 18, "own", text)
            failed.__cause__ = error
            self._on_failed(types.Failed(failed, None, False))

    def _start(self, work: Any) -> None:
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _emit(self, event: types.Event) -> bool:
        """Gives an event to all who read; returns whether there is somebody."""
        return self._events.put(event, EVENT_BYTES)

    # Waiting.

    async def _until(self, is_true: Callable[[], bool]) -> None:
        """Waits for a condition that events make true."""
        if is_true():
            return
        if self._status == "closed":
            raise self._why_closed()
        waiter = (is_true, self._loop.create_future())
        self._conditions.add(waiter)
        self._relieved()
        try:
            await waiter[1]
        finally:
            self._conditions.discard(waiter)

    def _check_conditions(self) -> None:
        for is_true, future in list(self._conditions):
            if future.done():
                continue
            if is_true():
                future.set_result(None)
            elif self._status == "closed":
                future.set_exception(self._why_closed())
            elif isinstance(self._trouble, TokenError) and not self._will_get_token():
                future.set_exception(self._trouble)

    def _will_get_token(self) -> bool:
        return callable(self._token) and self._trouble is not None and self._trouble.code != "token"

    def _expect_receipt(self) -> tuple[int, asyncio.Future[types.Outcome]]:
        if self._status == "closed":
            raise self._why_closed()
        self._last_tag = self._last_tag % 0xFFFF_FFFF + 1
        receipt: asyncio.Future[types.Outcome] = self._loop.create_future()
        self._receipts[self._last_tag] = receipt
        self._relieved()
        return self._last_tag, receipt

    def _forget_receipt(self, tag: int) -> None:
        self._receipts.pop(tag, None)

    async def _close_channel(self, number: int) -> None:
        if self._status == "closed":
            return
        closing = self._closing.setdefault(number, self._loop.create_future())
        self._native_room().close_channel(number)
        self._relieved()
        await asyncio.shield(closing)

    def _channel_closed(self, number: int) -> None:
        channel = self._channels.get(number)
        if channel is not None:
            channel._end()
        closing = self._closing.pop(number, None)
        if closing is not None and not closing.done():
            closing.set_result(None)

    def _send(
        self,
        number: int,
        data: types.Payload,
        key: Optional[Union[str, bytes]],
        priority: Optional[int],
    ) -> types.Sent:
        if priority is not None and not 0 <= priority <= 255:
            raise invalid(f"priority must be 0 to 255, not {priority}")
        sent: Any = self._native_room().send(number, data, key, priority)
        return sent  # type: ignore[no-any-return]

    # The end.

    def _on_closed(self) -> None:
        """Nothing comes any more: all who wait are told. May be called again."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._fd = -1
        self._status = "closed"
        for channel in self._channels.values():
            channel._end()
        for data in self._shared.values():
            data._on_closed()
        self._events.end()
        for receipt in self._receipts.values():
            if not receipt.done():
                receipt.set_result("unknown")
        self._receipts.clear()
        for closing in self._closing.values():
            if not closing.done():
                closing.set_result(None)
        self._closing.clear()
        if self._page is not None and not self._page.done():
            self._page.set_exception(self._why_closed())
        self._page = None
        for task in self._tasks:
            task.cancel()
        self._check_conditions()
        if self._native is not None and self._pid == os.getpid():
            self._last_stats = self._native.stats()
            self._last_pending = self._native.pending()
            self._native = None

    def _why_closed(self) -> GroupwireError:
        return self._fatal or closed()

    def _native_room(self) -> NativeRoom:
        native = self._native
        if native is None:
            raise self._why_closed()
        return native

    def _name_of(self, number: Optional[int]) -> Optional[str]:
        channel = self._channels.get(number) if number is not None else None
        return channel.name if channel is not None else None

    def _warn(self, text: str) -> None:
        log.warning("room %r: %s", self.name, text)


def presence_bytes(presence: Any) -> bytes:
    """Bytes as they are, anything else as JSON."""
    if isinstance(presence, (bytes, bytearray)):
        return bytes(presence)
    return json.dumps(presence, separators=(",", ":"), allow_nan=False).encode()


async def token_of(token: Token) -> bytes:
    """The bytes of a token, or of what a function returns for one."""
    given: Any = token() if callable(token) else token
    if inspect.isawaitable(given):
        given = await given
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, (bytes, bytearray)):
        return bytes(given)
    raise TypeError(f"token must be str, bytes, or a function that returns one, not {type(given).__name__}")
