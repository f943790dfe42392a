"""Shared data of a room: maps, lists, counters, locks and turns that are the same for all."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generator, Literal, Optional, Sequence, Union

from ._kinds import Counter, Lock, SharedList, SharedMap, Turns
from ._streams import EVENT_BYTES, Stream, Streams

if TYPE_CHECKING:
    from ._native import NativeShared
    from ._room import Room

SharedKind = Literal["cells", "counter", "reducer", "lock", "turns"]
SharedLoss = Literal["history", "restart", "snapshot"]


@dataclass(frozen=True)
class Change:
    """Shared data of one name that may have changed, by this participant, too."""

    #: ``"cells"`` is a map or a list.
    kind: SharedKind
    name: str
    #: The keys of a map, or the ids of a list's items; otherwise empty.
    keys: tuple[str, ...]


@dataclass(frozen=True)
class SharedChanged:
    """Shared data may have changed, or its ``pending``, ``complete`` or ``restoring``."""

    #: Empty if only the state has changed.
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class SharedLost:
    """This program does not have all of the shared data.

    ``history``: operations are missing that the room no longer has; join the room anew.
    ``restart``: the server has lost the room, and this program came back too late to restore it.
    ``snapshot``: a snapshot is malformed.
    """

    why: SharedLoss


SharedEvent = Union[SharedChanged, SharedLost]


class Shared:
    """Shared data; ``room.shared`` opens it. A change shows at once, and the room's one order
    decides (docs/shared.md). Values are JSON: what reading returns is a copy, so change a value by
    setting it. After the room is closed, every function raises ``ClosedError``.
    """

    def __init__(self, room: Room, native: NativeShared, name: str) -> None:
        self._room = room
        # None after the end, so that the native room does not outlive this package's.
        self._native: Optional[NativeShared] = native
        self._changes: Streams[SharedEvent] = Streams(room, f"the changes of {name!r}")
        self._batches = 0
        self.name = name

    def __repr__(self) -> str:
        return f"<Shared {self.name!r} of {self._room!r}>"

    # The kinds.

    def map(self, name: str) -> SharedMap:
        """A map from texts to JSON values."""
        return SharedMap(self, name)

    def list(self, name: str) -> SharedList:
        """A list of JSON values. Items keep their id when they are moved or changed."""
        return SharedList(self, name)

    def counter(self, name: str) -> Counter:
        """A whole number to which everybody adds."""
        return Counter(self, name)

    def lock(self, name: str) -> Lock:
        """A lock, which one participant at a time holds."""
        return Lock(self, name)

    def turns(self, name: str) -> Turns:
        """Participants that take turns."""
        return Turns(self, name)

    # Groups of changes, undo.

    @contextmanager
    def batch(self) -> Generator[None, None, None]:
        """Makes one operation of all changes in the ``with`` block: others see all of it or
        nothing, and it is undone as a whole. If the block raises, it is taken back. Do not await in
        it: nothing arrives meanwhile. A batch within another one is a part of it."""
        native = self._open()
        if self._batches == 0:
            native.begin_batch()
        self._batches += 1
        try:
            yield
        except BaseException:
            self._batches -= 1
            if self._batches == 0 and self._native is not None:
                native.abort_batch()
            raise
        self._batches -= 1
        if self._batches == 0:
            self._open().end_batch()

    def undo(self) -> bool:
        """Undoes the last own operation that others have not overwritten. Returns False if there is
        none."""
        return self._open().undo()

    def redo(self) -> bool:
        """Does again what ``undo`` has undone. Returns False if there is nothing."""
        return self._open().redo()

    # The state.

    @property
    def can_undo(self) -> bool:
        return self._open().state()[4]

    @property
    def can_redo(self) -> bool:
        return self._open().state()[5]

    @property
    def pending(self) -> int:
        """How many own operations the room has not ordered. They are applied already."""
        return self._open().state()[1]

    @property
    def complete(self) -> bool:
        """False if something is missing: see ``SharedLost``."""
        return self._open().state()[2]

    @property
    def restoring(self) -> bool:
        """True after the server has lost the room, until the room has all of the state again."""
        return self._open().state()[3]

    @property
    def author(self) -> str:
        """The id of this program among the authors of operations."""
        return self._open().state()[0]

    def changes(self) -> Stream[SharedEvent]:
        """What changes from now on, for ``async for``."""
        return self._changes.open()

    def __aiter__(self) -> Stream[SharedEvent]:
        return self.changes()

    # What the room calls.

    def _on_changed(self, news: Sequence[tuple[SharedKind, str, Sequence[str]]]) -> None:
        changes = tuple(Change(kind, name, tuple(keys)) for kind, name, keys in news)
        size = EVENT_BYTES * (1 + sum(1 + len(change.keys) for change in changes))
        self._changes.put(SharedChanged(changes), size)

    def _on_lost(self, why: SharedLoss) -> None:
        if not self._changes.put(SharedLost(why), EVENT_BYTES):
            self._room._warn(f"the shared data {self.name!r} is incomplete: {why}")

    def _on_closed(self) -> None:
        self._native = None
        self._changes.end()

    def _holds_back(self) -> bool:
        return self._changes.holds_back()

    def _open(self) -> NativeShared:
        native = self._native
        if native is None:
            raise self._room._why_closed()
        return native
