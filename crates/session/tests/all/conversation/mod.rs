//! Conversations between a room and its clients in simulated time, for tests that examine what was
//! sent. Each end gets its timeouts at the times that it asked for. A transport accepts each packet
//! and datagram at once.

mod end;
pub(crate) mod hand;
pub(crate) mod stories;

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Client, Config as ClientConfig, Event, Input, Outgoing,
};
use groupwire_session::room::{self, Room};
use groupwire_session::{Compress, Limits, LinkId, Qos};

use crate::support::secrets::Drawn;
use end::{End, Gate, Output, Verb};

pub(crate) const MS: Duration = Duration::from_millis(1);

/// The configuration of rooms in conversations.
pub(crate) fn demo() -> room::Config {
    room::Config::new("demo", 7)
}

/// The configuration of a room without gmc.
pub(crate) fn plain() -> room::Config {
    room::Config { compress: false, ..demo() }
}

/// The same with these limits.
pub(crate) fn plain_with(limits: Limits) -> room::Config {
    room::Config { limits, ..plain() }
}

fn room_of(config: room::Config) -> End<Room> {
    End::new(Room::new(config, Box::new(Gate)), None)
}

/// A packet, a datagram or a close on its way.
struct Flight {
    link: u64,
    /// True on the way to the room, false on the way to the client.
    is_up: bool,
    cargo: Cargo,
}

enum Cargo {
    Packet(Vec<u8>),
    Datagram(Vec<u8>),
    Close,
}

/// A transport.
struct Link {
    client: usize,
    is_joined: bool,
    /// True if the transport broke: nothing arrives over it any more.
    is_cut: bool,
}

/// The network between a client and the room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) delay: Duration,
    /// Bytes of the largest datagram; 0: there are none.
    pub(crate) max_datagram: usize,
    /// The share of lost datagrams, in percent.
    pub(crate) lost: u64,
}

impl Default for Network {
    fn default() -> Self {
        Network { delay: MS * 10, max_datagram: 0, lost: 0 }
    }
}

/// A packet that was sent, for tests that examine conversations.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) at: Duration,
    pub(crate) link: u64,
    pub(crate) is_up: bool,
    pub(crate) is_datagram: bool,
    /// The first on its transport in this direction.
    pub(crate) is_first: bool,
    pub(crate) bytes: Vec<u8>,
}

struct Person {
    end: End<Client>,
    network: Network,
    /// The transport that it uses.
    link: Option<u64>,
    /// The number of events that were looked at.
    seen: usize,
}

/// A conversation that is being held.
pub(crate) struct Talk {
    pub(crate) now: Duration,
    room: End<Room>,
    secrets: Drawn,
    people: Vec<Person>,
    links: BTreeMap<u64, Link>,
    flights: BTreeMap<(Duration, u64), Flight>,
    flown: u64,
    /// All packets and datagrams.
    pub(crate) sent: Vec<Sent>,
    random: u64,
    /// Clients answer the wish for a snapshot with this many times a short text; 0: not at all.
    pub(crate) snapshot_parts: usize,
}

impl Talk {
    pub(crate) fn new(config: room::Config) -> Self {
        Talk {
            now: Duration::ZERO,
            room: room_of(config),
            secrets: Drawn::default(),
            people: Vec::new(),
            links: BTreeMap::new(),
            flights: BTreeMap::new(),
            flown: 0,
            sent: Vec::new(),
            random: 88_172_645_463_325_252,
            snapshot_parts: 0,
        }
    }

    /// Adds a client. Returns its number, from 0.
    pub(crate) fn client(&mut self, config: ClientConfig, network: Network) -> usize {
        let client = Client::new(self.now, config).expect("a configuration");
        let end = End::new(client, Some(self.now));
        self.people.push(Person { end, network, link: None, seen: 0 });
        self.people.len() - 1
    }

    /// Opens a channel.
    pub(crate) fn open(&mut self, client: usize, name: &str, qos: Qos, compress: Compress) {
        let options = ChannelOptions { compress, ..ChannelOptions::default() };
        self.act(client, |client, _| {
            client.channel_with(name, qos, options).expect("a channel");
        });
    }

    /// Sends a text without a key.
    pub(crate) fn send(&mut self, client: usize, channel: u32, text: &str) {
        let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
        self.send_message(client, channel, message);
    }

    pub(crate) fn send_message(&mut self, client: usize, channel: u32, message: Outgoing<'_>) {
        self.act(client, |client, now| {
            client.send(now, ChannelId(channel), message).expect("a message");
        });
    }

    /// Does something with a client, as its application does.
    pub(crate) fn act(&mut self, client: usize, act: impl FnOnce(&mut Client, Duration)) {
        let now = self.now;
        self.take_timeouts(client);
        self.people[client].end.act(now, |client| act(client, now));
        self.take_outputs(client);
    }

    /// Does something with the room, as its server does.
    pub(crate) fn act_in_room(&mut self, act: impl FnOnce(&mut Room, Duration)) {
        let now = self.now;
        self.take_timeouts_of_room();
        self.room.act(now, |room| act(room, now));
        self.take_outputs_of_room();
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.next().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            (0..self.people.len()).for_each(|client| self.take_timeouts(client));
            self.take_timeouts_of_room();
            while let Some(entry) = self.flights.first_entry()
                && entry.key().0 <= self.now
            {
                let flight = entry.remove();
                self.arrive(flight);
            }
        }
        self.now = until;
    }

    /// The transport breaks: both ends are told, and what is under way is lost.
    pub(crate) fn cut(&mut self, client: usize) {
        let Some(link) = self.people[client].link.take() else { return };
        let known = self.links.get_mut(&link).expect("a transport");
        known.is_cut = true;
        if known.is_joined {
            self.tell_room(room::Input::Closed { link: LinkId(link) });
        }
        self.tell(client, Input::Closed);
    }

    /// The client opens another transport while it uses one.
    pub(crate) fn move_to(&mut self, client: usize, network: Network) {
        self.people[client].network = network;
        self.take_timeouts(client);
        let old = self.people[client].link.take();
        self.dial(client);
        if let Some(link) = old {
            self.fly(self.now, Flight { link, is_up: true, cargo: Cargo::Close });
        }
    }

    /// Sends a packet that the client did not make over its transport.
    pub(crate) fn inject(&mut self, client: usize, packet: &[u8]) {
        let link = self.people[client].link.expect("a transport");
        self.note(link, true, false, packet);
        self.fly(self.now, Flight { link, is_up: true, cargo: Cargo::Packet(packet.to_vec()) });
    }

    /// The events that a client has handed to its application.
    pub(crate) fn events(&self, client: usize) -> &[Event] {
        &self.people[client].end.said.events
    }

    fn next(&self) -> Option<Duration> {
        let timeouts = self.people.iter().map(|one| one.end.due()).chain([self.room.due()]);
        timeouts.flatten().chain(self.flights.keys().map(|(at, _)| *at)).min()
    }

    fn tell(&mut self, client: usize, input: Input<'_>) {
        self.act(client, |client, now| client.handle_input(now, input));
    }

    fn tell_room(&mut self, input: room::Input<'_>) {
        self.act_in_room(|room, now| room.handle_input(now, input));
    }

    fn take_timeouts(&mut self, client: usize) {
        self.people[client].end.run_to(self.now);
        self.take_outputs(client);
    }

    fn take_timeouts_of_room(&mut self) {
        self.room.run_to(self.now);
        self.take_outputs_of_room();
    }

    fn dial(&mut self, client: usize) {
        let link = self.links.len() as u64 + 1;
        self.people[client].link = Some(link);
        self.links.insert(link, Link { client, is_joined: false, is_cut: false });
        let max_datagram = self.people[client].network.max_datagram;
        self.tell(client, Input::Opened { max_datagram });
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { link: number, is_up, cargo } = flight;
        let (link, known) = (LinkId(number), self.links.get_mut(&number).expect("a transport"));
        let client = known.client;
        if known.is_cut || (!is_up && self.people[client].link != Some(number)) {
            return;
        }
        let is_joined = known.is_joined;
        match cargo {
            Cargo::Packet(packet) if !is_up => self.tell(client, Input::Packet(&packet)),
            Cargo::Datagram(packet) if !is_up => self.tell(client, Input::Datagram(&packet)),
            Cargo::Close if !is_up => {
                self.people[client].link = None;
                self.tell(client, Input::Closed);
            }
            Cargo::Packet(packet) if !is_joined => {
                known.is_joined = true;
                self.take_timeouts_of_room();
                let max_datagram = self.people[client].network.max_datagram;
                self.room.join(self.now, number, max_datagram, &packet, &mut self.secrets);
                self.take_outputs_of_room();
            }
            Cargo::Packet(packet) => self.tell_room(room::Input::Packet { link, packet: &packet }),
            Cargo::Datagram(_) if !is_joined => {}
            Cargo::Datagram(packet) => {
                self.tell_room(room::Input::Datagram { link, packet: &packet });
            }
            Cargo::Close => self.tell_room(room::Input::Closed { link }),
        }
    }

    fn take_outputs(&mut self, client: usize) {
        for Output { at, verb, bytes, .. } in
            std::mem::take(&mut self.people[client].end.said.outputs)
        {
            match verb {
                Verb::Dial => self.dial(client),
                Verb::Hangup => self.hang_up(client),
                _ => {
                    let link = self.people[client].link.expect("a transport");
                    self.launch(at, link, true, verb, bytes);
                }
            }
        }
        let Person { end, seen, .. } = &mut self.people[client];
        let wishes = end.said.events[*seen..].iter().filter_map(|event| match event {
            Event::SnapshotWanted { as_of, .. } => Some(*as_of),
            _ => None,
        });
        let wishes: Vec<_> = wishes.collect();
        *seen = end.said.events.len();
        if self.snapshot_parts == 0 {
            return;
        }
        for as_of in wishes {
            let state = format!("as of {}, ", as_of.get()).repeat(self.snapshot_parts);
            self.act(client, |client, _| {
                client.snapshot("drawing", as_of, state.as_bytes()).expect("a snapshot");
            });
        }
    }

    fn take_outputs_of_room(&mut self) {
        for Output { at, verb, link, bytes } in std::mem::take(&mut self.room.said.outputs) {
            self.launch(at, link.expect("a room names the transport"), false, verb, bytes);
        }
    }

    fn note(&mut self, link: u64, is_up: bool, is_datagram: bool, bytes: &[u8]) {
        let earlier = |sent: &Sent| sent.link == link && sent.is_up == is_up && !sent.is_datagram;
        let is_first = !is_datagram && !self.sent.iter().any(earlier);
        let bytes = bytes.to_vec();
        self.sent.push(Sent { at: self.now, link, is_up, is_datagram, is_first, bytes });
    }

    fn launch(&mut self, at: Duration, link: u64, is_up: bool, verb: Verb, bytes: Vec<u8>) {
        let is_datagram = verb == Verb::Datagram;
        self.note(link, is_up, is_datagram, &bytes);
        let network = self.people[self.links[&link].client].network;
        let is_lost = is_datagram && self.chance(network.lost);
        let is_empty = verb == Verb::Close && bytes.is_empty();
        if !is_lost && !is_empty {
            let cargo = if is_datagram { Cargo::Datagram(bytes) } else { Cargo::Packet(bytes) };
            self.fly(at, Flight { link, is_up, cargo });
        }
        if verb == Verb::Close {
            self.fly(at, Flight { link, is_up, cargo: Cargo::Close });
        }
    }

    fn hang_up(&mut self, client: usize) {
        if let Some(link) = self.people[client].link.take() {
            self.fly(self.now, Flight { link, is_up: true, cargo: Cargo::Close });
        }
        self.tell(client, Input::Closed);
    }

    fn fly(&mut self, from: Duration, flight: Flight) {
        self.flown += 1;
        let delay = self.people[self.links[&flight.link].client].network.delay;
        self.flights.insert((from + delay, self.flown), flight);
    }

    /// xorshift64.
    fn chance(&mut self, percent: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % 100 < percent
    }
}
