"""A channel as its client sees it, over all transports."""

from dataclasses import dataclass, replace
from typing import Optional

from errors import TOO_LARGE, WireError
from frames import AGGREGATE, AWARENESS, CONFLATE, TRANSACTION, Frame
from records import CONTINUES, GOES_ON

OPENING, OPEN, CLOSING, SHUT, REFUSED = "opening", "open", "closing", "shut", "refused"
PUBLISH, SUBSCRIBE = 1, 2
LARGEST_TRANSACTION = 16 << 20

TRANSACTION_QOS = {"kind": TRANSACTION, "overflow": AGGREGATE, "priority": 128, "flags": 0, "loss": 0,
                   "deadline_ms": 0, "rate_min": 0, "rate_max": 0}
# Records who left, after what it sent on the channel (W113).
DEPARTURES_QOS = {**TRANSACTION_QOS, "flags": 2}
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
    # The pieces of a transaction that came, as one record, and what was here before them.
    begun: Optional[object] = None
    had: int = 0

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

    def is_complete(self, position):
        """Tells whether all transactions up to this position are here, and those after it are still to come (W32)."""
        return self.is_synced and self.has <= position and self.begun is None

    def freeze(self, position):
        """Remembers what is here when the application closes the channel: what follows is dropped."""
        self.has = self.had if self.begun else self.have(position)
        self.is_synced, self.begun = False, None

    def add_piece(self, record, position):
        """Takes a transaction or a piece of one; returns the whole once its last piece came, None before (W97)."""
        before, self.has = self.has, position
        if not record.flags & CONTINUES:
            self.begun, self.had = record, before
        elif self.begun is None or position != before + 1:
            self.begun = None
            return None
        else:
            self.begun = replace(self.begun, age=record.age, data=self.begun.data + record.data)
            if len(self.begun.data) > LARGEST_TRANSACTION:
                raise WireError(TOO_LARGE, "a transaction that is too large")
        if record.flags & GOES_ON:
            return None
        whole, self.begun = self.begun, None
        return whole

    def open_frame(self, position):
        """The frame that asks the server for this channel."""
        return Frame("OPEN", {"ref": self.ref, "access": self.wanted_access, "name": self.name,
                              "qos": self.wanted_qos, "have": self.have(position), "compress": b"\0"})
