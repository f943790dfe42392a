"""Documents: malformed updates, missing ones, wrong arguments, rights, administrators."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Callable, Union

import groupwire
import pytest
from conftest import Tokens, run
from groupwire.testing import Server
from groupwire.yjs import Provider
from pycrdt import Doc, Map, Text
from yjs_peers import Editor, clocks, until

# An update for which pycrdt alone takes seconds, one on which it panics, and others.
MALFORMED: list[Union[str, bytes]] = [
    bytes.fromhex("b2e5e6350ec4b2e5e63504b2e5e6350506616fc3b1e2988300"),
    b"",
    b"\x01",
    b"\xff" * 20,
    '["piece",-1,0,1,""]',
    '["piece",1,0,1e400,"AA=="]',
    '["ask","?"]',
    '["claim"',
    "[" * 5000,
    '{"a":1}',
    "[]",
]


def test_malformed_messages_are_left_out(
    server: Server, room_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with (
            groupwire.connect(server.url, room_name) as hostile,
            groupwire.connect(server.url, room_name) as room,
        ):
            editor = Editor(room)
            channel = hostile.channel("yjs", groupwire.transaction(departures=True))
            for data in MALFORMED:
                await channel.send_confirmed(data)
            shown = hostile.channel("yjs/awareness", groupwire.awareness(loss=0, max_rate=25))
            for key in (b"\xff", b"x", b"1/", b"9" * 16, b"7/a", b"7"):
                for text in ("NaN", "[" * 200 + "]" * 200, "{", "here"):
                    shown.send(text, key=key)
            other = Doc[Any]()
            other.get("text", type=Text).insert(0, "well-formed")
            await channel.send_confirmed(other.get_update())
            await until(lambda: str(editor.text) == "well-formed")
            await until(lambda: 7 in editor.awareness.states)
            assert editor.awareness.states[7] == {}

    run(work())
    assert sum("is malformed" in record.message for record in caplog.records) == 4


def test_what_waits_for_other_updates_is_in_the_snapshot(server: Server, room_name: str) -> None:
    made: list[bytes] = []
    author: Doc[Any] = Doc()
    author.observe(lambda event: made.append(event.update))
    text = author.get("text", type=Text)
    text += "one "
    text += "two "
    del text[0:4]

    async def work() -> None:
        async with (
            groupwire.connect(server.url, room_name) as plain,
            groupwire.connect(server.url, room_name) as room,
        ):
            editor = Editor(room)
            channel = plain.channel("yjs", groupwire.transaction(departures=True))
            # The first update is missing: the other two wait for it.
            for update in made[1:]:
                await channel.send_confirmed(update)
            document = editor.provider._document
            await until(lambda: len(document._loose) == 2)
            late: Doc[Any] = Doc()
            late.apply_update(document._everything())
            late.apply_update(made[0])
            assert str(late.get("text", type=Text)) == "two "
            await channel.send_confirmed(made[0])
            await until(lambda: str(editor.text) == "two ")
            document._everything()
            assert document._loose == []

    run(work())


def test_updates_that_come_in_any_order(server: Server, room_name: str) -> None:
    async def work() -> None:
        chance = random.Random(5)
        async with (
            groupwire.connect(server.url, room_name) as plain,
            groupwire.connect(server.url, room_name) as room,
        ):
            editor = Editor(room)
            channel = plain.channel("yjs", groupwire.transaction(departures=True))
            for number in range(20):
                made: list[bytes] = []
                author: Doc[Any] = Doc()
                author.observe(lambda event: made.append(event.update))
                text, shapes = author.get("text", type=Text), author.get("map", type=Map)
                for step in range(10):
                    text.insert(0, "ab")
                    del text[1:2]
                    shapes[f"{number} {step % 3}"] = Map({"step": step})
                chance.shuffle(made)
                for update in made:
                    channel.send(update)
                await plain.confirmed()
                [(client, clock)] = clocks(author.get_state()).items()
                while clocks(editor.doc.get_state()).get(client) != clock:
                    await asyncio.sleep(0.01)
                assert editor.provider._document._loose == []

    run(work())


def test_wrong_arguments_and_a_channel_that_is_in_use(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            doc: Any = Doc[Any]()
            wrong: list[Callable[[], Any]] = [
                lambda: Provider("room", doc),  # type: ignore[arg-type]
                lambda: Provider(room, "doc"),  # type: ignore[arg-type]
                lambda: Provider(room, doc, name=5),  # type: ignore[arg-type]
                lambda: Provider(room, doc, awareness=doc),
            ]
            for call in wrong:
                with pytest.raises(TypeError):
                    call()
            with pytest.raises(groupwire.InvalidArgumentError):
                Provider(room, doc, name="x" * 1000)
            provider = Provider(room, doc)
            with pytest.raises(groupwire.GroupwireError) as caught:
                Provider(room, doc)
            assert caught.value.code == "in-use"
            await provider.synced()
            await provider.close()
            await provider.close()
            with pytest.raises(groupwire.ClosedError):
                await provider.synced()
            # Another one on the same room gets the document again.
            doc.get("text", type=Text).insert(0, "meanwhile")
            async with Provider(room, doc) as again:
                await again.saved()
            async with Editor(room).provider as fresh:
                await fresh.synced()
                assert str(fresh.doc.get("text", type=Text)) == "meanwhile"
            # The document outlives the room.
            last = Provider(room, doc)
        with pytest.raises(groupwire.ClosedError):
            await last.synced()
        doc.get("text", type=Text).insert(0, "later ")
        assert not last.is_saved and not last.is_synced

    run(work())


def test_a_document_that_an_administrator_has_emptied(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            editor = Editor(room)
            editor.text.insert(0, "gone")
            await editor.provider.saved()
            path = f"/api/rooms/{room_name}/reset"
            server.administer("POST", path, {"channels": ["yjs"]})
            await until(lambda: editor.provider._is_reset)
            with pytest.raises(groupwire.GroupwireError) as caught:
                await editor.provider.saved()
            assert caught.value.code == "reset"
            await editor.provider.close()
            async with Editor(room).provider as fresh:
                await fresh.synced()
                assert str(fresh.doc.get("text", type=Text)) == ""

    run(work())


def test_a_reader_keeps_its_changes_to_itself(
    own_server: Callable[..., Server], tokens: Tokens, room_name: str
) -> None:
    async def work() -> None:
        server = own_server(*tokens.options)
        writes, reads = tokens.make(), tokens.make("bob", publish=[])
        async with (
            groupwire.connect(server.url, room_name, token=writes) as one,
            groupwire.connect(server.url, room_name, token=reads) as other,
        ):
            # Whoever may not set the QoS of the channel cannot be the first on it.
            refused = Provider(other, Doc())
            with pytest.raises(groupwire.RefusedError) as caught:
                await refused.synced()
            assert caught.value.code == "refused"
            await refused.close()
            writer = Editor(one)
            await writer.provider.synced()
            reader = Editor(other)
            writer.text.insert(0, "hello")
            await until(lambda: str(reader.text) == "hello")
            reader.text.insert(0, "secret ")
            assert reader.provider.is_read_only and not reader.provider.is_saved
            writer.text.insert(5, " world")
            await until(lambda: str(reader.text) == "secret hello world")
            assert str(writer.text) == "hello world"
            await reader.provider.close()

    run(work())


def test_an_observer_of_the_application_that_fails(server: Server, room_name: str) -> None:
    async def work() -> None:
        failures: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        async with (
            groupwire.connect(server.url, room_name) as one,
            groupwire.connect(server.url, room_name) as other,
        ):
            writer, reader = Editor(one), Editor(other)

            def fail(_event: Any) -> None:
                raise ZeroDivisionError

            reader.text.observe(fail)
            for word in ("a", "b"):
                writer.text.insert(0, word)
                await writer.provider.saved()
            await until(lambda: str(reader.text) == "ba")
        assert len(failures) == 2 and "observer" in failures[0]["message"]

    run(work())
