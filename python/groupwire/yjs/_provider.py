"""The provider: what an application sees."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Callable, Coroutine, Optional

from pycrdt import Awareness, Doc

from .._errors import GroupwireError, closed, exception_of
from .._room import Room
from .._types import Qos, awareness as awareness_qos
from ._document import DocumentSync
from ._presence import Presence

# The numbers of the errors that only this module has.
IN_USE = 121
RESET = 122

# How long `close` waits until the room has all changes, as `Room.close` does.
CLOSE_S = 5.0


class Provider:
    """Synchronises a document of pycrdt, and its awareness, over a room::

        async with groupwire.connect("wss://example.com", "my-document") as room:
            doc = Doc()
            async with Provider(room, doc) as provider:
                await provider.synced()
                doc.get("notes", type=Text).insert(0, "hello")
                await provider.saved()

    ``awareness`` is what participants show of themselves; without it, this one shows nothing.
    ``name`` is that of the channel and of the document's part of the snapshot: awareness is on the
    channel ``NAME/awareness``. ``priority`` is that of changes on the channel.

    Use the document in the thread of the room's loop, and do not hold its transactions across an
    ``await``.

    Raises ``TypeError`` for arguments of a wrong type, ``InvalidArgumentError`` for a wrong value,
    ``GroupwireError`` with the code ``in-use`` if the room has this channel open already, and
    ``ClosedError`` if the room is closed.
    """

    def __init__(
        self,
        room: Room,
        doc: Doc[Any],
        *,
        awareness: Optional[Awareness] = None,
        name: str = "yjs",
        priority: int = 128,
    ) -> None:
        require(room, Room, "room", "what `connect` of groupwire gives")
        require(doc, Doc, "doc", "a Doc of pycrdt")
        require(name, str, "name", "a str")
        if awareness is not None:
            require(awareness, Awareness, "awareness", "an Awareness of pycrdt")
        for channel in room._channels.values():
            if channel.name in (name, f"{name}/awareness") and not channel._messages._ended:
                text = f"the room has the channel {channel.name!r} open already: close it, or its provider, or take another name"
                raise exception_of("in-use", IN_USE, "own", text)
        self.room = room
        self.doc = doc
        self.awareness = awareness
        self.name = name
        self._ending: Optional[asyncio.Task[None]] = None
        self._is_reset = False
        qos = Qos(priority=priority, departures=True)
        self._document = DocumentSync.of(room, name, qos)
        self._document.attach(doc, self._reset)
        self._presence: Optional[Presence] = None
        if awareness is not None:
            qos = replace(awareness_qos(loss=0.0, max_rate=25), overflow="conflate")
            self._presence = Presence(room, f"{name}/awareness", qos, awareness)

    def __repr__(self) -> str:
        return f"<Provider of {self.name!r} in {self.room!r}>"

    @property
    def is_synced(self) -> bool:
        """True if the document has everything that the room had when it was connected."""
        return self._document.is_synced

    @property
    def is_saved(self) -> bool:
        """True if the room has confirmed all changes. ``room.durability`` says what a confirmed
        change survives."""
        return self._document.is_saved

    @property
    def is_read_only(self) -> bool:
        """True if the room has refused changes of this participant. They stay in its document, and
        nobody else sees them."""
        return self._document.is_read_only

    async def synced(self) -> None:
        """Waits until the document has everything that the room has. Raises ``GroupwireError`` with
        the code ``reset`` if an administrator has emptied the document: go on with a new document;
        ``RefusedError`` if this participant may not open the channel; ``ClosedError`` if the
        provider or the room is closed."""
        await self._until(lambda: self.is_synced)

    async def saved(self) -> None:
        """Waits until the room has confirmed all changes; without rights to change the document it
        waits for them. Raises as ``synced``."""
        await self._until(lambda: self.is_saved)

    async def close(self, timeout: float = CLOSE_S) -> None:
        """Ends the synchronisation; the document stays. While the room is connected, it first waits
        until it has all changes, at most ``timeout`` seconds."""
        if self._ending is None and self.room.status == "connected" and not self.is_read_only:
            try:
                await asyncio.wait_for(self.saved(), timeout)
            except (asyncio.TimeoutError, GroupwireError):
                pass
        await asyncio.shield(self._end())

    async def __aenter__(self) -> Provider:
        return self

    async def __aexit__(self, kind: Any, _error: Any, _trace: Any) -> None:
        await self.close(CLOSE_S if kind is None else 0.0)

    async def _until(self, is_true: Callable[[], bool]) -> None:
        document = self._document
        if self._ending is None:
            await self.room._until(lambda: bool(self._ending or document.refusal or is_true()))
        if self._is_reset:
            text = "an administrator has emptied the document: go on with a new one"
            raise exception_of("reset", RESET, "refused", text)
        if self._ending is not None:
            raise closed("the provider is closed: make another one")
        if document.refusal is not None:
            raise document.refusal

    def _end(self) -> asyncio.Task[None]:
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._detach())
            self.room._check_conditions()
        return self._ending

    async def _detach(self) -> None:
        work: list[Coroutine[Any, Any, None]] = [self._document.detach()]
        if self._presence is not None:
            work.append(self._presence.close())
        await asyncio.gather(*work)

    def _reset(self) -> None:
        self._is_reset = True
        self._end()


def require(value: object, kind: type, name: str, what: str) -> None:
    """Checks the type of an argument."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {what}, not {type(value).__name__}")
