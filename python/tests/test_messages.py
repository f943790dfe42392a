"""Messages, presence and confirmations against a real server."""

from __future__ import annotations

import asyncio

import groupwire
import pytest
from conftest import run
from groupwire.testing import Server


@pytest.mark.parametrize("transport", ["url", "webtransport"])
def test_two_clients_exchange_messages(server: Server, room_name: str, transport: str) -> None:
    url = getattr(server, transport)

    async def work() -> None:
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            to_bob, from_ann = ann.channel("chat"), bob.channel("chat")
            assert to_bob.send("hello") == "accepted"
            to_bob.send(b"\x00bytes")
            to_bob.send(bytearray(b"array"))
            to_bob.send(memoryview(b"view"))
            to_bob.send_json({"x": [1, 2]})
            received = [await from_ann.messages.next(30) for _ in range(5)]
            data = [message.data for message in received]
            assert data == ["hello", b"\x00bytes", b"array", b"view", '{"x":[1,2]}']
            assert received[4].json() == {"x": [1, 2]}
            assert {message.sender for message in received} == {ann.id}
            positions = [message.position for message in received]
            assert positions == sorted(positions) and not received[0].own
            own = await to_bob.messages.next(30)
            assert own.own and own.data == "hello" and own.position == positions[0]

    run(work())


def test_a_late_joiner_gets_everything_in_order(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as ann:
            chat = ann.channel("chat")
            for number in range(1000):
                chat.send(str(number))
            await ann.confirmed()
            channels = {"chat": groupwire.transaction()}
            async with groupwire.connect(server.url, room_name, channels=channels) as bob:
                seen: list[object] = []
                async for message in bob.channel("chat"):
                    seen.append(message.data)
                    if len(seen) == 1000:
                        break
                assert seen == [str(number) for number in range(1000)]

    run(work())


def test_awareness_keeps_the_newest_value_of_a_key(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.webtransport
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            qos = groupwire.awareness(max_rate=25, deadline=0.25)
            pointers, seen = ann.channel("pointer", qos), bob.channel("pointer", qos)
            sent = [pointers.send(str(number), key="mouse") for number in range(50)]
            assert "conflated" in sent
            while (message := await seen.messages.next(30)).data != "49":
                assert message.key == b"mouse" and message.position == 0
            assert seen.qos.max_rate == 25 and seen.qos.deadline == 0.25
            assert (contract := seen.contract) is not None and contract.state == "met"

    run(work())


def test_frames_of_sound_reach_the_others(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.webtransport
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(url, room_name) as bob:
            qos = groupwire.voice(speakers=2)
            talk, heard = ann.channel("voice", qos), bob.channel("voice", qos)
            receiving = asyncio.ensure_future(heard.messages.next(30))
            frames: list[bytes] = []
            # Frames that come before Bob has opened the channel are not kept for him.
            while not receiving.done():
                # Loud speech, the number of the frame, no flags, and what stands for Opus.
                frames.append(bytes([0x80 | 10, *divmod(len(frames), 256), 0]) + b"opus")
                talk.send(frames[-1])
                await asyncio.sleep(0.02)
            assert (await receiving).data in frames
            assert heard.qos.speakers == 2

    run(work())


def test_a_confirmed_transaction_is_ordered(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")
            await chat.send_confirmed("one")
            assert (await chat.messages.next(1)).data == "one"
            chat.send("two")
            # The server may have confirmed it already.
            assert room.pending <= 1
            await room.confirmed()
            assert room.pending == 0 and room.durability == "memory"

    run(work())


def test_send_to_reaches_one_participant_alone(server: Server, room_name: str) -> None:
    async def work() -> None:
        url = server.url
        async with groupwire.connect(url, room_name) as ann, groupwire.connect(
            url, room_name
        ) as bob, groupwire.connect(url, room_name) as eve:
            calls = [room.channel("call") for room in (ann, bob, eve)]
            # Bob has opened the channel once a message of his own came back.
            await asyncio.gather(*(channel.send_confirmed("open") for channel in calls))
            assert bob.id is not None
            assert await calls[0].send_to(bob.id, b"for bob") == "delivered"
            message = await calls[1].direct.next(30)
            assert (message.data, message.to, message.direct) == (b"for bob", bob.id, True)
            assert await calls[0].send_to(4_000_000, "nobody") == "gone"
            await calls[0].send_confirmed("for all")
            while (shared := await calls[2].messages.next(30)).data != "for all":
                assert not shared.direct
            with pytest.raises(asyncio.TimeoutError):
                await calls[2].direct.next(0.05)

    run(work())


def test_participants_and_presence(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as ann:
            events = ann.events()
            shown = {"name": "Bob"}
            async with groupwire.connect(server.url, room_name, presence=shown) as bob:
                came = await of(events, "came")
                assert came.participant.id == bob.id and came.participant.presence == shown
                assert bob.id is not None and ann.participants[bob.id] == came.participant
                bob.set_presence({"name": "Robert"})
                changed = await of(events, "changed")
                assert changed.participant.presence == {"name": "Robert"}
                bob.set_presence(b"\xff")
                assert (await of(events, "changed")).participant.presence is None
            left = await of(events, "left")
            assert left.participant.id == bob.id and not ann.participants

    async def of(
        events: groupwire.Stream[groupwire.Event], change: str
    ) -> groupwire.ParticipantChanged:
        while True:
            event = await events.next(30)
            if isinstance(event, groupwire.ParticipantChanged) and event.change == change:
                return event

    run(work())


def test_a_snapshot_spares_late_joiners_the_log(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as ann:
            draw = ann.channel("draw")
            asked: list[int] = []

            async def make() -> bytes:
                asked.append(1)
                return b"the state"

            ann.provide_snapshot(make, part="drawing", channels=[draw])
            noise = b"".join(number.to_bytes(4, "little") for number in range(0, 2**32, 286_331))
            while not asked:
                await draw.send_confirmed(noise[:50_000])
            await asyncio.sleep(0)
            await draw.send_confirmed("after")
            channels = {"draw": groupwire.transaction()}
            while True:
                async with groupwire.connect(server.url, room_name, channels=channels) as bob:
                    events = bob.events()
                    await bob.synced()
                    while events._items:
                        event = await events.next(1)
                        if isinstance(event, groupwire.Snapshot):
                            assert event.part == "drawing" and event.data == b"the state"
                            return

    run(work())


def test_a_channel_closes_and_opens_again(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")
            chat.send("last")
            await chat.close()
            assert [message.data async for message in chat] == ["last"]
            with pytest.raises(groupwire.GroupwireError) as caught:
                chat.send("too late")
            assert caught.value.code == "not-allowed"
            again = room.channel("chat")
            await again.send_confirmed("again")

    run(work())


def test_stats_and_pages(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as ann, groupwire.connect(
            server.url, room_name
        ) as bob:
            await ann.channel("chat").send_confirmed("hello")
            stats = ann.stats()
            assert stats["messages_out"] == 1 and stats["bytes_out_before"] == 5
            page = await ann.page()
            assert [one.id for one in page.participants] == [bob.id] and page.last

    run(work())
