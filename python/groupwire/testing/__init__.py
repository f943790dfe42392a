"""A server, and networks that fail, for tests of applications. docs/python.md describes it."""

from ._network import Network
from ._server import Server

__all__ = ["Network", "Server"]
