"""Snapshots in chunks: putting them together, and cutting them up (W32)."""

from errors import TOO_LARGE, WireError, malformed
from frames import Frame

CHUNK = 16 * 1024


class SnapshotAssembler:
    """Puts the chunks of one snapshot together."""

    def __init__(self):
        self.head = None
        self.octets = b""

    def add(self, frame, max_snapshot):
        """Takes a SNAPSHOT frame; returns the whole snapshot once its last chunk came, None before."""
        head = (frame["as_of"], frame["total"])
        if frame["total"] > max_snapshot:
            raise WireError(TOO_LARGE, "a snapshot that is too large")
        if frame["offset"] == 0:
            self.head, self.octets = head, b""
        if head != self.head or frame["offset"] != len(self.octets):
            raise malformed("a chunk of a snapshot that does not follow the last one")
        self.octets += frame["rest"]
        if len(self.octets) > frame["total"]:
            raise malformed("more of a snapshot than its length")
        if len(self.octets) < frame["total"]:
            return None
        self.head = None
        return self.octets


def cut_snapshot(as_of, state, chunk=CHUNK):
    """Cuts an application's state into SNAPSHOT frames for the server."""
    starts = range(0, max(len(state), 1), chunk)
    return [Frame("SNAPSHOT", {"as_of": as_of, "counter": 0, "total": len(state), "offset": start,
                               "rest": state[start:start + chunk]}) for start in starts]
