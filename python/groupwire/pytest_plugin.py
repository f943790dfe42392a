"""Fixtures of pytest for applications. pytest finds them by itself when groupwire is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

# The fixtures import `groupwire.testing` themselves, so that tests without them do not load it.
if TYPE_CHECKING:
    from .testing import Network, Server


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
