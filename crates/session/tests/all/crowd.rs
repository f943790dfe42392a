//! A room with many transports that only count what they are sent, so that a room of thousands is tested in a moment.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Identity, LinkId, Opening, Qos};

use crate::support::MS;
use crate::support::secrets::Drawn;

/// The packets of one transport, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) packets: usize,
    pub(crate) bytes: usize,
}

/// See the [module](self).
pub(crate) struct Crowd {
    pub(crate) room: Room,
    pub(crate) now: Duration,
    pub(crate) sent: BTreeMap<LinkId, Sent>,
    /// The packets of the transports of which they are kept.
    pub(crate) kept: BTreeMap<LinkId, Vec<Vec<u8>>>,
    opening: Vec<u8>,
    secrets: Drawn,
    next: Option<Duration>,
}

impl Crowd {
    /// An empty room. Everybody opens a channel for transactions and one for awareness.
    pub(crate) fn new(config: room::Config) -> Self {
        Crowd {
            room: Room::new(config, Box::new(AllowAll)),
            now: Duration::ZERO,
            sent: BTreeMap::new(),
            kept: BTreeMap::new(),
            opening: opening(),
            secrets: Drawn::default(),
            next: None,
        }
    }

    /// A participant joins, over the transport with this number.
    pub(crate) fn join(&mut self, link: u64) {
        let packet = self.opening.clone();
        let opening = Opening::read(&packet).unwrap();
        let link = LinkId(link);
        self.sent.insert(link, Sent::default());
        let input = room::Input::Join {
            link,
            opening: &opening,
            identity: &Identity::default(),
            secrets: self.secrets.draw([1; 16]),
            max_datagram: 0,
        };
        self.room.handle_input(self.now, input);
        self.drain();
    }

    /// Hands the room a packet of this transport.
    pub(crate) fn packet(&mut self, link: u64, packet: &[u8]) {
        self.room.handle_input(self.now, room::Input::Packet { link: LinkId(link), packet });
        self.drain();
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.next.filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.room.handle_input(self.now, room::Input::Timeout);
            self.drain();
        }
        self.now = end;
    }

    /// Everybody says that it is still there, as clients do.
    pub(crate) fn keep_alive(&mut self) {
        let links: Vec<LinkId> = self.sent.keys().copied().collect();
        for link in links {
            // A PONG that answers no ping.
            let packet = &[0x0f, 3, 0, 0, 0];
            self.room.handle_input(self.now, room::Input::Packet { link, packet });
        }
        self.drain();
    }

    /// All that was sent since the last call.
    pub(crate) fn take_total(&mut self) -> Sent {
        let mut total = Sent::default();
        for sent in self.sent.values_mut() {
            let Sent { packets, bytes } = std::mem::take(sent);
            total.packets += packets;
            total.bytes += bytes;
        }
        total
    }

    fn drain(&mut self) {
        loop {
            match self.room.poll_output() {
                room::Output::Timeout(next) => {
                    self.next = next;
                    return;
                }
                room::Output::Send { link, packet, body } => {
                    let packet = room::whole_packet(packet, body.as_deref());
                    if let Some(sent) = self.sent.get_mut(&link) {
                        sent.packets += 1;
                        sent.bytes += packet.len();
                    }
                    if let Some(kept) = self.kept.get_mut(&link) {
                        kept.push(packet);
                    }
                    self.room.handle_input(self.now, room::Input::Sent { link });
                }
                room::Output::Close { reason, .. } => panic!("a transport ended: {reason:?}"),
                _ => {}
            }
        }
    }
}

/// The first packet of a client.
fn opening() -> Vec<u8> {
    let now = Duration::ZERO;
    let presence = b"{\"name\":\"Ada Lovelace\"}".to_vec();
    let mut client =
        Client::new(now, ClientConfig { presence, ..ClientConfig::new("demo") }).unwrap();
    client.channel("draw", Qos::transaction()).unwrap();
    client.channel("pointer", Qos::awareness()).unwrap();
    loop {
        match client.poll_output(now) {
            Output::Dial => client.handle_input(now, Input::Opened { max_datagram: 0 }),
            Output::Send(packet) => return packet,
            Output::Timeout(_) => panic!("a client without a packet"),
            _ => {}
        }
    }
}

/// A room with default limits of this many people.
pub(crate) fn room_of(people: usize, tick: Duration) -> room::Config {
    let mut config = room::Config::new("demo", 7);
    config.limits.max_participants = people;
    config.timing.tick = tick;
    config
}

/// People who join within one tick cost each present participant one packet.
#[test]
fn announcements_of_one_tick_are_one_packet() {
    let mut crowd = Crowd::new(room_of(100, 40 * MS));
    crowd.join(1);
    crowd.run(Duration::from_secs(1));
    let mut newcomers = Vec::new();
    for (round, many) in [1, 20].into_iter().enumerate() {
        // After a time in which nothing happened, the first one is announced at once; that is a tick.
        let first = 100 * (round as u64 + 1);
        crowd.join(first);
        crowd.take_total();
        (1..=many).for_each(|nth| crowd.join(first + nth));
        crowd.run(39 * MS);
        assert_eq!(crowd.sent[&LinkId(1)].packets, 0, "they wait for the tick");
        crowd.run(2 * MS);
        assert_eq!(crowd.sent[&LinkId(1)].packets, 1, "{many} joined");
        newcomers.push(crowd.sent[&LinkId(first + 1)].packets);
        crowd.run(Duration::from_secs(1));
    }
    // The first of 20 is sent one packet more than one that joins alone: the tick tells it of the others.
    assert_eq!(newcomers[0] + 1, newcomers[1]);
}

/// The cost of joining for rooms of some sizes. `cargo test --release -p groupwire-session --test all what_joining_costs --
/// --ignored --nocapture` prints it.
#[test]
#[ignore = "it prints a table"]
fn what_joining_costs() {
    println!("people  tick_ms  joins_per_tick  packets_per_join  bytes_per_join  cpu_us_per_join");
    for people in [250, 1000, 2000, 10_000] {
        for (tick, joins) in [(0, 1), (40, 4), (40, 40)] {
            if tick == 0 && people > 2000 {
                continue;
            }
            let mut crowd = Crowd::new(room_of(people as usize, tick * MS));
            let begun = std::time::Instant::now();
            for join in 0..people {
                crowd.join(join);
                if join % joins == joins - 1 {
                    crowd.run(if tick == 0 { 10 * MS } else { 40 * MS });
                }
                if crowd.now.as_secs().is_multiple_of(3) && crowd.now.subsec_millis() < 40 {
                    crowd.keep_alive();
                }
            }
            crowd.run(Duration::from_secs(1));
            let (total, time) = (crowd.take_total(), begun.elapsed());
            let each = |sum: usize| sum as f64 / people as f64;
            println!(
                "{people:6}  {tick:7}  {joins:14}  {:16.1}  {:14.0}  {:15.0}",
                each(total.packets),
                each(total.bytes),
                time.as_micros() as f64 / people as f64
            );
        }
    }
}
