"""What the conversations of the vectors do not show: errors, goodbyes, channels that are refused on resuming."""

import unittest

import events
from channels import AWARENESS_QOS, CLOSING, OPEN, SHUT, ChannelError
from errors import MALFORMED, REPLACED, SILENT, UNKNOWN_CHANNEL
from frames import CLIENT, Frame, read_packet, write_packet
from numbering import MODULUS
from records import CONTINUES, DIRECT, EXTENSIONS, FILL, GOES_ON, KEY, OWN, TEXT, Record
from session import ENDED, Session

CHANNELS = (("draw", None), ("pointer", AWARENESS_QOS))


class Cases(unittest.TestCase):
    """A session, and a test that plays its server."""

    def setUp(self):
        self.now = 0
        self.session = Session("demo", b"Ann")
        for name, qos in CHANNELS:
            self.session.open(name, qos=qos)
        self.hello = self.connect()

    def connect(self, refused=(), **welcome):
        """Begins a transport and lets the server answer the opening; returns the session's HELLO."""
        frames = list(read_packet(self.session.opening(self.now)[1:], CLIENT))
        answers = [answer(frame, refused) for frame in frames[1:]]
        self.heard = self.hear(Frame("WELCOME", WELCOME | welcome), *answers, version=b"\1")
        return frames[0]

    def hear(self, *frames, version=b""):
        """Gives the session a packet; returns the events."""
        return self.session.receive(version + write_packet(frames), self.now)

    def said(self):
        """The frames that the session wants to send."""
        return [frame for packet in self.session.take_packets() for frame in read_packet(packet, CLIENT)]

    def send(self, *texts):
        """Sends transactions; returns the counters on the wire."""
        for text in texts:
            self.session.send("draw", text, self.now)
        self.session.flush(self.now)
        return [record.data.decode() for record in self.sent_records()]

    def sent_records(self):
        """The records that the session wants to send."""
        return [record for frame in self.said() for record in frame.fields.get("records", [])]

    def own(self, gap=0, stamp=0, channel=1):
        """An own record of the server."""
        return Frame("MESSAGES", {"records": [Record(channel, 1, OWN, gap, 0, stamp)]})

    def broken(self, heard):
        """The code of the Broken event, and whether the session may resume."""
        event, = [event for event in heard if isinstance(event, events.Broken)]
        return event.code, event.may_resume

    def announce(self, counter=0):
        """The server announces part 1, of the channel draw."""
        return Frame("PART", {"part": 1, "counter": counter, "name": "drawing", "rest": b"\1"})

    def test_part_in_chunks(self):
        """Chunks become one part, its own transactions are ordered, and others of its channels are dropped (W32, W95)."""
        self.send("one", "two", "three")
        head = {"part": 1, "as_of": 50, "total": 6}
        self.assertEqual(self.hear(self.announce(2), Frame("SNAPSHOT", head | {"offset": 0, "rest": b"abcd"})), [])
        old = Frame("MESSAGES", {"records": [Record(1, 2, TEXT, 0, 0, 39, b"x")]})
        heard = self.hear(Frame("SNAPSHOT", head | {"offset": 4, "rest": b"ef"}), old, self.own(gap=2, stamp=10))
        self.assertEqual(heard, [events.Ordered("draw", 1, b"one", None), events.Ordered("draw", 2, b"two", None),
                                 events.SnapshotCame("drawing", 50, b"abcdef"), events.Ordered("draw", 3, b"three", 51)])

    def test_part_out_of_order(self):
        """A chunk that does not follow the last one is malformed."""
        head = {"part": 1, "as_of": 50, "total": 6}
        self.hear(self.announce(), Frame("SNAPSHOT", head | {"offset": 0, "rest": b"abcd"}))
        heard = self.hear(Frame("SNAPSHOT", head | {"offset": 5, "rest": b"f"}))
        self.assertEqual(self.broken(heard), (MALFORMED, True))
        self.assertEqual(self.said()[-1].type, "ERROR")

    def test_part_that_was_not_announced(self):
        """A chunk of a part that was not announced is malformed."""
        chunk = Frame("SNAPSHOT", {"part": 2, "as_of": 8, "total": 1, "offset": 0, "rest": b"x"})
        self.assertEqual(self.broken(self.hear(self.announce(), chunk)), (MALFORMED, True))

    def test_snapshot_wanted(self):
        """A part is offered, and sent in chunks as of the last position before the question once all transactions came."""
        self.session.provide("drawing", ["draw"])
        self.assertEqual([(one.type, one["part"], one["rest"]) for one in self.said()], [("PART", 0, b"\1")])
        self.assertEqual(self.hear(Frame("SNAPSHOT_WANTED", {"part": 0, "at_least": 0})), [])
        self.hear(Frame("SYNCED", {"id": 0}))
        self.hear(Frame("POSITION", {"position": 9}))
        wanted = Frame("SNAPSHOT_WANTED", {"part": 0, "at_least": 7})
        self.assertEqual(self.hear(wanted, Frame("POSITION", {"position": 12})), [events.SnapshotWanted("drawing", 9)])
        state = bytes(range(256)) * 200
        self.session.give_snapshot("drawing", 9, state)
        chunks = self.said()
        self.assertEqual({(one["part"], one["as_of"], one["total"]) for one in chunks}, {(0, 9, len(state))})
        self.assertEqual(b"".join(one["rest"] for one in chunks), state)
        self.assertGreater(len(chunks), 1)

    def test_gap(self):
        """A gap moves nothing but what is here of its channel; own transactions in it are ordered (W33, W96)."""
        self.send("one", "two")
        heard = self.hear(Frame("GAP", {"id": 1, "position": 20}), Frame("ORDERED", {"counter": 1}),
                          self.own(gap=1, stamp=21))
        self.assertEqual(heard, [events.Gap("draw", 20), events.Ordered("draw", 1, b"one", None),
                                 events.Ordered("draw", 2, b"two", 22)])
        self.assertEqual(self.broken(self.hear(Frame("ORDERED", {"counter": 3}))), (MALFORMED, True))

    def test_position(self):
        """A POSITION that is not before the last one is fine, else it is malformed."""
        self.hear(Frame("POSITION", {"position": 9}), Frame("POSITION", {"position": 9}))
        self.assertEqual(self.broken(self.hear(Frame("POSITION", {"position": 8}))), (MALFORMED, True))

    def test_own_record_of_a_later_transaction(self):
        """The own record of a later transaction orders those before it; one of none that waits is malformed (W29)."""
        self.send("one", "two")
        self.assertEqual(self.hear(self.own(gap=1)),
                         [events.Ordered("draw", 1, b"one", None), events.Ordered("draw", 2, b"two", 1)])
        self.assertEqual(self.broken(self.hear(self.own())), (MALFORMED, True))

    def test_direct(self):
        """What is for this participant alone is handed over at its place, once, and the server is told (W114, W115)."""
        def direct(position, data):
            return Frame("MESSAGES", {"records": [Record(1, 2, TEXT | DIRECT, 9, 0, position, data)]})

        def said(data, stamp=0):
            return Frame("MESSAGES", {"records": [Record(1, 2, TEXT, 0, 0, stamp, data)]})
        self.hear(Frame("SYNCED", {"id": 0}))
        self.said()
        self.assertEqual(self.hear(direct(2, b"alone")), [])
        heard = [(one.data, one.position, one.is_direct) for one in self.hear(said(b"one"), said(b"three", stamp=1))]
        self.assertEqual(heard, [(b"one", 1, False), (b"alone", 2, True), (b"three", 3, False)])
        received = [frame["position"] for frame in self.said() if frame.type == "RECEIVED"]
        self.assertEqual(received, [2])
        # It comes again when the server was not told, and one whose place has passed is handed over at once.
        self.assertEqual(self.hear(direct(2, b"alone")), [])
        self.assertEqual([frame["position"] for frame in self.said()], [2])
        self.assertEqual(self.hear(direct(5, b"last")), [])
        message, = self.hear(Frame("POSITION", {"position": 5}))
        self.assertEqual((message.data, message.is_direct), (b"last", True))

    def test_pieces(self):
        """A transaction in pieces is delivered with its last one, and without its beginning never (W97)."""
        def said(flags, data, gap=0):
            return Frame("MESSAGES", {"records": [Record(1, 2, TEXT | flags, gap, 0, 0, data)]})
        first = Frame("MESSAGES", {"records": [
            Record(1, 2, TEXT | KEY | GOES_ON, 0, 0, 0, b"one ", key=b"plan")]})
        self.hear(Frame("SYNCED", {"id": 0}))
        self.assertEqual(self.hear(first), [])
        self.assertEqual(self.hear(said(GOES_ON | CONTINUES, b"after ")), [])
        self.assertFalse(self.session.channels["draw"].is_complete(self.session.position))
        message, = self.hear(said(CONTINUES, b"another"))
        self.assertEqual((message.data, message.key, message.number, message.position),
                         (b"one after another", b"plan", 3, 3))
        self.assertEqual(self.hear(said(CONTINUES, b"lost")), [])
        message, = self.hear(said(0, b"whole"))
        self.assertEqual((message.data, message.position), (b"whole", 5))

    def test_a_channel_closed_between_pieces_begins_before_them(self):
        """The transaction comes again from its first piece on (W18, W97)."""
        self.hear(Frame("SYNCED", {"id": 0}))
        for flags in (0, GOES_ON):
            self.hear(Frame("MESSAGES", {"records": [Record(1, 2, TEXT | flags, 0, 0, 0, b"x")]}))
        self.session.shut("draw", self.now)
        self.assertEqual(self.session.channels["draw"].have(self.session.position), 1)

    def test_departures(self):
        """Only the room itself says who left, as a transaction (W113)."""
        def entry(channel, sender, extensions):
            return Frame("MESSAGES", {"records": [Record(channel, sender, EXTENSIONS, 0, 0, 0, extensions=extensions)]})
        self.hear(Frame("SYNCED", {"id": 0}))
        heard, = self.hear(entry(1, 0, bytes([9, 1, 0, 1, 1, 7])))
        self.assertEqual((heard.departed, heard.sender, heard.data, heard.position), (7, 0, b"", 1))
        heard, = self.hear(entry(1, 0, bytes([9, 1, 0])))
        self.assertIsNone(heard.departed)
        for wrong in (entry(1, 2, bytes([1, 1, 7])), entry(2, 0, bytes([1, 1, 7])), entry(1, 0, bytes([1, 2, 7, 7]))):
            self.assertEqual(self.broken(self.hear(wrong)), (MALFORMED, True))
            self.setUp()

    def test_unknown_channel(self):
        """A record of a channel that never was open is an error that the server is told."""
        heard = self.hear(Frame("MESSAGES", {"records": [Record(9, 2, TEXT, 0, 0, 0, b"x")]}))
        self.assertEqual(self.broken(heard), (UNKNOWN_CHANNEL, True))

    def test_fill_comes_twice(self):
        """A fill that is here already is dropped."""
        fill = Frame("MESSAGES", {"records": [Record(1, 2, TEXT | FILL, 1, 0, 5, b"x")]})
        self.hear(Frame("POSITION", {"position": 9}))
        self.assertEqual(len(self.hear(fill)), 1)
        self.assertEqual(self.hear(fill), [])

    def test_resume(self):
        """The room has one of three waiting transactions: the others are sent again with their counters."""
        self.send("one", "two", "three")
        self.session.transport_ended(self.now)
        hello = self.connect(outcome=1, counter=1, position=1)
        self.assertEqual((hello["resume"]["position"], hello["resume"]["counter"]), (0, 0))
        again = self.sent_records()
        self.assertEqual([(one.data, one.gap) for one in again], [(b"two", 0), (b"three", 0)])
        heard = self.hear(self.own()) + self.hear(self.own()) + self.hear(self.own())
        self.assertEqual([event.position for event in heard], [1, 2, 3])

    def test_new_participant(self):
        """If the session is gone, waiting transactions are numbered from 1 and sent again."""
        self.send("one", "two")
        self.hear(self.own())
        self.session.transport_ended(self.now)
        self.connect(outcome=2, participant=5)
        self.assertEqual(self.session.position, 1)
        self.assertEqual([(one.data, one.gap) for one in self.sent_records()], [(b"two", 0)])
        record = Record(1, 5, OWN, 0, 0, 0)
        self.assertEqual(self.hear(Frame("MESSAGES", {"records": [record]})), [events.Ordered("draw", 1, b"two", 2)])

    def test_new_incarnation(self):
        """In another incarnation everything begins at 0."""
        self.hear(Frame("POSITION", {"position": 9}))
        self.session.transport_ended(self.now)
        self.connect(outcome=2, incarnation=8)
        self.assertEqual(self.session.position, 0)
        self.assertEqual(self.heard[0], events.Welcomed(2, 1, True))

    def test_channel_refused_on_resume(self):
        """Transactions of a channel that is refused now are lost; those behind them close up."""
        self.session.open("notes")
        self.hear(*[answer(frame) for frame in self.said() if frame.type == "OPEN"])
        self.session.send("draw", "one", 0)
        self.session.send("notes", "two", 0)
        self.session.send("draw", "three", 0)
        self.session.transport_ended(self.now)
        self.connect(refused=("notes",), outcome=1)
        self.assertIn(events.TransactionLost("notes", b"two"), self.heard)
        self.assertEqual([(one.data, one.gap) for one in self.sent_records()], [(b"one", 0), (b"three", 0)])
        self.assertRaises(ChannelError, self.session.send, "notes", "more", 0)

    def test_unsure_awareness(self):
        """A value is sent again with its index, unless a PONG said that it arrived."""
        self.session.send("pointer", "sure", 10, key="a")
        self.session.flush(10)
        self.hear(Frame("PONG", {"time": 20, "received": 0, "sent": 0}))
        self.session.send("pointer", "old", 30, key="b")
        self.session.send("pointer", "new", 30, key="b")
        self.session.flush(30)
        self.said()
        self.session.transport_ended(40)
        self.connect(outcome=1)
        self.assertEqual([(one.data, one.gap) for one in self.sent_records()], [(b"new", 2)])

    def test_no_key_is_the_empty_key(self):
        """On a channel that conflates, a value without a key is one of the empty key (W26)."""
        first = Record(2, 2, TEXT | KEY, 0, 0, 0, b"x", b"")
        again = Record(2, 2, TEXT, MODULUS - 1, 0, 0, b"x")
        heard = self.hear(Frame("MESSAGES", {"records": [first, again]}))
        self.assertEqual([event.key for event in heard], [b""])

    def test_shut_waits(self):
        """SHUT goes when the last own transaction of the channel is ordered; a reconnect in between keeps it open."""
        self.send("one")
        self.session.shut("draw", self.now)
        self.assertEqual(self.said(), [])
        self.assertEqual(self.session.channels["draw"].status, CLOSING)
        self.session.transport_ended(self.now)
        self.connect(outcome=1)
        self.assertEqual([one.data for one in self.sent_records()], [b"one"])
        self.hear(self.own())
        self.assertEqual([frame.type for frame in self.said()], ["SHUT", "PING"])
        self.assertEqual(self.session.channels["draw"].status, SHUT)

    def test_shut_drops_what_is_under_way(self):
        """Records that come behind SHUT count but are not delivered; fills bring them when it is open again."""
        self.session.shut("draw", self.now)
        late = Record(1, 2, TEXT, 0, 0, 0, b"x")
        self.assertEqual(self.hear(Frame("MESSAGES", {"records": [late]})), [])
        self.assertEqual(self.session.position, 1)
        self.said()
        self.session.open("draw")
        asked, = self.said()
        self.assertEqual(asked["have"], 0)
        fill = Frame("MESSAGES", {"records": [Record(1, 2, TEXT | FILL, 1, 0, 1, b"x")]})
        heard = self.hear(answer(asked), fill)
        self.assertEqual([event.data for event in heard if isinstance(event, events.Message)], [b"x"])
        self.assertEqual(self.session.channels["draw"].status, OPEN)

    def test_errors_of_the_server(self):
        """Some errors end the session, after others the client resumes; unknown ones go by their fault."""
        for code, fault, may_resume in ((MALFORMED, 0, True), (REPLACED, 4, False), (99, 1, False), (99, 2, True)):
            self.setUp()
            heard = self.hear(Frame("ERROR", {"code": code, "fault": fault, "fatal": 1, "subject": 0, "detail": ""}))
            self.assertEqual(self.broken(heard), (code, may_resume))
            self.assertEqual(self.session.phase == ENDED, not may_resume)

    def test_error_without_version(self):
        """A first packet may be an ERROR without the version byte, or behind another version."""
        error = write_packet([Frame("ERROR", {"code": 1, "fault": 1, "fatal": 1, "subject": 0, "detail": ""})])
        for packet in (error, b"\1" + error, b"\2" + error):
            session = Session("demo")
            session.opening(0)
            self.assertEqual(self.broken(session.receive(packet, 0)), (1, False))

    def test_bye(self):
        """The server says when to come back."""
        heard = self.hear(Frame("BYE", {"reason": 0, "retry_ms": 500}))
        self.assertEqual((heard[0].retry_ms, heard[0].may_resume), (500, True))

    def test_bye_in_the_place_of_welcome(self):
        """W36: a server that cannot take a client in now says when to come back."""
        session = Session("demo")
        session.opening(0)
        heard = session.receive(b"\1" + write_packet([Frame("BYE", {"reason": 0, "retry_ms": 12_000})]), 0)
        self.assertEqual((heard[0].retry_ms, heard[0].may_resume), (12_000, True))

    def test_keep_alive(self):
        """PING at once, then every two seconds, once sooner behind unanswered messages; silence ends the transport."""
        self.session.keep_alive(0)
        self.session.keep_alive(1_900_000)
        self.assertEqual(len(self.said()), 1)
        self.session.keep_alive(2_000_000)
        self.now = 2_050_000
        self.hear(Frame("PONG", {"time": 2_000_000, "received": 0, "sent": 0}))
        self.session.send("draw", "x", 2_100_000)
        self.session.flush(2_100_000)
        self.session.keep_alive(2_750_000)
        self.assertEqual([frame.type for frame in self.said()], ["PING", "MESSAGES"])
        self.session.keep_alive(2_800_000)
        self.session.keep_alive(3_600_000)
        self.assertEqual([frame.type for frame in self.said()], ["PING"])
        self.assertEqual(self.broken(self.session.keep_alive(7_050_000)), (SILENT, True))

    def test_giving_up(self):
        """After three misunderstandings the client names an incarnation that never was; other failures do not count."""
        for _ in range(3):
            self.hear(Frame("ERROR", {"code": MALFORMED, "fault": 0, "fatal": 1, "subject": 0, "detail": ""}))
            self.session.transport_ended(self.now)
            self.session.transport_ended(self.now)
            hello = self.connect(outcome=1)
        self.assertEqual(hello["resume"]["incarnation"], 7 ^ ((1 << 64) - 1))

    def test_many_messages(self):
        """Messages beyond the limits of a packet go in several, in order."""
        self.session.max_message = 60_000
        sent = self.send(*["x" * 30_000 + str(number) for number in range(5)])
        self.assertEqual([text[-1] for text in sent], list("01234"))

    def test_users(self):
        """The server says which user a participant is, whatever its presence claims (W100)."""
        people = [{"id": 2, "state": 5, "user": "bob@example.org", "presence": b"Bob"},
                  {"id": 3, "state": 2, "presence": b"bob@example.org"}]
        heard = self.hear(Frame("PARTICIPANTS", {"complete": 0, "participants": people}))
        self.assertEqual(heard, [events.Presence(2, events.HERE, b"Bob", "bob@example.org"),
                                 events.Presence(3, events.AWAY, b"bob@example.org")])
        left = [{"id": 2, "state": 0, "presence": b""}]
        heard = self.hear(Frame("PARTICIPANTS", {"complete": 0, "participants": left}))
        self.assertEqual(heard, [events.Presence(2, events.LEFT, b"")])
        odd = bytes.fromhex("0a0700040401610178")  # it left, and has a user
        self.assertEqual(self.broken(self.session.receive(odd, self.now)), (MALFORMED, True))

    def test_a_large_room(self):
        """A large room tells how many there are, and of those who act; pages have the others (W103 to W105)."""
        self.assertTrue(self.session.knows_everybody)
        one = {"id": 9, "state": 1, "presence": b"Bob"}
        heard = self.hear(Frame("COUNT", {"everybody": 0, "count": 1000}),
                          Frame("PARTICIPANTS", {"complete": 1, "participants": [one]}))
        self.assertEqual(heard, [events.Counted(1000, False), events.Presence(9, events.HERE, b"Bob", None)])
        self.assertEqual((self.session.knows_everybody, self.session.count), (False, 1000))
        self.session.ask_for_page(200)
        asked, = self.said()
        self.assertEqual((asked.type, asked["after"]), ("PAGE_WANTED", 200))
        other = {"id": 201, "state": 6, "user": "ann", "presence": b""}
        heard = self.hear(Frame("PAGE", {"after": 200, "last": 1, "participants": [other]}))
        self.assertEqual(heard, [events.Page([events.Presence(201, events.AWAY, b"", "ann")], True)])
        self.assertEqual(set(self.session.participants), {9})
        self.hear(Frame("COUNT", {"everybody": 1, "count": 2}))
        self.assertTrue(self.session.knows_everybody)
        odd = bytes.fromhex("74020205")  # it tells neither of everybody nor of some
        self.assertEqual(self.broken(self.session.receive(odd, self.now)), (MALFORMED, True))

    def test_the_room_is_on_another_server(self):
        """The server says where the room is (W117)."""
        heard = self.hear(Frame("OWNER", {"after_ms": 1300, "address": "https://gw-1", "port": 443}))
        self.assertEqual(heard, [events.Owner(1300, "https://gw-1")])
        odd = bytes.fromhex("79050000808004")  # a port above 65,535
        self.assertEqual(self.broken(self.session.receive(odd, self.now)), (MALFORMED, True))

    def test_what_is_never_sent(self):
        """What a server would refuse the session refuses first, and no number is lost."""
        self.assertRaises(ChannelError, self.session.send, "other", "x", 0)
        self.assertRaises(Exception, self.session.send, "pointer", "x", 0, "k" * 257)
        self.assertRaises(Exception, self.session.send, "draw", "x" * 60_001, 0)
        self.assertRaises(Exception, self.session.open, "other", 3, AWARENESS_QOS | {"loss": 1001})
        self.assertEqual(self.session.counter, 0)


WELCOME = {"capabilities": 0, "max_packet": 65536, "max_message": 60000, "max_snapshot": 4194304, "incarnation": 7,
           "participant": 1, "secret": bytes(16), "outcome": 0, "counter": 0, "position": 0, "tick_ms": 40,
           "ping_ms": 2000, "dead_ms": 5000, "away_ms": 10000}


def answer(opened, refused=()):
    """The server's answer to an OPEN."""
    if opened["name"] in refused:
        return Frame("ERROR", {"code": 9, "fault": 3, "fatal": 0, "subject": opened["ref"], "detail": "no"})
    return Frame("CHANNEL", {"ref": opened["ref"], "id": opened["ref"], "access": opened["access"],
                             "name": opened["name"], "qos": opened["qos"]})


if __name__ == "__main__":
    unittest.main()
