"""Lets clients talk to servers that share their rooms, whose URLs are in GROUPWIRE_URLS, with spaces between.

The servers tell clients of others where they are reached themselves.
"""

import os
import secrets
import unittest

import events
from channels import OPEN
from client import Client
from test_server import of, story

URLS = os.environ.get("GROUPWIRE_URLS", "").split()


@unittest.skipUnless(URLS, "GROUPWIRE_URLS is not set: no servers to test against")
class Cluster(unittest.IsolatedAsyncioTestCase):
    async def test_w117_clients_move_to_the_server_that_has_their_room(self):
        """All but one of the clients are connected elsewhere at first. Nobody loses anything when they move."""
        room = f"stranger-{secrets.token_hex(8)}"
        clients = [Client(url, room) for url in URLS]
        for client in clients:
            client.open("draw")
            client.start()
        for client in clients:
            await client.until(lambda: client.session.channels["draw"].status == OPEN)
        for number in range(20):
            clients[number % len(clients)].send("draw", str(number))
        await clients[0].until(lambda: sum(client.is_direct for client in clients) == len(clients) - 1, 60)
        for number in range(20, 40):
            clients[number % len(clients)].send("draw", str(number))
        for client in clients:
            await client.until(lambda: len(story(client)) == 40)
            self.assertEqual(story(client), story(clients[0]))
        said = sorted(int(text) for _, _, text in story(clients[0]))
        self.assertEqual(said, list(range(40)))
        joins = [[event.outcome for event in of(client, events.Welcomed)] for client in clients]
        self.assertEqual(sorted(joins), [[events.NEW]] + [[events.NEW, events.RESUMED]] * (len(clients) - 1))
        for client in clients:
            await client.leave()


if __name__ == "__main__":
    unittest.main()
