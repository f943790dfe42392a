"""Counters, indices and positions: what the gaps and stamps of records stand for (W21 to W24)."""

from errors import malformed

MODULUS = 1 << 32


class Numbering:
    """The last numbers of one direction of one transport."""

    def __init__(self, position=0):
        self.position = position
        self.counters = {}
        self.indices = {}

    def forget_sender(self, sender):
        """Begins at 0 again for a participant that has left (W22)."""
        self.counters.pop(sender, None)
        for place in [place for place in self.indices if place[1] == sender]:
            del self.indices[place]

    def read_counter(self, record):
        """Returns the counter of a transaction."""
        counter = (self.counters.get(record.sender, 0) + record.gap + 1) % MODULUS
        self.counters[record.sender] = counter
        return counter

    def read_position(self, record):
        """Returns the position of a transaction that is not a fill."""
        position = self.position + record.stamp + 1
        if position >= MODULUS:
            raise malformed("a position beyond the end of a room")
        self.position = position
        return position

    def read_awareness(self, record):
        """Returns the index of an awareness message, and the counter of the transaction before it."""
        place = (record.channel, record.sender)
        index = (self.indices.get(place, 0) + record.gap + 1) % MODULUS
        after = (self.counters.get(record.sender, 0) + from_zigzag(record.stamp)) % MODULUS
        self.indices[place] = index
        self.counters[record.sender] = after
        return index, after

    def write_counter(self, counter):
        """Returns the gap that stands for the counter of an own transaction."""
        gap = (counter - self.counters.get(0, 0) - 1) % MODULUS
        self.counters[0] = counter
        return gap

    def write_awareness(self, channel, index, after):
        """Returns the gap and the stamp that stand for an own index and the transaction before it."""
        gap = (index - self.indices.get((channel, 0), 0) - 1) % MODULUS
        stamp = to_zigzag(after - self.counters.get(0, 0))
        self.indices[(channel, 0)] = index
        self.counters[0] = after
        return gap, stamp


def from_zigzag(number):
    """0, 1, 2, 3, 4 stand for 0, -1, 1, -2, 2."""
    return (number >> 1) ^ -(number & 1)


def to_zigzag(difference):
    """The other way round, for the difference modulo 2^32 that is nearest to zero."""
    difference = (difference + MODULUS // 2) % MODULUS - MODULUS // 2
    return 2 * difference if difference >= 0 else -2 * difference - 1
