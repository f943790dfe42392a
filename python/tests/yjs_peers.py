"""Participants for the tests of documents: in Python with pycrdt, and in Node with Yjs."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Callable

import groupwire
from conftest import PATIENCE
from groupwire.yjs import Provider
from pycrdt import Awareness, Doc, Map, Text

NODE = Path(__file__).with_name("yjs_participant.mjs")


class Node:
    """A participant with groupwire-yjs in Node."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def do(self, what: str, **arguments: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"do": what, **arguments}).encode() + b"\n")
        answer = json.loads(await self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer


@asynccontextmanager
async def node(url: str, name: str) -> AsyncGenerator[Node, None]:
    program = os.environ.get("NODE", "node")
    arguments = ["--experimental-websocket", "--no-warnings", str(NODE)]
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(program, *arguments, limit=1 << 26, **pipes)
    try:
        participant = Node(process)
        await participant.do("join", url=url, name=name)
        yield participant
    finally:
        process.kill()
        await process.wait()


class Editor:
    """A participant in Python."""

    def __init__(self, room: groupwire.Room, doc: Any = None) -> None:
        self.room = room
        self.doc: Doc[Any] = doc or Doc()
        self.text = self.doc.get("text", type=Text)
        self.map = self.doc.get("map", type=Map)
        self.awareness = Awareness(self.doc)
        self.provider = Provider(room, self.doc, awareness=self.awareness)

    def edit(self, chance: random.Random, mark: str) -> None:
        text = str(self.text)
        at = chance.randrange(len(text) + 1)
        # pycrdt counts in bytes of UTF-8.
        begin, end = (len(text[:one].encode()) for one in (at, at + chance.randrange(1, 6)))
        kind = chance.randrange(5)
        if kind < 3 or begin == end:
            self.text.insert(begin, chance.choice(["a", "hello ", "é☃", "\n", mark]))
        elif kind == 3:
            del self.text[begin:end]
        else:
            self.map[f"key {chance.randrange(3)}"] = mark


async def node_edits(peer: Node, chance: random.Random, mark: str) -> None:
    kind = chance.randrange(6)
    if kind < 3:
        text = chance.choice(["b", "world ", "ü☂", "\n", mark])
        await peer.do("insert", at=chance.random(), text=text)
    elif kind == 3:
        await peer.do("delete", at=chance.random(), count=chance.randrange(1, 6))
    elif kind == 4:
        await peer.do("format", at=chance.random(), bold=chance.random() < 0.5)
    else:
        await peer.do("put", key=f"key {chance.randrange(3)}", value=mark)


def clocks(vector: bytes) -> dict[int, int]:
    """The content of a state vector: Yjs and pycrdt list clients in other orders."""
    numbers: list[int] = []
    value, shift = 0, 0
    for byte in vector:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value, shift = 0, 0
    return dict(zip(numbers[1::2], numbers[2::2]))


async def until(is_true: Callable[[], Any]) -> None:
    """Waits for a condition that messages of others make true."""

    async def wait() -> None:
        while not is_true():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait(), PATIENCE)


async def agree(peers: list[Node], editors: list[Editor]) -> Any:
    """Waits until all changes of all are saved, and all have them. Returns the state of the
    document."""

    async def wait() -> Any:
        while True:
            states = [await peer.do("state") for peer in peers]
            vectors = [base64.b64decode(state["vector"]) for state in states]
            vectors += [editor.doc.get_state() for editor in editors]
            saved = [state["isSaved"] and state["isSynced"] for state in states]
            saved += [one.provider.is_saved and one.provider.is_synced for one in editors]
            if all(saved) and all(clocks(one) == clocks(vectors[0]) for one in vectors):
                return states
            await asyncio.sleep(0.02)

    states = await asyncio.wait_for(wait(), PATIENCE)
    contents = [(state["text"], state["map"]) for state in states]
    contents += [(str(editor.text), editor.map.to_py()) for editor in editors]
    assert all(content == contents[0] for content in contents)
    return contents[0]
