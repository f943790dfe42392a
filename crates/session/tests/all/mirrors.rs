//! A room with one mirror: what the room decides for people there, and what either end does with an
//! end that breaks the rules. That all laws hold with mirrors is tested in `tests/laws`.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::client::{
    self, ChannelId, Client, Config as ClientConfig, Outgoing, Recipient, Status,
};
use groupwire_session::room::{self, Config, Event, Input, Output, Room};
use groupwire_session::{
    AllowAll, Error, Identity, Limits, LinkId, Opening, ParticipantId, Qos, Quota, Quotas,
};

use crate::support::MS;
use crate::support::secrets::Drawn;

/// The mirror's transport at the room, and the room's transport at the mirror.
const MIRROR: LinkId = LinkId(1000);
const TO_ROOM: LinkId = LinkId(2000);

/// A room, a mirror, and the clients of each. Nothing takes time between them.
struct Pair {
    now: Duration,
    room: Room,
    mirror: Room,
    people: Vec<Person>,
    secrets: Drawn,
    /// The events of the room.
    events: Vec<Event>,
    /// The delays that the mirror asked for.
    delays: usize,
    /// Why the room, and the mirror, closed the connection between them.
    closed: Vec<Option<Error>>,
}

struct Person {
    client: Client,
    is_at_mirror: bool,
    link: Option<LinkId>,
    events: Vec<client::Event>,
}

impl Pair {
    fn new(config: Config) -> Self {
        let mut room = Room::new(config.clone(), Box::new(AllowAll));
        let mirror = Room::mirror(config, Box::new(AllowAll), TO_ROOM);
        room.handle_input(Duration::ZERO, Input::Mirror { link: MIRROR });
        Pair {
            now: Duration::ZERO,
            room,
            mirror,
            people: Vec::new(),
            secrets: Drawn::default(),
            events: Vec::new(),
            delays: 0,
            closed: Vec::new(),
        }
    }

    fn join(&mut self, is_at_mirror: bool) -> usize {
        let client = Client::new(self.now, ClientConfig::new("demo")).unwrap();
        self.people.push(Person { client, is_at_mirror, link: None, events: Vec::new() });
        self.run(100);
        self.people.len() - 1
    }

    fn open(&mut self, at: usize, name: &str, qos: Qos) -> ChannelId {
        let channel = self.people[at].client.channel(name, qos).unwrap();
        self.run(100);
        channel
    }

    fn say(&mut self, at: usize, channel: ChannelId, bytes: &[u8]) {
        let message = Outgoing { bytes, ..Outgoing::default() };
        self.people[at].client.send(self.now, channel, message).unwrap();
    }

    fn participant(&self, at: usize) -> ParticipantId {
        self.people[at].client.participant().unwrap()
    }

    /// The contents of the messages that a person was told.
    fn heard(&self, at: usize) -> Vec<&[u8]> {
        let heard = self.people[at].events.iter().filter_map(|event| match event {
            client::Event::Message(message) | client::Event::Direct(message) => {
                Some(&message.bytes[..])
            }
            _ => None,
        });
        heard.collect()
    }

    fn errors(&self, at: usize) -> Vec<&str> {
        let errors = self.people[at].events.iter().filter_map(|event| match event {
            client::Event::Error { error, .. } => Some(error.name()),
            _ => None,
        });
        errors.collect()
    }

    /// Lets this time pass, in milliseconds.
    fn run(&mut self, ms: u32) {
        for _ in 0..ms / 5 {
            self.now += MS * 5;
            let now = self.now;
            self.room.handle_input(now, Input::Timeout);
            self.mirror.handle_input(now, Input::Timeout);
            for at in 0..self.people.len() {
                self.people[at].client.handle_input(now, client::Input::Timeout);
            }
            self.carry_out();
        }
    }

    /// Carries out all outputs, until there are none.
    fn carry_out(&mut self) {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for at in 0..self.people.len() {
                goes_on |= self.client(at);
            }
            loop {
                let output = self.room.poll_output();
                if let Output::Timeout(_) = output {
                    break;
                }
                goes_on = true;
                self.output(false, output);
            }
            loop {
                let output = self.mirror.poll_output();
                if let Output::Timeout(_) = output {
                    break;
                }
                goes_on = true;
                self.output(true, output);
            }
        }
    }

    fn place(&mut self, is_mirror: bool) -> &mut Room {
        if is_mirror { &mut self.mirror } else { &mut self.room }
    }

    fn output(&mut self, is_mirror: bool, output: Output) {
        let now = self.now;
        match output {
            Output::Send { link: MIRROR, packet, body } => {
                let packet = room::whole_packet(packet, body.as_deref());
                let link = TO_ROOM;
                self.mirror.handle_input(now, Input::Packet { link, packet: &packet });
                self.room.handle_input(now, Input::Sent { link: MIRROR });
            }
            Output::Send { link: TO_ROOM, packet, body } => {
                let packet = room::whole_packet(packet, body.as_deref());
                self.tell_room(&packet);
                self.mirror.handle_input(now, Input::Sent { link: TO_ROOM });
            }
            Output::Close { link: MIRROR | TO_ROOM, reason, .. } => self.closed.push(reason),
            Output::Send { link, packet, body } => {
                let packet = room::whole_packet(packet, body.as_deref());
                if let Some(person) = self.people.iter_mut().find(|one| one.link == Some(link)) {
                    person.client.handle_input(now, client::Input::Packet(&packet));
                }
                self.place(is_mirror).handle_input(now, Input::Sent { link });
            }
            Output::Close { link, packet, .. } => {
                if let Some(person) = self.people.iter_mut().find(|one| one.link == Some(link)) {
                    person.client.handle_input(now, client::Input::Packet(&packet));
                    person.client.handle_input(now, client::Input::Closed);
                    person.link = None;
                }
            }
            Output::Event(event) if !is_mirror => self.events.push(event),
            Output::Delay { .. } if is_mirror => self.delays += 1,
            _ => {}
        }
    }

    /// Hands a packet of the mirror to the room.
    fn tell_room(&mut self, packet: &[u8]) {
        let (link, secrets) = (MIRROR, &self.secrets);
        let input = Input::MirrorPacket { link, packet, secrets };
        self.room.handle_input(self.now, input);
    }

    fn client(&mut self, at: usize) -> bool {
        let mut outputs = VecDeque::new();
        let now = self.now;
        loop {
            let person = &mut self.people[at];
            match person.client.poll_output(now) {
                client::Output::Timeout(_) => break,
                client::Output::Event(event) => person.events.push(event),
                client::Output::Dial => {
                    let link = LinkId(now.as_millis() as u64 * 100 + at as u64 + 10_000);
                    person.link = Some(link);
                    let opened = client::Input::Opened { max_datagram: 0 };
                    person.client.handle_input(now, opened);
                    outputs.push_back((link, true, Vec::new()));
                }
                client::Output::Send(packet) => {
                    person.client.handle_input(now, client::Input::Sent);
                    if let Some(link) = person.link {
                        outputs.push_back((link, false, packet));
                    }
                }
                client::Output::Datagram(_) => {}
                client::Output::Hangup => {
                    person.client.handle_input(now, client::Input::Closed);
                    if let Some(link) = person.link.take() {
                        let is_at_mirror = person.is_at_mirror;
                        self.place(is_at_mirror).handle_input(now, Input::Closed { link });
                    }
                }
            }
        }
        let did = !outputs.is_empty();
        let mut is_first = false;
        let is_at_mirror = self.people[at].is_at_mirror;
        while let Some((link, dials, packet)) = outputs.pop_front() {
            if dials {
                is_first = true;
                continue;
            }
            if !std::mem::take(&mut is_first) {
                let input = Input::Packet { link, packet: &packet };
                self.place(is_at_mirror).handle_input(now, input);
                continue;
            }
            let opening = Opening::read(&packet).unwrap();
            let (identity, max_datagram) = (&Identity::default(), 0);
            self.secrets.draw([at as u8; 16]);
            let secrets = &self.secrets;
            let (opening, link) = (&opening, link);
            let input = Input::Join { link, opening, identity, secrets, max_datagram };
            match is_at_mirror {
                true => self.mirror.handle_input(now, input),
                false => self.room.handle_input(now, input),
            }
        }
        did
    }
}

/// A room with somebody at the room and two at the mirror, who have one channel open.
fn three(config: Config) -> (Pair, ChannelId) {
    let mut pair = Pair::new(config);
    let mut channel = None;
    for is_at_mirror in [false, true, true] {
        let at = pair.join(is_at_mirror);
        channel = Some(pair.open(at, "text", Qos::transaction()));
    }
    (pair, channel.unwrap())
}

fn config() -> Config {
    Config::new("demo", 7)
}

#[test]
fn all_hear_each_other_in_one_order_and_newcomers_get_all() {
    let (mut pair, text) = three(config());
    for (at, word) in [(1, b"b"), (0, b"a"), (2, b"c")] {
        pair.say(at, text, word);
        pair.run(100);
    }
    let newcomer = pair.join(true);
    pair.open(newcomer, "text", Qos::transaction());
    for at in 0..4 {
        assert_eq!(pair.heard(at), [b"b", b"a", b"c"], "person {at}");
        assert_eq!(pair.people[at].client.pending(), 0);
    }
    assert_eq!(pair.room.inspect(pair.now).participants.len(), 4);
    assert_eq!((pair.room.stats().here, pair.mirror.stats().here), (1, 3));
}

#[test]
fn who_is_disconnected_by_the_room_is_told_why_and_leaves_its_mirror() {
    let (mut pair, _) = three(config());
    let participant = pair.participant(1);
    let banned = Error::Banned { why: "for a test".to_owned() };
    assert!(pair.room.disconnect(pair.now, participant, banned));
    pair.run(100);
    assert_eq!(pair.errors(1), ["banned"]);
    assert_eq!(pair.mirror.stats().here, 1);
    assert!(!pair.room.disconnect(pair.now, participant, Error::Stalled), "it has no transport");
}

#[test]
fn people_at_mirrors_count_among_those_that_a_room_may_have() {
    let limits = Limits { max_participants: 3, ..Limits::default() };
    let (mut pair, _) = three(Config { limits, ..config() });
    for is_at_mirror in [true, false] {
        let at = pair.join(is_at_mirror);
        assert_eq!(pair.errors(at), ["too-many"], "at the mirror: {is_at_mirror}");
    }
}

#[test]
fn w99_who_sends_too_much_over_a_mirror_is_slowed_down_there() {
    let participant = Quota { bytes: 1000, deliveries: u64::MAX };
    let quotas = Quotas { participant, ..Quotas::default() };
    let (mut pair, text) = three(Config { quotas, ..config() });
    for _ in 0..10 {
        pair.say(1, text, &[7; 1000]);
    }
    pair.run(100);
    assert!(pair.delays > 0, "its transport is read with delays");
    assert_eq!(pair.room.stats().limited, 1);
    let quiet = |event: &client::Event| matches!(event, client::Event::Quiet { .. });
    pair.run(1000);
    assert!(pair.people[1].events.iter().any(|event| !quiet(event)));
    pair.run(60_000);
    assert_eq!((pair.room.stats().limited, pair.heard(2).len()), (0, 10));
}

#[test]
fn w114_what_is_for_one_person_goes_over_mirrors_in_both_directions() {
    let (mut pair, text) = three(config());
    for (from, to) in [(0, 1), (1, 0), (1, 2)] {
        let to = Some(Recipient { participant: pair.participant(to), tag: 5 });
        let message = Outgoing { bytes: b"psst", to, ..Outgoing::default() };
        pair.people[from].client.send(pair.now, text, message).unwrap();
        pair.run(200);
        let receipt = |event: &client::Event| matches!(event, client::Event::Receipt { .. });
        assert!(pair.people[from].events.iter().any(receipt), "{from}");
    }
    // Senders are told the places of their own.
    let heard: Vec<usize> = (0..3).map(|at| pair.heard(at).len()).collect();
    assert_eq!(heard, [2, 3, 1]);
}

#[test]
fn somebody_at_a_mirror_makes_the_snapshot_if_nobody_else_can() {
    let limits = Limits { snapshot_after: 5, ..Limits::default() };
    let mut pair = Pair::new(Config { limits, ..config() });
    let at = pair.join(true);
    let text = pair.open(at, "text", Qos::transaction());
    pair.people[at].client.provide("state", &[text]).unwrap();
    pair.run(500);
    (0..10).for_each(|_| pair.say(at, text, b"word"));
    pair.run(1500);
    let wanted = pair.people[at].events.iter().find_map(|event| match event {
        client::Event::SnapshotWanted { part, as_of } => Some((part.clone(), *as_of)),
        _ => None,
    });
    let (part, as_of) = wanted.expect("the room asks for it");
    pair.people[at].client.snapshot(&part, as_of, &[9; 200_000]).unwrap();
    pair.run(500);
    let is_snapshot = |event: &Event| matches!(event, Event::Snapshot { size: 200_000, .. });
    assert!(pair.events.iter().any(is_snapshot));
    // Newcomers at the room and at the mirror are sent the part.
    for is_at_mirror in [true, false] {
        let at = pair.join(is_at_mirror);
        pair.open(at, "text", Qos::transaction());
        pair.run(500);
        let came = |event: &client::Event| matches!(event, client::Event::Snapshot { .. });
        assert!(pair.people[at].events.iter().any(came), "at the mirror: {is_at_mirror}");
    }
}

#[test]
fn a_mirror_that_breaks_the_rules_is_ended_and_its_people_are_away() {
    // A packet that is none, an unknown frame, a frame that ends too early, a part, receivers and
    // offers of a channel that is not there.
    let part = &[0, 12, 6, 0, 0, 1, 9, 0, 0];
    let receivers = &[0, 10, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 1];
    let offered = &[0, 11, 1, 9];
    for packet in [&[][..], &[7], &[0, 99, 0], &[0, 1, 9, 1], part, receivers, offered] {
        let (mut pair, text) = three(config());
        pair.tell_room(packet);
        pair.run(50);
        assert!(matches!(pair.closed[..], [Some(_)]), "{packet:?}: {:?}", pair.closed);
        let away = |event: &&Event| matches!(event, Event::Away { .. });
        assert_eq!(pair.events.iter().filter(away).count(), 2);
        assert!(!pair.room.has_mirror(MIRROR));
        // The others go on, and another mirror is let in.
        pair.say(0, text, b"still here");
        pair.run(100);
        assert_eq!(pair.heard(0), [b"still here"]);
        pair.mirror = Room::mirror(config(), Box::new(AllowAll), TO_ROOM);
        pair.room.handle_input(pair.now, Input::Mirror { link: MIRROR });
        let at = pair.join(true);
        pair.open(at, "text", Qos::transaction());
        assert_eq!(pair.heard(at), [b"still here"]);
    }
}

#[test]
fn a_room_that_breaks_the_rules_is_left_by_its_mirror() {
    for packet in [&[][..], &[9], &[0, 99, 0], &[0, 5, 1, 1]] {
        let (mut pair, _) = three(config());
        pair.mirror.handle_input(pair.now, Input::Packet { link: TO_ROOM, packet });
        assert!(pair.mirror.has_ended(), "{packet:?}");
        pair.mirror
            .handle_input(pair.now, Input::Shutdown { retry: MS * 10, step: Duration::ZERO });
        pair.carry_out();
        let reconnects =
            |event: &client::Event| matches!(event, client::Event::Status(Status::Reconnecting));
        assert!(pair.people[1].events.iter().any(reconnects));
        assert_eq!(pair.mirror.stats().here, 0);
    }
}

#[test]
fn a_mirror_that_takes_nothing_is_ended() {
    let (mut pair, text) = three(config());
    let (at, mut waiting) = (0, 0);
    for round in 0.. {
        assert!(round < 100_000, "it is ended");
        pair.now += MS * 50;
        let now = pair.now;
        // From here on, the mirror handles no packet.
        pair.say(at, text, &[0; 50_000]);
        pair.client(at);
        pair.room.handle_input(now, Input::Timeout);
        while let output = pair.room.poll_output()
            && !matches!(output, Output::Timeout(_))
        {
            match output {
                Output::Send { link: MIRROR, .. } => waiting += 1,
                output => pair.output(false, output),
            }
        }
        if !pair.closed.is_empty() {
            break;
        }
    }
    assert!(matches!(pair.closed[..], [Some(Error::Stalled)]), "{:?}", pair.closed);
    assert!(waiting < 200, "no more is under way than a window: {waiting}");
}
