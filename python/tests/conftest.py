"""Real servers for the tests: ``GROUPWIRE_BINARY`` is their program."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import subprocess
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

import asyncio
import groupwire
import pytest
from groupwire.testing import Server

# As pytest does by itself where the package is installed from a wheel.
pytest_plugins = ["groupwire.pytest_plugin", "pytester"]

T = TypeVar("T")

# A time that no test reaches: a machine under load takes long.
PATIENCE = 60.0

DEFAULTS = groupwire.connect.__kwdefaults__
assert DEFAULTS is not None
DEFAULTS["timeout"] = PATIENCE


@pytest.fixture(scope="session")
def server(groupwire_server: Server) -> Server:
    """A server for all tests: the fixture of the package itself."""
    return groupwire_server


@pytest.fixture
def own_server() -> Iterator[Callable[..., Server]]:
    """Starts servers with options of their own."""
    started: list[Server] = []

    def start(*options: str) -> Server:
        started.append(Server(*options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def room_name(request: pytest.FixtureRequest) -> str:
    """A room that no other test has."""
    return str(request.node.name)


class Tokens:
    """Makes JSON web tokens that a server accepts."""

    def __init__(self, folder: Path) -> None:
        keys = folder / "keys.json"
        command = [os.environ["GROUPWIRE_BINARY"], "token", "--keys", str(keys), "--sub", "x"]
        subprocess.run([*command, "--room", "*"], check=True, stdout=subprocess.DEVNULL)
        self._key = json.loads(keys.read_text())["keys"][0]
        self.options = ["--jwt-keys", str(keys), "--jwt-issuer", "test", "--jwt-audience", "test"]

    def make(self, sub: str = "ann", seconds: float = 3600, **rights: list[str]) -> str:
        header: dict[str, Any] = {"alg": "HS256", "typ": "JWT"}
        if "kid" in self._key:
            header["kid"] = self._key["kid"]
        claims = {"iss": "test", "aud": "test", "sub": sub, "exp": time.time() + seconds}
        body = {**claims, "groupwire": {"rooms": ["*"], **rights}}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, body))
        secret = base64.urlsafe_b64decode(self._key["k"] + "==")
        return f"{text}.{encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path)


def run(work: Coroutine[Any, Any, T], seconds: Optional[float] = PATIENCE) -> T:
    """Runs a test's coroutine; one that hangs fails."""

    async def limited() -> T:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run(limited())
