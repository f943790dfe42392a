"""Wrong arguments, closed rooms, tokens, lost servers: clean exceptions, and nothing hangs."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any, Callable

import groupwire
import pytest
from conftest import Tokens, run
from groupwire.testing import Server


def test_wrong_types_are_type_errors(server: Server, room_name: str) -> None:
    with pytest.raises(TypeError):
        groupwire.connect(server.url, 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        groupwire.connect(None, "room")  # type: ignore[arg-type]

    async def work() -> None:
        with pytest.raises(TypeError):
            await groupwire.connect(server.url, room_name, token=5)  # type: ignore[arg-type]
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")
            wrong: list[Callable[[], Any]] = [
                lambda: chat.send(None),  # type: ignore[arg-type]
                lambda: chat.send({"x": 1}),  # type: ignore[arg-type]
                lambda: chat.send("x", key=1.5),  # type: ignore[arg-type]
                lambda: chat.send("x", priority="high"),  # type: ignore[arg-type]
                lambda: room.channel(7),  # type: ignore[arg-type]
                lambda: room.channel("x", "transaction"),  # type: ignore[arg-type]
                lambda: room.set_token(3),  # type: ignore[arg-type]
                lambda: room.set_presence(object()),
                lambda: room.provide_snapshot(b""),  # type: ignore[arg-type]
            ]
            for call in wrong:
                with pytest.raises(TypeError):
                    call()
            with pytest.raises(TypeError):
                await chat.send_to("bob", "x")  # type: ignore[arg-type]

    run(work())


def test_wrong_values_are_value_errors_with_our_words(server: Server, room_name: str) -> None:
    async def work() -> None:
        for url in ["", "http://x", "ws://", "nonsense", "ws://a\0b"]:
            with pytest.raises(groupwire.InvalidArgumentError) as address:
                await groupwire.connect(url, room_name)
            assert isinstance(address.value, ValueError)
            assert (address.value.code, address.value.fault) == ("invalid-argument", "own")
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")
            wrong: list[tuple[Callable[[], Any], str]] = [
                (lambda: room.channel("x", groupwire.awareness(loss=2)), "invalid-argument"),
                (lambda: room.channel("x", groupwire.Qos(loss=0.5)), "invalid-qos"),
                (lambda: room.channel("x", groupwire.Qos(speakers=1)), "invalid-qos"),
                (lambda: room.channel("x", compress="zip"), "invalid-compress"),
                (lambda: room.channel("x" * 1000), "too-large"),
                (lambda: room.set_presence("x" * 5000), "too-large"),
                (lambda: chat.send("x", priority=256), "invalid-argument"),
                (lambda: chat.send(b"x" * 70_000), "too-large"),
            ]
            for call, code in wrong:
                with pytest.raises(groupwire.GroupwireError) as caught:
                    call()
                assert caught.value.code == code and code in str(caught.value)
            with pytest.raises(groupwire.InvalidArgumentError):
                await chat.send_to(0, "x")
            with pytest.raises(UnicodeEncodeError):
                chat.send("\ud800")
            with pytest.raises(ValueError):
                room.channel("x", groupwire.transaction(deadline=0))
            with pytest.raises(ValueError):
                room.channel("x", groupwire.voice(speakers=16))

    run(work())


def test_exceptions_survive_pickling() -> None:
    error = groupwire.TokenError("expired", 19, "refused", "the token has expired")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, str(again)) == (type(error), "expired", str(error))


def test_a_closed_room_raises_and_its_readers_end(server: Server, room_name: str) -> None:
    async def work() -> None:
        room = await groupwire.connect(server.url, room_name)
        chat, events = room.channel("chat"), room.events()
        reading = asyncio.ensure_future(collect(chat))
        await asyncio.sleep(0)
        await room.close()
        await room.close()
        assert await reading == [] and room.status == "closed"
        assert isinstance([event async for event in events][-1], groupwire.StatusChanged)
        for call in (chat.send, chat.send_json):
            with pytest.raises(groupwire.ClosedError) as caught:
                call("x")
            assert isinstance(caught.value, ConnectionError) and caught.value.code == "closed"
        for waiting in (room.joined, room.drained, chat.messages.next):
            with pytest.raises(groupwire.ClosedError):
                await waiting()
        with pytest.raises(groupwire.ClosedError):
            await chat.send_to(1, "x")

    async def collect(channel: groupwire.Channel) -> list[Any]:
        return [message.data async for message in channel]

    run(work())


def test_a_server_that_is_not_there(room_name: str) -> None:
    async def work() -> None:
        with pytest.raises(groupwire.UnreachableError) as caught:
            await groupwire.connect("ws://127.0.0.1:1", room_name, timeout=3)
        assert isinstance(caught.value, ConnectionError) and "groupwire serve" in str(caught.value)

    run(work())


def test_a_cancelled_connect_leaves_nothing_behind(room_name: str) -> None:
    async def work() -> None:
        async def join() -> None:
            await groupwire.connect("ws://127.0.0.1:1", room_name, timeout=None)

        joining = asyncio.ensure_future(join())
        await asyncio.sleep(0.05)
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining

    run(work())


def test_tokens_expired_wrong_and_failing(
    own_server: Callable[..., Server], tokens: Tokens, room_name: str
) -> None:
    server = own_server(*tokens.options)

    async def work() -> None:
        with pytest.raises(groupwire.TokenError) as expired:
            await groupwire.connect(server.url, room_name, token=tokens.make(seconds=-60))
        assert expired.value.code == "expired" and isinstance(expired.value, PermissionError)
        with pytest.raises(groupwire.RefusedError) as refused:
            await groupwire.connect(server.url, room_name, token="nonsense")
        assert refused.value.code == "refused"

        def fails() -> str:
            raise KeyError("no login")

        with pytest.raises(groupwire.TokenError) as failing:
            await groupwire.connect(server.url, room_name, token=fails)
        assert failing.value.code == "token" and isinstance(failing.value.__cause__, KeyError)

    run(work())


def test_a_function_gives_new_tokens_before_the_old_one_expires(
    own_server: Callable[..., Server], tokens: Tokens, room_name: str
) -> None:
    server = own_server(*tokens.options)
    given = 0

    async def token() -> str:
        nonlocal given
        given += 1
        # The server asks for another one at half of this time.
        return tokens.make(seconds=4 if given == 1 else 3600)

    async def work() -> None:
        async with groupwire.connect(server.url, room_name, token=token) as room:
            while given < 2:
                await asyncio.sleep(0.05)
            await room.channel("chat").send_confirmed("goes on")
            assert room.status == "connected"

    run(work())


def test_a_token_function_that_fails_later_is_an_event(
    own_server: Callable[..., Server], tokens: Tokens, room_name: str
) -> None:
    server = own_server(*tokens.options)
    given = 0

    def token() -> str:
        nonlocal given
        given += 1
        if given > 1:
            raise RuntimeError("logged out")
        return tokens.make(seconds=20)

    async def work() -> None:
        async with groupwire.connect(server.url, room_name, token=token) as room:
            events = room.events()
            while True:
                event = await events.next(60)
                if isinstance(event, groupwire.Failed) and event.error.code != "silent":
                    break
            assert isinstance(event.error, groupwire.TokenError) and not event.fatal
            assert isinstance(event.error.__cause__, RuntimeError)

    run(work())


def test_rights_that_a_token_lacks_are_reported(
    own_server: Callable[..., Server], tokens: Tokens, room_name: str
) -> None:
    server = own_server(*tokens.options)

    async def work() -> None:
        writer, reader = tokens.make(), tokens.make("bob", publish=[])
        async with groupwire.connect(server.url, room_name, token=writer) as ann:
            await ann.channel("chat").send_confirmed("open")
            async with groupwire.connect(server.url, room_name, token=reader) as bob:
                chat = bob.channel("chat")
                assert (await chat.messages.next(30)).data == "open"
                with pytest.raises(groupwire.RefusedError) as caught:
                    chat.send("not mine to say")
                assert caught.value.code == "not-allowed"
                assert ann.id is not None and bob.participants[ann.id].user == "ann"

    run(work())


def test_a_restarted_server_is_a_gap(own_server: Callable[..., Server], room_name: str) -> None:
    server = own_server()

    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            chat, events = room.channel("chat"), room.events()
            await chat.send_confirmed("before")
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, server.restart)
            while not isinstance(event := await events.next(60), groupwire.Gap):
                pass
            assert event.reason == "incarnation"
            await chat.send_confirmed("after")
            assert room.stats()["reconnects"] == 1

    run(work())


def test_two_readers_of_one_channel_are_an_error(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")
            first = asyncio.ensure_future(chat.messages.next())
            await asyncio.sleep(0)
            with pytest.raises(groupwire.GroupwireError) as caught:
                await chat.messages.next()
            assert caught.value.code == "busy"
            chat.send("for the first")
            assert (await first).data == "for the first"

    run(work())


def test_a_slow_reader_holds_back_and_still_gets_confirmations(
    server: Server, room_name: str
) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as ann, groupwire.connect(
            server.url, room_name
        ) as bob:
            flood, replies = ann.channel("flood"), bob.channel("replies")
            seen = 0
            reader = bob.channel("flood").messages.__aiter__()
            await bob.channel("flood").send_confirmed("open")
            for number in range(10_000):
                while flood.send(str(number)) == "not-now":
                    await ann.drained()
            await ann.confirmed()
            async for message in reader:
                if message.sender != ann.id:
                    continue
                assert message.data == str(seen)
                seen += 1
                if seen == 1:
                    # The queue is full now; a confirmation comes behind all that waits.
                    await asyncio.sleep(0.3)
                    await replies.send_confirmed("reply")
                if seen == 10_000:
                    break

    run(work())
