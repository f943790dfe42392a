"""Streams: what arrives, for ``async for``."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from typing import TYPE_CHECKING, Generic, Optional, TypeVar

from ._errors import exception_of

if TYPE_CHECKING:
    from ._room import Room

T = TypeVar("T")

# The most items and bytes that a stream without a reader keeps, as in the client for browsers. For a
# reader that is slow the room waits instead, so that nothing is lost.
UNREAD_ITEMS = 4096
UNREAD_BYTES = 4 << 20

# The bytes that an event, and each change and key in it, counts as: about its memory.
EVENT_BYTES = 64


class Stream(Generic[T]):
    """What arrives, in order, for ``async for``. One task reads it at a time."""

    def __init__(self, room: Room, name: str) -> None:
        self._room = room
        self._name = name
        self._items: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._waiter: Optional[asyncio.Future[None]] = None
        self._has_reader = False
        self._has_warned = False
        self._ended = False

    def __aiter__(self) -> Stream[T]:
        self._has_reader = True
        return self

    async def __anext__(self) -> T:
        item = await self._next()
        if item is None:
            raise StopAsyncIteration
        return item

    async def next(self, timeout: Optional[float] = None) -> T:
        """The next item. Raises ``ClosedError`` after the last one, ``TimeoutError`` of asyncio
        after ``timeout`` seconds."""
        self._has_reader = True
        item = await asyncio.wait_for(self._next(), timeout)
        if item is None:
            raise self._room._why_closed()
        return item

    async def _next(self) -> Optional[T]:
        while not self._items:
            if self._ended:
                return None
            if self._waiter is not None:
                text = f"another task reads {self._name}: let one task read it and hand on"
                raise exception_of("busy", 104, "own", text)
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        item, size = self._items.popleft()
        self._bytes -= size
        self._room._relieved()
        return item

    def _put(self, item: T, size: int, own: bool = False) -> None:
        if not self._has_reader and self._is_full():
            # Nobody reads this stream, so its oldest item is dropped. A program that only sends
            # misses nothing.
            _, lost = self._items.popleft()
            self._bytes -= lost
            if not own and not self._has_warned:
                self._has_warned = True
                self._room._warn(f"nobody reads {self._name}: its oldest messages are dropped")
        self._items.append((item, size))
        self._bytes += size
        self._wake()

    def _is_full(self) -> bool:
        is_full = len(self._items) >= UNREAD_ITEMS or self._bytes >= UNREAD_BYTES
        return is_full and bool(self._items)

    def _holds_back(self) -> bool:
        return self._has_reader and self._is_full()

    def _end(self) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Streams(Generic[T]):
    """The streams of one source that the program holds: each of them gets every item from the time
    when it was opened."""

    def __init__(self, room: Room, name: str) -> None:
        self._room = room
        self._name = name
        # A stream that the program has dropped gets nothing more, and holds nothing back.
        self._opened: list[weakref.ref[Stream[T]]] = []
        self._ended = False

    def open(self) -> Stream[T]:
        stream: Stream[T] = Stream(self._room, self._name)
        stream.__aiter__()
        if self._ended:
            stream._end()
        self._opened.append(weakref.ref(stream))
        return stream

    def put(self, item: T, size: int) -> bool:
        """Gives an item to all streams; returns whether there is one."""
        streams = self._held()
        for stream in streams:
            stream._put(item, size)
        return bool(streams)

    def end(self) -> None:
        """Ends all streams, and those that are opened later."""
        self._ended = True
        for stream in self._held():
            stream._end()

    def holds_back(self) -> bool:
        """True if the reader of a stream is too slow."""
        return any(stream._holds_back() for stream in self._held())

    def _held(self) -> list[Stream[T]]:
        streams = [stream for one in self._opened if (stream := one()) is not None]
        if len(streams) < len(self._opened):
            self._opened = [weakref.ref(stream) for stream in streams]
        return streams
