"""Rooms in simulated time."""

from __future__ import annotations

import asyncio
import inspect
import os
import random
import sys
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Literal, Optional, TypeVar, Union

from .._connect import Connecting, joining
from .._errors import invalid
from .._native import NativeRoom, NativeSimulation
from .._room import Room
from ._loop import SimulatedLoop, run

T = TypeVar("T")

Rights = Mapping[str, Sequence[str]]
#: What ``authenticate`` returns: the user ("" if unknown), or both user and rights.
Who = Union[str, tuple[str, Rights]]

RIGHTS = ("publish", "subscribe", "qos", "snapshot")

# How often `settle` looks, in seconds.
LOOK = 0.05

# The lines of the log in the report of an error.
TOLD = 40


@dataclass(frozen=True)
class Direction:
    """One direction of a network; what is None is as in both directions."""

    delay: Optional[float] = None
    jitter: Optional[float] = None
    loss: Optional[float] = None
    rate: Optional[float] = None


def simulate(
    work: Callable[[SimulatedNetwork], Coroutine[Any, Any, T]],
    *,
    seed: Optional[int] = None,
    delay: float = 0.02,
    jitter: float = 0.0,
    loss: float = 0.0,
    rate: Optional[float] = None,
    datagrams: bool = True,
    durability: Literal["memory", "local", "cluster"] = "memory",
    tick: Optional[float] = None,
    away: Optional[float] = None,
    snapshot_after: Optional[int] = None,
    max_log_bytes: Optional[int] = None,
    authenticate: Optional[Callable[[str], Who]] = None,
    limit: float = 86_400.0,
) -> T:
    """Runs a test in simulated time, and returns what it returns::

        async def work(net: SimulatedNetwork) -> None:
            ann, bob = await net.join(), await net.join(loss=0.1)
            ann.channel("chat").send("hello")
            await asyncio.sleep(60)  # takes no real time
            await net.settle()

        groupwire.testing.simulate(work, seed=7)

    The clients and the server's room run the real code; no socket is opened. All chance comes from
    ``seed`` (default: the variable ``GROUPWIRE_SEED``, or 1), so that a run repeats exactly, as long
    as the program's own code does. Everything that asyncio waits for takes simulated time:
    ``asyncio.sleep``, timeouts, ``loop.call_later``. ``groupwire.connect`` joins this server,
    whatever the address is.

    ``delay`` and ``jitter`` are in seconds for each direction, ``loss`` is a share of packets, and
    ``rate`` is in bytes a second. Without ``datagrams`` networks let only streams through.
    ``authenticate`` takes a token, and returns the user, or the user with rights; it raises
    ``PermissionError`` to refuse. The other options are those of the server's rooms.

    If the test fails, the seed and what happened last are printed. It fails with ``RuntimeError``
    after ``limit`` simulated seconds, or when an hour has passed in which nothing happened.
    """
    if not callable(work):
        raise TypeError(f"work must be an async function, not {type(work).__name__}")
    if durability not in ("memory", "local", "cluster"):
        raise invalid(f"durability must be memory, local or cluster, not {durability!r}")
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("simulate has a loop of its own: call it from an ordinary function")
    usual = conditions(delay, jitter, loss, rate)
    first = first_seed() if seed is None else seed
    if not isinstance(first, int):
        raise TypeError(f"seed must be an int, not {type(first).__name__}")
    if not 0 <= first < 2**64:
        raise invalid(f"seed must be 0 or more and of at most 64 bits, not {first}")
    native = NativeSimulation(
        first,
        durability,
        positive("tick", tick, 60),
        positive("away", away, 3600),
        positive("snapshot_after", snapshot_after, 2**32),
        positive("max_log_bytes", max_log_bytes, 2**40),
        None if authenticate is None else asking(authenticate),
    )
    loop = SimulatedLoop(native, positive("limit", limit, 1e8))
    net = SimulatedNetwork(native, first, usual, datagrams)
    # `connect` finds it there.
    loop.groupwire_network = net  # type: ignore[attr-defined]
    try:
        return run(loop, lambda: work(net))
    except BaseException:
        print(f"simulated with seed {first}; what happened last:", file=sys.stderr)
        print(native.log(TOLD), file=sys.stderr)
        raise


def first_seed() -> int:
    """The seed that the environment names, or 1."""
    text = os.environ.get("GROUPWIRE_SEED") or "1"
    if not text.isdigit():
        raise invalid(f"GROUPWIRE_SEED must be a whole number, not {text!r}")
    return int(text)


class SimulatedNetwork:
    """Participants of a simulated server, each over a network of its own. ``simulate`` makes it."""

    def __init__(
        self, native: NativeSimulation, seed: int, usual: Conditions, datagrams: bool
    ) -> None:
        self.seed = seed
        #: Chance from the seed, for choices of the test.
        self.random = random.Random(seed)
        self._native = native
        self._usual = usual
        self._datagrams = datagrams
        self._members: dict[Room, int] = {}
        # Native rooms whose `Room` is joining.
        self._opened: dict[int, int] = {}
        self._cut: set[int] = set()

    @property
    def now(self) -> float:
        """Simulated seconds since the beginning."""
        return self._native.now()

    def join(
        self,
        room: str = "room",
        *,
        name: Optional[str] = None,
        user: Optional[str] = None,
        rights: Optional[Rights] = None,
        delay: Optional[float] = None,
        jitter: Optional[float] = None,
        loss: Optional[float] = None,
        rate: Optional[float] = None,
        up: Direction = Direction(),
        down: Direction = Direction(),
        datagrams: Optional[bool] = None,
        **options: Any,
    ) -> Connecting:
        """A participant joins, with further options of ``groupwire.connect``, for ``await`` or
        ``async with``. ``name`` is its name in the log. With ``user`` or ``rights`` it is that
        user, and ``authenticate`` is not asked."""
        own = conditions(delay, jitter, loss, rate, up, down)
        for what, value in (("name", name), ("user", user)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{what} must be a str, not {type(value).__name__}")
        identity = None
        if user is not None or rights is not None:
            identity = (user or "", lines({} if rights is None else rights))

        def make(token: bytes, presence: bytes, small: bool) -> NativeRoom:
            return self._make(room, token, presence, small, name, own, datagrams, identity)

        return joining(make, room, "the simulated server", joined=self._joined, **options)

    def change(
        self,
        room: Room,
        *,
        delay: Optional[float] = None,
        jitter: Optional[float] = None,
        loss: Optional[float] = None,
        rate: Optional[float] = None,
        up: Direction = Direction(),
        down: Direction = Direction(),
    ) -> None:
        """Changes what is named of a participant's network."""
        own = conditions(delay, jitter, loss, rate, up, down)
        self._native.change(self._member(room), own)

    def partition(self, room: Room, seconds: Optional[float] = None) -> None:
        """Cuts a participant off, for a time or until ``heal``. Nobody is told: streams wait, and
        datagrams are lost."""
        member = self._member(room)
        self._native.partition(member, positive("seconds", seconds, 1e8))
        if seconds is None:
            self._cut.add(member)
        else:
            self._cut.discard(member)

    def heal(self, room: Room) -> None:
        """Ends a partition: what has waited arrives."""
        member = self._member(room)
        self._cut.discard(member)
        self._native.heal(member)

    def break_connection(self, room: Room) -> None:
        """Both ends notice at once, and what is under way is lost; the participant connects again
        by itself."""
        self._native.break_connection(self._member(room))

    def expire_token(self, room: Room) -> None:
        """The server asks the participant for another token."""
        self._native.expire_token(self._member(room))

    def restart_server(
        self, *, down_for: float = 0.0, keeps_state: bool = True, goodbye: bool = False
    ) -> None:
        """The server is killed and starts again, after ``down_for`` seconds. Stored rooms
        (``durability="local"``) keep what was stored, and the seed decides about the last
        milliseconds; rooms in memory begin anew, with the gap ``incarnation``. Without
        ``keeps_state`` the disk is lost, too. With ``goodbye`` the server stops as an operator stops
        it."""
        if not 0 <= number("down_for", down_for) <= 1e8:
            raise invalid(f"down_for must be 0 or more seconds, not {down_for}")
        self._native.restart_server(down_for, keeps_state, goodbye)

    async def settle(self, quiet: float = 3.0, limit: float = 600.0) -> None:
        """Goes on until everybody is connected, all transactions are confirmed, nothing is under
        way, and nothing has happened for ``quiet`` seconds. It ignores participants who are cut off
        without an end. Raises ``TimeoutError`` of asyncio after ``limit`` simulated seconds."""
        if not 0 < number("quiet", quiet) < number("limit", limit):
            raise invalid(f"quiet must be more than 0 and below limit, not {quiet} and {limit}")
        begin = self.now
        self._native.stir()
        while True:
            reasons = self._native.unsettled() + self._waiting()
            if not reasons and self._native.quiet_for() >= quiet:
                return
            if self.now - begin > limit:
                why = "; ".join(reasons) or "something happens again and again"
                raise asyncio.TimeoutError(f"not settled within {limit} simulated seconds: {why}")
            await asyncio.sleep(LOOK)

    def log(self, lines: int = 2000) -> str:
        """The last things that happened, in plain words: at most 2,000 lines."""
        return self._native.log(lines)

    def _waiting(self) -> list[str]:
        reasons: list[str] = []
        for room, member in self._members.items():
            if member in self._cut or room.status == "closed":
                continue
            if room.status != "connected":
                reasons.append(f"participant {room.id} is {room.status}")
            if room.pending > 0:
                reasons.append(f"participant {room.id} has {room.pending} unconfirmed transactions")
        return reasons

    def _open(self, room: str, token: bytes, presence: bytes, small: bool) -> NativeRoom:
        """For ``groupwire.connect`` within the simulation."""
        return self._make(room, token, presence, small, None, conditions(), None, None)

    def _make(
        self,
        room: str,
        token: bytes,
        presence: bytes,
        small: bool,
        name: Optional[str],
        own: Conditions,
        datagrams: Optional[bool],
        identity: Optional[tuple[str, str]],
    ) -> NativeRoom:
        with_datagrams = self._datagrams if datagrams is None else datagrams
        merged = merge(self._usual, own)
        native, member = self._native.join(
            room, token, presence, small, name, merged, with_datagrams, identity
        )
        self._opened[id(native)] = member
        return native

    def _joined(self, room: Room) -> None:
        member = self._opened.pop(id(room._native), None)
        if member is not None:
            self._members[room] = member

    def _member(self, room: Room) -> int:
        member = self._members.get(room)
        if member is None:
            raise invalid(f"{room!r} has not joined this simulation: use what `join` gives")
        return member


Lane = tuple[Optional[float], Optional[float], Optional[float], Optional[float]]
#: Both directions, to the server, from the server.
Conditions = tuple[Lane, Lane, Lane]


def conditions(
    delay: Optional[float] = None,
    jitter: Optional[float] = None,
    loss: Optional[float] = None,
    rate: Optional[float] = None,
    up: Direction = Direction(),
    down: Direction = Direction(),
) -> Conditions:
    """Checks a network, and makes what the native part takes."""
    both = Direction(delay, jitter, loss, rate)
    return lane("", both), lane("up.", up), lane("down.", down)


def lane(where: str, one: Direction) -> Lane:
    if not isinstance(one, Direction):
        kind = type(one).__name__
        raise TypeError(f"{where[:-1]} must be a groupwire.testing.Direction, not {kind}")
    for name, value in (("delay", one.delay), ("jitter", one.jitter)):
        if value is not None and not 0 <= number(where + name, value) <= 3600:
            raise invalid(f"{where}{name} must be 0 to 3600 seconds, not {value}")
    if one.loss is not None and not 0 <= number(f"{where}loss", one.loss) <= 1:
        raise invalid(f"{where}loss must be 0 to 1, not {one.loss}")
    if one.rate is not None and not number(f"{where}rate", one.rate) > 0:
        raise invalid(f"{where}rate must be more than 0 bytes a second, not {one.rate}")
    return (one.delay, one.jitter, one.loss, one.rate)


def merge(usual: Conditions, own: Conditions) -> Conditions:
    def over(first: Lane, second: Lane) -> Lane:
        delay, jitter, loss, rate = (b if b is not None else a for a, b in zip(first, second))
        return (delay, jitter, loss, rate)

    return over(usual[0], own[0]), own[1], own[2]


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return value


def positive(name: str, value: Any, most: float) -> Any:
    """A number above 0, or None."""
    if value is not None and not 0 < number(name, value) <= most:
        raise invalid(f"{name} must be more than 0 and at most {most:g}, not {value}")
    return value


def asking(
    authenticate: Callable[[str], Who],
) -> Callable[[str], tuple[Optional[str], tuple[str, str]]]:
    """What the native part asks: it gets the reason of a refusal, or None with user and rights."""
    if not callable(authenticate) or inspect.iscoroutinefunction(authenticate):
        raise TypeError("authenticate must be an ordinary function that takes a token")

    def ask(token: str) -> tuple[Optional[str], tuple[str, str]]:
        try:
            who = authenticate(token)
        except PermissionError as error:
            return str(error), ("", "")
        user: Any = who
        rights: Any = {}
        if isinstance(who, tuple) and len(who) == 2:
            user, rights = who
        if not isinstance(user, str):
            raise TypeError(
                "authenticate must return the user ('' if unknown), or user and rights, or raise "
                f"PermissionError to refuse, not {who!r}"
            )
        return None, (user, lines(rights))

    return ask


def lines(rights: Rights) -> str:
    """The rights as the native part reads them."""
    if not isinstance(rights, Mapping):
        raise TypeError(f"rights must be a dict of lists, not {type(rights).__name__}")
    for right, patterns in rights.items():
        if right not in RIGHTS:
            raise invalid(f"a right is publish, subscribe, qos or snapshot, not {right!r}")
        if isinstance(patterns, str):
            raise TypeError(f"the right {right} is a list of patterns, not a str")
    return "\n".join("\t".join([right, *patterns]) for right, patterns in rights.items())
