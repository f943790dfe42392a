"""Fixtures of pytest for applications. pytest finds them by itself when groupwire is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

# The fixtures import `groupwire.testing` themselves, so that tests without them do not load it.
if TYPE_CHECKING:
    from .testing import Network, Server


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("groupwire")
    group.addoption(
        "--groupwire-seed", type=int, default=None, help="the first seed of groupwire_simulate"
    )
    group.addoption(
        "--groupwire-seeds", type=int, default=1, help="how many seeds groupwire_simulate runs"
    )


@pytest.fixture(scope="session")
def groupwire_options() -> Sequence[str]:
    """The options of ``groupwire serve``: override it to change them."""
    return ()


@pytest.fixture(scope="session")
def groupwire_server(groupwire_options: Sequence[str]) -> Iterator[Server]:
    """A running server, the same for all tests: see ``groupwire.testing.Server``."""
    from .testing import Server

    with Server(*groupwire_options) as server:
        yield server


@pytest.fixture
def groupwire_network(groupwire_server: Server) -> Network:
    """Participants over networks that fail, for ``async with``: see ``groupwire.testing.Network``."""
    from .testing import Network

    return Network(groupwire_server)


@pytest.fixture
def groupwire_simulate(pytestconfig: pytest.Config) -> Any:
    """Runs a test in simulated time: ``groupwire.testing.simulate``, once for each of the seeds that
    the options of pytest name. With ``seed=`` it runs that one. Returns what the last run returns."""
    from .testing import simulate
    from .testing._simulation import first_seed

    option: Any = pytestconfig.getoption
    named, count = option("--groupwire-seed"), option("--groupwire-seeds")

    def run(work: Any, **options: Any) -> Any:
        if "seed" in options:
            return simulate(work, **options)
        result: Any = None
        first: int = first_seed() if named is None else named
        for seed in range(first, first + max(1, count)):
            result = simulate(work, seed=seed, **options)
        return result

    return run
