"""The waits of the client before it connects again, without a network."""

import random
import unittest

from client import FIRST_WAIT_S, owner_url, wait_before_return


class Waits(unittest.TestCase):
    def spread(self, stated, bound):
        source = random.Random(25)
        return sorted(wait_before_return(stated, bound, source) for _ in range(10_000))

    def test_w37_waits_are_spread_from_nothing_to_their_bound(self):
        waits = self.spread(0, 4)
        self.assertTrue(0 <= waits[0] and waits[-1] <= 4)
        self.assertTrue(all(abs(wait - number / 2500) < 0.1 for number, wait in enumerate(waits)))

    def test_w36_nobody_comes_before_the_stated_time_or_long_after_it(self):
        waits = self.spread(12.5, 4)
        self.assertTrue(12.5 <= waits[0] and waits[-1] <= 12.5 + FIRST_WAIT_S)
        self.assertGreater(waits[-1] - waits[0], 0.9 * FIRST_WAIT_S)


class Owners(unittest.TestCase):
    def test_w117_the_owner_is_not_reached_less_safely(self):
        self.assertEqual(owner_url("ws://a/ws", "http://gw-1:8080", "a/b"), "ws://gw-1:8080/ws?room=a%2Fb")
        self.assertEqual(owner_url("ws://a/ws", "https://gw-1/base/", "r"), "wss://gw-1/base/ws?room=r")
        self.assertEqual(owner_url("wss://a/ws", "https://gw-1", "r"), "wss://gw-1/ws?room=r")
        for address in ("http://gw-1", "gw-1", "ftp://gw-1", ""):
            self.assertIsNone(owner_url("wss://a/ws", address, "r"))


if __name__ == "__main__":
    unittest.main()
