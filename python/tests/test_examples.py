"""The example feeds a dashboard."""

from __future__ import annotations

import asyncio

import groupwire
from conftest import run
from groupwire.testing import Server
from feeder import feed


def test_the_feeder_streams_values_of_all_sensors(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as dashboard:
            values = dashboard.channel("values", groupwire.awareness(max_rate=20, deadline=1.0))
            feeding = asyncio.ensure_future(feed(server.url, room_name, 5, 20, 1.0))
            seen: set[bytes] = set()
            while len(seen) < 5:
                message = await values.messages.next(30)
                assert -20 < message.json()["value"] < 60 and message.key is not None
                seen.add(message.key)
            assert await feeding >= 5

    run(work())
