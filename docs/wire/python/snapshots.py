"""Parts of a snapshot in chunks: putting them together, and cutting them up (W32, W95)."""

from errors import TOO_LARGE, WireError, malformed
from frames import Frame
from fields import Reader

CHUNK = 16 * 1024


def read_channels(data):
    """The ids of a part's channels, which ascend (W95)."""
    reader, ids = Reader(data), []
    while not reader.is_at_end():
        ids.append(reader.varint())
        if len(ids) > 1 and ids[-1] <= ids[-2]:
            raise malformed("the channels of a part do not ascend")
    return ids


class SnapshotAssembler:
    """Puts the chunks of one part together."""

    def __init__(self):
        self.head = None
        self.data = b""

    def add(self, frame, max_snapshot):
        """Takes a SNAPSHOT frame; returns the whole part once its last chunk came, None before."""
        head = (frame["part"], frame["as_of"], frame["total"])
        if frame["total"] > max_snapshot:
            raise WireError(TOO_LARGE, "a snapshot that is too large")
        if frame["offset"] == 0:
            self.head, self.data = head, b""
        if head != self.head or frame["offset"] != len(self.data):
            raise malformed("a chunk of a snapshot that does not follow the last one")
        self.data += frame["rest"]
        if len(self.data) > frame["total"]:
            raise malformed("more of a snapshot than its length")
        if len(self.data) < frame["total"]:
            return None
        self.head = None
        return self.data


def cut_snapshot(part, as_of, state, chunk=CHUNK):
    """Cuts an application's state into SNAPSHOT frames for the server."""
    starts = range(0, max(len(state), 1), chunk)
    return [Frame("SNAPSHOT", {"part": part, "as_of": as_of, "total": len(state), "offset": start,
                               "rest": state[start:start + chunk]}) for start in starts]
