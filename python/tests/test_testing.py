"""The fixtures for tests of applications, and what they start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Callable

import groupwire
import pytest
from conftest import PATIENCE, run
from groupwire.testing import Network, Server


def test_participants_over_bad_networks(groupwire_network: Network) -> None:
    async def work() -> None:
        async with groupwire_network as net:
            rooms = [await net.join(presence={"name": name}) for name in ("ada", "bo")]
            rooms.append(await net.join(loss=0.3, delay=0.02))
            chats = [room.channel("chat") for room in rooms]
            for number in range(20):
                chats[number % 3].send(str(number))
            await net.settle()
            orders = [texts(chat) for chat in chats]
            assert len(orders[0]) == 20 and orders[0] == orders[1] == orders[2]
            assert rooms[0].participants.keys() == {rooms[1].id, rooms[2].id}

    run(work())


def test_settling_waits_for_answers(groupwire_network: Network) -> None:
    async def answer(channel: groupwire.Channel) -> None:
        async for message in channel:
            number = int(message.data)
            if number > 0 and not message.own:
                channel.send(str(number - 1))

    async def work() -> None:
        async with groupwire_network as net:
            first, second, third = [await net.join() for _ in range(3)]
            answering = [
                asyncio.ensure_future(answer(room.channel("ping"))) for room in (first, second)
            ]
            seen = third.channel("ping")
            first.channel("ping").send("10")
            await net.settle()
            assert texts(seen) == [str(number) for number in range(10, -1, -1)]
            for task in answering:
                task.cancel()

    run(work())


def test_partitions_and_broken_connections(groupwire_network: Network) -> None:
    async def work() -> None:
        async with groupwire_network as net:
            one, other = await net.join(), await net.join()
            chat, seen = one.channel("chat"), other.channel("chat")
            await net.settle()
            net.partition(one)
            chat.send("kept")
            # Nothing of it arrives: this participant is left out.
            await net.settle()
            assert texts(seen) == [] and one.pending == 1
            net.heal(one)
            await net.settle()
            assert texts(seen) == ["kept"] and one.pending == 0
            events = one.events()
            net.break_connection(one)
            assert await events.next(PATIENCE) == groupwire.StatusChanged("reconnecting")
            chat.send("again")
            await net.settle()
            assert texts(seen) == ["again"]

    run(work())


def test_a_delay_is_emulated_also_after_a_restart(groupwire_network: Network) -> None:
    async def work() -> None:
        async with groupwire_network as net:
            room = await net.join(delay=0.3)
            for _ in range(2):
                await room.channel("chat").send_confirmed("x")
                # The server answers in no less than the delay.
                assert await round_trip(room) >= 0.3
                await net.restart_server()
            await net.change(room)

    async def round_trip(room: groupwire.Room) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await room.channel("chat").send_confirmed("y")
        return loop.time() - began

    run(work())


def test_a_stored_room_survives_a_restart(tmp_path: Path) -> None:
    async def work(server: Server) -> None:
        async with Network(server) as net:
            one, other = await net.join(), await net.join()
            await one.channel("chat").send_confirmed("stored")
            await net.restart_server()
            seen = other.channel("chat")
            await net.settle()
            assert one.durability == "local"
            assert texts(seen) == ["stored"]

    with Server("--data", str(tmp_path)) as server:
        run(work(server))


def test_errors_say_what_to_do(groupwire_network: Network, tmp_path: Path) -> None:
    def no_server(start: Callable[[], Any], text: str) -> None:
        with pytest.raises(groupwire.GroupwireError, match=text) as caught:
            start()
        assert caught.value.code == "no-server"

    no_server(lambda: Server(binary=str(tmp_path / "none")), "cannot be run")
    no_server(lambda: Server("--nonsense"), "(?s)did not start.*--nonsense")
    with Server("--no-admin") as server:
        no_server(lambda: server.administer("GET", "/api/rooms"), "--no-admin")

    async def work() -> None:
        async with groupwire_network as net:
            for loss, delay in ((0.6, 0.0), (0.0, -1.0)):
                with pytest.raises(groupwire.InvalidArgumentError):
                    await net.join(loss=loss, delay=delay)
            room = await net.join()
        with pytest.raises(groupwire.InvalidArgumentError):
            net.partition(room)

    run(work())


def test_a_server_that_ends_by_itself_fails_the_test() -> None:
    server = Server()
    server.process.kill()
    server.process.wait()
    with pytest.raises(AssertionError, match="ended with"):
        server.stop()


def texts(channel: groupwire.Channel) -> list[Any]:
    """What has arrived on a channel and was not taken yet."""
    taken = [message.data for message, _ in channel.messages._items]
    channel.messages._items.clear()
    return taken
