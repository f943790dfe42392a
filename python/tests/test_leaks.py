"""A process that opens and closes rooms keeps no descriptors, threads and memory of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest
from groupwire.testing import Server

# The number of rooms that are opened after the warm-up: GROUPWIRE_LEAK_ROOMS=100000 takes some
# minutes.
ROOMS = int(os.environ.get("GROUPWIRE_LEAK_ROOMS", "300"))

# The bytes by which what is allocated may grow with any number of rooms, and Python's part of it.
ALLOCATED = 512 << 10
TRACED = 128 << 10
# The same of the memory of the process, in which freed pieces stand between used ones. docs/python.md
# says how much there is after many rooms.
RESIDENT = 24 << 20

PROGRAM = Path(__file__).with_name("leaks.py")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_opening_and_closing_rooms_leaks_nothing(own_server: Callable[..., Server]) -> None:
    server = own_server("--max-handshakes-per-address", "0", "--tick", "0", "--log", "error")
    environment = {**os.environ, "PYTHONDEVMODE": ""}
    command = [sys.executable, str(PROGRAM), server.url, str(ROOMS)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, f"ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}"
    print(ROOMS, "rooms:", ran.stdout)
    measured = json.loads(ran.stdout)
    before, after = measured["before"], measured["after"]
    assert after["descriptors"] <= before["descriptors"] + 2
    assert after["threads"] <= before["threads"] + 4
    assert after["traced"] - before["traced"] < TRACED
    if before["allocated"] is not None:
        assert after["allocated"] - before["allocated"] < ALLOCATED
    assert after["resident"] - before["resident"] < RESIDENT
