"""How many transactions a second the package carries from one room to another, and the processor
time of each: throughput.py URL MESSAGES. scripts/bench-clients.mjs compares with other languages."""

from __future__ import annotations

import asyncio
import os
import sys
import time

import groupwire


async def measure(url: str, count: int) -> tuple[float, float, float]:
    """Returns messages per second, and seconds of processor time and bytes for each."""
    name = f"throughput {os.getpid()}"
    async with groupwire.connect(url, name) as sender, groupwire.connect(url, name) as receiver:
        data, received = sender.channel("data"), receiver.channel("data")
        start, cpu = time.perf_counter(), time.process_time()

        async def send() -> None:
            for number in range(count):
                text = f'{{"number":{number:8},"text":"{"a value":64}"}}'
                while data.send(text) == "not-now":
                    await sender.drained()

        sending = asyncio.create_task(send())
        seen = 0
        async for _ in received:
            seen += 1
            if seen == count:
                break
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        await sending
        return count / seconds, cpu / count, sender.stats()["bytes_out_after"] / count


if __name__ == "__main__":
    rate, cost, size = asyncio.run(measure(sys.argv[1], int(sys.argv[2])))
    print(f"{rate:.0f} messages/s, {cost * 1e6:.2f} us of processor time and {size:.2f} bytes each")
