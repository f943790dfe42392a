"""Opens and closes rooms, and prints the memory, descriptors and threads of its process before and
after. test_leaks.py runs this program in a process without pytest, which keeps everything that is
logged in memory."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import sys
import time
import tracemalloc
from dataclasses import asdict, dataclass

import groupwire

# Rooms that are open at a time.
AT_ONCE = 32


@dataclass
class Used:
    """What this process uses."""

    descriptors: int
    threads: int
    #: Bytes in memory, those that the C library's allocator has given out (None if it does not tell),
    #: and those that Python's allocator has.
    resident: int
    allocated: int | None
    traced: int

    @staticmethod
    def now() -> Used:
        gc.collect()
        # The C library keeps freed memory otherwise; not every one has this function.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        with open("/proc/self/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        descriptors = len(os.listdir("/proc/self/fd"))
        resident = int(lines["VmRSS"].split()[0]) << 10
        traced = tracemalloc.get_traced_memory()[0]
        return Used(descriptors, int(lines["Threads"]), resident, allocated(), traced)


class Mallinfo2(ctypes.Structure):
    """What mallinfo2 of glibc 2.33 and newer tells, for all arenas."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def allocated() -> int | None:
    """The bytes that the C library's allocator has given out."""
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return None
    mallinfo2.restype = Mallinfo2
    told = mallinfo2()
    return int(told.uordblks) + int(told.hblkhd)


class Opener:
    """Opens rooms with numbers."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._next = 0

    async def open(self, count: int) -> None:
        last = self._next + count
        await asyncio.gather(*(self._work(last) for _ in range(AT_ONCE)))

    async def _work(self, last: int) -> None:
        while self._next < last:
            number = self._next
            self._next += 1
            name = f"leaks {number % 50}"
            async with groupwire.connect(self._url, name, timeout=60) as room:
                room.set_presence({"number": number})
                await room.channel("chat").send_confirmed("hello")


async def settled(before: Used) -> Used:
    """Waits until transports that were closed have given their sockets back."""
    now = Used.now()
    for _ in range(100):
        if now.descriptors <= before.descriptors and now.threads <= before.threads:
            break
        await asyncio.sleep(0.1)
        now = Used.now()
    return now


async def main(url: str, count: int) -> None:
    opener = Opener(url)
    # The first rooms start the thread and fill caches.
    await opener.open(max(300, count // 10))
    before = await settled(Used.now())
    began = time.monotonic()
    await opener.open(count)
    seconds = time.monotonic() - began
    now = await settled(before)
    print(json.dumps({"seconds": seconds, "before": asdict(before), "after": asdict(now)}))


if __name__ == "__main__":
    tracemalloc.start()
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
