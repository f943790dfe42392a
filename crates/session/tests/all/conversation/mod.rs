//! Conversations between a room and its clients in simulated time, for tests that examine what was
//! sent.
//!
//! What an end is told are words, such as `open 0` (a transport without datagrams) or `packet #3`
//! (the fourth packet of the conversation); [`end`] reads them. Each end gets its timeouts at the
//! times that it asked for. A transport accepts each packet and datagram at once.

mod end;
pub(crate) mod hand;
pub(crate) mod stories;

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::Event;

use crate::grammar::hex;
use end::{End, Output};

pub(crate) const MS: Duration = Duration::from_millis(1);

/// A packet, a datagram or a close on its way.
#[derive(Debug, Clone)]
struct Flight {
    link: u64,
    /// True on the way to the room, false on the way to the client.
    is_up: bool,
    cargo: Cargo,
}

#[derive(Debug, Clone)]
enum Cargo {
    Packet(usize),
    Datagram(usize),
    Close,
}

/// A transport.
#[derive(Debug, Clone)]
struct Link {
    client: String,
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

/// A conversation that is being held.
pub(crate) struct Talk {
    pub(crate) now: Duration,
    ends: BTreeMap<String, End>,
    networks: BTreeMap<String, Network>,
    /// The transport that each client uses.
    current: BTreeMap<String, u64>,
    links: BTreeMap<u64, Link>,
    flights: BTreeMap<(Duration, u64), Flight>,
    flown: u64,
    /// All packets and datagrams, by number.
    pub(crate) sent: Vec<Sent>,
    random: u64,
    /// Clients answer the wish for a snapshot with this many times a short text; 0: not at all.
    pub(crate) snapshot_parts: usize,
}

impl Talk {
    /// A conversation with a room of this configuration, which [`End::room`] reads.
    pub(crate) fn new(room: &str) -> Self {
        let ends = BTreeMap::from([("room".to_owned(), End::room(room))]);
        Talk {
            now: Duration::ZERO,
            ends,
            networks: BTreeMap::new(),
            current: BTreeMap::new(),
            links: BTreeMap::new(),
            flights: BTreeMap::new(),
            flown: 0,
            sent: Vec::new(),
            random: 88_172_645_463_325_252,
            snapshot_parts: 0,
        }
    }

    /// Adds a client of this configuration. Its name is c1, c2, ...
    pub(crate) fn client(&mut self, config: &str, network: Network) -> String {
        let name = format!("c{}", self.networks.len() + 1);
        let config = format!("{config} start_us={}", self.now.as_micros());
        self.ends.insert(name.clone(), End::client(&config));
        self.networks.insert(name.clone(), network);
        name
    }

    /// Passes an input to an end, from the network or from a client's application.
    pub(crate) fn tell(&mut self, end: &str, what: &str) {
        self.take_timeouts(end);
        let one = self.ends.get_mut(end).expect(end);
        let sent = &self.sent;
        one.input(self.now, what, |number| sent[number].bytes.clone());
        self.take_outputs(end);
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.next().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            let ends: Vec<String> = self.ends.keys().cloned().collect();
            for end in ends {
                self.take_timeouts(&end);
            }
            while let Some(entry) = self.flights.first_entry()
                && entry.key().0 <= self.now
            {
                let flight = entry.remove();
                self.arrive(&flight);
            }
        }
        self.now = until;
    }

    /// The transport breaks: both ends are told, and what is under way is lost.
    pub(crate) fn cut(&mut self, client: &str) {
        let Some(link) = self.current.remove(client) else { return };
        let known = self.links.get_mut(&link).expect("a transport");
        known.is_cut = true;
        if known.is_joined {
            self.tell("room", &format!("closed {link}"));
        }
        self.tell(client, "closed");
    }

    /// The client opens another transport while it uses one.
    pub(crate) fn move_to(&mut self, client: &str, network: Network) {
        self.networks.insert(client.to_owned(), network);
        self.take_timeouts(client);
        let old = self.current.remove(client);
        self.open(client);
        if let Some(link) = old {
            let close = Flight { link, is_up: true, cargo: Cargo::Close };
            self.fly(self.now + network.delay, close);
        }
    }

    /// Sends a packet that the client did not make over its transport.
    pub(crate) fn inject(&mut self, client: &str, packet: &[u8]) {
        let link = self.current[client];
        let number = self.note(link, true, false, packet);
        self.fly(
            self.now + self.networks[client].delay,
            Flight { link, is_up: true, cargo: Cargo::Packet(number) },
        );
    }

    /// The events that a client has handed to its application.
    pub(crate) fn events(&self, client: &str) -> &[Event] {
        self.ends[client].events()
    }

    fn next(&self) -> Option<Duration> {
        let timeouts = self.ends.values().filter_map(End::due);
        timeouts.chain(self.flights.keys().map(|(at, _)| *at)).min()
    }

    fn take_timeouts(&mut self, end: &str) {
        self.ends.get_mut(end).expect(end).run_to(self.now);
        self.take_outputs(end);
    }

    fn open(&mut self, client: &str) {
        let link = self.links.len() as u64 + 1;
        self.current.insert(client.to_owned(), link);
        let known = Link { client: client.to_owned(), is_joined: false, is_cut: false };
        self.links.insert(link, known);
        self.tell(client, &format!("open {}", self.networks[client].max_datagram));
    }

    fn arrive(&mut self, flight: &Flight) {
        let Flight { link, is_up, cargo } = flight;
        let known = self.links[link].clone();
        if known.is_cut || (!is_up && self.current.get(&known.client) != Some(link)) {
            return;
        }
        let end = if *is_up { "room".to_owned() } else { known.client.clone() };
        let what = match (is_up, cargo) {
            (true, Cargo::Packet(number)) if !known.is_joined => {
                self.links.get_mut(link).expect("a transport").is_joined = true;
                let secret = hex(&[*link as u8; 16]);
                let max_datagram = self.networks[&known.client].max_datagram;
                format!("join {link} {max_datagram} {secret} #{number}")
            }
            (true, Cargo::Packet(number)) => format!("packet {link} #{number}"),
            (true, Cargo::Datagram(_)) if !known.is_joined => return,
            (true, Cargo::Datagram(number)) => format!("datagram {link} #{number}"),
            (true, Cargo::Close) => format!("closed {link}"),
            (false, Cargo::Packet(number)) => format!("packet #{number}"),
            (false, Cargo::Datagram(number)) => format!("datagram #{number}"),
            (false, Cargo::Close) => {
                self.current.remove(&known.client);
                "closed".to_owned()
            }
        };
        self.tell(&end, &what);
    }

    fn take_outputs(&mut self, end: &str) {
        let outputs = self.ends.get_mut(end).expect(end).take();
        for Output { at, verb, link, bytes } in outputs {
            match verb {
                "dial" => self.open(end),
                "hangup" => self.hang_up(end),
                _ => {
                    let is_up = end != "room";
                    let link = link.unwrap_or_else(|| self.current[end]);
                    let number = self.note(link, is_up, verb == "datagram", &bytes);
                    self.send(at, link, is_up, verb, number);
                }
            }
        }
        for as_of in self.ends.get_mut(end).expect(end).take_wishes() {
            if self.snapshot_parts > 0 {
                let part = hex(format!("as of {as_of}, ").as_bytes());
                self.tell(end, &format!("snapshot {as_of} {} {part}", self.snapshot_parts));
            }
        }
    }

    fn note(&mut self, link: u64, is_up: bool, is_datagram: bool, bytes: &[u8]) -> usize {
        let earlier = |sent: &Sent| sent.link == link && sent.is_up == is_up && !sent.is_datagram;
        let is_first = !is_datagram && !self.sent.iter().any(earlier);
        let bytes = bytes.to_vec();
        self.sent.push(Sent { at: self.now, link, is_up, is_datagram, is_first, bytes });
        self.sent.len() - 1
    }

    fn send(&mut self, at: Duration, link: u64, is_up: bool, verb: &str, number: usize) {
        let network = self.networks[&self.links[&link].client];
        let due = at + network.delay;
        let is_lost = verb == "datagram" && self.chance(network.lost);
        let cargo =
            if verb == "datagram" { Cargo::Datagram(number) } else { Cargo::Packet(number) };
        let is_empty = verb == "close" && self.sent[number].bytes.is_empty();
        if !is_lost && !is_empty {
            self.fly(due, Flight { link, is_up, cargo });
        }
        if verb == "close" {
            self.fly(due, Flight { link, is_up, cargo: Cargo::Close });
        }
    }

    fn hang_up(&mut self, client: &str) {
        if let Some(link) = self.current.remove(client) {
            let due = self.now + self.networks[client].delay;
            self.fly(due, Flight { link, is_up: true, cargo: Cargo::Close });
        }
        self.tell(client, "closed");
    }

    fn fly(&mut self, due: Duration, flight: Flight) {
        self.flown += 1;
        self.flights.insert((due, self.flown), flight);
    }

    /// xorshift64.
    fn chance(&mut self, percent: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % 100 < percent
    }
}
