"""What a server would say of a client's packets, as far as the refused vectors need it. Only tests use it."""

from dataclasses import dataclass, field

from errors import (NOT_ALLOWED, REFUSED, TOO_LARGE, UNKNOWN_CHANNEL, VERSION, WireError, malformed)
from frames import CLIENT, TRANSACTION, Frame, read_packet
from numbering import Numbering
from records import CONTINUES, GOES_ON

MAX_PACKET, MAX_MESSAGE, ROOM_FOR_HEADERS = 65_536, 60_000, 1_408
REFUSED_TOKEN = b"refused"


@dataclass
class Judge:
    """A server that only looks for errors. `channels` maps numbers to (kind, may publish)."""

    channels: dict
    numbering: Numbering = field(default_factory=Numbering)
    counter: int = 0

    def judge_opening(self, packet):
        """Raises WireError if the first packet of a client is wrong (W4, W5, W7, W9, W11)."""
        if packet[:1] == b"\0":
            raise WireError(VERSION, "version 0 does not exist")
        frames = read_packet(packet[1:], CLIENT)
        hello = next(frames, Frame("nothing"))
        if hello.type != "HELLO":
            raise malformed("the opening does not begin with HELLO")
        if hello["lowest"] > 1:
            raise WireError(VERSION, "the client speaks only later versions")
        if hello["max_message"] < MAX_MESSAGE or hello["max_packet"] < MAX_MESSAGE + ROOM_FOR_HEADERS:
            raise WireError(TOO_LARGE, "what the server may send would be too large for the client")
        if hello["token"] == REFUSED_TOKEN:
            raise WireError(REFUSED, "not with this token")
        for frame in frames:
            if frame.type not in ("OPEN", "PRESENCE", "CODECS"):
                raise malformed(f"{frame.type} in an opening")

    def judge_packet(self, packet):
        """Raises WireError if a later packet of the client is wrong."""
        for frame in read_packet(packet, CLIENT, MAX_MESSAGE):
            if frame.type in ("SHUT", "COMPRESS"):
                self._channel(frame["id"])
            if frame.type == "SHUT":
                del self.channels[frame["id"]]
            if frame.type == "SNAPSHOT":
                raise WireError(NOT_ALLOWED, "a snapshot that nobody asked for")
            for record in frame.fields.get("records", []):
                self._judge_record(record)

    def _channel(self, number):
        """The kind of an open channel, and whether the client may publish on it."""
        if number not in self.channels:
            raise WireError(UNKNOWN_CHANNEL, f"channel {number} is not open")
        return self.channels[number]

    def _judge_record(self, record):
        """Checks the channel (W17) and the counter (W28)."""
        kind, may_publish = self._channel(record.channel)
        if record.flags & (GOES_ON | CONTINUES):
            raise malformed("a piece, in a room that is not stored")
        if not may_publish:
            raise WireError(NOT_ALLOWED, "this channel may only be read")
        if kind == TRANSACTION:
            counter = self.numbering.read_counter(record)
            if counter > self.counter + 1:
                raise malformed("a hole in the counters")
            self.counter = max(self.counter, counter)
