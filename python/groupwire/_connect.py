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
    for name, value in (("url", url), ("trust", trust)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")

    def make(first: bytes, shown: bytes, small: bool) -> NativeRoom:
        net = simulated_network()
        if net is not None:
            native: NativeRoom = net._open(room, first, shown, small)
            return native
        return NativeRoom(url, room, first, shown, trust, small)

    def joined(room: Room) -> None:
        net = simulated_network()
        if net is not None:
            net._joined(room)

    return joining(
        *(make, room, url),
        joined=joined,
        token=token,
        presence=presence,
        channels=channels,
        memory=memory,
        timeout=timeout,
    )


def simulated_network() -> Any:
    """The network of the loop, if it is one of ``groupwire.testing.simulate``."""
    return getattr(asyncio.get_running_loop(), "groupwire_network", None)


def joining(
    make: Callable[[bytes, bytes, bool], NativeRoom],
    room: str,
    server: str,
    *,
    token: Token = "",
    presence: Any = None,
    channels: Optional[Mapping[str, Qos]] = None,
    memory: Literal["full", "small"] = "full",
    timeout: Optional[float] = 10.0,
    joined: Callable[[Room], None] = lambda _room: None,
) -> Connecting:
    """Joins a room whose native part ``make`` makes of the token, the presence, and whether memory
    is small. ``joined`` is called once the participant is in the room."""
    if not isinstance(room, str):
        raise TypeError(f"room must be a str, not {type(room).__name__}")
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
        entering = Room(make(first, shown, memory == "small"), room, token)
        try:
            for name, qos in (channels or {}).items():
                entering.channel(name, qos)
            await asyncio.wait_for(entering.joined(), timeout)
        except asyncio.TimeoutError:
            trouble = entering.trouble or entering._trouble
            await entering.close(0)
            text = f"no answer of {server} within {timeout} s"
            raise trouble or exception_of("unreachable", 101, "peer", text) from None
        except BaseException:
            await entering.close(0)
            raise
        joined(entering)
        return entering

    return Connecting(join)
