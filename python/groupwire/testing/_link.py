"""The network between a participant and a server: a relay of TCP connections that can fail."""

from __future__ import annotations

import asyncio
from typing import Any

# Bytes that are passed on at a time.
CHUNK = 65_536


class Link:
    """A relay on a free port of this machine."""

    def __init__(self, there: str) -> None:
        host, port = there.rsplit(":", 1)
        self._there = (host, int(port))
        self._open = asyncio.Event()
        self._open.set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._work: set[asyncio.Task[Any]] = set()
        self._server: asyncio.AbstractServer
        self.address: str

    @classmethod
    async def open(cls, there: str) -> Link:
        link = cls(there)
        link._server = server = await asyncio.start_server(link._serve, "127.0.0.1", 0)
        link.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return link

    @property
    def is_held(self) -> bool:
        """True in a partition."""
        return not self._open.is_set()

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    def break_connections(self) -> None:
        for end in self._ends:
            end.transport.abort()

    async def close(self) -> None:
        self._server.close()
        self.release()
        self.break_connections()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._work.add(task)
        ends = [writer]
        self._ends.add(writer)
        try:
            await self._open.wait()
            far_reader, far_writer = await asyncio.open_connection(*self._there)
            ends.append(far_writer)
            self._ends.add(far_writer)
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        except OSError:
            # The server is not there, or one end has broken the connection.
            pass
        finally:
            self._work.discard(task)
            for end in ends:
                self._ends.discard(end)
                end.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while True:
            data = await source.read(CHUNK)
            await self._open.wait()
            if not data:
                # As with most networks, one closed direction ends the other one, too.
                raise ConnectionResetError
            sink.write(data)
            await sink.drain()
