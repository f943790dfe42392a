"""Awareness over a channel of a room, one key for each field of a state: ``ID/field``, and ``ID``
alone says whether the client has a state. So a cursor is sent without the name and the colour beside
it, and a late joiner gets the newest value of each key. The room knows which participants are
present, so states need no renewal and do not expire."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, cast

from pycrdt import write_var_uint

from .._errors import GroupwireError

if TYPE_CHECKING:
    from pycrdt import Awareness

    from .._native import Message
    from .._room import Room
    from .._types import Qos

# How many participants' states are kept after they left. A datagram with a new state may overtake
# the stream's news that its sender, who was away for long, has left and is back.
MAX_GONE = 100

# The most keys of a participant that are kept: as many as the room keeps. Beyond, its oldest client
# is forgotten.
MAX_KEYS = 1024

# The deepest nesting of a field: as in the awareness of the server's Yjs documents.
MAX_DEPTH = 128

KEY = re.compile(r"([0-9]{1,16})(?:/(.*))?", re.DOTALL)


@dataclass
class State:
    """The state of a client, as a participant sent it."""

    fields: dict[str, Any] = field(default_factory=lambda: {})
    is_gone: bool = False


class Presence:
    """An awareness and its channel."""

    def __init__(self, room: Room, name: str, qos: Qos, awareness: Awareness) -> None:
        self._room = room
        self._awareness = awareness
        #: The fields of the own state as they were sent, in JSON: empty if the state no longer has
        #: the field, None if the field must be sent again.
        self._own: dict[str, Optional[str]] = {}
        self._is_here = False
        #: What the others sent, by participant and client.
        self._senders: dict[int, dict[int, State]] = {}
        #: The participant that owns the state of a client. Others cannot change this state while
        #: the owner is present.
        self._owners: dict[int, int] = {}
        #: Clients whose state may have changed.
        self._changed: set[int] = set()
        self._is_closed = False
        self._channel = room.channel(name, qos)
        self._channel._taker = self._receive
        room._watchers.append(self._watch)
        self._subscription = awareness.observe(self._updated)
        self._send_all()

    async def close(self) -> None:
        """Removes the state from the others, their states from the awareness, and closes the
        channel. May be called again."""
        if self._is_closed:
            return
        self._awareness.unobserve(self._subscription)
        if self._is_here:
            self._post("", "")
        self._is_closed = True
        self._awareness.remove_awareness_states(list(self._owners), self)
        self._owners.clear()
        try:
            await self._channel.close()
        finally:
            self._channel._taker = None
            self._room._watchers.remove(self._watch)

    # What goes to the room.

    def _updated(self, topic: str, event: tuple[dict[str, Any], Any]) -> None:
        changes, origin = event
        clients = [client for kind in ("added", "updated", "removed") for client in changes[kind]]
        if topic == "update" and origin is not self and self._awareness.client_id in clients:
            self._send()

    def _send_all(self) -> None:
        """Sends the whole own state again, with the fields that it no longer has: others may have
        kept them."""
        for name in self._own:
            self._own[name] = None
        self._is_here = False
        self._send()

    def _send(self) -> None:
        """Sends what has changed of the own state."""
        state = self._awareness.get_local_state()
        if state is None:
            if self._is_here:
                self._post("", "")
            self._is_here = False
            return
        stated = {name: written(value) for name, value in state.items()}
        for name in {**self._own, **stated}:
            text = stated.get(name, "")
            if self._own.get(name) != text and self._post(f"/{name}", text):
                self._own[name] = text
        if not self._is_here:
            self._is_here = self._post("", "here")

    def _post(self, key: str, text: str) -> bool:
        """Returns False if it cannot be sent: this participant may not publish here, or the room is
        closed."""
        if self._is_closed:
            return False
        try:
            self._channel.send(text, key=f"{self._awareness.client_id}{key}")
            return True
        except GroupwireError as error:
            if error.code != "not-allowed" and self._room.status != "closed":
                raise
            return False

    # What comes from the room.

    def _watch(self, name: str, rest: tuple[Any, ...]) -> None:
        """Takes the events of the room."""
        if self._is_closed:
            return
        if name == "participant":
            self._review()
        elif name == "gap" and rest[0] == "incarnation":
            # After this gap the ids of participants begin anew.
            self._forget()
        elif name == "status":
            # The room may have forgotten this participant meanwhile.
            if rest[0] == "connected":
                self._send_all()
            self._review()

    def _receive(self, message: Message) -> None:
        data = message.data
        client, name = key_of(message.key)
        # Other participants cannot change the own state.
        if client is None or client == self._awareness.client_id or not isinstance(data, str):
            return
        clients = self._senders.setdefault(message.sender, {})
        state = clients.setdefault(client, State())
        if name is None:
            state.is_gone = data == ""
        elif data == "":
            state.fields.pop(name, None)
        else:
            try:
                state.fields[name] = parsed(data)
            except (ValueError, RecursionError):
                return
        self._note(client)
        self._trim(clients)

    def _trim(self, clients: dict[int, State]) -> None:
        """Forgets the oldest clients of a participant, if it has sent too many keys."""
        excess = sum(1 + len(state.fields) for state in clients.values()) - MAX_KEYS
        for client, state in list(clients.items()):
            if excess <= 0:
                return
            excess -= 1 + len(state.fields)
            del clients[client]
            self._awareness.meta.pop(client, None)
            self._note(client)

    def _forget(self) -> None:
        """Forgets the states of others, which will be received again."""
        self._senders.clear()
        for client in self._owners:
            self._note(client)
        self._owners.clear()

    def _review(self) -> None:
        """Called when participants have come, left, lost their connection or regained it."""
        for clients in self._senders.values():
            for client in clients:
                self._note(client)
        gone = [sender for sender in self._senders if sender not in self._room.participants]
        for sender in gone[:-MAX_GONE]:
            del self._senders[sender]

    def _note(self, client: int) -> None:
        # All changes of one batch of events change the awareness once.
        if not self._changed:
            self._room._loop.call_soon(self._apply)
        self._changed.add(client)

    def _apply(self) -> None:
        changed, self._changed = self._changed, set()
        if self._is_closed:
            return
        awareness = self._awareness
        states = [(client, self._state_of(client)) for client in changed]
        there = [(client, state) for client, state in states if state is not None]
        gone = [client for client, state in states if state is None and client in awareness.states]
        if gone:
            awareness.remove_awareness_states(gone, self)
        if not there:
            return
        update = write_var_uint(len(there))
        for client, state in there:
            clock = awareness.meta.get(client, {}).get("clock", 0) + 1
            text = json.dumps(state).encode()
            update += write_var_uint(client) + write_var_uint(clock) + write_var_uint(len(text)) + text
        awareness.apply_awareness_update(update, self)
        # The state must not expire: the room reports participants that leave.
        for client, _ in there:
            if client in awareness.meta:
                awareness.meta[client]["lastUpdated"] = math.inf

    def _state_of(self, client: int) -> Optional[dict[str, Any]]:
        """The state of a client; None unless a present participant has sent one."""
        owner = self._owners.get(client)
        candidates = [*([] if owner is None else [owner]), *self._senders]
        for sender in candidates:
            state = self._senders.get(sender, {}).get(client)
            if state is not None and self._is_present(sender):
                self._owners[client] = sender
                return None if state.is_gone else dict(state.fields)
        self._owners.pop(client, None)
        return None

    def _is_present(self, sender: int) -> bool:
        participant = self._room.participants.get(sender)
        is_here = participant is not None and not participant.away
        return is_here and self._room.status == "connected"


def key_of(key: Optional[bytes]) -> tuple[Optional[int], Optional[str]]:
    """The client and the field in a key; no client if the key is malformed."""
    try:
        found = KEY.fullmatch((key or b"").decode())
    except UnicodeDecodeError:
        found = None
    if found is None or int(found[1]) >= 1 << 53:
        return None, None
    return int(found[1]), cast("Optional[str]", found[2])


def written(value: Any) -> str:
    """JSON as JavaScript writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parsed(text: str) -> Any:
    """The value of a field. Raises ``ValueError`` or ``RecursionError`` if it is none."""
    value: Any = json.loads(text, parse_constant=refuse)
    if not is_shallow(value, MAX_DEPTH):
        raise ValueError("nested too deeply")
    return value


def refuse(constant: str) -> None:
    """Called for the constants that Python's reader of JSON takes and JavaScript's refuses, such as
    NaN."""
    raise ValueError(f"{constant} is no JSON")


def is_shallow(value: Any, depth: int) -> bool:
    """True if JSON is nested at most this deep."""
    if is_a(value, dict):
        return depth > 0 and all(is_shallow(part, depth - 1) for part in value.values())
    if is_a(value, list):
        return depth > 0 and all(is_shallow(part, depth - 1) for part in value)
    return True


def is_a(value: Any, kind: type) -> bool:
    """``isinstance``, which does not change the type that type checkers know: the parts of a ``dict``
    would have an unknown type for them."""
    return isinstance(value, kind)
