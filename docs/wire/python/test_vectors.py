"""Checks parser, writer and session against the byte vectors of the documents.

The folder with the vectors is the one beside this folder, unless the first argument or GROUPWIRE_VECTORS names another one.
"""

import json
import os
import re
import sys
import unittest
from dataclasses import asdict
from pathlib import Path

import events
from channels import AWARENESS_QOS
from errors import MALFORMED, WireError
from frames import AWARENESS, CLIENT, LAYOUTS, NUMBERS, OPTIONAL, SERVER, TRANSACTION, read_packet, write_frame
from judge import Judge
from numbering import Numbering
from fields import Reader, varint
from records import FILL, read_record, write_record
from session import Session

HERE = Path(__file__).resolve().parent


def vectors_folder():
    """Finds the folder with the vectors."""
    return Path(os.environ.get("GROUPWIRE_VECTORS", HERE.parent / "vectors"))


def load(name):
    """Reads one JSON file of vectors."""
    return json.loads((vectors_folder() / name).read_text())


def as_json(value):
    """Writes fields as the vectors do: bytes as hexadecimal digits, no absent fields; a record's `data` is `octets` there."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [as_json(one) for one in value]
    if hasattr(value, "gap"):
        fields = {"octets" if name == "data" else name: part for name, part in asdict(value).items()}
        return {name: as_json(part) for name, part in fields.items() if part is not None}
    if isinstance(value, dict):
        return {name: as_json(part) for name, part in value.items()}
    return str(value) if isinstance(value, int) and value > 1 << 53 else value


class Varints(unittest.TestCase):
    """varints.json"""

    def test_read_and_write(self):
        """Each varint is read and written, and each malformed one refused."""
        for vector in load("varints.json"):
            with self.subTest(vector["name"]):
                data = bytes.fromhex(vector["hex"])
                if vector["value"] is None:
                    with self.assertRaises(WireError) as caught:
                        Reader(data).varint()
                    self.assertEqual(caught.exception.code, MALFORMED)
                    continue
                reader = Reader(data)
                self.assertEqual(reader.varint(), int(vector["value"]))
                self.assertTrue(reader.is_at_end())
                self.assertEqual(varint(int(vector["value"])), data)

    def test_32_bits(self):
        """A varint32 ends at 2^32."""
        self.assertEqual(Reader(varint((1 << 32) - 1)).varint32(), (1 << 32) - 1)
        self.assertRaises(WireError, Reader(varint(1 << 32)).varint32)


class Frames(unittest.TestCase):
    """frames.json"""

    def test_read_and_write(self):
        """Each frame that concerns a client without gmc is read to its fields, and written from them."""
        checked = set()
        for vector in load("frames.json"):
            if vector["type"] not in NUMBERS:
                continue
            with self.subTest(vector["name"], hex=vector["hex"][:40]):
                data = bytes.fromhex(vector["hex"])
                frames = list(read_packet(data, vector["from"]))
                self.assertEqual([frame.type for frame in frames], [vector["type"]])
                self.assertEqual(as_json(frames[0].fields), vector["fields"])
                self.assertEqual(list(frames[0].fields), list(vector["fields"]))
                self.assertEqual(write_frame(frames[0], last=data[0] >= 0x80), data)
                checked.add(vector["type"])
        self.assertEqual(set(NUMBERS) - checked, set())

    def test_without_capability(self):
        """Frames that need a capability are skipped if their tag allows it, and malformed else."""
        for vector in load("frames.json"):
            if vector["type"] in NUMBERS or vector["carrier"] != "stream":
                continue
            with self.subTest(vector["name"], hex=vector["hex"][:40]):
                data = bytes.fromhex(vector["hex"])
                if data[0] & OPTIONAL:
                    self.assertEqual(list(read_packet(data, vector["from"])), [])
                    continue
                with self.assertRaises(WireError) as caught:
                    list(read_packet(data, vector["from"]))
                self.assertEqual(caught.exception.code, MALFORMED)

    def test_from_the_wrong_end(self):
        """A frame that only the other end sends is malformed."""
        for vector in load("frames.json"):
            if vector["type"] not in NUMBERS or len(LAYOUTS[NUMBERS[vector["type"]]][1]) == 2:
                continue
            with self.subTest(vector["name"]):
                other = CLIENT if vector["from"] == SERVER else SERVER
                with self.assertRaises(WireError) as caught:
                    list(read_packet(bytes.fromhex(vector["hex"]), other))
                self.assertEqual(caught.exception.code, MALFORMED)

    def test_bit_7(self):
        """Each frame may stand without its length at the end of a packet."""
        for vector in load("frames.json"):
            if vector["type"] in NUMBERS:
                with self.subTest(vector["name"]):
                    frame, = read_packet(bytes.fromhex(vector["hex"]), vector["from"])
                    again, = read_packet(write_frame(frame, last=True), vector["from"])
                    self.assertEqual(again, frame)


class Records(unittest.TestCase):
    """records.json"""

    def test_read_and_write(self):
        """Each record is read to its fields, and written from them."""
        for vector in load("records.json"):
            with self.subTest(vector["name"], hex=vector["hex"]):
                data = bytes.fromhex(vector["hex"])
                reader = Reader(data)
                record = read_record(reader, vector["from"] == SERVER)
                self.assertTrue(reader.is_at_end())
                self.assertEqual(as_json(record), vector["fields"])
                self.assertEqual(write_record(record), data)


class Refused(unittest.TestCase):
    """refused.json"""

    def test_codes(self):
        """By the documents alone each packet is refused with the same code."""
        for vector in load("refused.json"):
            with self.subTest(vector["name"], rule=vector["rule"]):
                judge = Judge({1: (TRANSACTION, True), 2: (AWARENESS, True), 3: (TRANSACTION, False)})
                read = judge.judge_opening if vector["is_opening"] else judge.judge_packet
                with self.assertRaises(WireError) as caught:
                    read(bytes.fromhex(vector["hex"]))
                self.assertEqual(caught.exception.code, vector["code"])


class Conversations(unittest.TestCase):
    """conversation-plain.txt and conversation-recovery.txt"""

    def setUp(self):
        self.conversations = {name: load_conversation(name) for name in ("plain", "recovery")}
        for lines in self.conversations.values():
            self.assertGreater(len(lines), 20)

    def test_frames(self):
        """Each line is read to the frames that stand below it, and written from them."""
        begun = set()
        for name, line in self._all_lines():
            sender = CLIENT if line["direction"] == ">" else SERVER
            with self.subTest(name, hex=line["hex"][:40]):
                data = bytes.fromhex(line["hex"])
                opening = (name, sender, line["transport"]) not in begun
                begun.add((name, sender, line["transport"]))
                if opening:
                    self.assertEqual(data[0], 1)
                    data = data[1:]
                frames = list(read_packet(data, sender))
                self.assertEqual([(frame.type, as_json(frame.fields)) for frame in frames], line["frames"])
                written = b"".join(write_frame(frame, last=frame.type == "MESSAGES") for frame in frames)
                self.assertEqual(written, data)

    def test_numbers(self):
        """The numbers of the records mean what stands behind the arrows."""
        for name, lines in self.conversations.items():
            counting = Counting()
            for line in lines:
                with self.subTest(name, hex=line["hex"][:40]):
                    self.assertEqual(counting.meanings(line), line["meanings"])

    def test_plain(self):
        """Given what Ann is sent, and told to do what she does, the session sends the same bytes."""
        script = Script(self, self.conversations["plain"], Session("demo", b"Ann"))
        ann = script.ann
        notes = dict(channel="notes")
        for name, qos in (("draw", None), ("pointer", AWARENESS_QOS)):
            ann.open(name, qos=qos)
        script.connect()
        self.assertEqual(kinds(script.hears(2)), ["Welcomed", "ChannelOpened", "ChannelOpened", "Synced"])
        script.says(1)
        script.pings()
        script.hears(1)
        self.assertEqual(script.hears(1), [events.Presence(2, events.HERE, b"Bob")])
        script.does(lambda now: ann.send("draw", "hello", now))
        self.assertEqual(script.hears(1), [events.Ordered("draw", 1, b"hello", 1)])
        script.does(lambda now: ann.send("pointer", '{"x":10,"y":20}', now, key="me"))
        drawn, pointed = script.hears(1)
        self.assertEqual((drawn.text, drawn.sender, drawn.number, drawn.position, drawn.age_ms),
                         ("hello, Ann", 2, 1, 2, 20))
        self.assertEqual((pointed.text, pointed.key, pointed.number, pointed.after, pointed.is_stale),
                         ('{"x":301,"y":40}', b"me", 2, 1, False))
        script.does(lambda now: ann.open("notes"))
        opened, noted, synced = script.hears(2)
        self.assertEqual((opened.channel, noted.text, noted.number, noted.position, noted.is_fill, synced.channel),
                         ("notes", "the first note", 2, 3, True, "notes"))
        script.does(lambda now: (ann.send("draw", bytes.fromhex("00ff80"), now, priority=200),
                                 ann.send("notes", "a second note", now)))
        self.assertEqual([(event.counter, event.position) for event in script.hears(1)], [(2, 4), (3, 5)])

        ann.transport_ended(script.now())
        ann.send("draw", "on a train", script.now())
        ann.send("pointer", '{"x":11,"y":21}', script.now(), key="me")
        script.connect()
        heard = script.hears(2)
        self.assertEqual(heard[0], events.Welcomed(events.RESUMED, 1, False))
        drawn, pointed = [event for event in heard if isinstance(event, events.Message)]
        self.assertEqual((drawn.text, drawn.number, drawn.position, drawn.is_state), ("where are you?", 3, 6, True))
        self.assertEqual((pointed.text, pointed.number, pointed.after), ('{"x":500,"y":60}', 3, 3))
        script.says(2)
        script.pings()
        self.assertEqual(script.hears(2), [events.Ordered("draw", 4, b"on a train", 7)])
        script.does(lambda now: ann.shut("notes", now))
        self.assertEqual(script.hears(1), [events.ChannelClosed(**notes)])
        script.does(lambda now: ann.open("notes"))
        missed = script.hears(2)[1]
        self.assertEqual((missed.text, missed.position, missed.is_fill), ("she does not see this", 8, True))
        script.pings()
        self.assertEqual(script.hears(2), [events.Presence(2, events.LEFT, b"")])
        script.does(lambda now: ann.leave(now))
        script.is_over()

    def test_recovery(self):
        """The same of what happens after breaks."""
        ann = Session("demo", b"Ann", largest_packet=8_192, largest_message=6_000)
        script = Script(self, self.conversations["recovery"], ann)
        self._meet(script, ann)
        self._break_with_messages_under_way(script, ann)
        self._break_with_a_gap(script, ann)
        self._begin_anew(script, ann)
        script.does(lambda now: ann.leave(now))
        script.is_over()

    def _meet(self, script, ann):
        """A channel that is refused, and what Ann is told of Bob."""
        for name, qos in (("draw", None), ("pointer", AWARENESS_QOS), ("forbidden", None)):
            ann.open(name, qos=qos)
        script.connect()
        self.assertEqual(kinds(script.hears(2)),
                         ["Welcomed", "ChannelOpened", "ChannelOpened", "ChannelRefused", "Synced"])
        script.says(1)
        script.pings()
        script.hears(1)
        self.assertEqual(script.hears(1), [events.Presence(2, events.HERE, b"Bob")])
        script.does(lambda now: ann.set_presence(b"Ann, drawing"))
        self.assertEqual(script.hears(3), [events.Presence(2, events.HERE, b"Bob, at lunch"),
                                           events.Presence(2, events.AWAY, b"Bob, at lunch"),
                                           events.Presence(2, events.HERE, b"Bob")])

    def _break_with_messages_under_way(self, script, ann):
        """The room has one of two waiting transactions; the other one and a value are sent again."""
        script.does(lambda now: ann.send("draw", "one", now))
        self.assertEqual(script.hears(1), [events.Ordered("draw", 1, b"one", 1)])
        script.does(lambda now: ann.send("pointer", '{"x":1,"y":1}', now, key="me"))
        self.assertEqual([event.position for event in script.hears(1)], [2])
        script.does(lambda now: ann.send("draw", "two", now))
        script.does(lambda now: ann.send("draw", "three", now))
        ann.transport_ended(script.now())
        script.connect()
        heard = script.hears(2)
        self.assertEqual(heard[0], events.Welcomed(events.RESUMED, 1, False))
        self.assertIn(events.Ordered("draw", 2, b"two", 3), heard)
        script.says(2)
        script.pings()
        self.assertEqual(script.hears(2), [events.Ordered("draw", 3, b"three", 4)])
        script.pings()
        self.assertEqual([event.position for event in script.hears(2)], [5])

    def _break_with_a_gap(self, script, ann):
        """The room has not all that Ann misses; then it asks her for a snapshot."""
        script.does(lambda now: ann.send("draw", "four", now))
        ann.transport_ended(script.now())
        script.connect()
        heard = script.hears(2)
        self.assertIn(events.Gap("draw", 17), heard)
        self.assertIn(events.Ordered("draw", 4, b"four", None), heard)
        positions = [event.position for event in heard if isinstance(event, events.Message)]
        self.assertEqual(positions, list(range(18, 27)))
        script.says(1)
        script.pings()
        self.assertEqual(script.hears(1), [])
        script.does(lambda now: ann.provide("drawing", ["draw"]))
        heard = script.hears(5)
        self.assertEqual(heard[-1], events.SnapshotWanted("drawing", 30))
        ann.give_snapshot("drawing", 30, b"all that Ann's application shows", chunk=12)
        script.says(3)

    def _begin_anew(self, script, ann):
        """The room has forgotten Ann: she is a new participant, and begins with Bob's snapshot."""
        ann.transport_ended(script.now())
        ann.send("draw", "five", script.now())
        ann.send("draw", "six", script.now())
        ann.send("pointer", '{"x":2,"y":2}', script.now(), key="me")
        script.connect()
        heard = script.hears(4)
        self.assertEqual(heard[0], events.Welcomed(events.STARTED_ANEW, 3, False))
        snapshot, = [event for event in heard if isinstance(event, events.SnapshotCame)]
        self.assertEqual(snapshot, events.SnapshotCame("drawing", 60, b"a line of what Bob's application shows" * 216))
        positions = [event.position for event in heard if isinstance(event, events.Message)]
        self.assertEqual(positions, [61, 62, 63])
        script.says(3)
        script.pings()
        self.assertEqual(script.hears(3), [events.Ordered("draw", 1, b"five", 64),
                                           events.Ordered("draw", 2, b"six", 65),
                                           events.Presence(2, events.LEFT, b"")])

    def _all_lines(self):
        """Each line of each conversation, with the conversation's name."""
        return [(name, line) for name, lines in self.conversations.items() for line in lines]


class Script:
    """Plays the server's part of the conversation to a session, and compares what the session sends."""

    def __init__(self, test, lines, ann):
        self.test = test
        self.lines = list(lines)
        self.ann = ann

    def now(self):
        """The time of the next line in microseconds."""
        return self.lines[0]["ms"] * 1000

    def connect(self):
        """The session begins a transport, with the bytes of the next line."""
        self.test.assertEqual(self.ann.opening(self.now()).hex(), self._next(">"))

    def hears(self, count):
        """The session is given the next lines; returns the events."""
        heard = []
        for _ in range(count):
            now = self.now()
            heard += self.ann.receive(bytes.fromhex(self._next("<")), now)
        return heard

    def says(self, count):
        """The session has sent what the next lines say."""
        self.test.assertEqual([packet.hex() for packet in self.ann.take_packets()],
                              [self._next(">") for _ in range(count)])

    def pings(self):
        """A PING is due, which is the next line."""
        self.ann.keep_alive(self.now())
        self.says(1)

    def does(self, action):
        """The application does something, which sends what the next line says."""
        now = self.now()
        action(now)
        self.ann.flush(now)
        self.says(1)

    def is_over(self):
        """Every line was used."""
        self.test.assertEqual(self.lines, [])

    def _next(self, direction):
        """Takes the next line, which has this direction."""
        line = self.lines.pop(0)
        self.test.assertEqual(line["direction"], direction)
        return line["hex"]


class Counting:
    """Counts as the end that reads each direction of each transport does (W21 to W24)."""

    def __init__(self):
        self.numberings = {}
        self.awareness = set()
        self.resume = None
        self.participant = None

    def meanings(self, line):
        """Says what the numbers of a line's records mean."""
        sender = CLIENT if line["direction"] == ">" else SERVER
        data = bytes.fromhex(line["hex"])
        place = (line["transport"], sender)
        if place not in self.numberings:
            self.numberings[place] = Numbering()
            data = data[1:]
        meanings = []
        for frame in read_packet(data, sender):
            self._take(frame, line["transport"], self.numberings[place])
            meanings += [meaning(self.numberings[place], one, one.channel in self.awareness, sender)
                         for one in frame.fields.get("records", [])]
        return meanings

    def _take(self, frame, transport, numbering):
        """Takes in a frame that says where counting begins, or moves it."""
        if frame.type == "HELLO":
            self.resume = frame["resume"]
        elif frame.type == "WELCOME":
            self.participant = frame["participant"]
            if self.resume and self.resume["incarnation"] == frame["incarnation"]:
                numbering.position = self.resume["position"]
            if frame["outcome"] == events.RESUMED:
                numbering.counters[self.participant] = self.resume["counter"]
            self.numberings[transport, CLIENT].counters[0] = frame["counter"]
        elif frame.type == "CHANNEL" and frame["qos"]["kind"] == 1:
            self.awareness.add(frame["id"])
        elif frame.type == "POSITION":
            numbering.position = frame["position"]
        elif frame.type == "PARTICIPANTS":
            for one in frame["participants"]:
                if one["state"] == events.LEFT:
                    numbering.forget_sender(one["id"])


def load_conversation(name):
    """Reads the lines of one conversation."""
    return list(read_conversation((vectors_folder() / f"conversation-{name}.txt").read_text()))


def read_conversation(text):
    """Reads the lines of a conversation, with the frames and meanings that stand below each."""
    line = None
    for row in text.splitlines():
        if match := re.fullmatch(r"([<>]) (\d+) (\d+) ([0-9a-f]+)", row):
            if line:
                yield line
            direction, transport, milliseconds, data = match.groups()
            line = {"direction": direction, "transport": int(transport), "ms": int(milliseconds), "hex": data,
                    "frames": [], "meanings": []}
        elif match := re.fullmatch(r"        (\{.*\}) => (.*)", row):
            line["frames"][-1][1]["records"].append(json.loads(match[1]))
            line["meanings"].append(match[2])
        elif row == "    MESSAGES":
            line["frames"].append(("MESSAGES", {"records": []}))
        elif match := re.fullmatch(r"    ([A-Z_]+) (\{.*\})", row):
            line["frames"].append((match[1], json.loads(match[2])))
    yield line


def meaning(numbering, record, is_awareness, sender):
    """Says what the numbers of a record stand for, in the words of the conversation."""
    if is_awareness:
        return "index {}, after {}".format(*numbering.read_awareness(record))
    if record.flags & FILL:
        return f"counter {record.gap}, position {record.stamp}"
    counter = numbering.read_counter(record)
    if sender == CLIENT:
        return f"counter {counter}"
    return f"counter {counter}, position {numbering.read_position(record)}"


def kinds(heard):
    """The names of events."""
    return [type(event).__name__ for event in heard]


if __name__ == "__main__":
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        os.environ["GROUPWIRE_VECTORS"] = sys.argv.pop(1)
    unittest.main()
