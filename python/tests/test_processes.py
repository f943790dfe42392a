"""Threads, forks, the end of the interpreter: each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import groupwire
import pytest
from conftest import PATIENCE, run
from groupwire.testing import Server


def python(program: str, *arguments: str) -> str:
    """Runs a program in another interpreter; one that hangs or crashes fails the test."""
    # In this folder Python would take the checkout, which has no native part.
    command = [sys.executable, "-X", "dev", "-c", program, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd="/")
    assert ran.returncode == 0, f"ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def test_sending_from_other_threads(server: Server, room_name: str) -> None:
    async def work() -> None:
        async with groupwire.connect(server.url, room_name) as room:
            chat = room.channel("chat")

            def send(thread: int) -> None:
                for number in range(200):
                    chat.send(f"{thread} {number}")

            threads = [threading.Thread(target=send, args=(thread,)) for thread in range(4)]
            for thread in threads:
                thread.start()
            seen: list[list[str]] = [[], [], [], []]
            for _ in range(800):
                data = (await chat.messages.next(30)).data
                assert isinstance(data, str)
                seen[int(data.split()[0])].append(data)
            for number, texts in enumerate(seen):
                assert texts == [f"{number} {text}" for text in range(200)]

    run(work())


def test_rooms_of_loops_in_several_threads(server: Server, room_name: str) -> None:
    outcomes: list[Any] = []

    async def work(name: str) -> None:
        async with groupwire.connect(server.url, room_name) as room:
            await room.channel("chat").send_confirmed(name)
            outcomes.append(name)

    threads = [threading.Thread(target=run, args=(work(str(one)),)) for one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["0", "1", "2", "3"]


FORK = """
import asyncio, os, sys, groupwire
url, name = sys.argv[1:]

async def child_work():
    async with groupwire.connect(url, name) as room:
        await room.channel("chat").send_confirmed("child")

async def work():
    room = await groupwire.connect(url, name)
    chat = room.channel("chat")
    await chat.send_confirmed("before")
    child = os.fork()
    if child == 0:
        try:
            for call in (lambda: chat.send("x"), lambda: room.pending, room.stats):
                try:
                    call()
                    os._exit(3)
                except groupwire.ClosedError as error:
                    if error.code != "forked":
                        os._exit(4)
            # Dropped here, it must neither wait for a lock nor leave the parent's room.
            del room, chat
            import gc, threading
            gc.collect()
            outcome = []
            thread = threading.Thread(target=lambda: outcome.append(asyncio.run(child_work())))
            thread.start()
            thread.join(30)
            os._exit(0 if outcome == [None] else 5)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(6)
    while True:
        message = await chat.messages.next(30)
        if message.data == "child":
            break
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
    await chat.send_confirmed("the parent goes on")
    await room.close()

asyncio.run(work())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_gets_an_error_and_can_connect_itself(
    server: Server, room_name: str
) -> None:
    python(FORK, server.url, room_name)


EXITS = {
    "an open room": "",
    "an exit in a task": "sys.exit(0)",
    "a reader that waits": "task = asyncio.ensure_future(chat.messages.next()); await asyncio.sleep(0)",
    "a thread that sends": """
import threading
def send():
    while True:
        try:
            chat.send('x')
        except groupwire.GroupwireError:
            return
threading.Thread(target=send, daemon=True).start()
await asyncio.sleep(0.05)""",
    "a garbage cycle": "keep = [room]; keep.append(keep)",
    "a Yjs document": """
from groupwire.yjs import Provider
from pycrdt import Awareness, Doc, Text
doc = Doc()
provider = Provider(room, doc, awareness=Awareness(doc))
doc.get('text', type=Text).insert(0, 'hello')""",
    "a loop in another thread": """
import threading
async def other():
    global second
    second = await groupwire.connect(url, name)
    connected.set()
    await second.channel('chat').messages.next()
    await asyncio.Event().wait()
connected = threading.Event()
threading.Thread(target=lambda: asyncio.run(other()), daemon=True).start()
connected.wait()""",
    "an interrupt": """
import os, signal
asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
try:
    await asyncio.sleep(60)
except asyncio.CancelledError:
    pass""",
    "a room that a hook at the exit uses": """
import atexit
atexit.register(lambda: chat.send('bye'))
atexit.register(lambda: print(room.pending))""",
    "an unfinished connect": "task = asyncio.ensure_future(connecting()); await asyncio.sleep(0.01)",
}

EXIT = """
import asyncio, sys, groupwire
url, name = sys.argv[1:]
async def connecting():
    await groupwire.connect("ws://127.0.0.1:1", name, timeout=None)
async def work():
    global room, chat, task
    room = await groupwire.connect(url, name)
    chat = room.channel("chat")
    chat.send("hello")
{body}
asyncio.run(work())
print("ended")
"""


@pytest.mark.parametrize("what", list(EXITS))
def test_the_interpreter_ends_with(server: Server, room_name: str, what: str) -> None:
    body = "\n".join(f"    {line}" for line in EXITS[what].splitlines())
    printed = python(EXIT.format(body=body), server.url, room_name)
    assert "ended" in printed or "sys.exit" in EXITS[what]


# The child ends as a program does, not by os._exit: the interpreter finalises the parent's rooms.
FORK_AND_END = """
import asyncio, os, sys, groupwire
url, name = sys.argv[1:]

async def work():
    global room
    room = await groupwire.connect(url, name)
    await room.channel("chat").send_confirmed("before")

loop = asyncio.new_event_loop()
loop.run_until_complete(work())
child = os.fork()
if child == 0:
    sys.exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status

async def rest():
    await room.channel("chat").send_confirmed("the parent goes on")
    await room.close()

loop.run_until_complete(rest())
loop.close()
"""

POOL = """
import asyncio, multiprocessing, sys, groupwire

async def join(url, name):
    async with groupwire.connect(url, name) as room:
        await room.channel("chat").send_confirmed("hello")
        return room.id

def task(arguments):
    return asyncio.run(join(*arguments))

if __name__ == "__main__":
    url, name = sys.argv[1:]
    assert task((url, name)) > 0
    with multiprocessing.get_context("fork").Pool(3) as pool:
        ids = pool.map(task, [(url, name)] * 9)
    assert len(set(ids)) == 9, ids
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("program", [FORK_AND_END, POOL], ids=["a child", "a pool"])
def test_forked_processes_end(server: Server, room_name: str, program: str) -> None:
    python(program, server.url, room_name)
