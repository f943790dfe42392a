"""Rooms in simulated time: `groupwire.testing.simulate`."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from typing import Any, Callable, Optional

import groupwire
import pytest
from groupwire.testing import Direction, SimulatedNetwork, simulate
from test_testing import texts
from yjs_peers import Editor

# No test reaches it: what takes simulated minutes takes milliseconds.
REAL_S = 60.0


class Poll:
    """An application's own class, which takes a room."""

    def __init__(self, room: groupwire.Room) -> None:
        self.data = room.shared("poll")
        self.votes = self.data.counter("votes")


def test_an_application_over_bad_networks() -> None:
    async def work(net: SimulatedNetwork) -> None:
        ada, bo = await net.join(), await net.join(loss=0.2, jitter=0.04)
        polls = [Poll(ada), Poll(bo)]
        net.partition(bo, 2)
        for poll in polls:
            poll.votes.add(1)
        net.restart_server()
        await net.settle()
        assert [poll.votes.value for poll in polls] == [2, 2]

    for seed in range(1, 11):
        simulate(work, seed=seed, loss=0.1, durability="local")


def play(seed: int) -> tuple[str, list[list[Any]], list[str]]:
    async def work(net: SimulatedNetwork) -> tuple[str, list[list[Any]], list[str]]:
        rooms = [await net.join(presence={"name": name}) for name in ("ada", "bo", "cy")]
        chats = [room.channel("chat") for room in rooms]
        pointers = [room.channel("pointer", groupwire.awareness()) for room in rooms]
        authors = [room.shared().author for room in rooms]
        for number in range(30):
            chats[number % 3].send(str(number))
            pointers[number % 3].send(str(number), key="at")
            await asyncio.sleep(net.random.random() / 10)
        await net.settle()
        return net.log(), [texts(chat) for chat in chats], authors

    return simulate(work, seed=seed, loss=0.2, jitter=0.05)


def test_a_run_repeats_exactly_from_its_seed() -> None:
    log, heard, authors = play(7)
    assert (log, heard, authors) == play(7)
    assert log != play(8)[0]
    assert len(heard[0]) == 30 and heard[0] == heard[1] == heard[2]
    assert "is lost" in log


def test_all_of_asyncio_takes_simulated_time() -> None:
    async def work(net: SimulatedNetwork) -> None:
        loop = asyncio.get_running_loop()
        room = await net.join()
        before = loop.time()
        await asyncio.sleep(3600)
        assert loop.time() - before >= 3600 and loop.time() == net.now
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(room.channel("chat").messages.next(), 60)
        assert loop.time() - before == pytest.approx(3660, abs=1)
        # A job of a thread takes real time, in which simulated time stands still.
        now = net.now
        await loop.run_in_executor(None, time.sleep, 0.01)
        assert net.now == now
        await room.close()
        # The thread that ends the executor takes real time, too.
        await loop.run_in_executor(None, time.sleep, 0)

    began = time.monotonic()
    for _ in range(30):
        simulate(work)
    assert time.monotonic() - began < REAL_S


def test_an_application_may_connect_itself() -> None:
    async def work(net: SimulatedNetwork) -> None:
        async with groupwire.connect("wss://example.com", "room", presence={"a": 1}) as room:
            other = await net.join()
            await net.settle()
            assert [one.presence for one in other.participants.values()] == [{"a": 1}]
            net.partition(room, 1)
            await room.channel("chat").send_confirmed("hello")

    simulate(work)


def test_a_delay_is_that_of_the_network() -> None:
    async def round_trip(net: SimulatedNetwork, room: groupwire.Room) -> float:
        before = net.now
        await room.channel("chat").send_confirmed("x")
        return net.now - before

    async def work(net: SimulatedNetwork) -> None:
        room = await net.join(up=Direction(delay=0.3))
        room.channel("chat")
        await net.settle()
        assert 0.5 <= await round_trip(net, room) < 0.6
        net.change(room, delay=0.01)
        # What is not named stays as it was.
        assert 0.3 <= await round_trip(net, room) < 0.4
        net.change(room, up=Direction(delay=0.01))
        assert await round_trip(net, room) < 0.1

    simulate(work, delay=0.2)


def test_partitions_and_broken_connections() -> None:
    async def work(net: SimulatedNetwork) -> None:
        one, other = await net.join(), await net.join()
        chat, seen = one.channel("chat"), other.channel("chat")
        await net.settle()
        net.partition(one)
        chat.send("kept")
        await net.settle()
        assert texts(seen) == [] and one.pending == 1
        net.heal(one)
        await net.settle()
        assert texts(seen) == ["kept"] and one.pending == 0
        events = one.events()
        net.break_connection(one)
        assert await events.next() == groupwire.StatusChanged("reconnecting")
        assert await events.next() == groupwire.StatusChanged("connected")

    simulate(work)


def test_servers_are_killed_and_stopped() -> None:
    async def work(net: SimulatedNetwork) -> list[type[Any]]:
        one = await net.join()
        events = one.events()
        await one.channel("chat").send_confirmed("stored")
        net.restart_server(down_for=0.5)
        await net.settle()
        seen = (await net.join()).channel("chat")
        net.restart_server(goodbye=True)
        await net.settle()
        assert texts(seen) in ([], ["stored"])
        told = [type(event) for event, _ in events._items]
        assert (groupwire.Gap in told) == (texts(seen) == [] and one.durability == "memory")
        return told

    assert groupwire.Gap not in simulate(work, durability="local")
    assert groupwire.Gap in simulate(work)


def test_tokens_and_rights() -> None:
    def authenticate(token: str) -> tuple[str, dict[str, list[str]]]:
        if token == "eve":
            raise PermissionError("eve is not a friend")
        return token, {"publish": [] if token == "bo" else ["*"]}

    asked: list[str] = []

    async def token() -> str:
        asked.append("ada")
        return "ada"

    async def work(net: SimulatedNetwork) -> None:
        ada, bo = await net.join(token=token), await net.join(token="bo")
        with pytest.raises(groupwire.RefusedError, match="eve is not a friend"):
            await net.join(token="eve")
        await net.settle()
        assert [one.user for one in bo.participants.values()] == ["ada"]
        ada.channel("chat")
        await net.settle()
        chat = bo.channel("chat")
        await net.settle()
        with pytest.raises(groupwire.GroupwireError) as caught:
            chat.send("not permitted")
        assert caught.value.code == "not-allowed"
        cy = await net.join(token="eve", user="cy")
        assert [one.user for one in ada.participants.values()] == ["bo"]
        await net.settle()
        assert [one.user for one in ada.participants.values()] == ["bo", "cy"]
        net.expire_token(ada)
        await net.settle()
        assert asked == ["ada", "ada"] and cy.status == "connected"

    simulate(work, authenticate=authenticate)


def test_documents_are_equal_in_the_end() -> None:
    async def work(net: SimulatedNetwork) -> None:
        editors = [Editor(await net.join()) for _ in range(3)]
        for step in range(60):
            net.random.choice(editors).edit(net.random, f"<{step}>")
            if step == 20:
                net.partition(editors[0].room, 3)
            if step == 30:
                net.break_connection(editors[1].room)
            if step == 40:
                net.restart_server()
            await asyncio.sleep(net.random.random() / 5)
        editors.append(Editor(await net.join()))
        await net.settle()
        states = [(str(editor.text), editor.map.to_py()) for editor in editors]
        assert states[0][0] and all(state == states[0] for state in states)
        for editor in editors:
            await editor.provider.close()

    for seed in range(1, 11):
        simulate(work, seed=seed, loss=0.1, jitter=0.05)


def test_what_fails_tells_its_seed_and_what_happened(capfd: pytest.CaptureFixture[str]) -> None:
    async def work(net: SimulatedNetwork) -> None:
        await net.join(name="ada")
        raise AssertionError("as it must be")

    with pytest.raises(AssertionError, match="as it must be"):
        simulate(work, seed=17)
    printed = capfd.readouterr().err
    assert "seed 17" in printed and "ada joins the room" in printed


def test_what_never_comes_is_an_error() -> None:
    async def work(net: SimulatedNetwork) -> None:
        room = await net.join()
        await room.channel("chat").messages.next()

    with pytest.raises(RuntimeError, match="waits for something that does not come"):
        simulate(work)

    async def ticks(net: SimulatedNetwork) -> None:
        while True:
            await asyncio.sleep(1)

    with pytest.raises(RuntimeError, match="its limit"):
        simulate(ticks, limit=100)

    async def unsettled(net: SimulatedNetwork) -> None:
        room = await net.join()
        net.partition(room, 3600)
        await net.settle(limit=10)

    with pytest.raises(asyncio.TimeoutError, match="cut off"):
        simulate(unsettled)


def test_faults_of_authenticate_end_the_test() -> None:
    async def joins(net: SimulatedNetwork) -> None:
        await net.join()

    def returns(what: Any) -> Callable[[str], Any]:
        return lambda _token: what

    def fails(_token: str) -> str:
        raise AssertionError("as it must be")

    for what in (None, 7, ("ada",), ("ada", ["publish"])):
        with pytest.raises(TypeError, match="authenticate must return|rights must be"):
            simulate(joins, authenticate=returns(what))
    with pytest.raises(AssertionError, match="as it must be"):
        simulate(joins, authenticate=fails)

    async def waits(token: str) -> str:
        return token

    with pytest.raises(TypeError, match="ordinary function"):
        simulate(joins, authenticate=waits)  # type: ignore[arg-type]
    rooms: list[groupwire.Room] = []

    def uses(_token: str) -> str:
        for room in rooms:
            room.shared("within")
        return "ada"

    async def twice(net: SimulatedNetwork) -> None:
        rooms.append(await net.join())
        await net.join()

    simulate(twice, authenticate=uses)
    rooms.clear()


def test_rooms_that_stay_open_hold_nothing() -> None:
    async def joins(net: SimulatedNetwork) -> None:
        await net.join()
        await net.join()

    def descriptors() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    simulate(joins)
    before = descriptors()
    for _ in range(20):
        simulate(joins)
    assert descriptors() <= before


def test_wrong_arguments_are_refused() -> None:
    async def nothing(net: SimulatedNetwork) -> None:
        room = await net.join()
        await room.close()

    wrong: list[tuple[dict[str, Any], Optional[str]]] = [
        ({"loss": 1.5}, "loss"),
        ({"delay": -1}, "delay"),
        ({"jitter": float("nan")}, "jitter"),
        ({"rate": 0}, "rate"),
        ({"seed": -1}, "seed"),
        ({"durability": "disk"}, "durability"),
        ({"tick": 0}, "tick"),
    ]
    for options, name in wrong:
        with pytest.raises(groupwire.InvalidArgumentError, match=name):
            simulate(nothing, **options)

    def ordinary(_net: SimulatedNetwork) -> Any:
        return 3

    works: list[Any] = [7, ordinary]
    for work in works:
        with pytest.raises(TypeError, match="async function"):
            simulate(work)
    strange: list[dict[str, Any]] = [{"delay": "0.1"}, {"seed": "1"}, {"tick": "1"}, {"loss": True}]
    for options in strange:
        with pytest.raises(TypeError, match=next(iter(options))):
            simulate(nothing, **options)

    async def within(net: SimulatedNetwork) -> None:
        room = await net.join()
        calls: list[Callable[[], object]] = [
            lambda: net.partition(room, -1),
            lambda: net.restart_server(down_for=-1),
            lambda: net.join(rights={"read": []}),
            lambda: net.join(down=Direction(loss=2)),
        ]
        for call in calls:
            with pytest.raises(groupwire.InvalidArgumentError):
                call()
        people: list[dict[str, Any]] = [{"rights": {"publish": "*"}}, {"rights": []}, {"user": 5}]
        for person in people:
            with pytest.raises(TypeError):
                net.join(**person)
        with pytest.raises(groupwire.InvalidArgumentError, match="quiet"):
            await net.settle(quiet=700)
        await room.close()

    simulate(within)


def test_rooms_of_others_are_refused() -> None:
    kept: list[groupwire.Room] = []

    async def first(net: SimulatedNetwork) -> None:
        kept.append(await net.join())

    async def second(net: SimulatedNetwork) -> None:
        with pytest.raises(groupwire.InvalidArgumentError, match="has not joined"):
            net.heal(kept[0])

    simulate(first)
    simulate(second)
    kept.clear()


def test_a_simulation_within_a_loop_is_refused() -> None:
    async def inner(net: SimulatedNetwork) -> None:
        await net.join()

    async def outer() -> None:
        with pytest.raises(RuntimeError, match="ordinary function"):
            simulate(inner)

    asyncio.run(outer())


def test_the_fixture_runs_many_seeds(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        seeds = []

        def test_seeds(groupwire_simulate):
            async def work(net):
                seeds.append(net.seed)
                await net.join()

            groupwire_simulate(work)
            assert seeds == [5, 6, 7]
        """
    )
    plugins = ["-p", "groupwire.pytest_plugin", "-p", "no:cacheprovider"]
    options = ["--groupwire-seeds", "3", "--groupwire-seed", "5"]
    pytester.runpytest_inprocess(*plugins, *options).assert_outcomes(passed=1)
