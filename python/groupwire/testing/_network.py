"""Participants of a server, each over a network of its own that can fail."""

from __future__ import annotations

import asyncio
import urllib.parse
import uuid
from typing import Any, Callable, Optional

from .._channel import Channel
from .._connect import connect
from .._errors import invalid
from .._room import Room
from ._link import Link
from ._server import Server

# The channel on which `settle` sends a message of each participant.
SETTLE = "groupwire/settle"


class Network:
    """Participants of a server, each over a network of its own::

        async with Network(server) as net:
            ada, bo = await net.join(), await net.join(loss=0.1, delay=0.05)
            ada.channel("chat").send("hello")
            await net.settle()

    It opens sockets and runs in real time. Names of rooms get a prefix that no other network has.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._prefix = uuid.uuid4().hex[:8]
        self._members: dict[Room, Member] = {}
        self._rounds = 0

    async def join(
        self, room: str = "room", *, loss: float = 0.0, delay: float = 0.0, **options: Any
    ) -> Room:
        """A participant joins, with further options of ``groupwire.connect``; ``loss`` and ``delay``
        as in ``change``."""
        check(loss, delay)
        link = await Link.open(self.server.address)
        try:
            name = f"{self._prefix}-{room}"
            joined = await connect(f"ws://{link.address}", name, **options)
        except BaseException:
            await link.close()
            raise
        member = self._members[joined] = Member(joined, link)
        if loss or delay:
            await self.change(joined, loss=loss, delay=delay)
        return member.room

    async def change(self, room: Room, *, loss: float = 0.0, delay: float = 0.0) -> None:
        """Changes a participant's network: the share of packets that is lost, 0 to 0.5, and the
        seconds that each takes in each direction, 0 to 1. The server emulates both: what a stream
        loses is sent again and comes late."""
        check(loss, delay)
        member = self._member(room)
        member.loss, member.delay = loss, delay
        await member.emulate(self.server)

    def break_connection(self, room: Room) -> None:
        """Both ends notice at once; the participant connects again by itself."""
        self._member(room).link.break_connections()

    def partition(self, room: Room) -> None:
        """From now on nothing arrives, and nobody is told, until ``heal``."""
        self._member(room).link.hold()

    def heal(self, room: Room) -> None:
        """Ends the partition: what has waited arrives."""
        self._member(room).link.release()

    async def restart_server(self) -> None:
        """Kills the server, and starts it again at the same address. Networks stay as they are."""
        members = [member for member in self._members.values() if member.is_there]
        await in_thread(self.server.stop)
        for member in members:
            await member.lost()
        await in_thread(self.server.start)
        for member in members:
            # The new server does not know the settings, which are for a participant's number.
            await member.room.joined()
            await member.emulate(self.server)

    async def settle(self, timeout: float = 60.0) -> None:
        """Waits until everybody is connected and has all transactions, and nobody sends another one.
        It ignores participants in a partition. Awareness may still be on its way. Raises
        ``TimeoutError`` of asyncio after ``timeout`` seconds."""
        rooms: dict[str, list[Member]] = {}
        for member in self._members.values():
            if member.is_there:
                rooms.setdefault(member.room.name, []).append(member)
        settling = [self._settle(members) for members in rooms.values()]
        await asyncio.wait_for(asyncio.gather(*settling), timeout)

    async def _settle(self, members: list[Member]) -> None:
        last = 0
        while True:
            self._rounds += 1
            mark = f"{self._prefix} {self._rounds}"
            for member in members:
                await member.room.joined()
                member.mark(mark)
            ends = [await member.seen(mark, len(members)) for member in members]
            # The program's own tasks take what has arrived, and may answer it.
            for _ in range(10):
                await asyncio.sleep(0)
            # Nothing came between two rounds if the second follows the first.
            if ends[0] - last == len(members):
                return
            last = ends[0]

    async def close(self) -> None:
        """Closes all rooms and their networks."""
        members, self._members = list(self._members.values()), {}
        for member in members:
            member.link.release()
        await asyncio.gather(*(member.room.close() for member in members))
        await asyncio.gather(*(member.link.close() for member in members))

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(self, *_error: Any) -> None:
        await self.close()

    def _member(self, room: Room) -> Member:
        member = self._members.get(room)
        if member is None:
            raise invalid(f"{room!r} has not joined by this network: use what `join` gives")
        return member


class Member:
    """A participant."""

    def __init__(self, room: Room, link: Link) -> None:
        self.room = room
        self.link = link
        self.loss = 0.0
        self.delay = 0.0
        self._is_emulated = False
        self._channel: Optional[Channel] = None

    @property
    def is_there(self) -> bool:
        """False in a partition, and after the end."""
        return self.room.status != "closed" and not self.link.is_held

    async def lost(self) -> None:
        """Waits until the participant has noticed that its connection is broken."""
        await self.room._until(lambda: self.room.status != "connected")

    async def emulate(self, server: Server) -> None:
        """Tells the server the settings, unless they are those of a new connection."""
        is_emulated = bool(self.loss or self.delay)
        if self.room.id is None or not (is_emulated or self._is_emulated):
            return
        self._is_emulated = is_emulated
        query = urllib.parse.urlencode({"room": self.room.name, "participant": self.room.id})
        settings = {"loss": self.loss, "delay_ms": round(self.delay * 1000)}
        await in_thread(server.administer, "POST", f"/emulation?{query}", settings)

    def mark(self, mark: str) -> None:
        if self._channel is None:
            self._channel = self.room.channel(SETTLE)
        self._channel.send(mark)

    async def seen(self, mark: str, count: int) -> int:
        """Waits until the marks of all have arrived. Returns the position of the last one."""
        assert self._channel is not None
        while True:
            message = await self._channel.messages.next()
            if message.data == mark:
                count -= 1
            if count == 0:
                return message.position


async def in_thread(call: Callable[..., object], *arguments: Any) -> None:
    """Calls what waits for the server."""
    await asyncio.get_running_loop().run_in_executor(None, call, *arguments)


def check(loss: float, delay: float) -> None:
    if not 0 <= loss <= 0.5 or not 0 <= delay <= 1:
        raise invalid(f"loss must be 0 to 0.5 and delay 0 to 1 s, not {loss} and {delay}")
