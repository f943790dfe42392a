"""Which awareness messages are news to a receiver (W42)."""

MODULUS = 1 << 32
WINDOW = 64


class Freshness:
    """Remembers over transports which indices came, by sender and channel."""

    def __init__(self):
        self.newest = {}
        self.windows = {}

    def is_news_of_key(self, sender, channel, key, index):
        """On a channel that conflates: is this value newer than the last one of its key?"""
        place = (sender, channel, key)
        if place in self.newest and not is_newer(index, self.newest[place]):
            return False
        self.newest[place] = index
        return True

    def is_news_of_all(self, sender, channel, index):
        """On a channel that aggregates: did this message not come before, and is it not too old to tell?"""
        newest, seen = self.windows.get((sender, channel), (None, set()))
        if newest is None or is_newer(index, newest):
            newest = index
        elif index in seen or (newest - index) % MODULUS >= WINDOW:
            return False
        seen = {old for old in seen | {index} if (newest - old) % MODULUS < WINDOW}
        self.windows[(sender, channel)] = (newest, seen)
        return True

    def forget_channel(self, channel):
        """Forgets the values of a channel that was closed: opened again, it brings them anew."""
        self.newest = {place: index for place, index in self.newest.items() if place[1] != channel}

    def forget_sender(self, sender):
        """Forgets a participant that has left."""
        self.newest = {place: index for place, index in self.newest.items() if place[0] != sender}
        self.windows = {place: seen for place, seen in self.windows.items() if place[0] != sender}


def is_newer(index, than):
    """Compares indices, which count modulo 2^32."""
    return 0 < (index - than) % MODULUS < MODULUS // 2
