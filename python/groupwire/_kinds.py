"""The kinds of shared data."""

from __future__ import annotations

import builtins
import json
import sys
from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Optional,
    Sequence,
    overload,
)

from ._errors import exception_of

if TYPE_CHECKING:
    from ._native import NativeShared
    from ._shared import Shared

# What a difference of a counter is cut to, so that the native part refuses it, which takes 64 bits.
MOST = 1 << 62


class Kind:
    """What all kinds have."""

    def __init__(self, data: Shared, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        self._data = data
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self._data!r}>"

    @property
    def _native(self) -> NativeShared:
        return self._data._open()


class SharedMap(Kind, MutableMapping[str, Any]):
    """A map from texts to JSON values. The last operation on a key, or on a field of its value,
    counts. The order of the keys means nothing."""

    # Maps are compared as objects: two names are two maps, whatever is in them.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, key: str) -> Any:
        found = self._native.map_get(self.name, key)
        if found is None:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: str, value: Any) -> None:
        self._native.map_set(self.name, key, encoded(value))

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._native.map_delete(self.name, key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._native.map_get(self.name, key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def value(self) -> dict[str, Any]:
        """All keys and values."""
        return self._native.map_entries(self.name)

    def patch(self, key: str, fields: Mapping[str, Any], *, remove: Iterable[str] = ()) -> None:
        """Sets fields of a value that is an object, and removes others. The rest of the fields keep
        their values, or get those that somebody else sets now. Does nothing without such a value.
        """
        if isinstance(remove, str):
            raise TypeError("remove must be a collection of names, not one str")
        self._native.map_patch(self.name, key, encoded(dict(fields)), builtins.list(remove))

    def preview(self, key: str, fields: Optional[Mapping[str, Any]]) -> None:
        """Shows others an unfinished change of a value's fields, such as a drag, without an
        operation. It ends with the next operation on the key, or by None, and may be lost."""
        shown = None if fields is None else encoded(dict(fields))
        self._native.map_preview(self.name, key, shown)

    def previewed(self, key: str, default: Any = None) -> Any:
        """The value of a key with the previews of others applied."""
        found = self._native.map_previewed(self.name, key)
        return default if found is None else found[0]


class SharedList(Kind, Sequence[Any]):
    """A list of JSON values. Reading is that of any sequence; changes name an item by its id, since
    others may change what is at an index. Each reading sorts the list: read ``value`` once, not
    items in a loop."""

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    @property
    def value(self) -> list[Any]:
        """The items, in their order."""
        return self._native.list_values(self.name)

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in the same order."""
        return self._native.list_ids(self.name)

    def get(self, id: str, default: Any = None) -> Any:
        """The item with this id."""
        found = self._native.list_get(self.name, id)
        return default if found is None else found[0]

    def append(self, value: Any) -> str:
        """Adds an item at the end, and returns its id."""
        return self._native.list_insert(self.name, sys.maxsize, encoded(value))

    def insert(self, index: int, value: Any) -> str:
        """Inserts an item before the one at ``index``, as that of a list, and returns its id."""
        return self._native.list_insert(self.name, self._place(index), encoded(value))

    def set(self, id: str, value: Any) -> None:
        """Replaces the item with this id. Does nothing if there is none."""
        self._native.list_set(self.name, id, encoded(value))

    def move(self, id: str, index: int) -> None:
        """Moves an item, so that it has this index afterwards. Does nothing if there is none with
        this id."""
        self._native.list_move(self.name, id, self._place(index))

    def delete(self, id: str) -> None:
        """Removes the item with this id, if there is one."""
        self._native.list_delete(self.name, id)

    def _place(self, index: int) -> int:
        return min(index if index >= 0 else max(0, len(self) + index), sys.maxsize)


class Counter(Kind):
    """A whole number between -2^53 and 2^53 to which everybody adds."""

    @property
    def value(self) -> int:
        return self._native.counter_value(self.name)

    def __int__(self) -> int:
        return self.value

    def add(self, difference: int = 1) -> None:
        """Adds a whole number. Has no effect if the sum would be beyond 2^53."""
        if not isinstance(difference, int) or isinstance(difference, bool):
            kind = type(difference).__name__
            raise TypeError(f"difference must be an int, not {kind}: count in the smallest unit")
        self._native.counter_add(self.name, max(-MOST, min(difference, MOST)))


class Lock(Kind):
    """A lock. The first participant to acquire it, in the room's order, holds it until it releases
    it or leaves for good. ``async with`` waits for it; it excludes participants, not tasks of one."""

    @property
    def holder(self) -> Optional[int]:
        """The participant that holds it."""
        return self._native.lock_holder(self.name)

    @property
    def is_mine(self) -> bool:
        """True if this participant holds it, as far as it knows: check ``room.status``, too."""
        holder = self.holder
        return holder is not None and holder == self._data._room.id

    def acquire(self) -> None:
        """Asks for the lock, without waiting. If somebody else holds it, that has no effect."""
        self._native.lock_acquire(self.name)

    def release(self) -> None:
        """Releases the lock, if this participant holds it."""
        self._native.lock_release(self.name)

    async def __aenter__(self) -> Lock:
        room = self._data._room
        try:
            while not self.is_mine:
                self.acquire()
                await room.confirmed()
                # Whether it is free: another participant may have been first.
                await room._until(lambda: self.is_mine or self.holder is None)
        except BaseException:
            if self._data._native is not None:
                self.release()
            raise
        return self

    async def __aexit__(self, _kind: Any, _error: Any, _trace: Any) -> None:
        if self._data._native is not None:
            self.release()


class Turns(Kind):
    """Participants that take turns: it is the first one's turn."""

    @property
    def participants(self) -> list[int]:
        """The participants, in the order of their turns."""
        return self._native.turns_participants(self.name)

    @property
    def current(self) -> Optional[int]:
        """The participant whose turn it is."""
        return next(iter(self.participants), None)

    @property
    def is_mine(self) -> bool:
        """True if it is this participant's turn."""
        current = self.current
        return current is not None and current == self._data._room.id

    def join(self) -> None:
        """Adds this participant at the end of the order of turns."""
        self._native.turns_join(self.name)

    def leave(self) -> None:
        """Removes this participant from the order of turns."""
        self._native.turns_leave(self.name)

    def next(self) -> None:
        """Ends this participant's turn."""
        self._native.turns_next(self.name)


def encoded(value: Any) -> str:
    """A value as JSON.

    Raises ``TypeError`` for an object that JSON cannot carry, and the error ``not-json`` for a
    number that it lacks and for a value within itself.
    """
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise exception_of("not-json", 108, "own", f"a value is not JSON: {error}") from error
    except RecursionError as error:
        raise exception_of("bad-argument", 109, "own", "a value is nested too deeply") from error
