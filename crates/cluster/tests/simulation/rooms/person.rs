//! A person: a client, and an application that keeps what it is told.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::{
    ChannelId, Client, Config, Event as Told, GapReason, Incoming, Input, Outgoing, Output, Sent,
    Status,
};
use groupwire_session::{LinkId, ParticipantId, PresenceState, Qos};

use super::link::Cargo;
use super::{Event, Rooms, name_of};
use crate::world::{Event as WorldEvent, World};

/// The channel of the document, and the part of the snapshot that has it.
const DOCUMENT: &str = "document";
/// The most own transactions that wait for their confirmation.
const MOST_PENDING: usize = 8;

pub(super) struct Person {
    pub(super) client: Client,
    pub(super) room: usize,
    pub(super) link: Option<LinkId>,
    timer: Duration,
    document_channel: ChannelId,
    pointer_channel: ChannelId,
    /// The number of the next transaction.
    pub(super) next: u32,
    /// The newest awareness that it sent.
    pub(super) pointer: u32,
    /// The document: all transactions in their order.
    pub(super) document: Vec<String>,
    /// The position of the newest transaction in the document.
    pub(super) position: u64,
    /// The own transactions that were confirmed since the last gap.
    pub(super) confirmed: Vec<String>,
    /// When the last one was.
    pub(super) confirmed_at: Duration,
    /// The newest awareness of the others.
    pub(super) pointers: BTreeMap<ParticipantId, u32>,
    pub(super) others: BTreeMap<ParticipantId, PresenceState>,
    pub(super) status: Status,
    /// It has had a gap, after which transactions that were not confirmed are sent again.
    pub(super) gaps: u32,
    /// The person began to leave.
    pub(super) leaves: bool,
}

impl Person {
    pub(super) fn has_left(&self) -> bool {
        self.status == Status::Closed
    }
}

impl World<Rooms> {
    /// A new person enters a room.
    pub(super) fn enter(&mut self, room: usize) -> usize {
        let person = self.add_person(room);
        self.after(0..2000, WorldEvent::Service(Event::Wake { person }));
        self.after(0..4000, WorldEvent::Service(Event::Act { person }));
        person
    }

    /// One more person reads each room at the end.
    pub(super) fn late_joiners(&mut self) {
        for room in 0..usize::from(self.shards) * super::ROOMS {
            let person = self.add_person(room);
            self.at(self.now, WorldEvent::Service(Event::Wake { person }));
        }
    }

    fn add_person(&mut self, room: usize) -> usize {
        let compress = self.service.compresses;
        let seed = self.random.rand_u64();
        let config = Config { seed, compress, ..Config::new(&name_of(room)) };
        let mut client = Client::new(self.now, config).expect("a short name");
        let document_channel = client.channel(DOCUMENT, Qos::transaction()).expect("a channel");
        let pointer_channel = client.channel("pointer", Qos::awareness()).expect("a channel");
        client.provide(DOCUMENT, &[document_channel]).expect("a part");
        self.service.people.push(Person {
            client,
            room,
            link: None,
            timer: Duration::MAX,
            document_channel,
            pointer_channel,
            next: 0,
            pointer: 0,
            document: Vec::new(),
            position: 0,
            confirmed: Vec::new(),
            confirmed_at: Duration::ZERO,
            pointers: BTreeMap::new(),
            others: BTreeMap::new(),
            status: Status::Connecting,
            gaps: 0,
            leaves: false,
        });
        self.service.people.len() - 1
    }

    /// A person writes, points or goes, and does so again after a while.
    pub(super) fn act(&mut self, at: usize) {
        let now = self.now;
        let is_stopped = self.service.is_stopped;
        let what = self.random.rand_range(0..1000);
        let person = &mut self.service.people[at];
        if is_stopped || person.leaves {
            return;
        }
        match what {
            0..700 if person.client.pending() < MOST_PENDING => {
                let text = format!("{at}.{}", person.next);
                let bytes = text.as_bytes();
                let message = Outgoing { bytes, text: true, ..Outgoing::default() };
                let sent = person.client.send(now, person.document_channel, message);
                if sent.expect("a small message") == Sent::Accepted {
                    person.next += 1;
                }
            }
            700..980 => {
                person.pointer += 1;
                let bytes = &person.pointer.to_le_bytes();
                let message = Outgoing { bytes, key: Some(b"at"), ..Outgoing::default() };
                let sent = person.client.send(now, person.pointer_channel, message);
                sent.expect("a small message");
            }
            980.. if !self.weather.is_calm() => {
                person.leaves = true;
                person.client.leave();
                let room = person.room;
                self.enter(room);
            }
            _ => {}
        }
        self.drain_client(at, None);
        self.after(100..1500, WorldEvent::Service(Event::Act { person: at }));
    }

    pub(super) fn wake(&mut self, person: usize) {
        self.service.people[person].timer = Duration::MAX;
        self.client_input(person, Input::Timeout, None);
    }

    /// The node that a balancer gives a client. It knows which nodes run, unless there are faults.
    fn balance(&mut self) -> usize {
        if let Some(node) = self.service.balancer {
            return node;
        }
        let is_calm = self.weather.is_calm();
        let nodes = self.nodes.iter().enumerate();
        let nodes: Vec<usize> = nodes
            .filter(|(_, node)| node.process.is_some() || !is_calm)
            .map(|(at, _)| at)
            .collect();
        match nodes.len() as u64 {
            0 => 0,
            count => nodes[self.random.rand_range(0..count) as usize],
        }
    }

    /// A node answers a client that dials, if it runs.
    pub(super) fn dialed(&mut self, person: usize, node: usize) {
        let process = self.nodes[node].process.as_ref().filter(|process| !process.refused);
        let Some(incarnation) = process.map(|process| process.incarnation) else {
            return self.client_input(person, Input::Closed, None);
        };
        let link = self.connect(person, (node, incarnation));
        self.service.people[person].link = Some(link);
        self.client_input(person, Input::Opened { max_datagram: 0 }, None);
    }

    /// `incarnation`: that of the room which the input comes from.
    pub(super) fn client_input(
        &mut self,
        person: usize,
        input: Input<'_>,
        incarnation: Option<u64>,
    ) {
        self.service.people[person].client.handle_input(self.now, input);
        self.drain_client(person, incarnation);
    }

    /// Carries out the outputs of a client.
    fn drain_client(&mut self, at: usize, incarnation: Option<u64>) {
        let now = self.now;
        loop {
            let person = &mut self.service.people[at];
            match person.client.poll_output(now) {
                Output::Dial => {
                    let node = self.balance();
                    let event = Event::Dialed { person: at, node };
                    self.after(1..20, WorldEvent::Service(event));
                }
                Output::Send(packet) => {
                    if let Some(link) = person.link {
                        self.send_up(link, Cargo::Packet(packet));
                    }
                    self.service.people[at].client.handle_input(now, Input::Sent);
                }
                Output::Hangup => {
                    if let Some(link) = person.link.take() {
                        self.send_up(link, Cargo::Close);
                    }
                    self.service.people[at].client.handle_input(now, Input::Closed);
                }
                Output::Datagram(_) => panic!("a transport without datagrams"),
                Output::Event(event) => self.note(at, event, incarnation),
                Output::Timeout(due) => {
                    if let Some(due) = due.filter(|due| *due < person.timer) {
                        person.timer = due;
                        self.at(due, WorldEvent::Service(Event::Wake { person: at }));
                    }
                    return;
                }
            }
        }
    }

    fn note(&mut self, at: usize, event: Told, incarnation: Option<u64>) {
        match event {
            Told::Message(message) if message.key.is_some() => {
                let pointer = message.bytes[..].try_into().expect("four bytes");
                let pointers = &mut self.service.people[at].pointers;
                pointers.insert(message.sender, u32::from_le_bytes(pointer));
            }
            Told::Message(message) => self.transaction(at, &message, incarnation),
            Told::Snapshot { as_of, bytes, .. } => {
                let text = String::from_utf8(bytes).expect("what a person has sent");
                let person = &mut self.service.people[at];
                person.document = text.lines().map(str::to_owned).collect();
                person.position = person.position.max(as_of.get());
            }
            Told::SnapshotWanted { part, as_of } => {
                let person = &mut self.service.people[at];
                let text = person.document.join("\n");
                // The connection may have ended meanwhile.
                let _ = person.client.snapshot(&part, as_of, text.as_bytes());
            }
            Told::Gap { reason, uncertain, missing } => {
                self.log(|| format!("person {at}: gap {reason:?} {uncertain} {missing:?}"));
                self.gap(at, reason, missing.map(|(_, position)| position.get()));
            }
            Told::Participants { complete, changes } => {
                let others = &mut self.service.people[at].others;
                if complete {
                    others.clear();
                }
                for change in changes {
                    match change.state {
                        PresenceState::Left => others.remove(&change.id),
                        state => others.insert(change.id, state),
                    };
                }
            }
            Told::Status(status) => {
                self.log(|| format!("person {at}: {status:?}"));
                self.service.people[at].status = status;
            }
            Told::Error { error, fatal, .. } => {
                self.log(|| format!("person {at}: {error}"));
                assert!(!fatal, "the client of person {at} ends: {error}");
            }
            _ => {}
        }
    }

    /// A transaction has its place in the room's order.
    fn transaction(&mut self, at: usize, message: &Incoming, incarnation: Option<u64>) {
        let text = String::from_utf8(message.bytes.clone()).expect("what a person has sent");
        let position = message.position.get();
        let now = self.now;
        let Rooms { people, seen, .. } = &mut self.service;
        let person = &mut people[at];
        let incarnation = incarnation.expect("a transaction comes from a room");
        // A log that lost its tail has other records at its end, until it is mended.
        let is_harmed = self.engine.logs[person.room % usize::from(self.shards)].harmed.is_some();
        if message.own {
            person.confirmed.push(text.clone());
            person.confirmed_at = now;
            self.counts.confirmed += 1;
        }
        // A part of the snapshot has an own transaction whose place is not stated.
        if position > 0 {
            if !is_harmed {
                seen.see((person.room, incarnation), position, &text);
            }
            assert!(
                position > person.position,
                "{text} comes at {position}, after {}",
                person.position
            );
            person.position = position;
            person.document.push(text);
        }
    }

    fn gap(&mut self, at: usize, reason: GapReason, missing: Option<u64>) {
        let Rooms { people, .. } = &mut self.service;
        let person = &mut people[at];
        let shard = person.room % usize::from(self.shards);
        let is_harmed = self.engine.logs[shard].harmed.is_some();
        // A room of which nothing was confirmed is not stored, and ends with its process.
        let is_new = person.position == 0 && reason == GapReason::Incarnation;
        assert!(is_harmed || is_new, "person {at} is told of a gap, and nothing was lost");
        let names_position = matches!(reason, GapReason::History | GapReason::Reset);
        assert_eq!(missing.is_some(), names_position, "what a gap says");
        if !is_new {
            self.counts.gaps += 1;
        }
        person.gaps += 1;
        if reason == GapReason::Incarnation {
            person.document.clear();
            person.confirmed.clear();
            person.pointers.clear();
            person.position = 0;
        }
    }
}
