"""Reading and writing the basic types of the wire: varints, octet strings, texts."""

from errors import INVALID_TEXT, TOO_LARGE, WireError, malformed

LIMIT_32 = 1 << 32
LIMIT_64 = 1 << 64


class Reader:
    """Reads fields from octets, one behind the other, and never past their end (W3)."""

    def __init__(self, octets):
        self.octets = bytes(octets)
        self.at = 0

    def is_at_end(self):
        """Tells whether every octet was read."""
        return self.at == len(self.octets)

    def take(self, count):
        """Reads that many octets."""
        if count > len(self.octets) - self.at:
            raise malformed("read past the end")
        self.at += count
        return self.octets[self.at - count:self.at]

    def rest(self):
        """Reads all octets that are left."""
        return self.take(len(self.octets) - self.at)

    def u8(self):
        """Reads one octet as a number."""
        return self.take(1)[0]

    def u64(self):
        """Reads eight octets, the lowest first."""
        return int.from_bytes(self.take(8), "little")

    def varint(self, limit=LIMIT_64):
        """Reads an unsigned LEB128 number in its shortest form (W1)."""
        value = 0
        for place in range(10):
            octet = self.u8()
            value |= (octet & 0x7F) << (7 * place)
            if octet < 0x80:
                if octet == 0 and place > 0:
                    raise malformed("a padded varint")
                if value >= limit:
                    raise malformed("a varint that is too large")
                return value
        raise malformed("a varint of more than ten octets")

    def varint32(self):
        """Reads a varint below 2^32."""
        return self.varint(LIMIT_32)

    def bytes(self, at_most=None):
        """Reads a length and that many octets."""
        length = self.varint()
        if at_most is not None and length > at_most:
            raise WireError(TOO_LARGE, f"{length} octets where {at_most} are allowed")
        return self.take(length)

    def text(self, at_most=None):
        """Reads a length and that many octets of UTF-8 (W2)."""
        return decode_text(self.bytes(at_most))

    def expect_end(self):
        """Refuses octets that nobody read (W3)."""
        if not self.is_at_end():
            raise malformed("octets are left over")


def decode_text(octets):
    """Turns UTF-8 into a string."""
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        raise WireError(INVALID_TEXT, "a text that is not UTF-8") from None


def varint(value):
    """Writes a number as a varint in its shortest form."""
    if not 0 <= value < LIMIT_64:
        raise ValueError(f"{value} does not fit a varint")
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


def with_length(octets):
    """Writes octets behind their length."""
    return varint(len(octets)) + bytes(octets)
