"""What a session tells its application."""

from dataclasses import dataclass
from typing import Optional

NEW, RESUMED, STARTED_ANEW = 0, 1, 2
LEFT, HERE, AWAY = 0, 1, 2


@dataclass
class Welcomed:
    """The room took the client in; on STARTED_ANEW something may be missing (W12)."""

    outcome: int
    participant: int
    is_new_incarnation: bool


@dataclass
class ChannelOpened:
    """The server granted a channel, or its QoS changed."""

    channel: str
    access: int
    qos: dict


@dataclass
class ChannelRefused:
    """The server did not grant a channel."""

    channel: str
    code: int
    detail: str


@dataclass
class ChannelClosed:
    """Nothing more of this channel comes."""

    channel: str


@dataclass
class Synced:
    """What a late joiner is sent is complete: of one channel, or of all channels of the join if it is None."""

    channel: Optional[str]


@dataclass
class Message:
    """A message of another participant; `number` is its counter (transactions) or its index (awareness)."""

    channel: str
    sender: int
    data: bytes
    is_text: bool
    key: Optional[bytes]
    priority: Optional[int]
    is_transaction: bool
    number: int
    position: Optional[int]
    after: Optional[int]
    age_ms: float
    is_state: bool
    is_fill: bool
    is_stale: bool
    # The participant that left, in the room's own entry about that (W113).
    departed: Optional[int] = None
    # True if nobody else is told of it (W114).
    is_direct: bool = False

    @property
    def text(self):
        """The message as a string."""
        return self.data.decode()


@dataclass
class Ordered:
    """An own transaction has its place; the position is None if a snapshot or a gap covers it."""

    channel: str
    counter: int
    data: bytes
    position: Optional[int]


@dataclass
class TransactionLost:
    """A waiting transaction cannot be sent any more, because its channel was refused on the new transport."""

    channel: str
    data: bytes


@dataclass
class Presence:
    """A participant is here, is away, or has left. It writes `presence` itself; the server says which `user` it is (W100)."""

    participant: int
    state: int
    presence: bytes
    user: Optional[str] = None


@dataclass
class Owner:
    """The room is on another server, which the client may reach at this address after a time (W117)."""

    after_ms: int
    address: str


@dataclass
class Counted:
    """How many participants a large room has; `knows_everybody` if it is no longer large (W103)."""

    count: int
    knows_everybody: bool


@dataclass
class Page:
    """Some of the other participants, in the order of their numbers (W105)."""

    participants: list
    is_last: bool


@dataclass
class SnapshotCame:
    """The application replaces its state of a part's channels by this one, which stands for their transactions up to
    `as_of` (W32)."""

    part: str
    as_of: int
    state: bytes


@dataclass
class SnapshotWanted:
    """The server asks for a part: the state of its channels after everything up to `as_of`, the events before this one."""

    part: str
    as_of: int


@dataclass
class Gap:
    """Transactions of a channel up to `position` can no longer be had (W33)."""

    channel: str
    position: int


@dataclass
class Warned:
    """The server sent an error that is not fatal and not about a channel."""

    code: int
    subject: int
    detail: str


@dataclass
class Broken:
    """The transport has to be closed; `may_resume` says whether to come back, after `retry_ms` if it is stated."""

    code: Optional[int]
    detail: str
    may_resume: bool
    retry_ms: Optional[int] = None
