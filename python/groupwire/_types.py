"""The records of the package."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Optional, Union

from ._errors import GroupwireError
from ._native import voice_qos

Status = Literal["connecting", "connected", "reconnecting", "closed"]
Sent = Literal["accepted", "conflated", "not-now"]
Outcome = Literal["delivered", "gone", "not-open", "full", "unknown"]
Durability = Literal["memory", "local", "cluster"]
Payload = Union[str, bytes, bytearray, memoryview]

# kind, overflow, loss, deadline in milliseconds, lowest and highest rate, priority, private,
# departures, speakers: what the native part takes.
QosTuple = tuple[str, str, float, int, float, float, int, bool, bool, int]


@dataclass(frozen=True)
class Qos:
    """What the messages of a channel need (docs/qos.md): see :func:`transaction`,
    :func:`awareness` and :func:`voice`."""

    kind: Literal["transaction", "awareness"] = "transaction"
    #: Awareness only: the share of messages that may be lost or late, 0 to 1.
    loss: float = 0.0
    #: Seconds after which a message is of no use; None for never.
    deadline: Optional[float] = None
    #: The lowest useful rate in messages per second; 0 for none.
    min_rate: float = 0.0
    #: The highest useful rate in messages per second; 0 for no bound.
    max_rate: float = 0.0
    #: 0 (least) to 255.
    priority: int = 128
    #: What happens above the highest rate; None for the usual of the kind.
    overflow: Optional[Literal["conflate", "aggregate"]] = None
    #: A compression context of its own, for contents whose length is a secret.
    private: bool = False
    #: Transactions only: the order records who left.
    departures: bool = False
    #: Awareness with ``overflow="aggregate"`` only: the number of senders, at most 15, whose frames
    #: of sound the room passes on at a time; 0 for messages of another kind.
    speakers: int = 0

    def _native(self) -> QosTuple:
        deadline = 0 if self.deadline is None else round(self.deadline * 1000)
        if self.deadline is not None and deadline <= 0:
            raise ValueError(f"deadline must be at least 0.001 s, not {self.deadline}")
        if not 0 <= self.priority <= 255:
            raise ValueError(f"priority must be 0 to 255, not {self.priority}")
        if not 0 <= self.speakers <= 15:
            raise ValueError(f"speakers must be 0 to 15, not {self.speakers}")
        rates = (float(self.min_rate), float(self.max_rate))
        flags = (bool(self.private), bool(self.departures))
        overflow = self.overflow or "usual"
        loss, speakers = float(self.loss), self.speakers
        return (self.kind, overflow, loss, deadline, *rates, self.priority, *flags, speakers)

    @staticmethod
    def _of(native: QosTuple) -> Qos:
        (kind, overflow, loss, deadline, min_rate, max_rate), rest = native[:6], native[6:]
        priority, private, departures, speakers = rest
        return Qos(
            kind="awareness" if kind == "awareness" else "transaction",
            loss=loss,
            deadline=deadline / 1000 if deadline else None,
            min_rate=min_rate,
            max_rate=max_rate,
            priority=priority,
            overflow="conflate" if overflow == "conflate" else "aggregate",
            private=private,
            departures=departures,
            speakers=speakers,
        )


def transaction(
    *,
    deadline: Optional[float] = None,
    priority: int = 128,
    private: bool = False,
    departures: bool = False,
) -> Qos:
    """Messages that must all arrive, once and in one order."""
    return Qos(deadline=deadline, priority=priority, private=private, departures=departures)


def awareness(
    *,
    loss: float = 0.05,
    deadline: Optional[float] = None,
    min_rate: float = 0.0,
    max_rate: float = 0.0,
    priority: int = 128,
    overflow: Optional[Literal["conflate", "aggregate"]] = None,
    private: bool = False,
) -> Qos:
    """Values that newer ones replace; some may be lost."""
    return Qos(
        kind="awareness",
        loss=loss,
        deadline=deadline,
        min_rate=min_rate,
        max_rate=max_rate,
        priority=priority,
        overflow=overflow,
        private=private,
    )


def voice(*, speakers: int = 4, priority: int = 128, private: bool = False) -> Qos:
    """Frames of sound, as ``groupwire/voice`` sends them (docs/voice.md). Each is of use for 180 ms.
    The first byte of a frame says how loud it is; the room passes on those of the loudest
    ``speakers``."""
    usual = Qos._of(voice_qos())
    return replace(usual, speakers=speakers, priority=priority, private=private)


@dataclass(frozen=True)
class Participant:
    """Another participant of the room, as it was when the event about it came."""

    id: int
    #: ``"here"``; ``"away"`` while its connection is broken and it may still come back; ``"left"``.
    state: Literal["here", "away", "left"]
    #: The user, as the server verified it; None if the server does not know its users.
    user: Optional[str]
    #: The bytes that it published itself: do not believe a name in it.
    presence_bytes: bytes

    @property
    def presence(self) -> Any:
        """The presence as JSON; None if it is not JSON."""
        try:
            return json.loads(self.presence_bytes)
        except ValueError:
            return None

    @property
    def away(self) -> bool:
        return self.state == "away"


@dataclass(frozen=True)
class Contract:
    """Whether a channel's QoS is kept, judged by what this participant receives."""

    state: Literal["met", "missed", "cannot-meet"]
    #: The state as a sentence.
    text: str
    #: What Groupwire does to keep the contract, as sentences.
    measures: tuple[str, ...]
    #: Of the last ten seconds: judged messages, those missed or late, and those late.
    judged: int
    missed: int
    late: int
    #: The age of messages in seconds: the median, and what 1 % exceed.
    median: float
    p99: float

    @staticmethod
    def _of(native: Any) -> Contract:
        state, text, measures, (judged, missed, late), (median, p99) = native
        times = (median / 1000, p99 / 1000)
        return Contract(state, text, tuple(measures), judged, missed, late, *times)


@dataclass(frozen=True)
class Page:
    """Some participants of a room that is too large to announce all."""

    participants: tuple[Participant, ...]
    #: True if no others follow; otherwise the id of the last one is the next ``after``.
    last: bool


@dataclass(frozen=True)
class StatusChanged:
    """The state of the connection changed."""

    status: Status


@dataclass(frozen=True)
class ParticipantChanged:
    """A participant came, changed or left. ``room.participants`` is up to date with it."""

    participant: Participant
    change: Literal["came", "changed", "left"]


@dataclass(frozen=True)
class Gap:
    """Something is lost and cannot be received again.

    ``incarnation``: the room lost its state; a program that still has it should send it again.
    ``session``: the room no longer knows this participant, which has a new id. ``history``:
    transactions are missing. ``reset``: an administrator reset a channel.
    """

    reason: Literal["incarnation", "session", "history", "reset"]
    #: Own transactions that were sent and not acknowledged. They are sent again.
    uncertain: int
    #: Of history and reset: the name of the channel.
    channel: Optional[str]
    #: Of history and reset: the position up to which transactions are missing.
    position: int


@dataclass(frozen=True)
class QosChanged:
    """The server opened a channel, or changed its QoS."""

    channel: str
    qos: Qos


@dataclass(frozen=True)
class ContractChanged:
    """A channel's contract began to be missed, or is kept again."""

    channel: str
    contract: Contract


@dataclass(frozen=True)
class Pending:
    """The first own transactions wait for their confirmation, or all are confirmed."""

    count: int


@dataclass(frozen=True)
class Count:
    """How many participants a large room has."""

    count: int
    #: True if all of them are in ``room.participants``.
    everybody: bool


@dataclass(frozen=True)
class Snapshot:
    """A part of the room's snapshot, which replaces all state built from transactions so far."""

    part: str
    as_of: int
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Failed:
    """An error that no call could raise."""

    error: GroupwireError
    #: The name of the channel that it is about.
    channel: Optional[str]
    #: True if the room is closed, because trying again cannot help.
    fatal: bool


Event = Union[
    StatusChanged,
    ParticipantChanged,
    Gap,
    QosChanged,
    ContractChanged,
    Pending,
    Count,
    Snapshot,
    Failed,
]
