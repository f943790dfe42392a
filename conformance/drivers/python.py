"""Plays a participant with the Python package. conformance/README.md has the commands."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any, AsyncIterator, Callable, Optional

import groupwire

# The longest command: a message above its limit, and more.
LONGEST_LINE = 32 << 20

# The word of the argument errors that are Python's own.
INVALID = "invalid-argument"


class Driver:
    """A participant and what it has seen."""

    def __init__(self) -> None:
        self.room: Any = None
        self.data: Any = None
        self.channels: dict[str, groupwire.Channel] = {}
        self.log: list[dict[str, Any]] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.new_token: Optional[asyncio.Future[str]] = None

    async def run(self, command: dict[str, Any]) -> dict[str, Any]:
        try:
            name = command.pop("do")
            if name in CHANGES:
                CHANGES[name](self.data, **command)
                return {}
            answer = await getattr(self, "on_" + name)(**command)
            return answer or {}
        except groupwire.GroupwireError as error:
            return {"error": error.code, "text": str(error)}
        except (TypeError, ValueError) as error:
            return {"error": INVALID, "text": str(error)}

    async def on_hello(self) -> dict[str, Any]:
        return {"language": "Python", "can": ["shared"]}

    async def on_join(
        self, url: str, room: str, token: str = "", presence: str = "", renews: bool = False
    ) -> dict[str, Any]:
        given = False

        async def tokens() -> str:
            nonlocal given
            if not given:
                given = True
                return token
            self.log.append({"event": "token"})
            self.new_token = asyncio.get_running_loop().create_future()
            return await self.new_token

        shown = json.loads(presence) if presence else None
        joining = groupwire.connect(
            url, room, token=tokens if renews else token, presence=shown, timeout=None
        )
        self.room = await joining
        self.start(self.watch(self.room.events()))
        return {"id": self.room.id}

    async def on_open(self, channel: str, kind: str = "transaction") -> None:
        qos = groupwire.awareness() if kind == "awareness" else groupwire.transaction()
        opened = self.room.channel(channel, qos)
        if channel in self.channels:
            return
        self.channels[channel] = opened
        self.start(self.read("message", channel, opened.messages))
        self.start(self.read("direct", channel, opened.direct))

    async def on_send(self, channel: str, text: str, key: Optional[str] = None) -> dict[str, Any]:
        return {"sent": self.channels[channel].send(text, key=key)}

    async def on_sendTo(self, channel: str, to: int, text: str) -> dict[str, Any]:
        return {"outcome": await self.channels[channel].send_to(to, text)}

    async def on_confirm(self) -> None:
        await self.room.confirmed()

    async def on_presence(self, presence: str) -> None:
        self.room.set_presence(json.loads(presence))

    async def on_token(self, token: str) -> None:
        if self.new_token is None:
            self.room.set_token(token)
        else:
            self.new_token.set_result(token)
            self.new_token = None

    async def on_state(self) -> dict[str, Any]:
        room = self.room
        people = [
            {"id": one.id, "away": one.away, "presence": one.presence_bytes.decode()}
            for one in room.participants.values()
        ]
        return {"id": room.id, "status": room.status, "pending": room.pending, "people": people}

    async def on_events(self) -> dict[str, Any]:
        events, self.log = self.log, []
        return {"events": events}

    async def on_share(self) -> None:
        self.data = self.room.shared()

    async def on_data(self) -> dict[str, Any]:
        data = self.data
        return {
            "shapes": data.map("shapes").value,
            "texts": data.list("texts").value,
            "likes": data.counter("likes").value,
            "holder": data.lock("pen").holder or 0,
            "isMine": data.lock("pen").is_mine,
            "turns": data.turns("game").participants,
            "pending": data.pending,
        }

    async def on_leave(self) -> None:
        await self.room.close()

    def start(self, work: Any) -> None:
        self.tasks.append(asyncio.create_task(work))

    async def watch(self, events: AsyncIterator[groupwire.Event]) -> None:
        async for event in events:
            if isinstance(event, groupwire.StatusChanged):
                self.log.append({"event": "status", "status": event.status})
            elif isinstance(event, groupwire.Gap):
                self.log.append({"event": "gap", "reason": event.reason})
            elif isinstance(event, groupwire.Failed):
                self.log.append({"event": "error", "code": event.error.code})

    async def read(
        self, event: str, channel: str, messages: AsyncIterator[groupwire.Message]
    ) -> None:
        async for message in messages:
            noted = {
                "event": event,
                "channel": channel,
                "text": message.data,
                "sender": message.sender,
                "own": message.own,
                "state": message.state,
            }
            if message.key is not None:
                noted["key"] = message.key.decode()
            self.log.append(noted)


def group(data: groupwire.Shared, key: str, value: str, by: int) -> None:
    with data.batch():
        data.map("shapes")[key] = json.loads(value)
        data.counter("likes").add(by)


def item(data: groupwire.Shared, at: int) -> str:
    return data.list("texts").ids[at]


# The changes of shared data, by the names of their commands.
CHANGES: dict[str, Callable[..., Any]] = {
    "put": lambda data, key, value: data.map("shapes").update({key: json.loads(value)}),
    "patch": lambda data, key, value: data.map("shapes").patch(key, json.loads(value)),
    "remove": lambda data, key: data.map("shapes").pop(key),
    "push": lambda data, value: data.list("texts").append(json.loads(value)),
    "insert": lambda data, at, value: data.list("texts").insert(at, json.loads(value)),
    "change": lambda data, at, value: data.list("texts").set(item(data, at), json.loads(value)),
    "move": lambda data, at, place: data.list("texts").move(item(data, at), place),
    "delete": lambda data, at: data.list("texts").delete(item(data, at)),
    "add": lambda data, by: data.counter("likes").add(by),
    "group": group,
    "undo": lambda data: data.undo(),
    "redo": lambda data: data.redo(),
    "acquire": lambda data: data.lock("pen").acquire(),
    "release": lambda data: data.lock("pen").release(),
    "joinTurns": lambda data: data.turns("game").join(),
    "leaveTurns": lambda data: data.turns("game").leave(),
    "nextTurn": lambda data: data.turns("game").next(),
}


async def main() -> None:
    logging.getLogger("groupwire").setLevel(logging.CRITICAL)
    driver, loop = Driver(), asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await driver.run(json.loads(line))), flush=True)


asyncio.run(main())
