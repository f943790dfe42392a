//! A room, its clients and the network between them in simulated time. Events are kept in a queue,
//! so that a session costs time for its events and not for its length.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::time::Duration;

use groupwire_session::client::{Client, Config as ClientConfig, Event, Input, Output, Status};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Identity, LinkId, Opening, Position, refusal};

use crate::mirrors::{self, Between, Mirror, Mirrors};
use crate::model::Model;
use crate::random::Random;
use crate::secrets::Drawn;
use crate::story::SEEDS;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// The faults of a transport; shares in percent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Path {
    /// Bytes of the largest datagram; 0: there are none.
    pub(crate) max: usize,
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    /// Datagrams arrive up to this much later.
    pub(crate) jitter_ms: u64,
    /// The share of damaged datagrams. An encrypted transport would drop them.
    pub(crate) damaged: u64,
    /// The share of damaged packets of the stream, in each direction.
    pub(crate) garbled: [u64; 2],
}

#[derive(Debug)]
enum Cargo {
    Packet(Vec<u8>),
    Close,
}

/// Towards the room, or towards the client.
const UP: usize = 0;
const DOWN: usize = 1;

#[derive(Debug)]
enum Happening {
    Arrives(usize, Cargo),
    /// The transport sent a packet, and has space for another one.
    Taken(usize),
    Flown(usize, Vec<u8>),
    FlownOff(usize),
    /// A datagram became too old before it left.
    Dropped(usize),
    /// The packets that waited while the room delayed reading are read now.
    ReadOn,
    /// The room learns that a transport ended.
    Broken,
    /// To the room, or to the mirror with this connection.
    Between(usize, Between),
}

struct Transport {
    person: usize,
    /// The server that it is connected to: 0 has the room, the others have mirrors.
    place: usize,
    joined: bool,
    /// True if everything that is sent is lost.
    swallows: bool,
    path: Path,
    /// The time at which the last packet of each direction arrives: packets do not overtake each
    /// other.
    last: [Duration; 2],
    /// The room asked not to read the transport before this time (W99), and the packets that have
    /// come meanwhile.
    unread_until: Duration,
    unread: VecDeque<Happening>,
}

/// A client and how it is connected.
pub(crate) struct Person {
    pub(crate) client: Client,
    /// The path of the present transport and of later ones.
    pub(crate) path: Path,
    pub(crate) delay: Duration,
    pub(crate) reachable: bool,
    link: Option<LinkId>,
    timer: Option<Duration>,
}

pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) room: Room,
    pub(crate) people: Vec<Person>,
    pub(crate) model: Model,
    config: room::Config,
    /// The time until which no server runs.
    down_until: Option<Duration>,
    room_timer: Option<Duration>,
    pub(crate) mirrors: Mirrors,
    transports: BTreeMap<LinkId, Transport>,
    /// The server of each transport. A transport stays here when its client has left it.
    places: BTreeMap<LinkId, usize>,
    last_link: LinkId,
    coming: BTreeMap<(Duration, u64), (LinkId, Happening)>,
    last_happening: u64,
    random: Random,
    secrets: Drawn,
    /// Transports drop datagrams that cannot leave soon, in sessions beyond the recorded ones.
    drops_old: bool,
    /// True while the packets are read that waited at a transport.
    reads_on: bool,
    /// The people whose transports the room had read later.
    pub(crate) limited: BTreeSet<usize>,
    /// The hash of all outputs of the cores, in order (law 4).
    pub(crate) digest: u64,
    /// The hash of the packets alone: their times, transports, directions, kinds and bytes.
    pub(crate) packets: u64,
    /// The most memory that a room held.
    pub(crate) memory: usize,
}

/// The most outputs of a core for one input, besides those for each participant (law 3).
const MAX_OUTPUTS: usize = 6000;

/// The most events without any time passing. With more, the cores run in an endless loop (law 3).
const MAX_AT_ONCE: usize = 100_000;

/// A datagram that cannot leave for this long is dropped (docs/transports.md, T6).
const OLD: Duration = Duration::from_millis(100);

impl World {
    pub(crate) fn new(seed: u64, config: room::Config, model: Model, mirrors: usize) -> Self {
        let mut world = World {
            mirrors: Mirrors::new(seed, &config, mirrors),
            now: Duration::ZERO,
            room: Room::new(config.clone(), Box::new(AllowAll)),
            people: Vec::new(),
            model,
            config,
            down_until: None,
            room_timer: None,
            transports: BTreeMap::new(),
            places: BTreeMap::new(),
            last_link: LinkId(0),
            coming: BTreeMap::new(),
            last_happening: 0,
            random: Random::new(seed ^ 0x5eed),
            secrets: Drawn::default(),
            drops_old: seed > SEEDS,
            reads_on: false,
            limited: BTreeSet::new(),
            digest: 0,
            packets: 0,
            memory: 0,
        };
        world.room.set_tracing(true);
        world.admit_mirrors();
        world
    }

    pub(crate) fn add(&mut self, config: ClientConfig, path: Path, delay: Duration) -> usize {
        let client = Client::new(self.now, config).unwrap();
        let (link, timer) = (None, None);
        self.people.push(Person { client, path, delay, reachable: true, link, timer });
        self.people.len() - 1
    }

    /// True if the client has a transport, or does not know yet that it is gone.
    pub(crate) fn has_transport(&self, at: usize) -> bool {
        self.people[at].link.is_some()
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        (0..self.people.len()).for_each(|at| self.drain_client(at));
        self.drain_room();
        let mut at_once = 0;
        while let Some(next) = self.next().filter(|next| *next <= end) {
            at_once = if next > self.now { 0 } else { at_once + 1 };
            assert!(
                at_once < MAX_AT_ONCE,
                "law 3: something spins at {:?}: room {:?}, clients {:?}, {:?}",
                self.now,
                self.room_timer,
                self.people.iter().map(|person| person.timer).collect::<Vec<_>>(),
                self.coming.first_key_value()
            );
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn next(&self) -> Option<Duration> {
        let coming = self.coming.first_key_value().map(|((at, _), _)| *at);
        let timers = self.people.iter().map(|person| person.timer);
        let room_timer = self.room_timer.filter(|_| self.down_until.is_none());
        let mirrors = self.mirrors.list.iter().map(|mirror| mirror.timer);
        let mirrors = mirrors.filter(|_| self.down_until.is_none());
        timers.chain(mirrors).chain([coming, room_timer, self.down_until]).flatten().min()
    }

    fn step(&mut self) {
        if self.down_until.is_some_and(|until| until <= self.now) {
            self.down_until = None;
            self.restart();
        }
        while self.coming.first_key_value().is_some_and(|((at, _), _)| *at <= self.now) {
            if let Some((_, (link, happening))) = self.coming.pop_first() {
                self.happens(link, happening);
            }
        }
        for at in 0..self.people.len() {
            if self.people[at].timer.is_some_and(|due| due <= self.now) {
                self.tell_client(at, Input::Timeout);
            }
        }
        if self.room_timer.is_some_and(|due| due <= self.now) {
            self.tell_room(room::Input::Timeout);
        }
        for nth in 0..self.mirrors.list.len() {
            if self.mirrors.list[nth].timer.is_some_and(|due| due <= self.now) {
                self.tell(nth + 1, room::Input::Timeout);
            }
        }
    }

    fn happens(&mut self, link: LinkId, happening: Happening) {
        if let Happening::Broken = happening {
            // A connection of a client that is gone already stays known to its server.
            let place = self.places.remove(&link).unwrap_or(0);
            self.transports.remove(&link);
            return self.tell(place, room::Input::Closed { link });
        }
        if let Happening::Between(way, between) = happening {
            return self.between(link, way, &between);
        }
        let Some(transport) = self.transports.get(&link).filter(|one| !one.swallows) else {
            return;
        };
        let (at, joined, place) = (transport.person, transport.joined, transport.place);
        let in_use = self.people[at].link == Some(link);
        let is_read = matches!(happening, Happening::Arrives(UP, _) | Happening::Flown(UP, _));
        let is_behind = transport.unread_until > self.now || !transport.unread.is_empty();
        if is_read && is_behind && !mem::take(&mut self.reads_on) {
            if let Some(transport) = self.transports.get_mut(&link) {
                transport.unread.push_back(happening);
            }
            return;
        }
        match happening {
            Happening::ReadOn => self.read_on(link),
            Happening::Arrives(UP, Cargo::Packet(packet)) if joined => {
                self.tell(place, room::Input::Packet { link, packet: &packet });
            }
            Happening::Arrives(UP, Cargo::Packet(packet)) => self.greet(link, &packet),
            Happening::Arrives(UP, Cargo::Close) => {
                if joined {
                    self.tell(place, room::Input::Closed { link });
                }
                self.closed(link);
            }
            Happening::Arrives(_, Cargo::Close) => self.closed(link),
            Happening::Arrives(_, Cargo::Packet(packet)) if in_use => {
                self.tell_client(at, Input::Packet(&packet));
            }
            Happening::Flown(UP, packet) if joined => {
                self.tell(place, room::Input::Datagram { link, packet: &packet });
            }
            Happening::Flown(DOWN, packet) if in_use => {
                self.tell_client(at, Input::Datagram(&packet));
            }
            Happening::Taken(UP) if in_use => self.tell_client(at, Input::Sent),
            Happening::Taken(DOWN) => self.tell(place, room::Input::Sent { link }),
            Happening::FlownOff(UP) if in_use => self.tell_client(at, Input::DatagramSent),
            Happening::FlownOff(DOWN) => self.tell(place, room::Input::DatagramSent { link }),
            Happening::Dropped(UP) if in_use => self.tell_client(at, Input::DatagramDropped),
            Happening::Dropped(DOWN) => self.tell(place, room::Input::DatagramDropped { link }),
            _ => {}
        }
    }

    /// Reads the waiting packets, until the room asks for another delay.
    fn read_on(&mut self, link: LinkId) {
        while let Some(transport) = self.transports.get_mut(&link)
            && transport.unread_until <= self.now
            && let Some(happening) = transport.unread.pop_front()
        {
            self.reads_on = true;
            self.happens(link, happening);
            self.reads_on = false;
        }
    }

    fn greet(&mut self, link: LinkId, packet: &[u8]) {
        let Some(transport) = self.transports.get_mut(&link) else { return };
        let (max_datagram, place) = (transport.path.max, transport.place);
        match Opening::read(packet) {
            Ok(opening) => {
                transport.joined = true;
                let secret = [self.random.next() as u8; 16];
                let opening = &opening;
                let subject = opening.token().to_vec();
                // The secrets are taken out, because [`World::tell`] needs the whole world.
                let mut secrets = std::mem::take(&mut self.secrets);
                let secrets_drawn = secrets.draw(secret);
                self.tell(
                    place,
                    room::Input::Join {
                        link,
                        opening,
                        identity: &Identity { subject, ..Identity::default() },
                        secrets: secrets_drawn,
                        max_datagram,
                    },
                );
                self.secrets = secrets;
            }
            Err(error) => {
                self.carry(link, DOWN, vec![Cargo::Packet(refusal(&error)), Cargo::Close])
            }
        }
    }

    /// The transport is gone for its client.
    fn closed(&mut self, link: LinkId) {
        let Some(transport) = self.transports.remove(&link) else { return };
        if self.people[transport.person].link.take_if(|one| *one == link).is_some() {
            self.tell_client(transport.person, Input::Closed);
        }
    }

    /// The transport breaks; packets under way are lost. The room learns of it after `later`.
    pub(crate) fn cut(&mut self, at: usize, later: Duration) {
        let Some(link) = self.people[at].link else { return };
        self.later(later, link, Happening::Broken);
        self.closed(link);
    }

    /// Packets are lost without notice, so only keep-alive can find out.
    pub(crate) fn black_hole(&mut self, at: usize) {
        let transport = self.people[at].link.and_then(|link| self.transports.get_mut(&link));
        if let Some(transport) = transport {
            transport.swallows = true;
        }
    }

    /// In one direction, nothing arrives and nothing is accepted for this time.
    pub(crate) fn stall(&mut self, at: usize, way: usize, time: Duration) {
        let until = self.now + time;
        let transport = self.people[at].link.and_then(|link| self.transports.get_mut(&link));
        if let Some(transport) = transport {
            transport.last[way] = transport.last[way].max(until);
        }
    }

    /// The client moves to another transport, as when a better one opened. The room learns of the
    /// old one's end later.
    pub(crate) fn change_transport(&mut self, at: usize, path: Path) {
        let person = &mut self.people[at];
        let Some(old) = person.link.filter(|_| person.reachable) else { return };
        person.path = path;
        let (delay, max_datagram) = (person.delay, path.max);
        self.later(delay, old, Happening::Broken);
        self.open(at);
        self.tell_client(at, Input::Opened { max_datagram });
    }

    fn open(&mut self, at: usize) {
        self.last_link = self.last_link.next();
        let path = self.people[at].path;
        let place = self.mirrors.draw();
        self.places.insert(self.last_link, place);
        self.people[at].link = Some(self.last_link);
        let last = [Duration::ZERO; 2];
        let (unread_until, unread) = (Duration::ZERO, VecDeque::new());
        let transport = Transport {
            person: at,
            place,
            joined: false,
            swallows: false,
            path,
            last,
            unread_until,
            unread,
        };
        self.transports.insert(self.last_link, transport);
    }

    /// The server says BYE to all clients, and does not run for this time.
    pub(crate) fn shut_down(&mut self, time: Duration) {
        self.tell_room(room::Input::Shutdown { retry: time, step: Duration::ZERO });
        self.down_until.get_or_insert(self.now + time);
    }

    /// The server dies and another one takes its place.
    pub(crate) fn restart(&mut self) {
        self.config.incarnation += 1;
        self.model.restarted(self.config.incarnation);
        self.room = Room::new(self.config.clone(), Box::new(AllowAll));
        self.room.set_tracing(true);
        self.admit_mirrors();
        self.room_timer = None;
        let links: Vec<LinkId> = self.transports.keys().copied().collect();
        links.into_iter().for_each(|link| self.closed(link));
    }

    /// Hands arbitrary bytes to the room, or to the client, as the next packet.
    pub(crate) fn inject(&mut self, at: usize, way: usize, packet: &[u8]) {
        let Some(link) = self.people[at].link else { return };
        let Some(&Transport { joined, place, .. }) = self.transports.get(&link) else { return };
        match way {
            UP if joined => self.tell(place, room::Input::Packet { link, packet }),
            UP => {}
            _ => self.tell_client(at, Input::Packet(packet)),
        }
    }

    /// Hands arbitrary bytes to the room, or to the client, as a datagram.
    pub(crate) fn inject_datagram(&mut self, at: usize, way: usize, packet: &[u8]) {
        let Some(link) = self.people[at].link else { return };
        match way {
            UP => self.tell(self.places[&link], room::Input::Datagram { link, packet }),
            _ => self.tell_client(at, Input::Datagram(packet)),
        }
    }

    fn later(&mut self, time: Duration, link: LinkId, happening: Happening) {
        self.last_happening += 1;
        self.coming.insert((self.now + time, self.last_happening), (link, happening));
    }

    fn tell_room(&mut self, input: room::Input<'_>) {
        self.tell(0, input);
    }

    /// Tells the room, or one of its mirrors.
    fn tell(&mut self, place: usize, input: room::Input<'_>) {
        if self.down_until.is_some() {
            return;
        }
        match place.checked_sub(1) {
            None => {
                self.room.handle_input(self.now, input);
                self.drain_room();
            }
            Some(nth) => {
                self.mirrors.list[nth].room.handle_input(self.now, input);
                self.drain_mirror(nth);
            }
        }
    }

    /// Each mirror is let in by the room.
    fn admit_mirrors(&mut self) {
        for nth in 0..self.mirrors.list.len() {
            let link = self.mirrors.renew(nth);
            self.tell_room(room::Input::Mirror { link });
        }
    }

    /// The connection of a mirror to the room breaks. Its clients are told to come back, and
    /// another mirror takes its place.
    pub(crate) fn cut_mirror(&mut self) {
        let Some(nth) = self.mirrors.draw_cut() else { return };
        if self.down_until.is_some() {
            return;
        }
        if self.model.is_loud {
            eprintln!("{:?} mirror {} is cut off", self.now, nth + 1);
        }
        let link = self.mirrors.list[nth].link;
        self.tell(nth + 1, room::Input::Shutdown { retry: MS * 100, step: MS });
        self.tell_room(room::Input::Closed { link });
        let link = self.mirrors.renew(nth);
        self.tell_room(room::Input::Mirror { link });
    }

    /// Something has come over the connection of a mirror.
    fn between(&mut self, link: LinkId, way: usize, between: &Between) {
        let Some(nth) = self.mirrors.find(link).filter(|_| self.down_until.is_none()) else {
            return;
        };
        match way {
            UP => {
                let mut secrets = std::mem::take(&mut self.secrets);
                let secret = [self.random.next() as u8; 16];
                mirrors::take(&mut self.room, self.now, link, between, secrets.draw(secret));
                self.secrets = secrets;
                self.drain_room();
            }
            _ => {
                self.mirrors.list[nth].take(self.now, between);
                self.drain_mirror(nth);
            }
        }
        if let Between::Packet(_) = between {
            self.send_between(nth, 1 - way, Between::Handled);
        }
    }

    fn send_between(&mut self, nth: usize, way: usize, between: Between) {
        let mirror = &mut self.mirrors.list[nth];
        let (link, at) = (mirror.link, mirror.arrives(self.now, way));
        self.later(at - self.now, link, Happening::Between(way, between));
    }

    pub(crate) fn tell_client(&mut self, at: usize, input: Input<'_>) {
        self.people[at].client.handle_input(self.now, input);
        self.drain_client(at);
    }

    fn drain_client(&mut self, at: usize) {
        for count in 0.. {
            assert!(count < MAX_OUTPUTS, "law 3: outputs of a client without end");
            let person = &mut self.people[at];
            let output = person.client.poll_output(self.now);
            let link = person.link;
            match output {
                Output::Timeout(due) => {
                    self.people[at].timer = due;
                    return;
                }
                Output::Event(event) => {
                    if let Event::Message(message) = &event {
                        self.digest = fnv(self.digest ^ message.position.get(), &message.bytes);
                    }
                    if let Some((part, as_of, state)) = self.model.tell(self.now, at, event) {
                        // If the part is too large, the room goes on without it.
                        let _ = self.people[at].client.snapshot(&part, Position(as_of), &state);
                    }
                }
                Output::Dial if person.reachable && self.down_until.is_none() => {
                    let max_datagram = person.path.max;
                    self.open(at);
                    let opened = Input::Opened { max_datagram };
                    self.people[at].client.handle_input(self.now, opened);
                }
                Output::Dial => person.client.handle_input(self.now, Input::Closed),
                Output::Send(packet) => match link {
                    Some(link) => self.carry(link, UP, vec![Cargo::Packet(packet)]),
                    None => self.people[at].client.handle_input(self.now, Input::Sent),
                },
                Output::Datagram(packet) => match link {
                    Some(link) => self.fly(link, UP, packet),
                    None => self.people[at].client.handle_input(self.now, Input::DatagramSent),
                },
                Output::Hangup => {
                    let swallows = link
                        .and_then(|link| self.transports.get(&link))
                        .is_none_or(|one| one.swallows);
                    match link {
                        Some(link) if !swallows => self.carry(link, UP, vec![Cargo::Close]),
                        _ => {
                            self.people[at].link = None;
                            self.people[at].client.handle_input(self.now, Input::Closed);
                        }
                    }
                }
            }
        }
    }

    fn drain_room(&mut self) {
        for count in 0.. {
            let limit = MAX_OUTPUTS + 100 * self.people.len();
            assert!(count < limit, "law 3: outputs of a room without end");
            match self.room.poll_output() {
                room::Output::Timeout(due) => {
                    self.room_timer = due;
                    break;
                }
                room::Output::Event(event) => {
                    let owner = match &event {
                        room::Event::Joined { link, .. } => self.transports.get(link),
                        _ => None,
                    };
                    let owner = owner.map(|transport| transport.person);
                    self.model.room_says(self.now, &event, owner);
                }
                room::Output::Send { link, packet, body }
                    if let Some(nth) = self.mirrors.find(link) =>
                {
                    let packet = room::whole_packet(packet, body.as_deref());
                    self.send_between(nth, DOWN, Between::Packet(packet));
                }
                room::Output::Close { link, reason: Some(reason), .. }
                    if self.mirrors.find(link).is_some() =>
                {
                    panic!("the room gives a mirror up: {reason:?}");
                }
                output => self.carry_out(output),
            }
        }
        self.memory = self.memory.max(self.room.stats().memory);
        for packet in self.room.traced() {
            self.model.trace(&packet);
        }
    }

    fn drain_mirror(&mut self, nth: usize) {
        for count in 0.. {
            let limit = MAX_OUTPUTS + 100 * self.people.len();
            assert!(count < limit, "law 3: outputs of a mirror without end");
            let mut output = self.mirrors.list[nth].room.poll_output();
            if let Some(packet) = Mirror::to_room(&mut output) {
                self.send_between(nth, UP, Between::Packet(packet));
                continue;
            }
            match output {
                room::Output::Timeout(due) => {
                    self.mirrors.list[nth].timer = due;
                    return;
                }
                room::Output::Event(room::Event::Joined { participant, link, .. }) => {
                    if let Some(transport) = self.transports.get(&link) {
                        self.model.seated(participant.get(), transport.person);
                    }
                }
                room::Output::Event(_) => {}
                output => self.carry_out(output),
            }
        }
    }

    /// Carries out what the room, or a mirror, wants to be done with a client's transport.
    fn carry_out(&mut self, output: room::Output) {
        match output {
            room::Output::Timeout(_) | room::Output::Event(_) => {}
            room::Output::Store(_) => panic!("a room without a store stores nothing"),
            room::Output::Token { .. } => {}
            room::Output::Delay { link, delay } => {
                assert!(delay <= Duration::from_secs(1), "W99: a delay of {delay:?}");
                if let Some(transport) = self.transports.get_mut(&link) {
                    transport.unread_until = self.now + delay;
                    self.limited.insert(transport.person);
                    self.later(delay, link, Happening::ReadOn);
                }
            }
            room::Output::Send { link, packet, body } => {
                let packet = room::whole_packet(packet, body.as_deref());
                self.carry(link, DOWN, vec![Cargo::Packet(packet)]);
            }
            room::Output::Datagram { link, packet, body } => {
                let packet = room::whole_packet(packet, body.as_deref());
                self.fly(link, DOWN, packet);
            }
            room::Output::Close { link, packet, .. } => {
                self.carry(link, DOWN, vec![Cargo::Packet(packet), Cargo::Close]);
            }
        }
    }

    /// Over the stream: in order, each packet with the same delay unless the transport stalls.
    fn carry(&mut self, link: LinkId, way: usize, cargo: Vec<Cargo>) {
        for mut cargo in cargo {
            if let Cargo::Packet(packet) = &cargo {
                self.digest(link, way, false, packet);
            }
            let Some(transport) = self.transports.get_mut(&link) else { continue };
            let delay = self.people[transport.person].delay;
            let at = transport.last[way].max(self.now + delay);
            transport.last[way] = at;
            let garbled = transport.path.garbled[way];
            if let Cargo::Packet(packet) = &mut cargo
                && transport.joined
                && self.random.chance(garbled)
            {
                garble(&mut self.random, packet);
            }
            let wait = at - self.now;
            if matches!(cargo, Cargo::Packet(_)) {
                self.later(wait - delay, link, Happening::Taken(way));
            }
            self.later(wait, link, Happening::Arrives(way, cargo));
        }
    }

    /// Puts a datagram on its way, which may be lost, repeated, damaged or late.
    fn fly(&mut self, link: LinkId, way: usize, mut packet: Vec<u8>) {
        self.digest(link, way, true, &packet);
        let Some(transport) = self.transports.get(&link) else { return };
        let (path, delay) = (transport.path, self.people[transport.person].delay);
        assert!(packet.len() <= path.max, "W38: a datagram of {} bytes", packet.len());
        // Now and then, the transport cannot send datagrams for a while. In calm sessions it is
        // short: a datagram far behind others is as useless for a coder as a lost one.
        let longest = if self.model.is_calm { 20 } else { 200 };
        let busy = if self.random.chance(2) { self.random.below(longest) as u32 } else { 0 };
        let busy = MS * busy;
        if busy > OLD && self.drops_old {
            return self.later(OLD, link, Happening::Dropped(way));
        }
        self.later(busy, link, Happening::FlownOff(way));
        if self.random.chance(path.damaged) {
            garble(&mut self.random, &mut packet);
        }
        let copies = match self.random.chance(path.lost) {
            true => 0,
            false => 1 + u64::from(self.random.chance(path.repeated)),
        };
        for _ in 0..copies {
            let late = MS * self.random.below(path.jitter_ms + 1) as u32;
            self.later(busy + delay + late, link, Happening::Flown(way, packet.clone()));
        }
    }

    fn digest(&mut self, link: LinkId, way: usize, is_datagram: bool, packet: &[u8]) {
        self.digest = fnv(self.digest ^ link.get(), packet);
        let header = [self.now.as_micros() as u64, link.get(), way as u64, u64::from(is_datagram)];
        let header = header.iter().fold(self.packets, |hash, word| fnv(hash, &word.to_le_bytes()));
        self.packets = fnv(header, packet);
    }

    /// True if all people that have not left are connected and have nothing left to send.
    pub(crate) fn is_settled(&self) -> bool {
        let settled = |at: usize| {
            let app = &self.model.apps[at];
            let connected = app.status == Some(Status::Connected) && self.has_transport(at);
            app.is_gone || (connected && self.people[at].client.pending() == 0)
        };
        self.down_until.is_none() && (0..self.people.len()).all(settled)
    }
}

/// FNV-1a, which continues from the hash `start`.
pub(crate) fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start ^ 0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Flips a bit, cuts the end off, inserts a byte, or replaces all bytes.
fn garble(random: &mut Random, packet: &mut Vec<u8>) {
    if packet.is_empty() {
        return;
    }
    let at = random.below(packet.len() as u64) as usize;
    match random.below(6) {
        0..3 => packet[at] ^= 1 << random.below(8),
        3 => packet.truncate(at),
        4 => packet.insert(at, random.next() as u8),
        _ => packet.iter_mut().for_each(|byte| *byte = random.next() as u8),
    }
}
