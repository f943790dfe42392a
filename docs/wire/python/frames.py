"""Packets and frames: tags, lengths, and the fields of each frame that a client with capabilities 0 knows."""

from dataclasses import dataclass, field

from errors import TOO_LARGE, TOO_MANY, UNSUPPORTED, WireError, malformed
from fields import Reader, varint, with_length
from records import read_record, write_record

CLIENT, SERVER = "client", "server"
LAST, OPTIONAL, TYPE = 0x80, 0x40, 0x3F
LARGEST_PACKET = 65_536
SMALLEST_MAX_PACKET = 8_192
MOST_RECORDS = 4_096
TRANSACTION, AWARENESS = 0, 1
CONFLATE, AGGREGATE = 0, 1
QOS_FIELDS = ("kind", "overflow", "priority", "flags", "loss", "deadline_ms", "rate_min", "rate_max")
RESUME_FIELDS = ("participant", "secret", "incarnation", "position", "counter")


@dataclass
class Frame:
    """A frame by the name of its type, with its fields by the names of the grammar."""

    type: str
    fields: dict = field(default_factory=dict)

    def __getitem__(self, name):
        return self.fields[name]


class Kind:
    """How one field is read and written."""

    def __init__(self, read, write):
        self.read = read
        self.write = write


def read_packet(data, sender, max_message=60_000):
    """Reads the frames of a packet one after the other, so that those before an error still count (W8)."""
    reader = Reader(data)
    while not reader.is_at_end():
        tag = reader.u8()
        body = reader.rest() if tag & LAST else reader.bytes()
        frame = read_frame(tag, body, sender, max_message)
        if frame is not None:
            yield frame


def read_frame(tag, body, sender, max_message=60_000):
    """Reads the fields of one frame; None for a frame that is to be skipped (W6)."""
    number = tag & TYPE
    if number not in LAYOUTS:
        if tag & OPTIONAL:
            return None
        if number in NOT_AGREED:
            raise malformed(f"frame {number:#04x} needs a capability that was not agreed on")
        raise WireError(UNSUPPORTED, f"unknown frame {number:#04x}")
    name, senders, fields = LAYOUTS[number]
    if sender not in senders:
        raise malformed(f"a {sender} does not send {name}")
    reader = Reader(body)
    frame = Frame(name)
    for field_name, kind in fields:
        if field_name == "records":
            frame.fields[field_name] = read_records(reader, sender, max_message)
        else:
            frame.fields[field_name] = kind.read(reader)
    reader.expect_end()
    return frame


def read_records(reader, sender, max_message):
    """Reads the records of a payload, of which there are not too many (W26)."""
    records = []
    while not reader.is_at_end():
        if len(records) == MOST_RECORDS:
            raise WireError(TOO_MANY, "more than 4,096 records in a payload")
        records.append(read_record(reader, sender == SERVER, max_message))
    return records


def write_frame(frame, last=False):
    """Writes a frame with its length, or without it if it is the last one of its packet."""
    number = NUMBERS[frame.type]
    body = b"".join(kind.write(frame[name]) for name, kind in LAYOUTS[number][2])
    tag = number | (OPTIONAL if frame.type in SENT_OPTIONAL else 0)
    if last:
        return bytes([tag | LAST]) + body
    return bytes([tag]) + with_length(body)


def write_packet(frames):
    """Writes frames one behind the other; a payload that stands last has no length."""
    ends = [False] * (len(frames) - 1) + [True] if frames else []
    return b"".join(write_frame(frame, end and frame.type == "MESSAGES") for frame, end in zip(frames, ends))


# The fields, and what is checked of them.


def number(read):
    """A field that is one number as a varint."""
    return Kind(read, varint)


def small_number(highest):
    """A field that is one byte with a few values."""
    def read(reader):
        value = reader.u8()
        if value > highest:
            raise malformed(f"{value} where the highest is {highest}")
        return value
    return Kind(read, lambda value: bytes([value]))


def one_of(*values):
    """A field that is one byte with these values."""
    def read(reader):
        value = reader.u8()
        if value not in values:
            raise malformed(f"{value} where only {values} are known")
        return value
    return Kind(read, lambda value: bytes([value]))


def flags_within(mask):
    """A field that is one byte of flags, of which others than these are ignored."""
    return Kind(lambda reader: reader.u8() & mask, lambda value: bytes([value]))


def number_between(lowest, highest):
    """A field that is a varint within bounds."""
    def read(reader):
        value = reader.varint()
        if not lowest <= value <= highest:
            raise malformed(f"{value} is not between {lowest} and {highest}")
        return value
    return Kind(read, varint)


def bytes_up_to(longest=None):
    """A field of bytes with a length."""
    return Kind(lambda reader: reader.bytes(longest), with_length)


def text_between(shortest, longest):
    """A field of text whose length in bytes is within bounds."""
    def read(reader):
        value = reader.text(longest)
        if len(value.encode()) < shortest:
            raise malformed("a text that is too short")
        return value
    return Kind(read, lambda value: with_length(value.encode()))


def rest_up_to(longest=None):
    """A field of all bytes that are left."""
    def read(reader):
        value = reader.rest()
        if longest is not None and len(value) > longest:
            raise WireError(TOO_LARGE, f"{len(value)} bytes where {longest} are allowed")
        return value
    return Kind(read, bytes)


def read_qos(reader):
    """Reads a QoS and refuses one that no rule allows (W15)."""
    values = [reader.u8() for _ in range(4)] + [reader.varint() for _ in range(4)]
    qos = dict(zip(QOS_FIELDS, values))
    check_qos(qos)
    return qos


def check_qos(qos):
    """The rules about a QoS (W15)."""
    if qos["kind"] > AWARENESS or qos["overflow"] > AGGREGATE:
        raise malformed("a kind or overflow that does not exist")
    if qos["loss"] > 1_000 or qos["deadline_ms"] > 86_400_000:
        raise malformed("a loss or deadline that is too high")
    if qos["rate_max"] and qos["rate_min"] > qos["rate_max"]:
        raise malformed("a minimum rate above the maximum")
    if qos["kind"] == TRANSACTION and (qos["loss"] or qos["overflow"] != AGGREGATE):
        raise malformed("a transaction channel that loses or conflates")
    if qos["flags"] >> 2 & 15 and (qos["kind"], qos["overflow"]) != (AWARENESS, AGGREGATE):
        raise malformed("speakers on a channel that is not one of frames (W119)")


def write_qos(qos):
    """Writes a QoS: four bytes and four varints."""
    values = [qos[name] for name in QOS_FIELDS]
    return bytes(values[:4]) + b"".join(map(varint, values[4:]))


def read_compress(reader):
    """Reads how a channel is to be compressed; the bytes themselves are the value (compression.md)."""
    how = reader.u8()
    if how > 3:
        raise malformed("a compression that does not exist")
    if how < 3:
        return bytes([how])
    coding = reader.u8()
    if coding & 0x10:
        raise malformed("a coding with a dictionary")
    return bytes([how, coding])


def read_resume(reader):
    """Reads what a client says to resume; None if it is new."""
    if RESUME_FLAG.read(reader) == 0:
        return None
    values = (reader.varint32(), reader.take(16), reader.u64(), reader.varint(), reader.varint32())
    return dict(zip(RESUME_FIELDS, values))


def write_resume(resume):
    """Writes what a client says to resume."""
    if resume is None:
        return b"\0"
    return (b"\1" + varint(resume["participant"]) + resume["secret"] + resume["incarnation"].to_bytes(8, "little")
            + varint(resume["position"]) + varint(resume["counter"]))


def read_participants(reader):
    """Reads the list of participants to the end of the frame."""
    participants = []
    while not reader.is_at_end():
        one = {"id": reader.varint32(), "state": PARTICIPANT_STATE.read(reader)}
        if one["state"] & HAS_USER:
            one["user"] = USER.read(reader)
        one["presence"] = reader.bytes()
        participants.append(one)
    return participants


def write_participants(participants):
    """Writes a list of participants."""
    return b"".join(map(write_participant, participants))


def write_participant(one):
    """Writes one entry of the list."""
    user = USER.write(one["user"]) if one["state"] & HAS_USER else b""
    return varint(one["id"]) + bytes([one["state"]]) + user + with_length(one["presence"])


RESUME_FLAG = small_number(1)
PARTICIPANT_STATE = one_of(0, 1, 2, 5, 6)
# Added to the state of a participant whose user follows (W100).
HAS_USER = 4
U8 = small_number(255)
FLAG = Kind(lambda reader: min(reader.u8(), 1), lambda value: bytes([value]))
ACCESS = flags_within(3)
U64 = Kind(Reader.u64, lambda value: value.to_bytes(8, "little"))
VARINT = number(Reader.varint)
VARINT32 = number(Reader.varint32)
CHANNEL_ID = number_between(1, 4_096)
MAX_PACKET = number_between(SMALLEST_MAX_PACKET, (1 << 64) - 1)
SECRET = Kind(lambda reader: reader.take(16), bytes)
ROOM = text_between(1, 256)
NAME = text_between(1, 128)
PART_NAME = text_between(0, 128)
USER = text_between(1, 256)
ADDRESS = text_between(0, 256)
DETAIL = text_between(0, 1_024)
UP_TO_4096 = bytes_up_to(4_096)
QOS = Kind(read_qos, write_qos)
COMPRESS = Kind(read_compress, bytes)
RESUME = Kind(read_resume, write_resume)
PARTICIPANTS = Kind(read_participants, write_participants)
RECORDS = Kind(None, lambda records: b"".join(map(write_record, records)))

LAYOUTS = {
    0x01: ("HELLO", {CLIENT}, [("lowest", U8), ("capabilities", VARINT), ("max_packet", MAX_PACKET),
                               ("max_message", VARINT), ("room", ROOM), ("token", UP_TO_4096),
                               ("presence", UP_TO_4096), ("resume", RESUME)]),
    0x02: ("WELCOME", {SERVER}, [("capabilities", VARINT), ("max_packet", MAX_PACKET), ("max_message", VARINT),
                                 ("max_snapshot", VARINT), ("incarnation", U64), ("participant", VARINT32),
                                 ("secret", SECRET), ("outcome", small_number(2)), ("counter", VARINT32),
                                 ("position", VARINT), ("tick_ms", VARINT), ("ping_ms", VARINT),
                                 ("dead_ms", VARINT), ("away_ms", VARINT)]),
    0x03: ("OPEN", {CLIENT}, [("ref", VARINT32), ("access", ACCESS), ("name", NAME), ("qos", QOS), ("have", VARINT),
                              ("compress", COMPRESS)]),
    0x04: ("CHANNEL", {SERVER}, [("ref", VARINT32), ("id", CHANNEL_ID), ("access", ACCESS), ("name", NAME),
                                 ("qos", QOS)]),
    0x05: ("SHUT", {CLIENT}, [("id", VARINT32)]),
    0x06: ("MESSAGES", {CLIENT, SERVER}, [("records", RECORDS)]),
    0x09: ("PRESENCE", {CLIENT}, [("rest", rest_up_to(4_096))]),
    0x0A: ("PARTICIPANTS", {SERVER}, [("complete", FLAG), ("participants", PARTICIPANTS)]),
    0x0B: ("SNAPSHOT", {CLIENT, SERVER}, [("part", VARINT32), ("as_of", VARINT), ("total", VARINT),
                                          ("offset", VARINT), ("rest", rest_up_to())]),
    0x0C: ("SNAPSHOT_WANTED", {SERVER}, [("part", VARINT32), ("at_least", VARINT)]),
    0x0D: ("SYNCED", {SERVER}, [("id", VARINT32)]),
    0x0E: ("PING", {CLIENT, SERVER}, [("time", VARINT)]),
    0x0F: ("PONG", {CLIENT, SERVER}, [("time", VARINT), ("received", VARINT), ("sent", VARINT)]),
    0x10: ("ERROR", {CLIENT, SERVER}, [("code", VARINT), ("fault", U8), ("fatal", FLAG), ("subject", VARINT),
                                       ("detail", DETAIL)]),
    0x11: ("BYE", {CLIENT, SERVER}, [("reason", VARINT), ("retry_ms", VARINT)]),
    0x12: ("POSITION", {SERVER}, [("position", VARINT)]),
    0x13: ("GAP", {SERVER}, [("id", VARINT32), ("position", VARINT)]),
    0x19: ("CODECS", {CLIENT, SERVER}, [("set", VARINT)]),
    0x1A: ("COMPRESS", {CLIENT}, [("id", VARINT32), ("compress", COMPRESS)]),
    0x29: ("PART", {CLIENT, SERVER}, [("part", VARINT32), ("counter", VARINT32), ("name", PART_NAME),
                                      ("rest", rest_up_to())]),
    0x2A: ("ORDERED", {SERVER}, [("counter", VARINT32)]),
    0x34: ("COUNT", {SERVER}, [("everybody", small_number(1)), ("count", VARINT32)]),
    0x35: ("PAGE_WANTED", {CLIENT}, [("after", VARINT32)]),
    0x37: ("RECEIVED", {CLIENT}, [("position", VARINT)]),
    0x38: ("RECEIPT", {SERVER}, [("counter", VARINT32), ("outcome", small_number(4))]),
    0x39: ("OWNER", {SERVER}, [("after_ms", VARINT), ("address", ADDRESS), ("port", number_between(0, 65_535))]),
    0x36: ("PAGE", {SERVER}, [("after", VARINT32), ("last", small_number(1)), ("participants", PARTICIPANTS)]),
}
NUMBERS = {layout[0]: number_ for number_, layout in LAYOUTS.items()}
NOT_AGREED = {0x07, 0x16, 0x18, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x26, 0x27}
SENT_OPTIONAL = {"CODECS", "COUNT", "PAGE_WANTED", "RECEIPT", "OWNER"}
