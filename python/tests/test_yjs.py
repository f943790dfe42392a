"""Documents of pycrdt in Python, and of Yjs in Node: equal in the end, whatever happens."""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any, Callable

import groupwire
import pytest
from conftest import PATIENCE, run
from groupwire.testing import Network, Server
from groupwire.yjs._document import MAX_MESSAGE
from pycrdt import Doc, Text
from yjs_peers import Editor, agree, node, node_edits, until

# How many random runs there are.
SEEDS = int(os.environ.get("GROUPWIRE_SEEDS", "4"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_python_and_node_edit_one_text(server: Server, seed: int) -> None:
    chance = random.Random(seed)

    async def work() -> None:
        async with Network(server) as net:
            room = await net.join()
            name = room.name
            async with node(server.url, name) as first:
                editors = [Editor(room)]
                peers = [first]
                for step in range(150):
                    if chance.random() < 0.5:
                        await node_edits(chance.choice(peers), chance, f"<{step}>")
                    else:
                        chance.choice(editors).edit(chance, f"[{step}]")
                    if step == 50:
                        editors.append(Editor(await net.join()))
                    if step in (70, 110):
                        net.break_connection(room)
                    await asyncio.sleep(chance.random() * 0.01)
                await agree(peers, editors)
                async with node(server.url, name) as late:
                    editors.append(Editor(await net.join()))
                    text, _map = await agree([*peers, late], editors)
                    assert text
                for editor in editors:
                    await editor.provider.close()

    run(work(), None)


def test_each_change_is_one_transaction_as_pycrdt_made_it(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with (
            groupwire.connect(server.url, room_name) as plain,
            groupwire.connect(server.url, room_name) as room,
        ):
            seen = plain.channel("yjs", groupwire.transaction(departures=True))
            editor = Editor(room)
            made: list[bytes] = []
            editor.doc.observe(lambda event: made.append(event.update))
            await editor.provider.synced()
            for letter in "abc":
                editor.text.insert(0, letter)
            await editor.provider.saved()
            assert [(await seen.messages.next(PATIENCE)).data for _ in range(3)] == made

    run(work())


def test_changes_made_offline_and_before_joining(server: Server) -> None:
    async def work() -> None:
        async with Network(server) as net:
            doc: Doc[Any] = Doc()
            doc.get("text", type=Text).insert(0, "before ")
            first = Editor(await net.join(), doc)
            async with node(server.url, first.room.name) as peer:
                await agree([peer], [first])
                net.partition(first.room)
                first.text.insert(0, "offline ")
                await peer.do("insert", at=0.999, text="online ")
                assert not first.provider.is_saved
                net.break_connection(first.room)
                await until(lambda: first.room.status == "reconnecting")
                assert not first.provider.is_synced
                net.heal(first.room)
                text, _ = await agree([peer], [first])
                assert all(word in text for word in ("before", "offline", "online"))

    run(work())


def test_late_joiners_get_a_snapshot(server: Server) -> None:
    """The room asks for a snapshot after some thousand transactions, and drops them."""

    async def work() -> None:
        async with Network(server) as net:
            first = Editor(await net.join())
            await first.provider.synced()
            for step in range(6000):
                first.text.insert(step // 2, "x")
                if step % 500 == 0:
                    await first.provider.saved()
            await first.provider.saved()
            late = await net.join()
            events = late.events()
            second = Editor(late)
            async with node(server.url, first.room.name) as peer:
                await agree([peer], [first, second])
            while not isinstance(event := await events.next(PATIENCE), groupwire.Snapshot):
                pass
            assert event.part == "yjs"

    run(work(), None)


def test_a_server_that_loses_the_room_gets_it_again(
    own_server: Callable[..., Server],
) -> None:
    async def work() -> None:
        async with Network(own_server()) as net:
            editors = [Editor(await net.join()) for _ in range(2)]
            editors[0].text.insert(0, "long " * 1000)
            await agree([], editors)
            await net.restart_server()
            await agree([], editors)
            async with node(net.server.url, editors[0].room.name) as late:
                text, _ = await agree([late], editors)
                assert text == "long " * 1000
            stats = [editor.room.stats()["bytes_out_before"] for editor in editors]
            # The text was sent once at the beginning, and only one of them has sent it again.
            assert 10_000 < sum(stats) < 12_000

    run(work())


def test_large_changes_travel_in_pieces(server: Server) -> None:
    async def work() -> None:
        async with Network(server) as net:
            first = Editor(await net.join())
            async with node(server.url, first.room.name) as peer:
                first.text.insert(0, "p" * 3 * MAX_MESSAGE)
                await agree([peer], [first])
                await peer.do("insert", at=0, text="n" * 4 * MAX_MESSAGE)
                text, _ = await agree([peer], [first, Editor(await net.join())])
                assert len(text) == 7 * MAX_MESSAGE

    run(work())


def test_awareness(server: Server) -> None:
    async def work() -> None:
        async with Network(server) as net:
            ada, bo = Editor(await net.join()), Editor(await net.join())
            async with node(server.url, ada.room.name) as peer:
                ada.awareness.set_local_state({"user": {"name": "Adá"}, "cursor": 3})
                await peer.do("show", field="user", value={"name": "Nödé"})
                mine, theirs = ada.doc.client_id, str(ada.doc.client_id)

                async def node_sees() -> Any:
                    return (await peer.do("state"))["states"].get(theirs)

                while await node_sees() != {"user": {"name": "Adá"}, "cursor": 3}:
                    await asyncio.sleep(0.01)
                await until(lambda: {"user": {"name": "Nödé"}} in bo.awareness.states.values())
                await until(lambda: bo.awareness.states.get(mine, {}).get("cursor") == 3)
                ada.awareness.set_local_state_field("cursor", 4)
                await until(lambda: bo.awareness.states.get(mine, {}).get("cursor") == 4)
                ada.awareness.set_local_state({"user": {"name": "Adá"}})
                await until(lambda: bo.awareness.states.get(mine) == {"user": {"name": "Adá"}})
                # Who loses the connection vanishes at once, and appears again.
                net.partition(ada.room)
                net.break_connection(ada.room)
                await until(lambda: mine not in bo.awareness.states)
                net.heal(ada.room)
                await until(lambda: bo.awareness.states.get(mine) == {"user": {"name": "Adá"}})
                await ada.provider.close()
                await until(lambda: mine not in bo.awareness.states)
                while await node_sees() is not None:
                    await asyncio.sleep(0.01)
            await until(lambda: list(bo.awareness.states) == [bo.doc.client_id])

    run(work())
