"""Reading and writing the basic types of the wire: varints, byte strings, texts."""

from errors import INVALID_TEXT, TOO_LARGE, WireError, malformed

LIMIT_32 = 1 << 32
LIMIT_64 = 1 << 64


class Reader:
    """Reads fields from bytes, one behind the other, and never past their end (W3)."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    def is_at_end(self):
        """Tells whether every byte was read."""
        return self.at == len(self.data)

    def take(self, count):
        """Reads that many bytes."""
        if count > len(self.data) - self.at:
            raise malformed("read past the end")
        self.at += count
        return self.data[self.at - count:self.at]

    def rest(self):
        """Reads all bytes that are left."""
        return self.take(len(self.data) - self.at)

    def u8(self):
        """Reads one byte as a number."""
        return self.take(1)[0]

    def u64(self):
        """Reads eight bytes, the lowest first."""
        return int.from_bytes(self.take(8), "little")

    def varint(self, limit=LIMIT_64):
        """Reads an unsigned LEB128 number in its shortest form (W1)."""
        value = 0
        for place in range(10):
            byte = self.u8()
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                if byte == 0 and place > 0:
                    raise malformed("a padded varint")
                if value >= limit:
                    raise malformed("a varint that is too large")
                return value
        raise malformed("a varint of more than ten bytes")

    def varint32(self):
        """Reads a varint below 2^32."""
        return self.varint(LIMIT_32)

    def bytes(self, at_most=None):
        """Reads a length and that many bytes."""
        length = self.varint()
        if at_most is not None and length > at_most:
            raise WireError(TOO_LARGE, f"{length} bytes where {at_most} are allowed")
        return self.take(length)

    def text(self, at_most=None):
        """Reads a length and that many bytes of UTF-8 (W2)."""
        return decode_text(self.bytes(at_most))

    def expect_end(self):
        """Refuses bytes that nobody read (W3)."""
        if not self.is_at_end():
            raise malformed("bytes are left over")


def decode_text(data):
    """Turns UTF-8 into a string."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise WireError(INVALID_TEXT, "a text that is not UTF-8") from None


def varint(value):
    """Writes a number as a varint in its shortest form."""
    if not 0 <= value < LIMIT_64:
        raise ValueError(f"{value} does not fit a varint")
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def with_length(data):
    """Writes bytes behind their length."""
    return varint(len(data)) + bytes(data)
