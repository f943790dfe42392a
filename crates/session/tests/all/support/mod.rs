//! A room and its clients in simulated time: no sockets, no clock, every run repeats from its seed.

pub(crate) mod disk;
pub(crate) mod path;
mod random;
pub(crate) mod secrets;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use disk::Disk;
use groupwire_session::client::{
    ChannelId, Client, Config as ClientConfig, Event, GapReason, Incoming, Input, Outgoing, Output,
    Sent, Status,
};
use groupwire_session::room::{self, Room};
use groupwire_session::{
    AllowAll, Durability, Error, Identity, Kind, Limits, LinkId, Opening, ParticipantId, Position,
    Qos, Timing,
};
pub(crate) use random::Random;
use secrets::Drawn;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// A packet, or the end of the stream, on its way.
#[derive(Debug)]
enum Cargo {
    Packet(Vec<u8>),
    Close,
}

impl Cargo {
    fn len(&self) -> usize {
        match self {
            Cargo::Packet(packet) => packet.len(),
            Cargo::Close => 0,
        }
    }
}

struct Transport {
    link: LinkId,
    open: bool,
    joined: bool,
    up: VecDeque<(Duration, Cargo)>,
    down: VecDeque<(Duration, Cargo)>,
    /// By the time of arrival and a random number, so that datagrams of one time arrive in any
    /// order.
    datagrams_up: BTreeMap<(Duration, u64), Vec<u8>>,
    datagrams_down: BTreeMap<(Duration, u64), Vec<u8>>,
    /// True if the last datagram was lost, upwards and downwards.
    losing: (bool, bool),
    /// The room does not want it read before this time.
    unread_until: Duration,
}

impl Transport {
    fn new(link: LinkId) -> Self {
        Transport {
            link,
            open: true,
            joined: false,
            up: VecDeque::new(),
            down: VecDeque::new(),
            datagrams_up: BTreeMap::new(),
            datagrams_down: BTreeMap::new(),
            losing: (false, false),
            unread_until: Duration::ZERO,
        }
    }
}

/// The faults of a transport for datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Air {
    /// The largest datagram in bytes; 0: the transport has none.
    pub(crate) max: usize,
    /// The share of lost datagrams, in percent.
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    /// The share of datagrams with one flipped bit, in percent. An encrypted transport would drop
    /// them.
    pub(crate) damaged: u64,
    /// Datagrams arrive up to this much later.
    pub(crate) jitter_ms: u64,
}

impl Air {
    /// Datagrams without faults.
    pub(crate) const CLEAR: Air = Air { max: 1200, lost: 0, repeated: 0, damaged: 0, jitter_ms: 0 };
}

/// The numbers and bytes of datagrams: those made for one receiver alone, and those of fan-out
/// groups.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Brought {
    pub(crate) alone: (usize, usize),
    pub(crate) shared: (usize, usize),
}

impl Brought {
    fn count(&mut self, is_shared: bool, bytes: usize) {
        let sums = if is_shared { &mut self.shared } else { &mut self.alone };
        sums.0 += 1;
        sums.1 += bytes;
    }
}

/// A participant with its application: it keeps all that it is told.
pub(crate) struct Person {
    pub(crate) client: Client,
    transport: Option<Transport>,
    /// The delay of the path in one direction.
    pub(crate) delay: Duration,
    /// The time that a byte of a packet takes on the stream, in both directions; zero for none.
    pub(crate) per_byte: Duration,
    pub(crate) air: Air,
    /// The datagrams that the client sent, and those of them that arrived.
    pub(crate) datagrams: (usize, usize),
    /// The datagrams that the room sent to it.
    pub(crate) brought: Brought,
    /// False if the server cannot be reached.
    pub(crate) reachable: bool,
    /// A hostile program: reads nothing, grants no credit, runs no timers. Its packets are
    /// injected.
    pub(crate) deaf: bool,
    /// How often the room had its transport read later (W99).
    pub(crate) delays: usize,
    pub(crate) events: Vec<Event>,
    pub(crate) messages: Vec<Incoming>,
    /// The texts that the test sent for it.
    pub(crate) said: Vec<String>,
    pub(crate) people: BTreeMap<ParticipantId, (groupwire_session::PresenceState, Vec<u8>)>,
    /// The messages of senders that were not announced before.
    pub(crate) nobody: usize,
    pub(crate) status: Option<Status>,
    /// A document as an application would build it: all texts of the first channel, in order.
    pub(crate) document: Vec<String>,
    /// The own texts that were reported as ordered in this incarnation.
    pub(crate) ordered: Vec<String>,
    /// The gaps other than new incarnations.
    pub(crate) holes: usize,
    /// The number of messages before this incarnation, in which participants have other numbers.
    pub(crate) since: usize,
    snapshot_wanted: Option<(String, Position)>,
    /// The name of its first channel, after which the part of the snapshot with its document is
    /// named.
    first: Option<String>,
}

impl Person {
    pub(crate) fn new(now: Duration, config: ClientConfig, delay: Duration) -> Self {
        Person {
            client: Client::new(now, config).unwrap(),
            transport: None,
            delay,
            per_byte: Duration::ZERO,
            air: Air::default(),
            datagrams: (0, 0),
            brought: Brought::default(),
            reachable: true,
            deaf: false,
            delays: 0,
            events: Vec::new(),
            messages: Vec::new(),
            said: Vec::new(),
            people: BTreeMap::new(),
            nobody: 0,
            status: None,
            document: Vec::new(),
            ordered: Vec::new(),
            holes: 0,
            since: 0,
            snapshot_wanted: None,
            first: None,
        }
    }

    /// The texts of all messages of a channel, own ones included.
    pub(crate) fn texts(&self, channel: ChannelId) -> Vec<String> {
        let of = self.messages.iter().filter(|message| message.channel == channel);
        of.map(|message| String::from_utf8_lossy(&message.bytes).into_owned()).collect()
    }

    pub(crate) fn saw(&self, wanted: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(wanted)
    }

    fn note(&mut self, event: Event) {
        match &event {
            Event::Message(message) | Event::Direct(message) => {
                let is_known = message.own
                    || message.sender == ParticipantId(0)
                    || self.people.contains_key(&message.sender);
                self.nobody += usize::from(!is_known);
                let text = match message.departed {
                    Some(departed) => format!("{departed} left"),
                    None => String::from_utf8_lossy(&message.bytes).into_owned(),
                };
                if message.channel == ChannelId(0) && message.to.is_none() {
                    self.document.push(text.clone());
                    if message.own {
                        self.ordered.push(text);
                    }
                }
                return self.messages.push(message.clone());
            }
            Event::Snapshot { part, bytes, .. } if self.first.as_ref() == Some(part) => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                self.document = text.lines().map(str::to_owned).collect();
            }
            Event::Gap { reason: GapReason::Incarnation, .. } => {
                self.document.clear();
                self.ordered.clear();
                self.since = self.messages.len();
            }
            Event::Gap { .. } => self.holes += 1,
            Event::SnapshotWanted { part, as_of } => {
                self.snapshot_wanted = Some((part.clone(), *as_of));
            }
            Event::Status(status) => self.status = Some(*status),
            Event::Participants { complete, changes } => {
                if *complete {
                    self.people.clear();
                }
                for change in changes {
                    if change.state == groupwire_session::PresenceState::Left {
                        self.people.remove(&change.id);
                    } else {
                        self.people.insert(change.id, (change.state, change.presence.clone()));
                    }
                }
            }
            _ => {}
        }
        self.events.push(event);
    }
}

pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) room: Room,
    pub(crate) people: Vec<Person>,
    pub(crate) log: Vec<room::Event>,
    /// The mean number of datagrams that are lost in a row; with 1, each is lost independently.
    pub(crate) bursts: u64,
    config: room::Config,
    last_link: LinkId,
    /// Transports that clients left, and when the room hears of it.
    closing: Vec<(Duration, LinkId)>,
    random: Random,
    secrets: Drawn,
    /// The store of the room, if it is stored.
    pub(crate) disk: Option<Disk>,
    /// The channel and the size of each transaction in the changes that the room put out to be
    /// stored.
    pub(crate) put_out: Vec<(String, usize)>,
}

impl World {
    pub(crate) fn new(seed: u64, config: room::Config) -> Self {
        World {
            now: Duration::ZERO,
            room: Room::new(config.clone(), Box::new(AllowAll)),
            people: Vec::new(),
            log: Vec::new(),
            bursts: 1,
            config,
            last_link: LinkId(0),
            closing: Vec::new(),
            random: Random::new(seed),
            secrets: Drawn::default(),
            disk: None,
            put_out: Vec::new(),
        }
    }

    /// A room whose transactions are durable after at most `slowest_ms`.
    pub(crate) fn durable(seed: u64, config: room::Config, slowest_ms: u64) -> Self {
        let config = room::Config { durability: Durability::Local, ..config };
        World { disk: Some(Disk::new(slowest_ms)), ..World::new(seed, config) }
    }

    /// A room whose transactions are stored within `slowest_ms`, or not at all.
    pub(crate) fn stored_if(
        is_stored: bool,
        seed: u64,
        config: room::Config,
        slowest_ms: u64,
    ) -> Self {
        match is_stored {
            true => World::durable(seed, config, slowest_ms),
            false => World::new(seed, config),
        }
    }

    pub(crate) fn with_tick(tick: Duration) -> Self {
        let timing = Timing { tick, ..Timing::default() };
        World::new(1, room::Config { timing, ..room::Config::new("demo", 7) })
    }

    /// Adds a participant; it dials at the next step.
    pub(crate) fn add(&mut self) -> usize {
        self.add_with(ClientConfig::new("demo"))
    }

    pub(crate) fn add_with(&mut self, mut config: ClientConfig) -> usize {
        config.seed = self.random.next();
        if config.presence.is_empty() {
            config.presence = format!("person {}", self.people.len()).into_bytes();
        }
        let delay = MS * (1 + self.random.below(30) as u32);
        self.people.push(Person::new(self.now, config, delay));
        self.people.len() - 1
    }

    pub(crate) fn channel(&mut self, person: usize, name: &str, qos: Qos) -> ChannelId {
        let person = &mut self.people[person];
        let channel = person.client.channel(name, qos).unwrap();
        if channel == ChannelId(0) && qos.kind == Kind::Transaction {
            person.first = Some(name.to_owned());
            person.client.provide(name, &[channel]).unwrap();
        }
        channel
    }

    pub(crate) fn send(&mut self, person: usize, channel: ChannelId, text: &str) -> Sent {
        let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
        self.people[person].client.send(self.now, channel, message).unwrap()
    }

    pub(crate) fn send_key(
        &mut self,
        person: usize,
        channel: ChannelId,
        key: &str,
        text: &str,
    ) -> Sent {
        let key = Some(key.as_bytes());
        let message = Outgoing { bytes: text.as_bytes(), text: true, key, ..Outgoing::default() };
        self.people[person].client.send(self.now, channel, message).unwrap()
    }

    /// The transport breaks without a word; both ends notice at once, packets under way are lost.
    pub(crate) fn cut(&mut self, person: usize) {
        let Some(transport) = self.people[person].transport.take() else { return };
        if transport.joined {
            self.room.handle_input(self.now, room::Input::Closed { link: transport.link });
        }
        self.people[person].client.handle_input(self.now, Input::Closed);
    }

    /// Packets are lost without notice, so only keep-alive can find out.
    pub(crate) fn black_hole(&mut self, person: usize) {
        if let Some(transport) = self.people[person].transport.as_mut() {
            transport.open = false;
        }
    }

    /// Moves these people to transports with datagrams of at most `max` bytes. If that is 0 they
    /// stay where they are.
    pub(crate) fn give_datagrams(&mut self, people: &[usize], max: usize) {
        if max > 0 {
            for &person in people {
                self.change_transport(person, Air { max, ..Air::default() });
            }
            self.run(2000 * MS);
        }
    }

    /// The client moves to another transport, as when a better one opened. The server learns of the
    /// old one's end later.
    pub(crate) fn change_transport(&mut self, person: usize, air: Air) {
        self.last_link = self.last_link.next();
        let one = &mut self.people[person];
        if !one.reachable || one.status == Some(Status::Closed) || one.transport.is_none() {
            return;
        }
        one.air = air;
        if let Some(old) = one.transport.replace(Transport::new(self.last_link)) {
            self.closing.push((self.now + one.delay, old.link));
        }
        one.client.handle_input(self.now, Input::Opened { max_datagram: air.max });
        self.drain_client(person);
    }

    /// The server dies and another one takes its place.
    pub(crate) fn restart(&mut self) {
        self.config.load += 1;
        let stored = self.disk.as_mut().and_then(|disk| {
            disk.crash(self.config.incarnation, &mut self.random);
            disk.load()
        });
        self.room = match stored {
            Some(stored) => {
                Room::load(self.config.clone(), Box::new(AllowAll), stored).expect("a whole room")
            }
            None => {
                self.config.incarnation += 1;
                Room::new(self.config.clone(), Box::new(AllowAll))
            }
        };
        for person in 0..self.people.len() {
            if self.people[person].transport.take().is_some() {
                self.people[person].client.handle_input(self.now, Input::Closed);
            }
        }
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += MS;
            self.step();
        }
    }

    /// Runs until nothing is under way for a second of simulated time, at most a minute.
    pub(crate) fn settle(&mut self) {
        self.run(Duration::from_secs(30));
    }

    /// Hands arbitrary bytes to the room as the person's next packet.
    pub(crate) fn inject(&mut self, person: usize, packet: &[u8]) {
        if let Some(transport) = &self.people[person].transport {
            let link = transport.link;
            self.room.handle_input(self.now, room::Input::Packet { link, packet });
        }
    }

    /// The person's datagrams that are on their way to the room.
    pub(crate) fn flying_up(&self, person: usize) -> Vec<Vec<u8>> {
        let transport = self.people[person].transport.as_ref();
        transport.map(|one| one.datagrams_up.values().cloned().collect()).unwrap_or_default()
    }

    /// The packets of the stream that are on their way to the person.
    pub(crate) fn coming_down(&self, person: usize) -> Vec<Vec<u8>> {
        let transport = self.people[person].transport.as_ref();
        let packets =
            transport.iter().flat_map(|one| &one.down).filter_map(|(_, cargo)| match cargo {
                Cargo::Packet(packet) => Some(packet.clone()),
                Cargo::Close => None,
            });
        packets.collect()
    }

    /// Hands arbitrary bytes to the room and to the person as a datagram of the other.
    pub(crate) fn inject_datagram(&mut self, person: usize, packet: &[u8]) {
        if let Some(transport) = &self.people[person].transport {
            let link = transport.link;
            self.room.handle_input(self.now, room::Input::Datagram { link, packet });
            self.people[person].client.handle_input(self.now, Input::Datagram(packet));
        }
    }

    fn step(&mut self) {
        let now = self.now;
        for at in 0..self.people.len() {
            self.arrive(at);
            if self.people[at].deaf {
                continue;
            }
            self.people[at].client.handle_input(self.now, Input::Timeout);
            self.drain_client(at);
        }
        // After the packets: the first one of a new transport is there before the end of the old
        // one.
        for (_, link) in self.closing.extract_if(.., |(at, _)| *at <= now) {
            self.room.handle_input(now, room::Input::Closed { link });
        }
        let incarnation = self.config.incarnation;
        let durable = self.disk.as_mut().and_then(|disk| disk.poll(now, incarnation));
        if let Some((position, reserved)) = durable {
            self.room.handle_input(now, room::Input::Durable { position, reserved });
        }
        self.room.handle_input(self.now, room::Input::Timeout);
        self.drain_room();
    }

    /// Delivers what is due both ways.
    fn arrive(&mut self, at: usize) {
        self.arrive_datagrams(at);
        loop {
            let person = &mut self.people[at];
            let Some(transport) = person.transport.as_mut().filter(|transport| transport.open)
            else {
                return;
            };
            if transport.unread_until <= self.now
                && let Some((_, cargo)) = arrived(&mut transport.up, self.now)
            {
                let link = transport.link;
                match cargo {
                    Cargo::Close => {
                        let joined = transport.joined;
                        person.transport = None;
                        if joined {
                            self.room.handle_input(self.now, room::Input::Closed { link });
                        }
                        person.client.handle_input(self.now, Input::Closed);
                    }
                    Cargo::Packet(packet) if transport.joined => {
                        self.room
                            .handle_input(self.now, room::Input::Packet { link, packet: &packet });
                    }
                    Cargo::Packet(packet) => {
                        transport.joined = true;
                        let opening = Opening::read(&packet).unwrap();
                        let secret = [self.random.next() as u8; 16];
                        let opening = &opening;
                        let secrets = self.secrets.draw(secret);
                        let max_datagram = person.air.max;
                        self.room.handle_input(
                            self.now,
                            room::Input::Join {
                                link,
                                opening,
                                identity: &identity_of(opening.token()),
                                secrets,
                                max_datagram,
                            },
                        );
                    }
                }
                self.drain_room();
                continue;
            }
            if person.deaf {
                return;
            }
            let Some((_, cargo)) = arrived(&mut transport.down, self.now) else {
                return;
            };
            let link = transport.link;
            match cargo {
                Cargo::Close => {
                    person.transport = None;
                    person.client.handle_input(self.now, Input::Closed);
                }
                Cargo::Packet(packet) => {
                    person.client.handle_input(self.now, Input::Packet(&packet));
                    self.room.handle_input(self.now, room::Input::Sent { link });
                }
            }
            self.drain_room();
            self.drain_client(at);
        }
    }

    fn arrive_datagrams(&mut self, at: usize) {
        let person = &mut self.people[at];
        let deaf = person.deaf;
        let Some(transport) = person.transport.as_mut().filter(|transport| transport.open) else {
            return;
        };
        let link = transport.link;
        let mut up = BTreeMap::new();
        if transport.unread_until <= self.now {
            let later = transport.datagrams_up.split_off(&(self.now, u64::MAX));
            up = std::mem::replace(&mut transport.datagrams_up, later);
        }
        let later = transport.datagrams_down.split_off(&(self.now, u64::MAX));
        let down = std::mem::replace(&mut transport.datagrams_down, later);
        person.datagrams.1 += up.len();
        for packet in up.values() {
            self.room.handle_input(self.now, room::Input::Datagram { link, packet });
        }
        self.drain_room();
        for packet in down.values().filter(|_| !deaf) {
            self.people[at].client.handle_input(self.now, Input::Datagram(packet));
            self.drain_client(at);
        }
    }

    fn drain_client(&mut self, at: usize) {
        loop {
            let person = &mut self.people[at];
            match person.client.poll_output(self.now) {
                Output::Timeout(_) => return,
                Output::Event(event) => {
                    if let (Event::Message(message), Some(disk)) = (&event, &self.disk) {
                        assert!(message.position <= disk.head(), "W92: {message:?} is not durable");
                    }
                    person.note(event);
                    if let Some((part, as_of)) = person.snapshot_wanted.take() {
                        let state = person.document.join("\n");
                        let _ = person.client.snapshot(&part, as_of, state.as_bytes());
                    }
                }
                Output::Dial if person.reachable => {
                    self.last_link = self.last_link.next();
                    person.transport = Some(Transport::new(self.last_link));
                    let max_datagram = person.air.max;
                    person.client.handle_input(self.now, Input::Opened { max_datagram });
                }
                Output::Dial => person.client.handle_input(self.now, Input::Closed),
                Output::Datagram(packet) => {
                    assert!(packet.len() <= person.air.max, "a datagram of {}", packet.len());
                    if let Some(transport) = person.transport.as_mut() {
                        person.datagrams.0 += 1;
                        let due = self.now + person.delay;
                        let Transport { datagrams_up: lane, losing: (losing, _), .. } = transport;
                        lose(&mut self.random, person.air.lost, self.bursts, losing);
                        fly(&mut self.random, person.air, *losing, due, packet, lane);
                    }
                    person.client.handle_input(self.now, Input::DatagramSent);
                }
                Output::Send(packet) => {
                    if let Some(transport) = person.transport.as_mut() {
                        let due = self.now + person.delay + person.per_byte * packet.len() as u32;
                        transport.up.push_back((due, Cargo::Packet(packet)));
                    }
                    person.client.handle_input(self.now, Input::Sent);
                }
                Output::Hangup => match person.transport.as_mut() {
                    Some(transport) if transport.open => {
                        transport.up.push_back((self.now + person.delay, Cargo::Close));
                    }
                    _ => {
                        let link = person.transport.take().map(|transport| transport.link);
                        person.client.handle_input(self.now, Input::Closed);
                        let _ = link;
                    }
                },
            }
        }
    }

    fn drain_room(&mut self) {
        loop {
            let (link, cargo) = match self.room.poll_output() {
                room::Output::Timeout(_) => return,
                room::Output::Event(event) => {
                    self.log.push(event);
                    continue;
                }
                room::Output::Store(write) => {
                    let told = self.room.transactions_of(&write);
                    let told = told.map(|one| (one.channel.to_owned(), one.bytes.len()));
                    self.put_out.extend(told);
                    let disk = self.disk.as_mut().expect("a store");
                    disk.put(self.now, write, &mut self.random);
                    continue;
                }
                room::Output::Delay { link, delay } => {
                    let person = self.people.iter_mut().find(|person| {
                        person.transport.as_ref().is_some_and(|transport| transport.link == link)
                    });
                    if let Some(person) = person {
                        person.delays += 1;
                        assert!(delay <= 1000 * MS, "W99: a delay of {delay:?}");
                        let transport = person.transport.as_mut().unwrap();
                        transport.unread_until = self.now + delay;
                    }
                    continue;
                }
                room::Output::Token { link, token } => {
                    let identity = identity_of(&token);
                    let input = match &token[..] {
                        b"forged" => {
                            let error = Error::Refused { why: "not this token".into() };
                            room::Input::Fail { link, error }
                        }
                        _ => room::Input::Renewed { link, identity: &identity },
                    };
                    self.room.handle_input(self.now, input);
                    continue;
                }
                room::Output::Datagram { link, mut packet, body } => {
                    let is_shared = body.is_some();
                    packet.extend_from_slice(body.as_deref().unwrap_or_default());
                    let owner = self.people.iter_mut().find(|person| {
                        person.transport.as_ref().is_some_and(|transport| transport.link == link)
                    });
                    if let Some(person) = owner {
                        assert!(packet.len() <= person.air.max, "a datagram of {}", packet.len());
                        let due = self.now + person.delay;
                        let air = person.air;
                        person.brought.count(is_shared, packet.len());
                        let transport = person.transport.as_mut().unwrap();
                        let Transport { datagrams_down: lane, losing: (_, losing), .. } = transport;
                        lose(&mut self.random, air.lost, self.bursts, losing);
                        fly(&mut self.random, air, *losing, due, packet, lane);
                    }
                    if !is_shared {
                        self.room.handle_input(self.now, room::Input::DatagramSent { link });
                    }
                    continue;
                }
                room::Output::Send { link, packet, body } => {
                    (link, vec![Cargo::Packet(room::whole_packet(packet, body.as_deref()))])
                }
                room::Output::Close { link, packet, .. } => {
                    (link, vec![Cargo::Packet(packet), Cargo::Close])
                }
            };
            let size: usize = cargo.iter().map(Cargo::len).sum();
            let owner = self.people.iter_mut().find(|person| {
                person.transport.as_ref().is_some_and(|transport| transport.link == link)
            });
            if let Some(person) = owner {
                let due = self.now + person.delay + person.per_byte * size as u32;
                let transport = person.transport.as_mut().unwrap();
                transport.down.extend(cargo.into_iter().map(|cargo| (due, cargo)));
            }
        }
    }
}

/// Decides whether the next datagram is lost: `lost` percent of all, in runs of `bursts` on
/// average.
fn lose(random: &mut Random, lost: u64, bursts: u64, losing: &mut bool) {
    if bursts <= 1 || lost >= 100 {
        *losing = random.chance(lost);
    } else if *losing {
        *losing = random.below(bursts) != 0;
    } else {
        *losing = random.below((100 - lost) * bursts * 100) < lost * 100;
    }
}

/// Puts a datagram on its way, which may be lost, repeated, damaged or late.
fn fly(
    random: &mut Random,
    air: Air,
    is_lost: bool,
    due: Duration,
    mut packet: Vec<u8>,
    lane: &mut BTreeMap<(Duration, u64), Vec<u8>>,
) {
    if random.chance(air.damaged) && !packet.is_empty() {
        let at = random.below(packet.len() as u64) as usize;
        packet[at] ^= 1 << random.below(8);
    }
    let copies = if is_lost { 0 } else { 1 + u64::from(random.chance(air.repeated)) };
    for _ in 0..copies {
        let late = MS * random.below(air.jitter_ms + 1) as u32;
        lane.insert((due + late, random.next()), packet.clone());
    }
}

/// The first packet of a client, which dials, over a transport without datagrams.
pub(crate) fn first_packet(client: &mut Client, now: Duration) -> Vec<u8> {
    loop {
        match client.poll_output(now) {
            Output::Dial => client.handle_input(now, Input::Opened { max_datagram: 0 }),
            Output::Send(packet) => return packet,
            Output::Timeout(_) => panic!("a client without a packet"),
            _ => {}
        }
    }
}

/// The identity of a token such as `ada:may draw`, with the subject before the colon and the rights
/// after it.
pub(crate) fn identity_of(token: &[u8]) -> Identity {
    let mut parts = token.splitn(2, |byte| *byte == b':').map(<[u8]>::to_vec);
    let (subject, rights) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    Identity { subject, rights }
}

/// A room of these limits that remembers many who left.
pub(crate) fn demo() -> room::Config {
    let limits = Limits { max_former: 10_000, ..tight() };
    room::Config { limits, ..room::Config::new("demo", 7) }
}

/// Limits small enough that a short run reaches them.
pub(crate) fn tight() -> Limits {
    Limits { snapshot_after: 40, snapshot_after_bytes: 4000, max_former: 64, ..Limits::default() }
}

fn arrived(way: &mut VecDeque<(Duration, Cargo)>, now: Duration) -> Option<(Duration, Cargo)> {
    way.front().is_some_and(|(due, _)| *due <= now).then(|| way.pop_front())?
}

/// The texts of the errors that a person's application was told.
pub(crate) fn errors(world: &World, person: usize) -> Vec<String> {
    let events = world.people[person].events.iter();
    let errors = events.filter_map(|event| match event {
        Event::Error { error, .. } => Some(error.to_string()),
        _ => None,
    });
    errors.collect()
}

/// Text that no codec makes much smaller.
pub(crate) fn noise(seed: usize, length: usize) -> String {
    let mut random = Random::new(seed as u64 + 1);
    (0..length).map(|_| char::from(b'!' + random.below(90) as u8)).collect()
}
