"""Shared data against a real server."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable

import groupwire
import pytest
from conftest import Tokens, run
from groupwire.testing import Server


async def until(data: groupwire.Shared, is_true: Callable[[], bool]) -> None:
    """Waits for changes that make a condition true."""
    changes = data.changes()
    while not is_true():
        await changes.next(30)


def test_two_participants_edit_one_map_list_and_counter(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            ours, theirs = ann.shared(), bob.shared()
            assert ann.shared() is ours and ann.shared("other") is not ours
            shapes, tasks, likes = ours.map("shapes"), ours.list("tasks"), ours.counter("likes")
            shapes["a"] = {"x": 1, "y": 2.5, "text": "é", "none": None}
            shapes.patch("a", {"x": 5}, remove=["y"])
            assert shapes["a"] == {"x": 5, "text": "é", "none": None} and "b" not in shapes
            last = tasks.append("milk")
            first = tasks.insert(0, "bread")
            tasks.insert(-1, "tea")
            assert list(tasks) == ["bread", "tea", "milk"] and tasks[-1] == "milk"
            tasks.move(last, 0)
            tasks.set(first, ["rolls", 2])
            likes.add(3)
            their_shapes, their_tasks = theirs.map("shapes"), theirs.list("tasks")
            await until(theirs, lambda: theirs.counter("likes").value == 3)
            assert dict(their_shapes) == {"a": {"x": 5, "text": "é", "none": None}}
            assert their_tasks.value == ["milk", ["rolls", 2], "tea"]
            assert their_tasks.ids == tasks.ids and their_tasks.get(last) == "milk"
            their_tasks.delete(first)
            del their_shapes["a"]
            their_shapes.setdefault("n", None)
            # The last one: what came before it is ordered before it.
            theirs.counter("likes").add(-1)
            await until(ours, lambda: int(likes) == 2)
            assert tasks[:] == ["milk", "tea"] and shapes.value == {"n": None}
            assert "n" in shapes and shapes["n"] is None and len(shapes) == 1
            await until(ours, lambda: ours.pending == 0)
            assert ours.complete and not ours.restoring

    run(work())


def test_a_late_joiner_gets_all_and_undo_keeps_what_others_changed(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann:
            data = ann.shared()
            shapes = data.map("shapes")
            with data.batch():
                shapes["a"] = 1
                with data.batch():
                    shapes["b"] = 2
                data.counter("moves").add()
                assert shapes["b"] == 2
            await ann.confirmed()
            async with groupwire.connect(url, room_name) as bob:
                late = bob.shared()
                await until(late, lambda: late.counter("moves").value == 1)
                assert late.map("shapes").value == {"a": 1, "b": 2}
                late.map("shapes")["b"] = "theirs"
                await until(data, lambda: shapes["b"] == "theirs")
                assert data.can_undo and data.undo() and not data.undo() and data.can_redo
                await until(late, lambda: late.counter("moves").value == 0)
                assert late.map("shapes").value == {"b": "theirs"}
                assert data.redo()
                await until(late, lambda: "a" in late.map("shapes"))

    run(work())


def test_a_batch_that_raises_is_taken_back(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            data = room.shared()
            with pytest.raises(ZeroDivisionError), data.batch():
                data.map("shapes")["a"] = 1
                with pytest.raises(groupwire.GroupwireError) as busy:
                    data.undo()
                assert busy.value.code == "busy"
                raise ZeroDivisionError
            assert "a" not in data.map("shapes") and data.pending == 0
            with data.batch():
                # Nothing arrives in a batch, and nothing is lost.
                await asyncio.sleep(0)
                data.counter("moves").add()
            await until(data, lambda: data.pending == 0)

    run(work())


def test_a_lock_has_one_holder_and_turns_go_round(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            ours, theirs = ann.shared(), bob.shared()
            got: list[str] = []

            async def draw(name: str, lock: groupwire.Lock, log: groupwire.SharedList) -> None:
                for _ in range(5):
                    async with lock:
                        assert lock.is_mine
                        got.append(name)
                        log.append(name)

            await asyncio.gather(
                draw("ann", ours.lock("pen"), ours.list("log")),
                draw("bob", theirs.lock("pen"), theirs.list("log")),
            )
            await until(ours, lambda: len(ours.list("log")) == 10)
            assert sorted(ours.list("log").value) == sorted(got) == ["ann"] * 5 + ["bob"] * 5
            await until(ours, lambda: ours.lock("pen").holder is None)

            game = ours.turns("game")
            game.join()
            await until(theirs, lambda: theirs.turns("game").current == ann.id)
            theirs.turns("game").join()
            await until(ours, lambda: len(game.participants) == 2)
            game.next()
            await until(theirs, lambda: theirs.turns("game").is_mine)
            theirs.turns("game").leave()
            await until(ours, lambda: game.participants == [ann.id])

    run(work())


def test_a_lock_that_is_waited_for_no_more_is_not_kept(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            ours, theirs = ann.shared(), bob.shared()

            async def wait() -> None:
                async with theirs.lock("pen"):
                    raise AssertionError("somebody else has it")

            async with ours.lock("pen"):
                await until(theirs, lambda: theirs.lock("pen").holder == ann.id)
                waiting = asyncio.create_task(wait())
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                await bob.confirmed()
            await until(theirs, lambda: theirs.lock("pen").holder is None)

    run(work())


def test_previews_are_seen_and_are_no_operations(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            ours, theirs = ann.shared(), bob.shared()
            ours.map("shapes")["a"] = {"x": 1, "y": 2}
            shapes = theirs.map("shapes")
            await until(theirs, lambda: "a" in shapes)
            await until(ours, lambda: ours.pending == 0)
            ours.map("shapes").preview("a", {"x": 7})
            await until(theirs, lambda: shapes.previewed("a") == {"x": 7, "y": 2})
            assert shapes["a"] == {"x": 1, "y": 2} and ours.pending == 0
            ours.map("shapes").preview("a", None)
            await until(theirs, lambda: shapes.previewed("a") == {"x": 1, "y": 2})
            assert shapes.previewed("b", "none") == "none"

    run(work())


def test_changes_name_what_may_have_changed(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            data = room.shared()
            changes = data.changes()
            data.map("shapes")["a"] = 1
            event = await changes.next(30)
            assert isinstance(event, groupwire.SharedChanged)
            assert event.changes == (groupwire.Change("cells", "shapes", ("a",)),)
            # The operations of shared data are no messages of a channel with its name.
            chat = room.channel("chat")
            chat.send("x")
            assert (await chat.messages.next(30)).data == "x"
        async for _ in changes:
            pass
        with pytest.raises(groupwire.ClosedError):
            data.counter("likes").add()

    run(work())


def test_a_connection_that_breaks_loses_nothing(own_server: Callable[..., Server], tmp_path: Any) -> None:
    server = own_server("--data", str(tmp_path / "data"))

    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, "resume") as ann, groupwire.connect(url, "resume") as bob:
            ours, theirs = ann.shared(), bob.shared()
            ours.counter("likes").add(1)
            theirs.map("shapes")["a"] = 1
            await until(ours, lambda: "a" in ours.map("shapes") and ours.pending == 0)
            await until(theirs, lambda: theirs.pending == 0)
            server.stop()
            ours.counter("likes").add(10)
            ours.list("tasks").append("meanwhile")
            assert ours.pending == 2 and ours.counter("likes").value == 11
            server.start()
            await until(theirs, lambda: theirs.list("tasks").value == ["meanwhile"])
            assert theirs.counter("likes").value == 11 and theirs.map("shapes").value == {"a": 1}
            await until(ours, lambda: ours.pending == 0)

    run(work())


def test_wrong_arguments_say_what_is_right(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            data = room.shared(previews=False, author="a program")
            assert data.author == "a program"
            shapes = data.map("shapes")
            inner: list[Any] = []
            inner.append(inner)
            deep: list[Any] = []
            for _ in range(1001):
                deep = [deep]
            wrong: list[tuple[str, Callable[[], Any]]] = [
                ("not-json", lambda: shapes.__setitem__("a", float("nan"))),
                ("not-json", lambda: shapes.__setitem__("a", inner)),
                ("not-json", lambda: shapes.__setitem__("a", "\ud83d")),
                ("bad-argument", lambda: shapes.__setitem__("a", deep)),
                ("bad-key", lambda: shapes.__setitem__("k" * 129, 1)),
                ("bad-name", lambda: data.map("a/b").__setitem__("a", 1)),
                ("bad-argument", lambda: data.counter("c").add(1 << 80)),
                ("invalid-argument", lambda: room.shared("x", author="a" * 129)),
                ("invalid-argument", lambda: room.shared("")),
            ]
            for code, call in wrong:
                with pytest.raises(groupwire.GroupwireError) as error:
                    call()
                assert (code, error.value.code) == (code, code)
            types: list[Callable[[], Any]] = [
                lambda: shapes.__setitem__("a", object()),
                lambda: data.counter("c").add(0.5),  # type: ignore[arg-type]  # pyright: ignore
                lambda: data.map(5),  # type: ignore[arg-type]  # pyright: ignore
                lambda: shapes.patch("a", {}, remove="x"),
            ]
            for call in types:
                with pytest.raises(TypeError):
                    call()
            for lookup in (lambda: shapes["none"], lambda: shapes.__delitem__("none")):
                with pytest.raises(KeyError):
                    lookup()
            number: Any = 5
            assert number not in shapes and shapes.get("none") is None and data.pending == 0

    run(work())


def test_values_of_any_depth_and_size_are_read(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            data = bob.shared()
            # Another program may send what Python's reader of JSON cannot read.
            deep = "[" * 990 + "]" * 990
            ann.channel("shared", groupwire.transaction(departures=True)).send(
                f'["another",1,"shapes","s","deep",{deep}]'
            )
            ann.shared().map("shapes")["large"] = "x" * 50_000
            await until(data, lambda: len(data.map("shapes")) == 2)
            value, levels = data.map("shapes")["deep"], 0
            while value:
                value, levels = value[0], levels + 1
            assert levels == 989 and len(data.map("shapes")["large"]) == 50_000

    run(work())


def test_who_may_not_publish_is_told(own_server: Callable[..., Server], tokens: Tokens) -> None:
    server = own_server(*tokens.options)

    async def work() -> None:
        token = tokens.make(publish=["chat"])
        async with groupwire.connect(server.url, "rights", token=token) as room:
            data = room.shared()
            changes = data.changes()
            with pytest.raises(groupwire.RefusedError) as refused:
                while True:
                    data.counter("likes").add()
                    await changes.next(30)
            assert refused.value.code == "not-sent", json.dumps(str(refused.value))

    run(work())
