"""Servers and networks for tests of applications, in simulated time and in real time.
docs/python.md describes them."""

from ._network import Network
from ._server import Server
from ._simulation import Direction, SimulatedNetwork, simulate

__all__ = ["Direction", "Network", "Server", "SimulatedNetwork", "simulate"]
