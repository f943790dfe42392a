"""Lets clients talk to a real server, whose URL is in GROUPWIRE_URL, such as ws://127.0.0.1:8080.

GROUPWIRE_TOKEN is the token of the clients, if the server wants one. Each test uses a room of its own.
"""

import asyncio
import os
import secrets
import sys
import unittest

import events
from channels import AWARENESS_QOS, DEPARTURES_QOS, OPEN
from client import Client

URL = os.environ.get("GROUPWIRE_URL", "")
TOKEN = os.environ.get("GROUPWIRE_TOKEN", "").encode()


def setUpModule():
    """Says why nothing is tested, if that is so."""
    if not URL:
        print("GROUPWIRE_URL is not set: the tests against a server are skipped", file=sys.stderr)


@unittest.skipUnless(URL, "GROUPWIRE_URL is not set: no server to test against")
class Server(unittest.IsolatedAsyncioTestCase):
    """The scenarios, each in its own room."""

    async def asyncSetUp(self):
        self.room = f"stranger-{secrets.token_hex(8)}"
        self.clients = []

    async def asyncTearDown(self):
        for client in self.clients:
            await client.leave()

    async def test_join(self):
        """A client is welcomed as a new participant, and gets its channels."""
        ann = await self.join("Ann")
        welcomed = of(ann, events.Welcomed)
        self.assertEqual([event.outcome for event in welcomed], [events.NEW])
        self.assertEqual(len(ann.session.secret), 16)
        self.assertEqual(ann.session.channels["draw"].access, 3)
        self.assertTrue(ann.session.channels["draw"].is_transaction)
        self.assertFalse(ann.session.channels["pointer"].is_transaction)
        self.assertTrue(ann.session.channels["pointer"].conflates)
        await ann.until(lambda: ann.session.round_trip is not None)

    async def test_presence(self):
        """Participants see each other come, and what they say of themselves."""
        ann = await self.join("Ann")
        bob = await self.join("Bob")
        await ann.until(lambda: presence_of(ann, bob) == (events.HERE, b"Bob"))
        await bob.until(lambda: presence_of(bob, ann) == (events.HERE, b"Ann"))
        bob.set_presence(b"Bob, at lunch")
        await ann.until(lambda: presence_of(ann, bob) == (events.HERE, b"Bob, at lunch"))
        self.assertNotIn(me(ann), ann.session.participants)

    async def test_one_order(self):
        """Transactions of two clients come in one order to both, and each own one is confirmed once."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for number in range(10):
            ann.send("draw", f"a{number}")
            bob.send("draw", f"b{number}".encode(), priority=200)
        for client in (ann, bob):
            await client.until(lambda: len(story(client)) == 20)
        self.assertEqual(story(ann), story(bob))
        self.assertEqual([data for _, sender, data in story(ann) if sender == me(bob)],
                         [f"b{number}".encode() for number in range(10)])
        self.assertEqual([event.counter for event in of(ann, events.Ordered)], list(range(1, 11)))
        of_ann, = {event.is_text for event in messages(bob, "draw")}
        of_bob, = {(event.is_text, event.priority) for event in messages(ann, "draw")}
        self.assertTrue(of_ann)
        self.assertEqual(of_bob, (False, 200))
        self.assertEqual(ann.session.waiting, [])

    async def test_departures(self):
        """Who left stands in the channel, after what it sent there (W113)."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for client in (ann, bob):
            client.open("pen", qos=DEPARTURES_QOS)
            await client.until(lambda: client.session.channels["pen"].is_synced)
        ann.send("pen", "mine")
        await ann.until(lambda: len(of(ann, events.Ordered)) == 1)
        await ann.leave()
        await bob.until(lambda: len(messages(bob, "pen")) == 2)
        mine, entry = messages(bob, "pen")
        self.assertEqual((mine.sender, mine.departed), (me(ann), None))
        self.assertEqual((entry.sender, entry.departed, entry.data), (0, me(ann), b""))

    async def test_awareness(self):
        """Of each key the last value arrives, text and bytes, and nothing comes back to its sender."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for number in range(5):
            ann.send("pointer", f"left {number}", key="left")
            ann.send("pointer", bytes([0xFF, number]), key=b"\xfe\x00")
        await bob.until(lambda: newest(bob, me(ann)) == {b"left": b"left 4", b"\xfe\x00": b"\xff\x04"})
        bob.send("pointer", "from Bob", key="left")
        await ann.until(lambda: newest(ann, me(bob)) == {b"left": b"from Bob"})
        self.assertEqual({event.sender for event in messages(ann, "pointer")}, {me(bob)})
        for key in (b"left", b"\xfe\x00"):
            indices = [event.number for event in messages(bob, "pointer") if event.key == key]
            self.assertEqual(indices, sorted(set(indices)))

    async def test_large_message(self):
        """A transaction of 50,000 bytes arrives whole, through WebSocket frames with long lengths."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        large = secrets.token_bytes(50_000)
        ann.send("draw", large)
        await bob.until(lambda: [event.data for event in messages(bob, "draw")] == [large])
        await ann.until(lambda: len(of(ann, events.Ordered)) == 1)

    async def test_late_joiner(self):
        """Who comes later gets the transactions so far and the newest value of each key, and then is synced."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for number in range(3):
            ann.send("draw", f"line {number}")
            ann.send("pointer", f"left {number}", key="left")
            ann.send("pointer", f"right {number}", key="right")
        await ann.until(lambda: len(of(ann, events.Ordered)) == 3)
        await bob.until(lambda: newest(bob, me(ann)) == {b"left": b"left 2", b"right": b"right 2"})
        carol = await self.join("Carol")
        synced_at = carol.log.index(of(carol, events.Synced)[0])
        before = [event for event in carol.log[:synced_at] if isinstance(event, events.Message)]
        self.assertEqual([event.data for event in before if event.is_transaction],
                         [b"line 0", b"line 1", b"line 2"])
        self.assertEqual({event.key: event.data for event in before if not event.is_transaction},
                         {b"left": b"left 2", b"right": b"right 2"})
        self.assertTrue(all(event.is_state for event in before))
        self.assertEqual(story(carol), story(bob))

    async def test_channel_opened_late(self):
        """A channel that is opened after the join brings its history."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        await self.open(ann, "notes")
        ann.send("notes", "first")
        ann.send("draw", "between")
        ann.send("notes", "second")
        await ann.until(lambda: len(of(ann, events.Ordered)) == 3)
        await self.open(bob, "notes")
        await bob.until(lambda: len(messages(bob, "notes")) == 2)
        self.assertEqual([event.text for event in messages(bob, "notes")], ["first", "second"])
        await bob.until(lambda: len(messages(bob, "draw")) == 1)

    async def test_close_and_open_again(self):
        """A closed channel brings nothing; opened again it brings what was missed, once, and goes on."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        ann.send("draw", "before")
        await bob.until(lambda: len(messages(bob, "draw")) == 1)
        bob.shut("draw")
        await bob.until(lambda: of(bob, events.ChannelClosed))
        for number in range(3):
            ann.send("draw", f"missed {number}")
        await ann.until(lambda: len(of(ann, events.Ordered)) == 4)
        ann.send("pointer", "a sign", key="sign")
        await bob.until(lambda: newest(bob, me(ann)) == {b"sign": b"a sign"})
        self.assertEqual(len(messages(bob, "draw")), 1)
        await self.open(bob, "draw")
        ann.send("draw", "after")
        await bob.until(lambda: len(messages(bob, "draw")) == 5)
        bob.send("draw", "from Bob")
        await ann.until(lambda: len(messages(ann, "draw")) == 1)
        self.assertEqual([event.text for event in messages(bob, "draw")],
                         ["before", "missed 0", "missed 1", "missed 2", "after"])
        positions = [event.position for event in messages(bob, "draw")]
        self.assertEqual(positions, sorted(set(positions)))

    async def test_values_of_a_channel_opened_again(self):
        """A channel that is opened again brings the newest value of each key, though it was known before."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        ann.send("pointer", "there", key="sign")
        await bob.until(lambda: [event.data for event in messages(bob, "pointer")] == [b"there"])
        bob.shut("pointer")
        await bob.until(lambda: of(bob, events.ChannelClosed))
        await self.open(bob, "pointer")
        await bob.until(lambda: [event.data for event in messages(bob, "pointer")] == [b"there"] * 2)
        self.assertTrue(messages(bob, "pointer")[1].is_state)

    async def test_shut_with_waiting_transactions(self):
        """Transactions that were sent just before a channel is closed are still ordered."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for number in range(5):
            ann.send("draw", f"line {number}")
        ann.shut("draw")
        await ann.until(lambda: of(ann, events.ChannelClosed))
        self.assertEqual([event.counter for event in of(ann, events.Ordered)], [1, 2, 3, 4, 5])
        await bob.until(lambda: len(messages(bob, "draw")) == 5)

    async def test_resume(self):
        """After a cut the same participant comes back: what both did meanwhile arrives, once and in one order."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        bob.send("draw", "b before")
        ann.send("draw", "a before")
        await ann.until(lambda: len(story(ann)) == 2)
        await bob.until(lambda: len(story(bob)) == 2)
        before = me(bob)
        bob.cut(stay_away=True)
        await ann.until(lambda: presence_of(ann, bob) == (events.AWAY, b"Bob"))
        bob.send("draw", "b away 0")
        ann.send("draw", "a meanwhile")
        bob.send("draw", "b away 1")
        bob.send("pointer", "b away", key="left")
        ann.send("pointer", "a meanwhile", key="left")
        await ann.until(lambda: len(of(ann, events.Ordered)) == 2)
        bob.come_back()
        for client in (ann, bob):
            await client.until(lambda: len(story(client)) == 5)
        await ann.until(lambda: presence_of(ann, bob) == (events.HERE, b"Bob"))
        await ann.until(lambda: newest(ann, me(bob)) == {b"left": b"b away"})
        await bob.until(lambda: newest(bob, me(ann)) == {b"left": b"a meanwhile"})
        self.assertEqual([event.outcome for event in of(bob, events.Welcomed)], [events.NEW, events.RESUMED])
        self.assertEqual(me(bob), before)
        self.assertEqual(story(ann), story(bob))
        self.assertEqual([data for _, sender, data in story(ann) if sender == before],
                         [b"b before", b"b away 0", b"b away 1"])
        self.assertEqual([event.counter for event in of(bob, events.Ordered)], [1, 2, 3])

    async def test_cut_in_the_middle(self):
        """A transport that is cut again and again while both send loses nothing and repeats nothing."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        for round_ in range(4):
            for number in range(10):
                ann.send("draw", f"a {round_} {number}")
                bob.send("draw", f"b {round_} {number}")
            await asyncio.sleep(0.02 * round_)
            welcomes = len(of(bob, events.Welcomed))
            bob.cut()
            await bob.until(lambda: len(of(bob, events.Welcomed)) > welcomes)
        for client in (ann, bob):
            await client.until(lambda: len(story(client)) == 80)
        self.assertEqual(story(ann), story(bob))
        self.assertEqual([data.decode() for _, sender, data in story(ann) if sender == me(bob)],
                         [f"b {round_} {number}" for round_ in range(4) for number in range(10)])
        self.assertEqual({event.outcome for event in of(bob, events.Welcomed)[1:]}, {events.RESUMED})

    async def test_leave(self):
        """Who leaves is gone for the others at once, and its transport is closed with code 1000."""
        ann, bob = await self.join("Ann"), await self.join("Bob")
        gone = me(bob)
        await ann.until(lambda: gone in ann.session.participants)
        await bob.leave()
        await ann.until(lambda: gone not in ann.session.participants)
        states = [event.state for event in of(ann, events.Presence) if event.participant == gone]
        self.assertEqual(states[-1], events.LEFT)
        self.assertNotIn(events.AWAY, states)
        self.assertEqual(bob.close_codes, [1000])

    async def join(self, name):
        """A client that has joined with the channels draw and pointer, and is synced."""
        client = Client(URL, self.room, name.encode(), TOKEN)
        self.clients.append(client)
        client.open("draw")
        client.open("pointer", qos=AWARENESS_QOS)
        client.start()
        await client.until(lambda: of(client, events.Synced))
        return client

    async def open(self, client, name):
        """Opens a channel and waits until its history is complete."""
        seen = len(client.log)
        client.open(name)
        await client.until(lambda: events.Synced(name) in client.log[seen:])
        self.assertEqual(client.session.channels[name].status, OPEN)


def me(client):
    """The number of this client in the room."""
    return client.session.participant


def of(client, kind):
    """The events of one kind so far."""
    return [event for event in client.log if isinstance(event, kind)]


def messages(client, channel):
    """The messages of others that came on a channel."""
    return [event for event in of(client, events.Message) if event.channel == channel]


def newest(client, sender):
    """The last value of each key that came of a sender."""
    return {event.key: event.data for event in messages(client, "pointer") if event.sender == sender}


def presence_of(client, other):
    """What a client knows of another one: state and presence."""
    known = client.session.participants.get(me(other))
    return known and (known.state, known.presence)


def story(client):
    """All transactions in the order in which they came, own ones included: position, sender, bytes."""
    told = []
    for event in client.log:
        if isinstance(event, events.Ordered):
            told.append((event.position, me(client), event.data))
        elif isinstance(event, events.Message) and event.is_transaction:
            told.append((event.position, event.sender, event.data))
    return told


if __name__ == "__main__":
    unittest.main()
