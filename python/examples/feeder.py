"""Feeds a dashboard: streams values of sensors into a room, until it is stopped.

    python feeder.py ws://127.0.0.1:8080 plant --sensors 20

Values are awareness: only the newest of each sensor counts, so a slow dashboard is never behind.
Alarms are transactions: every dashboard gets each, once and in order, also one that joins later.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import time

import groupwire


async def feed(url: str, room_name: str, sensors: int, rate: float, seconds: float) -> int:
    """Streams values for some seconds; returns how many were sent."""
    presence = {"name": "feeder", "sensors": sensors}
    async with groupwire.connect(url, room_name, presence=presence) as room:
        qos = groupwire.awareness(max_rate=rate, deadline=1.0)
        values = room.channel("values", qos)
        alarms = room.channel("alarms")
        watching = asyncio.create_task(report(room))
        end = time.monotonic() + seconds
        sent = 0
        hot = [False] * sensors
        while time.monotonic() < end:
            for sensor in range(sensors):
                value = reading(sensor)
                values.send_json({"value": round(value, 2)}, key=f"sensor {sensor}")
                sent += 1
                if (value > 28) != hot[sensor]:
                    hot[sensor] = not hot[sensor]
                    alarms.send_json({"sensor": sensor, "hot": hot[sensor], "value": value})
            await asyncio.sleep(1 / rate)
        # "async with" waits for the confirmation of the alarms before it leaves.
        watching.cancel()
        return sent


def reading(sensor: int) -> float:
    """A temperature that goes up and down."""
    return 20 + 10 * math.sin(time.monotonic() / 3 + sensor) + random.gauss(0, 0.2)


async def report(room: groupwire.Room) -> None:
    """Prints what happens to the room."""
    async for event in room.events():
        if isinstance(event, groupwire.StatusChanged):
            print(f"room {room.name}: {event.status}")
        elif isinstance(event, groupwire.ParticipantChanged):
            print(f"participant {event.participant.id} {event.change}")
        elif isinstance(event, (groupwire.Failed, groupwire.Gap)):
            print(event)


def main() -> None:
    parser = argparse.ArgumentParser(description="Streams values of sensors into a room.")
    parser.add_argument("url")
    parser.add_argument("room")
    parser.add_argument("--sensors", type=int, default=10)
    parser.add_argument("--rate", type=float, default=5.0, help="values per second of each sensor")
    parser.add_argument("--seconds", type=float, default=math.inf)
    options = parser.parse_args()
    try:
        asyncio.run(feed(options.url, options.room, options.sensors, options.rate, options.seconds))
    except KeyboardInterrupt:
        pass
    except groupwire.GroupwireError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
