"""Channels: sending, and messages as they arrive."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._errors import NotNowError, closed, invalid
from ._streams import Stream
from ._types import Contract, Outcome, Payload, Qos, Sent

if TYPE_CHECKING:
    from ._native import Message
    from ._room import Room


class Channel:
    """A channel of a room: ``async for message in channel`` gives what arrives on it."""

    def __init__(self, room: Room, number: int, name: str) -> None:
        self._room = room
        self._number = number
        self._messages: Stream[Message] = Stream(room, f"channel {name!r}")
        self._directs: Stream[Message] = Stream(room, f"direct messages of channel {name!r}")
        # A part of this package that takes the messages instead of `_messages`, at once.
        self._taker: Optional[Callable[[Message], None]] = None
        self.name = name

    def __repr__(self) -> str:
        return f"<Channel {self.name!r} of {self._room!r}>"

    def __aiter__(self) -> Stream[Message]:
        return self._messages.__aiter__()

    @property
    def messages(self) -> Stream[Message]:
        """What ``async for`` over the channel itself gives, also with ``next(timeout)``."""
        return self._messages

    @property
    def direct(self) -> Stream[Message]:
        """Messages to this participant alone, and own ones to others. Do not derive state from
        them that must be the same for all."""
        return self._directs

    def send(
        self,
        data: Payload,
        *,
        key: Optional[Union[str, bytes]] = None,
        priority: Optional[int] = None,
    ) -> Sent:
        """Sends text or bytes, or queues them until there is a connection.

        Returns ``"accepted"``, ``"conflated"`` (it replaced an older value of its key that had not
        been sent) or ``"not-now"`` (too many messages wait, and this one was not taken).
        """
        return self._room._send(self._number, data, key, priority)

    def send_json(
        self,
        value: Any,
        *,
        key: Optional[Union[str, bytes]] = None,
        priority: Optional[int] = None,
    ) -> Sent:
        """Sends a value as JSON text; ``message.json()`` reads it."""
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        return self.send(text, key=key, priority=priority)

    async def send_confirmed(
        self,
        data: Payload,
        *,
        key: Optional[Union[str, bytes]] = None,
        priority: Optional[int] = None,
    ) -> None:
        """Sends a transaction, and waits until the server has confirmed it: it is in the room's
        order and, in a stored room, durable. Waits for place first if too many messages wait."""
        while self.send(data, key=key, priority=priority) == "not-now":
            await self._room.drained()
        await self._room.confirmed()

    async def send_to(self, participant: int, data: Payload) -> Outcome:
        """Sends a transaction to one participant, and waits for the outcome.

        Raises ``NotNowError`` if too many messages wait.
        """
        if not isinstance(participant, int) or isinstance(participant, bool):
            kind = type(participant).__name__
            raise TypeError(f"participant must be an int, not {kind}")
        if not 0 < participant < 1 << 32:
            raise invalid(f"participant must be the id of one, not {participant}")
        tag, receipt = self._room._expect_receipt()
        try:
            if self._room._native_room().send(self._number, data, None, None, participant, tag) == "not-now":
                text = "too many messages wait: try again after `await room.drained()`"
                raise NotNowError("not-now", 17, "limit", text)
            return await receipt
        finally:
            self._room._forget_receipt(tag)

    @property
    def qos(self) -> Qos:
        """The QoS in force; until the server answers, the one that was asked for."""
        return Qos._of(self._room._native_room().qos(self._number))

    def set_qos(self, **changes: Any) -> None:
        """Asks for another QoS for all participants: ``channel.set_qos(max_rate=10)``. A
        ``QosChanged`` or ``Failed`` of ``room.events()`` answers."""
        native = replace(self.qos, **changes)._native()
        self._room._native_room().set_qos(self._number, native)

    def limit_rate(self, per_second: Optional[float]) -> None:
        """Asks for at most this many values of each key per second, always the newest; None for
        all. Only for channels that conflate."""
        self._room._native_room().limit_rate(self._number, float(per_second or 0.0))

    def set_compress(self, compress: str) -> None:
        """Changes the compression between this participant and the server (docs/codecs.md)."""
        self._room._native_room().set_compress(self._number, compress)

    @property
    def contract(self) -> Optional[Contract]:
        """Whether the QoS is kept; None before the channel is open."""
        native = self._room._native_room().contract(self._number)
        return None if native is None else Contract._of(native)

    async def close(self) -> None:
        """Ends this participant's part in the channel, after what waits on it was sent and
        confirmed. ``room.channel`` with the same name opens it again."""
        await self._room._close_channel(self._number)

    def _deliver(self, message: Message) -> None:
        if self._taker is not None and not message.direct:
            try:
                self._taker(message)
            except Exception as error:
                self._room._report(error, f"a message on the channel {self.name!r} could not be taken")
            return
        stream = self._directs if message.direct else self._messages
        stream._put(message, message.size, message.own)

    def _end(self) -> None:
        self._messages._end()
        self._directs._end()

    def _holds_back(self) -> bool:
        return self._messages._holds_back() or self._directs._holds_back()

    def _require_open(self) -> None:
        if self._messages._ended:
            raise closed()
