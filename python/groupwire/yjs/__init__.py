"""Yjs documents in rooms, with pycrdt: ``pip install 'groupwire[yjs]'``.

The bytes are those of the npm package ``groupwire-yjs``, so programs in Python and in JavaScript
edit the same document. docs/yjs.md describes what travels.
"""

from importlib.util import find_spec

if find_spec("pycrdt") is None:
    raise ImportError("groupwire.yjs needs pycrdt: pip install 'groupwire[yjs]'", name="pycrdt")

from ._provider import Provider

__all__ = ["Provider"]
