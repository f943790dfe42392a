"""The Groupwire client: rooms for real-time collaboration, on asyncio. docs/python.md is its guide."""

from ._channel import Channel
from ._connect import Connecting, connect
from ._errors import (
    ClosedError,
    GroupwireError,
    InvalidArgumentError,
    NotNowError,
    RefusedError,
    TokenError,
    UnreachableError,
)
from ._kinds import Counter, Lock, SharedList, SharedMap, Turns
from ._native import Message, __version__
from ._room import Room
from ._shared import Change, Shared, SharedChanged, SharedEvent, SharedLost
from ._streams import Stream
from ._types import (
    Contract,
    ContractChanged,
    Count,
    Event,
    Failed,
    Gap,
    Page,
    Participant,
    ParticipantChanged,
    Pending,
    Qos,
    QosChanged,
    Snapshot,
    StatusChanged,
    awareness,
    transaction,
    voice,
)

__all__ = [
    "Change",
    "Channel",
    "ClosedError",
    "Connecting",
    "Contract",
    "ContractChanged",
    "Count",
    "Counter",
    "Event",
    "Failed",
    "Gap",
    "GroupwireError",
    "InvalidArgumentError",
    "Lock",
    "Message",
    "NotNowError",
    "Page",
    "Participant",
    "ParticipantChanged",
    "Pending",
    "Qos",
    "QosChanged",
    "RefusedError",
    "Room",
    "Shared",
    "SharedChanged",
    "SharedEvent",
    "SharedList",
    "SharedLost",
    "SharedMap",
    "Snapshot",
    "StatusChanged",
    "Stream",
    "TokenError",
    "Turns",
    "UnreachableError",
    "__version__",
    "awareness",
    "connect",
    "transaction",
    "voice",
]
