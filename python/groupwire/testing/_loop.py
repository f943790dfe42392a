"""An event loop in simulated time."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any, Callable, Optional

from .._native import NativeSimulation

# Seconds: with all timers of the program this far away and nothing in the rooms that it is told of,
# the program waits for what does not come.
PATIENCE = 3600.0


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose time goes on only when the program has nothing to do. It never waits for real
    time, except while jobs of ``run_in_executor`` run: then simulated time stands still."""

    def __init__(self, native: NativeSimulation) -> None:
        self._native = native
        self.jobs = 0
        super().__init__(SimulatedSelector(self))

    def time(self) -> float:
        return self._native.now()

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        job = super().run_in_executor(executor, func, *args)
        self.jobs += 1
        job.add_done_callback(self._ended)
        return job

    def pass_time(self, seconds: float) -> bool:
        """Goes on by at most these seconds, or until a room has events: then returns True."""
        return self._native.advance(seconds)

    def _ended(self, _job: object) -> None:
        self.jobs -= 1


class SimulatedSelector(selectors.DefaultSelector):
    """Lets simulated time pass where others wait."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._simulated = loop

    def select(
        self, timeout: Optional[float] = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._simulated.jobs > 0:
            return super().select(None)
        told = self._simulated.pass_time(PATIENCE if timeout is None else timeout)
        ready = super().select(0)
        if timeout is None and not told and not ready:
            raise RuntimeError(
                "the program waits for something that does not come: an hour of simulated time "
                "has passed without an event"
            )
        return ready


def run(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    """Does what ``asyncio.run`` does, in this loop, and closes it."""
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(work)
    finally:
        try:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            asyncio.set_event_loop(None)
            loop.close()
