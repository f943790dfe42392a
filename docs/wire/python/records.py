"""One message on the wire: the record of a plain payload (W19 to W26)."""

from dataclasses import dataclass
from typing import Optional

from errors import TOO_LARGE, WireError, malformed
from fields import Reader, decode_text, varint, with_length

TEXT, KEY, PRIORITY, EXTENSIONS, OWN, STATE, FILL, PACKED = 1, 2, 4, 8, 16, 32, 64, 128
GOES_ON, CONTINUES, DIRECT = 256, 512, 1024
ALL_FLAGS = 2047
ONLY_FROM_SERVER = OWN | STATE | FILL
LONGEST_KEY = 256
LONGEST_EXTENSIONS = 1024
KEY_LENGTH_BASE = 32
DEPARTED = 1


@dataclass
class Record:
    """The six numbers of a record, and the parts of its content."""

    channel: int
    sender: int
    flags: int
    gap: int
    age: int
    stamp: int
    data: bytes = b""
    key: Optional[bytes] = None
    priority: Optional[int] = None
    extensions: Optional[bytes] = None
    # The only receiver, in a direct record on its way to the server (W114).
    to: Optional[int] = None

    @property
    def departed(self):
        """The participant that left, in the room's own entry about that; else None (W113)."""
        return read_extensions(self.extensions or b"").get(DEPARTED)


def read_record(reader, from_server, max_message=60_000):
    """Reads one record and checks what can be checked without knowing the session."""
    numbers = [reader.varint32() for _ in range(6)]
    record = Record(*numbers)
    check_head(record, from_server)
    content = Reader(reader.bytes())
    if record.flags & KEY:
        record.key = read_key(content)
    if record.flags & PRIORITY:
        record.priority = content.u8()
    if record.flags & DIRECT and not from_server:
        record.to = content.varint32()
        if record.to == 0:
            raise malformed("a message to the room itself")
    if record.flags & EXTENSIONS:
        record.extensions = content.bytes(at_most=LONGEST_EXTENSIONS)
        check_extensions(record, from_server)
    record.data = content.rest()
    check_data(record, max_message)
    return record


def check_head(record, from_server):
    """Refuses unknown flags, and what only a server may write (W19, W20)."""
    if record.flags & ~ALL_FLAGS:
        raise malformed("an unknown flag")
    if not from_server and record.flags & ONLY_FROM_SERVER:
        raise malformed("a flag that only a server sets")
    if not from_server and record.sender != 0:
        raise malformed("a sender in a record from a client")
    if record.flags & (GOES_ON | CONTINUES) and record.flags & OWN:
        raise malformed("an own record that is a piece")
    if record.flags & DIRECT and record.flags & (STATE | FILL | GOES_ON | CONTINUES):
        raise malformed("a message to one participant that is state, a fill or a piece")
    if record.flags & CONTINUES and record.flags & (KEY | PRIORITY | EXTENSIONS):
        raise malformed("a further piece with more than its bytes")


def read_key(content):
    """Reads a key, whose length is written as 32 more than it is."""
    length = content.varint() - KEY_LENGTH_BASE
    if length < 0:
        raise malformed("a key with a length below zero")
    if length > LONGEST_KEY:
        raise WireError(TOO_LARGE, "a key of more than 256 bytes")
    return content.take(length)


def check_extensions(record, from_server):
    """Refuses a departure that the room itself did not write (W113)."""
    if DEPARTED in read_extensions(record.extensions) and not (from_server and record.sender == 0):
        raise malformed("a departure that is not the room's own entry")


def read_extensions(data):
    """Reads the extensions that have a meaning, by their types; others are skipped (W19)."""
    reader, known = Reader(data), {}
    while not reader.is_at_end():
        number, value = reader.varint(), Reader(reader.bytes())
        if number == DEPARTED:
            known[number] = value.varint32()
            if not value.is_at_end():
                raise malformed("a departure of more than a number")
    return known


def check_data(record, max_message):
    """Checks the message itself (W26); of a packed one the original would have to be checked."""
    if len(record.data) > max_message:
        raise WireError(TOO_LARGE, "a message that is too large")
    if record.flags & (GOES_ON | CONTINUES) and not record.data:
        raise malformed("a piece without bytes")
    if record.flags & TEXT and not record.flags & PACKED:
        decode_text(record.data)
    if record.flags & OWN and (record.data or record.flags & (KEY | PRIORITY | EXTENSIONS)):
        raise malformed("an own record with a content")


def write_record(record):
    """Writes a record; its flags have to say which parts of the content it has."""
    content = b""
    if record.flags & KEY:
        content += varint(len(record.key) + KEY_LENGTH_BASE) + record.key
    if record.flags & PRIORITY:
        content += bytes([record.priority])
    if record.to is not None:
        content += varint(record.to)
    if record.flags & EXTENSIONS:
        content += with_length(record.extensions)
    numbers = (record.channel, record.sender, record.flags, record.gap, record.age, record.stamp)
    return b"".join(map(varint, numbers)) + with_length(content + record.data)


def check_message(data, key, is_text, max_message):
    """Refuses, before it is numbered, a message of the application that a server would refuse."""
    if is_text:
        decode_text(data)
    if len(data) > max_message:
        raise WireError(TOO_LARGE, "a message that is too large")
    if key is not None and len(key) > LONGEST_KEY:
        raise WireError(TOO_LARGE, "a key of more than 256 bytes")
