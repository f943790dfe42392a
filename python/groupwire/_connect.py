"""Joining a room."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Callable, Generator, Literal, Mapping, Optional

from ._errors import GroupwireError, exception_of, invalid, token_failed
from ._native import NativeRoom
from ._room import Room, Token, presence_bytes, token_of
from ._types import Qos


class Connecting:
    """What :func:`connect` returns: for ``async with``, or ``await``."""

    def __init__(self, join: Callable[[], Coroutine[Any, Any, Room]]) -> None:
        self._join = join
        self._room: Optional[Room] = None

    def __await__(self) -> Generator[Any, None, Room]:
        return self._join().__await__()

    async def __aenter__(self) -> Room:
        self._room = room = await self._join()
        return room

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._room is not None:
            await self._room.__aexit__(kind, error, trace)


def connect(
    url: str,
    room: str,
    *,
    token: Token = "",
    presence: Any = None,
    channels: Optional[Mapping[str, Qos]] = None,
    trust: str = "auto",
    memory: Literal["full", "small"] = "full",
    timeout: Optional[float] = 10.0,
) -> Connecting:
    """Joins a room::

        async with groupwire.connect("ws://127.0.0.1:8080", "demo") as room:
            chat = room.channel("chat")
            chat.send("hello")
            async for message in chat:
                print(message.sender, message.data)

    The address determines the transport: ``ws://``, ``wss://``, ``tcp://``, or ``https://`` for
    WebTransport, which has datagrams. After broken connections the room connects again until it is
    closed.

    ``token`` is a string, or a function, ordinary or async, which is called again when the token
    expires. ``presence`` is JSON that all others see. ``channels`` are opened with the first packet,
    so that no message of theirs is missed. ``trust`` says how a server with a certificate is
    authenticated: ``auto``, ``roots``, ``roots:FILE``, ``ask`` or SHA-256 hashes. ``timeout`` is in
    seconds; with None it waits for a server that starts later.

    Raises ``InvalidArgumentError``, ``UnreachableError``, ``RefusedError``, ``TokenError``.
    """
    for name, value in (("url", url), ("room", room), ("trust", trust)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if memory not in ("full", "small"):
        raise invalid(f"memory must be full or small, not {memory!r}")
    shown = b"" if presence is None else presence_bytes(presence)

    async def join() -> Room:
        try:
            first = await token_of(token)
        except (GroupwireError, TypeError):
            raise
        except Exception as error:
            raise token_failed(error) from error
        native = NativeRoom(url, room, first, shown, trust, memory == "small")
        joining = Room(native, room, token)
        try:
            for name, qos in (channels or {}).items():
                joining.channel(name, qos)
            await asyncio.wait_for(joining.joined(), timeout)
        except asyncio.TimeoutError:
            trouble = joining.trouble or joining._trouble
            await joining.close(0)
            text = f"no answer of {url} within {timeout} s"
            raise trouble or exception_of("unreachable", 101, "peer", text) from None
        except BaseException:
            await joining.close(0)
            raise
        return joining

    return Connecting(join)
