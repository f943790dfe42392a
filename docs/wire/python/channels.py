"""A channel as its client sees it, over all transports."""

from dataclasses import dataclass
from typing import Optional

from frames import AGGREGATE, AWARENESS, CONFLATE, TRANSACTION, Frame

OPENING, OPEN, CLOSING, SHUT, REFUSED = "opening", "open", "closing", "shut", "refused"
PUBLISH, SUBSCRIBE = 1, 2

TRANSACTION_QOS = {"kind": TRANSACTION, "overflow": AGGREGATE, "priority": 128, "flags": 0, "loss": 0,
                   "deadline_ms": 0, "rate_min": 0, "rate_max": 0}
AWARENESS_QOS = {"kind": AWARENESS, "overflow": CONFLATE, "priority": 128, "flags": 0, "loss": 50,
                 "deadline_ms": 250, "rate_min": 0, "rate_max": 25_000}


class ChannelError(Exception):
    """The application used a channel in a way that the server would refuse."""


@dataclass
class Channel:
    """A channel: what was asked for, what was granted, and which of its transactions are here."""

    name: str
    ref: int
    wanted_access: int
    wanted_qos: dict
    status: str = OPENING
    access: int = 0
    qos: Optional[dict] = None
    id: Optional[int] = None
    is_synced: bool = False
    has: int = 0
    own_index: int = 0

    @property
    def is_transaction(self):
        """Tells whether this channel loses nothing; the server's word is final."""
        return (self.qos or self.wanted_qos)["kind"] == TRANSACTION

    @property
    def conflates(self):
        """Tells whether only the newest value of each key matters."""
        return (self.qos or self.wanted_qos)["overflow"] == CONFLATE

    def have(self, position):
        """The position up to which all transactions of this channel are here (W18)."""
        return max(position, self.has) if self.is_synced else self.has

    def freeze(self, position):
        """Remembers what is here when the application closes the channel: what follows is dropped."""
        self.has = self.have(position)
        self.is_synced = False

    def open_frame(self, position):
        """The frame that asks the server for this channel."""
        return Frame("OPEN", {"ref": self.ref, "access": self.wanted_access, "name": self.name,
                              "qos": self.wanted_qos, "have": self.have(position), "compress": b"\0"})
