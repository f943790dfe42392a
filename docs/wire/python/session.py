"""The protocol of a client without sockets and clocks: packets and times go in, packets and events come out.

The driver calls `opening` for each new transport, `receive` for each packet, `keep_alive` now and then and
`transport_ended` when the transport is gone, and sends what `take_packets` gives it. All times are microseconds of a
clock that never goes back.
"""

from dataclasses import dataclass
from typing import Optional

import channels
import events
import records
from channels import CLOSING, OPEN, OPENING, PUBLISH, REFUSED, SHUT, SUBSCRIBE, Channel, ChannelError
from errors import (COMPRESSION, FAULTS, MISUNDERSTANDINGS, PART_REFUSED, SILENT, TOO_LARGE, TOO_MANY, UNKNOWN_CHANNEL, WireError,
                    ends_session, malformed)
from errors import VERSION as VERSION_ERROR
from frames import HAS_USER, LARGEST_PACKET, MOST_RECORDS, SERVER, Frame, check_qos, read_packet, write_packet
from freshness import Freshness
from numbering import Numbering
from records import CONTINUES, DIRECT, FILL, GOES_ON, KEY, OWN, PACKED, PRIORITY, STATE, TEXT, Record
from fields import varint
from snapshots import CHUNK, SnapshotAssembler, cut_snapshot, read_channels

VERSION = 1
MAX_MESSAGE = 60_000
ERROR_TAGS = (0x10, 0x90)
OFFLINE, JOINING, JOINED, ENDED = "offline", "joining", "joined", "ended"
UNHEARD_US = 750_000
SOON_US = 5_000_000
MISUNDERSTANDINGS_TO_GIVE_UP = 3
# The most messages for this participant alone that wait for their places (W115).
MOST_DIRECTS = 4096


@dataclass
class Outgoing:
    """A message of the application on its way to the server."""

    channel: Channel
    data: bytes
    flags: int
    key: Optional[bytes]
    priority: Optional[int]
    made_at: int
    order: int = 0
    number: int = 0
    after: int = 0
    sent_at: Optional[int] = None


class Session:
    """One participation in a room, over as many transports as it takes."""

    def __init__(self, room, presence=b"", token=b"", largest_packet=LARGEST_PACKET, largest_message=MAX_MESSAGE):
        self.room, self.presence, self.token = room, presence, token
        self.largest_packet, self.largest_message = largest_packet, largest_message
        self.phase = OFFLINE
        self.wants_close = False
        self.channels = {}
        self.participants = {}
        # What is kept over transports, to resume with.
        self.participant = self.secret = self.incarnation = None
        self.position = 0
        # The place of the last message for this participant alone that was handed over (W114).
        self.direct_position = 0
        self.submitted = 0
        self.counter = 0
        self.ordered = 0
        self.waiting = []
        self.unsure = {}
        self.freshness = Freshness()
        self.delivered = {}
        self.parts = {}
        self.misunderstandings = 0
        self.has_lasted = False
        self.max_packet, self.max_message, self.max_snapshot = LARGEST_PACKET, MAX_MESSAGE, 0
        # Whether `participants` has everybody; if not, how many there are (W103).
        self.knows_everybody, self.count = True, None
        # What begins anew with each transport.
        self.packets = []
        self.events = []
        self.round_trip = None
        self._begin_transport(0)

    # What the application does.

    def open(self, name, access=PUBLISH | SUBSCRIBE, qos=None):
        """Asks for a channel, or again for one that was closed; transactions unless a QoS is given."""
        qos = dict(channels.TRANSACTION_QOS if qos is None else qos)
        check_qos(qos)
        if not 1 <= len(name.encode()) <= 128:
            raise ChannelError("a channel's name has 1 to 128 bytes")
        channel = self.channels.get(name)
        if channel is None:
            channel = self.channels[name] = Channel(name, len(self.channels) + 1, access, qos)
        elif channel.status in (OPEN, OPENING):
            return channel
        else:
            channel.wanted_access, channel.wanted_qos = access, qos
        frames = [self._shut_frame(channel)] if channel.status == CLOSING and channel.ref in self.granted else []
        channel.status = OPENING
        if self.is_ready and channel.ref not in self.asked:
            frames.append(channel.open_frame(self.position))
            self.asked.add(channel.ref)
            self._send(*frames)
        return channel

    def send(self, name, message, now, key=None, priority=None):
        """Submits a message, text or bytes, on an open channel; returns its counter or index."""
        channel = self.channels.get(name)
        if channel is None or channel.status != OPEN:
            raise ChannelError(f"channel {name} is not open")
        if not channel.access & PUBLISH:
            raise ChannelError(f"channel {name} may only be read")
        is_text = isinstance(message, str)
        data = message.encode() if is_text else bytes(message)
        key = key.encode() if isinstance(key, str) else key
        records.check_message(data, key, is_text, self.max_message)
        flags = (TEXT if is_text else 0) | (KEY if key is not None else 0) | (PRIORITY if priority is not None else 0)
        self.submitted += 1
        message = Outgoing(channel, data, flags, key, priority, now, self.submitted)
        if channel.is_transaction:
            self._submit_transaction(message)
        else:
            self._submit_awareness(message)
        return message.number

    def shut(self, name, now):
        """Closes a channel: at once for the application, for the server when no own transaction of it waits (W85)."""
        channel = self.channels.get(name)
        if channel is None or channel.status not in (OPEN, OPENING):
            raise ChannelError(f"channel {name} is not open")
        self.flush(now)
        channel.freeze(self.position)
        channel.status = CLOSING
        self.unsure = {place: value for place, value in self.unsure.items() if place[0] != name}
        self._finish_closing(channel, now)

    def set_presence(self, data):
        """Changes what the others are told of this participant."""
        if len(data) > 4_096:
            raise ValueError("presence has at most 4,096 bytes")
        self.presence = data
        if self.phase == JOINED:
            self._send(Frame("PRESENCE", {"rest": data}))

    def ask_for_page(self, after=0):
        """Asks for the participants with numbers above this one, if there is a connection (W105)."""
        if self.phase == JOINED:
            self._send(Frame("PAGE_WANTED", {"after": after}))

    def provide(self, part, names):
        """The application can make this part of the room's snapshot: its state of these channels (W95)."""
        number = self.parts[part][0] if part in self.parts else len(self.parts)
        self.parts[part] = (number, [self.channels[name] for name in names])
        self.offered.discard(part)
        self._offer_parts()

    def give_snapshot(self, part, as_of, state, chunk=CHUNK):
        """Answers SnapshotWanted with the state after everything up to `as_of`, in chunks of at most this size."""
        if len(state) > self.max_snapshot:
            raise WireError(TOO_LARGE, "a part of a snapshot that is too large")
        if self.phase == JOINED:
            for frame in cut_snapshot(self.parts[part][0], as_of, state, chunk):
                self._send(frame)

    def leave(self, now):
        """Says goodbye (W36); the server closes the transport."""
        self.flush(now)
        if self.phase == JOINED:
            self._send(Frame("BYE", {"reason": 0, "retry_ms": 0}))
        self.phase = ENDED

    # What the driver does.

    def opening(self, now):
        """Begins a new transport and returns its first packet (W5)."""
        self._begin_transport(now)
        self.phase = JOINING
        wanted = [one for one in self.channels.values() if one.status in (OPENING, OPEN, CLOSING)]
        refs = {one.ref for one in wanted}
        self.asked, self.unanswered, self.opened_at_join = set(refs), set(refs), set(refs)
        hello = Frame("HELLO", {"lowest": VERSION, "capabilities": 0, "max_packet": self.largest_packet,
                                "max_message": self.largest_message, "room": self.room, "token": self.token,
                                "presence": self.presence, "resume": self._resume()})
        return bytes([VERSION]) + write_packet([hello] + [one.open_frame(self.position) for one in wanted])

    def receive(self, packet, now):
        """Reads a packet of the server; returns what it means to the application."""
        self.last_heard = now
        self.is_unheard = self.is_unanswered = False
        try:
            if len(packet) > self.largest_packet:
                raise WireError(TOO_LARGE, "a packet that is too large")
            for frame in read_packet(self._without_version(packet), SERVER, self.largest_message):
                if self.phase not in (JOINING, JOINED):
                    break
                self._read_frame(frame, now)
        except WireError as error:
            self._refuse(error, now)
        return self._take_events()

    def flush(self, now):
        """Makes packets of the messages that are due."""
        due, self.pending = self.pending, []
        self._pack(due, now)

    def take_packets(self):
        """Returns the packets that are to be sent, in order."""
        packets, self.packets = self.packets, []
        return packets

    def keep_alive(self, now):
        """Sends a PING when one is due, and closes the transport if nothing is heard (W35); returns events."""
        if self.phase == JOINED:
            if now - self.last_heard >= self.dead_us:
                self._refuse(WireError(SILENT, "nothing was heard for too long"), now)
            elif (self.last_ping is None or now - self.last_ping >= self.ping_us
                  or self.is_unheard and not self.is_unanswered and now - self.last_heard >= UNHEARD_US):
                self._ping(now)
        return self._take_events()

    def transport_ended(self, now):
        """Remembers that the transport is gone; what was on its way is sent again on the next one."""
        self.is_ready = False
        self.pending = []
        self.has_lasted = self.welcomed_at is not None and now - self.welcomed_at >= SOON_US
        if self.has_lasted:
            self.misunderstandings = 0
        elif self.end_code in MISUNDERSTANDINGS:
            self.misunderstandings += 1
        self.welcomed_at = self.end_code = None
        if self.phase == ENDED:
            return self._take_events()
        self.phase = OFFLINE
        for channel in self.channels.values():
            if channel.status == CLOSING and not self._waits(channel):
                channel.status = SHUT
                self.events.append(events.ChannelClosed(channel.name))
        return self._take_events()

    # Joining.

    def _begin_transport(self, now):
        """Forgets everything that is about one transport only."""
        self.wants_close = False
        self.is_first_packet = True
        self.is_ready = False
        self.incoming, self.outgoing = Numbering(), Numbering()
        self.by_id = {}
        self.directs = []
        self.granted = set()
        self.asked = set()
        self.unanswered = set()
        self.opened_at_join = set()
        self.shut_pings = {}
        self.pending = []
        self.packets = []
        self.snapshot = SnapshotAssembler()
        self.offered = set()
        self.announced = {}
        self.room_counter = 0
        self.last_heard = now
        self.is_unheard = self.is_unanswered = False
        self.last_ping = self.welcomed_at = self.end_code = None
        self.ping_us = self.dead_us = 5_000_000

    def _resume(self):
        """What HELLO says to resume (W13, W14); after three misunderstandings an incarnation that never was."""
        self.stated_incarnation = self.incarnation
        if self.incarnation is None:
            return None
        position, counter = self.position, self.ordered
        if self.misunderstandings >= MISUNDERSTANDINGS_TO_GIVE_UP:
            self.stated_incarnation ^= (1 << 64) - 1
            position = counter = 0
        return {"participant": self.participant, "secret": self.secret, "incarnation": self.stated_incarnation,
                "position": position, "counter": counter}

    def _without_version(self, packet):
        """Takes the version off the first packet; an ERROR about the rest of the opening may come without (W5)."""
        is_first, self.is_first_packet = self.is_first_packet, False
        if not is_first or packet[:1] and packet[0] in ERROR_TAGS:
            return packet
        if not packet:
            raise malformed("an empty opening")
        if packet[0] != VERSION and packet[1:2] not in (b"\x10", b"\x90"):
            raise WireError(VERSION_ERROR, "the server speaks another version")
        return packet[1:]

    def _read_welcome(self, frame, now):
        """Takes in who this client is (W12 to W14)."""
        outcome = frame["outcome"]
        is_same = frame["incarnation"] == self.stated_incarnation
        if outcome == events.RESUMED and not is_same:
            raise malformed("resumed in another incarnation")
        if outcome != events.RESUMED:
            self._become_new_participant(keeps_position=outcome == events.STARTED_ANEW and is_same)
        self.phase = JOINED
        self.welcomed_at = now
        self.participant, self.secret = frame["participant"], frame["secret"]
        self.knows_everybody, self.count = True, None
        self.incarnation = frame["incarnation"]
        self.max_packet = min(frame["max_packet"], LARGEST_PACKET)
        self.max_message, self.max_snapshot = frame["max_message"], frame["max_snapshot"]
        self.ping_us, self.dead_us = frame["ping_ms"] * 1000, frame["dead_ms"] * 1000
        self.room_counter = frame["counter"]
        self.outgoing.counters[0] = frame["counter"]
        self.incoming.position = self.position
        self.incoming.counters[self.participant] = self.ordered
        is_new_incarnation = self.stated_incarnation is not None and not is_same
        self.events.append(events.Welcomed(outcome, self.participant, is_new_incarnation))
        self._become_ready(now)

    def _become_new_participant(self, keeps_position):
        """Numbers transactions and awareness from 1 again; in another incarnation everything begins at 0 (W14)."""
        for message in self.unsure.values():
            message.after = max(0, message.after - self.ordered)
        for number, message in enumerate(self.waiting, start=1):
            message.number = number
        self.counter, self.ordered = len(self.waiting), 0
        for channel in self.channels.values():
            channel.own_index = 0
        for message in sorted(self.unsure.values(), key=lambda one: one.order):
            message.channel.own_index += 1
            message.number = message.channel.own_index
        if keeps_position:
            return
        self.position = 0
        self.direct_position = 0
        self.freshness = Freshness()
        self.delivered = {}
        for channel in self.channels.values():
            channel.has, channel.is_synced, channel.begun = 0, False, None

    def _become_ready(self, now):
        """Once each OPEN of the opening is answered, sends again what may not have arrived (W14, W41)."""
        if self.is_ready or self.unanswered or self.phase != JOINED:
            return
        self.is_ready = True
        self._drop_what_was_refused()
        again = [one for one in self.waiting if one.number > self.room_counter]
        again += [one for one in self.unsure.values() if self._may_publish(one.channel)]
        self._pack(sorted(again, key=lambda one: one.order), now)
        for channel in self.channels.values():
            if channel.status == OPENING and channel.ref not in self.asked:
                self.asked.add(channel.ref)
                self._send(channel.open_frame(self.position))
            elif channel.status == CLOSING:
                self._finish_closing(channel, now)

    def _drop_what_was_refused(self):
        """Gives up transactions of channels that may not be used any more, and closes the hole in the counters."""
        kept = []
        for message in self.waiting:
            if message.number <= self.room_counter or self._may_publish(message.channel):
                kept.append(message)
            else:
                self.events.append(events.TransactionLost(message.channel.name, message.data))
        for number, message in enumerate(kept, start=self.ordered + 1):
            message.number = number
        self.waiting = kept
        self.counter = self.ordered + len(kept)

    def _may_publish(self, channel):
        """Tells whether the present transport takes messages on this channel."""
        return channel.ref in self.granted and bool(channel.access & PUBLISH)

    # Frames of the server.

    def _read_frame(self, frame, now):
        """Does what one frame says."""
        if self.phase == JOINING and frame.type not in ("WELCOME", "ERROR", "BYE"):
            raise malformed("something before WELCOME")
        if self.phase == JOINED and frame.type == "WELCOME":
            raise malformed("a second WELCOME")
        if frame.type == "CODECS":
            return
        getattr(self, "_read_" + frame.type.lower())(frame, now)

    def _read_channel(self, frame, now):
        """A channel was granted, or its QoS changed (W16)."""
        channel = self.by_id.get(frame["id"]) if frame["ref"] == 0 else self._by_ref(frame["ref"])
        if channel is None:
            raise malformed("CHANNEL for a channel that nobody asked for")
        channel.qos = frame["qos"]
        if frame["ref"] != 0:
            channel.id, channel.access = frame["id"], frame["access"]
            self.by_id[channel.id] = channel
            self.granted.add(channel.ref)
            self.asked.discard(channel.ref)
            self.unanswered.discard(channel.ref)
            if channel.status == OPENING:
                channel.status = OPEN
            elif channel.status == CLOSING and self.is_ready:
                self._finish_closing(channel, now)
            self._offer_parts()
        if channel.status == OPEN:
            self.events.append(events.ChannelOpened(channel.name, channel.access, channel.qos))
        self._become_ready(now)

    def _by_ref(self, ref):
        """The channel for which an OPEN of this transport waits for its answer."""
        waiting = [one for one in self.channels.values() if one.ref == ref and ref in self.asked]
        return waiting[0] if waiting else None

    def _read_synced(self, frame, now):
        """The late-joiner state of a channel, or of those of the join, is complete."""
        channel = self.by_id.get(frame["id"])
        if frame["id"] != 0 and channel is None:
            raise WireError(UNKNOWN_CHANNEL, "SYNCED of a channel that is not open")
        synced = [channel] if channel else [one for one in self.channels.values() if one.ref in self.opened_at_join]
        for one in synced:
            one.is_synced = one.is_synced or one.status == OPEN
        if channel is None or channel.status == OPEN:
            self.events.append(events.Synced(channel.name if channel else None))

    def _read_participants(self, frame, now):
        """Who is here, away, or gone (W34), and which user that is (W100)."""
        if frame["complete"]:
            listed = {one["id"] for one in frame["participants"]}
            for participant in set(self.participants) - listed:
                self._participant_left(participant)
        for one in frame["participants"]:
            if one["state"] == events.LEFT:
                self._participant_left(one["id"])
            else:
                presence = self.participants[one["id"]] = presence_of(one)
                self.events.append(presence)

    def _read_count(self, frame, now):
        """The room is large, or no longer is (W103)."""
        self.knows_everybody = bool(frame["everybody"])
        self.count = None if self.knows_everybody else frame["count"]
        self.events.append(events.Counted(frame["count"], self.knows_everybody))

    def _read_owner(self, frame, now):
        """The room is on another server than the one that the client is connected to (W117)."""
        self.events.append(events.Owner(frame["after_ms"], frame["address"]))

    def _read_page(self, frame, now):
        """Some participants, whom the session does not keep: no news of them come (W105)."""
        participants = [presence_of(one) for one in frame["participants"]]
        self.events.append(events.Page(participants, bool(frame["last"])))

    def _participant_left(self, participant):
        """Forgets the numbers of a participant that has left (W22, W42)."""
        self.incoming.forget_sender(participant)
        self.freshness.forget_sender(participant)
        self.delivered.pop(participant, None)
        if self.participants.pop(participant, None) is not None:
            self.events.append(events.Presence(participant, events.LEFT, b""))

    def _read_ping(self, frame, now):
        """Answers at once."""
        self._send(Frame("PONG", {"time": frame["time"], "received": now, "sent": now}))

    def _read_pong(self, frame, now):
        """Measures the round trip; what was sent before the PING has surely arrived (W41, W85)."""
        round_trip = max(0, (now - frame["time"]) - (frame["sent"] - frame["received"]))
        self.round_trip = round_trip if self.round_trip is None else min(self.round_trip, round_trip)
        self.unsure = {place: one for place, one in self.unsure.items()
                       if one.sent_at is None or one.sent_at >= frame["time"]}
        for name, time in list(self.shut_pings.items()):
            if frame["time"] >= time:
                del self.shut_pings[name]
                if self.channels[name].status == SHUT:
                    self.events.append(events.ChannelClosed(name))

    def _offer_parts(self):
        """Tells the server of the parts that the application makes and whose channels are all open (W95)."""
        for part, (number, members) in self.parts.items():
            is_usable = all(one.status == OPEN and one.ref in self.granted and one.access & SUBSCRIBE for one in members)
            if self.phase == JOINED and is_usable and part not in self.offered:
                self.offered.add(part)
                ids = b"".join(map(varint, sorted(one.id for one in members)))
                self._send(Frame("PART", {"part": number, "counter": 0, "name": part, "rest": ids}))

    def _read_part(self, frame, now):
        """The server announces a part whose chunks follow (W95)."""
        members = [self.by_id.get(number) for number in read_channels(frame["rest"])]
        if None in members:
            raise WireError(UNKNOWN_CHANNEL, "a part with a channel that is not open")
        self.announced[frame["part"]] = (frame["name"], frame["counter"], members)

    def _read_snapshot(self, frame, now):
        """Puts a part together; a whole one stands for its channels' transactions up to its position (W32)."""
        if frame["part"] not in self.announced:
            raise malformed("a SNAPSHOT of a part that was not announced")
        state = self.snapshot.add(frame, self.max_snapshot)
        if state is None:
            return
        name, counter, members = self.announced.pop(frame["part"])
        covered = [one for one in self.waiting if one.number <= counter and one.channel in members]
        for message in covered:
            self._order(message, None)
        for channel in members:
            channel.has, channel.begun = frame["as_of"], None
        self.events.append(events.SnapshotCame(name, frame["as_of"], state))

    def _read_snapshot_wanted(self, frame, now):
        """Asks the application for a part, unless transactions of a closed or late channel of it are missing (W32)."""
        for part, (number, members) in self.parts.items():
            if number == frame["part"]:
                if all(one.status == OPEN and one.is_complete(self.position) for one in members):
                    self.events.append(events.SnapshotWanted(part, self.position))
                return
        raise malformed("SNAPSHOT_WANTED of a part that was not offered")

    def _read_position(self, frame, now):
        """Transactions of channels that are not open here are skipped (W33)."""
        if frame["position"] < self.position:
            raise malformed("a POSITION before the last one")
        self.position = self.incoming.position = frame["position"]
        self._release_directs(self.position, now)

    def _read_gap(self, frame, now):
        """Transactions of a channel can no longer be had (W33)."""
        channel = self.by_id.get(frame["id"])
        if channel is None:
            raise WireError(UNKNOWN_CHANNEL, "GAP of a channel that is not open")
        channel.has, channel.begun = max(channel.has, frame["position"]), None
        if channel.status == OPEN:
            self.events.append(events.Gap(channel.name, frame["position"]))

    def _read_ordered(self, frame, now):
        """Own transactions are ordered, at places that this end is not told (W96)."""
        if frame["counter"] > self.counter:
            raise malformed("ORDERED names a transaction that was never sent")
        self._order_before(frame["counter"] + 1)

    def _read_error(self, frame, now):
        """An answer to OPEN, another remark, or the end of the transport (W8, W37)."""
        if frame["fatal"]:
            self._break(frame["code"], frame["detail"], not ends_session(frame["code"], frame["fault"]))
            return
        channel = None if frame["code"] == PART_REFUSED else self._by_ref(frame["subject"])
        if channel is None:
            self.events.append(events.Warned(frame["code"], frame["subject"], frame["detail"]))
            return
        self.asked.discard(channel.ref)
        self.unanswered.discard(channel.ref)
        channel.status = REFUSED
        self.events.append(events.ChannelRefused(channel.name, frame["code"], frame["detail"]))
        self._become_ready(now)

    def _read_bye(self, frame, now):
        """The server will close the transport, and says when to come back (W36)."""
        self._break(None, "the server said goodbye", True, frame["retry_ms"])

    # Messages of others, and own ones that come back.

    def _read_messages(self, frame, now):
        """Reads the records of a payload in their order."""
        for record in frame["records"]:
            channel = self.by_id.get(record.channel)
            if channel is None and not record.flags & OWN:
                raise WireError(UNKNOWN_CHANNEL, "a message of a channel that is not open")
            if record.flags & PACKED:
                raise WireError(COMPRESSION, "a packed message, though no codec was stated")
            if record.flags & DIRECT:
                self._read_direct(record, channel, now)
            elif record.flags & OWN and not record.flags & FILL:
                self._read_own(record)
            elif channel is None or channel.is_transaction:
                self._read_transaction(record, channel, now)
            else:
                self._read_awareness(record, channel, now)

    def _read_own(self, record):
        """An own transaction has its place now (W29)."""
        counter = self.incoming.read_counter(record)
        self._move(self.incoming.read_position(record), self.last_heard)
        if all(one.number != counter for one in self.waiting):
            raise malformed("an own record that is not of a waiting transaction")
        self._order_before(counter)
        channel = self._order(self.waiting[0], self.position)
        if channel.status == CLOSING:
            self._finish_closing(channel, self.last_heard)

    def _order_before(self, counter):
        """Own transactions before this one are ordered: a part stands for them, or they can no longer be had (W29)."""
        for message in [one for one in self.waiting if one.number < counter]:
            self._order(message, None)

    def _order(self, message, position):
        """Takes a waiting transaction off the list; returns its channel."""
        self.waiting.remove(message)
        self.ordered = self.waiting[0].number - 1 if self.waiting else self.counter
        self.events.append(events.Ordered(message.channel.name, message.number, message.data, position))
        return message.channel

    def _read_transaction(self, record, channel, now):
        """A transaction of somebody; it is dropped if it is here already, or the channel is closed (W18, W85)."""
        if record.flags & FILL:
            counter, position = record.gap, record.stamp
        else:
            counter = self.incoming.read_counter(record)
            position = self.incoming.read_position(record)
            self._move(position, now)
        if record.sender == self.participant or channel is None or channel.status != OPEN or position <= channel.has:
            return
        whole = channel.add_piece(record, position)
        if whole is not None:
            self.delivered[record.sender] = max(counter, self.delivered.get(record.sender, 0))
            self._deliver(whole, channel, counter, position, None, now)

    def _read_direct(self, record, channel, now):
        """A transaction for this participant alone waits for its place; one that came before is only answered (W114, W115)."""
        if record.flags & OWN:
            # This client sends none.
            return
        if not channel.is_transaction:
            raise malformed("awareness to one participant")
        if record.stamp <= self.direct_position:
            self._send(Frame("RECEIVED", {"position": self.direct_position}))
            return
        if len(self.directs) >= MOST_DIRECTS:
            raise WireError(TOO_MANY, "too much for one participant")
        self.directs.append((record, channel))
        self._release_directs(self.position, now)

    def _move(self, position, now):
        """The stream has come to a position: what is for this participant alone comes before it (W114)."""
        self._release_directs(position - 1, now)
        self.position = position

    def _release_directs(self, until, now):
        """Hands over what is for this participant alone up to a position, and tells the server (W115)."""
        due = [one for one in self.directs if one[0].stamp <= until]
        self.directs = [one for one in self.directs if one[0].stamp > until]
        for record, channel in sorted(due, key=lambda one: one[0].stamp):
            if channel.status == OPEN:
                self.direct_position = record.stamp
                self._deliver(record, channel, record.gap, record.stamp, None, now)
        if due:
            self._send(Frame("RECEIVED", {"position": self.direct_position}))

    def _read_awareness(self, record, channel, now):
        """An awareness message; it is dropped if it is no news, or the channel is closed (W42, W85)."""
        if record.flags & (FILL | GOES_ON | CONTINUES) or record.departed is not None:
            raise malformed("awareness as a fill, as a piece or as a departure")
        index, after = self.incoming.read_awareness(record)
        if channel.status != OPEN or record.sender == self.participant:
            return
        if channel.conflates:
            is_news = self.freshness.is_news_of_key(record.sender, channel.name, record.key or b"", index)
        else:
            is_news = self.freshness.is_news_of_all(record.sender, channel.name, index)
        if is_news:
            self._deliver(record, channel, index, None, after, now)

    def _deliver(self, record, channel, number, position, after, now):
        """Tells the application about a message of another participant."""
        self.events.append(events.Message(
            channel=channel.name, sender=record.sender, data=record.data, is_text=bool(record.flags & TEXT),
            key=record.key, priority=record.priority, is_transaction=position is not None, number=number,
            position=position, after=after, age_ms=record.age * 4 + (self.round_trip or 0) / 2000,
            is_state=bool(record.flags & STATE), is_fill=bool(record.flags & FILL),
            is_stale=after is not None and self.delivered.get(record.sender, 0) > after, departed=record.departed,
            is_direct=bool(record.flags & DIRECT)))

    # Messages of this client.

    def _submit_transaction(self, message):
        """Numbers a transaction, and keeps it until its own record comes back (W29)."""
        self.counter += 1
        message.number = self.counter
        self.waiting.append(message)
        if self.is_ready:
            self.pending.append(message)

    def _submit_awareness(self, message):
        """Numbers an awareness message; on a channel that conflates it is kept until it surely arrived (W41)."""
        channel = message.channel
        channel.own_index = (channel.own_index + 1) % (1 << 32)
        message.number, message.after = channel.own_index, self.counter
        if channel.conflates:
            place = (channel.name, message.key or b"")
            replaced = self.unsure.get(place)
            self.pending = [one for one in self.pending if one is not replaced]
            self.unsure[place] = message
        if self.is_ready:
            self.pending.append(message)

    def _pack(self, messages, now):
        """Writes messages into as few MESSAGES packets as the limits allow."""
        written, size = [], 1
        for message in messages:
            record = self._number_record(message, now)
            length = len(records.write_record(record))
            if written and (size + length > self.max_packet or len(written) == MOST_RECORDS):
                self._send(Frame("MESSAGES", {"records": written}))
                written, size = [], 1
            written.append(record)
            size += length
        if written:
            self._send(Frame("MESSAGES", {"records": written}))
            self.is_unheard = True

    def _number_record(self, message, now):
        """Makes the record of a message at the moment in which it is sent (W20, W22, W24, W25)."""
        channel = message.channel
        message.sent_at = now
        if channel.is_transaction:
            gap, stamp = self.outgoing.write_counter(message.number), 0
        else:
            gap, stamp = self.outgoing.write_awareness(channel.id, message.number, message.after)
        age = ((now - message.made_at) // 1000 + 2) // 4
        return Record(channel.id, 0, message.flags, gap, age, stamp, message.data, message.key, message.priority)

    # Closing channels, and small things.

    def _finish_closing(self, channel, now):
        """Sends SHUT once no own transaction of the channel waits, with a PING whose PONG ends it (W85)."""
        if self._waits(channel):
            return
        if channel.ref in self.granted:
            channel.status = SHUT
            self._send(self._shut_frame(channel), self._ping_frame(now))
            self.freshness.forget_channel(channel.name)
            self.shut_pings[channel.name] = now
        elif self.phase not in (JOINING, JOINED) or channel.ref not in self.asked:
            channel.status = SHUT
            self.events.append(events.ChannelClosed(channel.name))

    def _waits(self, channel):
        """Tells whether an own transaction of this channel has no place yet."""
        return any(message.channel is channel for message in self.waiting)

    def _shut_frame(self, channel):
        """The frame that ends the use of a channel on this transport."""
        self.granted.discard(channel.ref)
        self.offered = {part for part in self.offered if channel not in self.parts[part][1]}
        self.opened_at_join.discard(channel.ref)
        return Frame("SHUT", {"id": channel.id})

    def _ping(self, now):
        """Sends a PING."""
        self._send(self._ping_frame(now))

    def _ping_frame(self, now):
        """A PING; the next one is due a while later."""
        self.last_ping = now
        self.is_unanswered = True
        return Frame("PING", {"time": now})

    def _send(self, *frames):
        """Makes one packet of these frames."""
        self.packets.append(write_packet(frames))

    def _refuse(self, error, now):
        """Says what is wrong with what the server sent, and ends the transport (W8)."""
        self._send(Frame("ERROR", {"code": error.code, "fault": FAULTS[error.code], "fatal": 1, "subject": 0,
                                   "detail": error.detail}))
        self._break(error.code, error.detail, not ends_session(error.code, FAULTS[error.code]))

    def _break(self, code, detail, may_resume, retry_ms=None):
        """Remembers that the transport has to be closed, and whether the session is over."""
        self.wants_close = True
        self.end_code = code
        self.phase = OFFLINE if may_resume else ENDED
        self.is_ready = False
        self.events.append(events.Broken(code, detail, may_resume, retry_ms))

    def _take_events(self):
        """Hands over the events that came together."""
        taken, self.events = self.events, []
        return taken


def presence_of(one):
    """What an entry of PARTICIPANTS or PAGE says, without the number that says that the user follows (W100)."""
    return events.Presence(one["id"], one["state"] & ~HAS_USER, one["presence"], one.get("user"))
