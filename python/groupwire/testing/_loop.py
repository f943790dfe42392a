"""An event loop in simulated time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, Callable, Optional, TypeVar

from .._native import NativeSimulation

T = TypeVar("T")

# Simulated seconds: if no timer is set and no room has an event for so long, none will come.
PATIENCE = 3600.0

# Real seconds that the loop waits for a job of an executor.
JOB_S = 60.0


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose time goes on only when the program has nothing to do. It never waits for real
    time, except while jobs of ``run_in_executor`` run: then simulated time stands still."""

    def __init__(self, native: NativeSimulation, limit: float) -> None:
        self._native = native
        self._limit = limit
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
        if self.time() > self._limit:
            raise RuntimeError(
                f"the test has taken {self._limit:g} simulated seconds, which is its limit"
            )
        return self._native.advance(seconds)

    def _ended(self, _job: object) -> None:
        self.jobs -= 1


class SimulatedSelector(selectors.DefaultSelector):
    """Lets simulated time pass where others wait."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._simulated = loop

    def select(self, timeout: Optional[float] = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._simulated.jobs > 0:
            return self._wait_for_jobs()
        told = self._simulated.pass_time(PATIENCE if timeout is None else timeout)
        ready = super().select(0)
        if timeout is None and not told and not ready:
            raise RuntimeError(
                "the program waits for something that does not come: an hour of simulated time "
                "has passed without an event"
            )
        return ready

    def _wait_for_jobs(self) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(JOB_S)
        if not ready:
            raise RuntimeError(
                f"a job of run_in_executor has not ended within {JOB_S:g} real seconds; until it "
                "does, simulated time and rooms stand still, so it must not wait for them"
            )
        return ready


def run(loop: SimulatedLoop, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Does what ``asyncio.run`` does, in this loop, and closes it."""
    asyncio.set_event_loop(loop)
    try:
        coroutine = work()
        if not asyncio.iscoroutine(coroutine):
            kind = type(coroutine).__name__
            raise TypeError(f"work must be an async function, not one that returns {kind}")
        return loop.run_until_complete(coroutine)
    finally:
        try:
            cancel_all(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
            # The thread that ends the executor is no job, and time must stand still for it, too.
            loop.jobs += 1
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancels the tasks that are left, and reports what they raise."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    for task in tasks:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            message = "a task has failed while it was cancelled at the end of the test"
            loop.call_exception_handler({"message": message, "exception": error, "task": task})
