//! A room with many transports that only count the packets sent to them, so that tests of rooms of
//! thousands are fast.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::{Client, Config as ClientConfig};
use groupwire_session::room::{self, Publication, Room};
use groupwire_session::{AllowAll, Identity, LinkId, Opening, Qos};

use crate::support::secrets::Drawn;
use crate::support::{MS, World, first_packet};

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
    /// The received packets of the transports that record them.
    pub(crate) kept: BTreeMap<LinkId, Vec<Vec<u8>>>,
    /// Whether packets for several transports are taken together.
    pub(crate) polls_shared: bool,
    /// The transports that keep all packets they are given.
    pub(crate) stalled: BTreeSet<LinkId>,
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
            polls_shared: false,
            stalled: BTreeSet::new(),
            opening: opening(),
            secrets: Drawn::default(),
            next: None,
        }
    }

    /// A crowd in the room of this world. The people of the world are silent from now on.
    pub(crate) fn of(mut world: World) -> Self {
        let empty = Room::new(room::Config::new("demo", 7), Box::new(AllowAll));
        let room = std::mem::replace(&mut world.room, empty);
        Crowd { room, now: world.now, ..Crowd::new(room_of(1, Duration::ZERO)) }
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

    /// The room publishes an awareness message.
    pub(crate) fn publish(&mut self, bytes: &[u8]) {
        let (channel, text, key, request) = ("pointer", true, None, None);
        let publication = Publication { channel, bytes, text, key, request };
        self.room.publish(self.now, &publication).unwrap();
        self.room.handle_input(self.now, room::Input::Timeout);
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

    /// All participants send a sign of life, as clients do.
    pub(crate) fn keep_alive(&mut self) {
        let links: Vec<LinkId> = self.sent.keys().copied().collect();
        for link in links {
            // A PONG that answers no ping.
            let packet = &[0x0f, 3, 0, 0, 0];
            self.room.handle_input(self.now, room::Input::Packet { link, packet });
        }
        self.drain();
    }

    /// The packets and bytes of all transports since the last call.
    pub(crate) fn take_total(&mut self) -> Sent {
        let mut total = Sent::default();
        for sent in self.sent.values_mut() {
            let Sent { packets, bytes } = std::mem::take(sent);
            total.packets += packets;
            total.bytes += bytes;
        }
        total
    }

    /// A stalled transport sends all that it was given and keeps nothing any more.
    pub(crate) fn revive(&mut self, link: u64) {
        let link = LinkId(link);
        self.stalled.remove(&link);
        // More reports than packets do no harm.
        (0..3).for_each(|_| self.room.handle_input(self.now, room::Input::Sent { link }));
        self.drain();
    }

    fn count(&mut self, link: LinkId, packet: Vec<u8>) {
        if let Some(sent) = self.sent.get_mut(&link) {
            sent.packets += 1;
            sent.bytes += packet.len();
        }
        if let Some(kept) = self.kept.get_mut(&link) {
            kept.push(packet);
        }
    }

    fn drain(&mut self) {
        loop {
            if self.polls_shared
                && let Some(shared) = self.room.poll_shared()
            {
                for link in shared.links {
                    self.count(link, shared.packet.to_vec());
                    if self.stalled.contains(&link) {
                        self.room.handle_input(self.now, room::Input::Unsent { link });
                    }
                }
                continue;
            }
            match self.room.poll_output() {
                room::Output::Timeout(next) => {
                    self.next = next;
                    return;
                }
                room::Output::Send { link, packet, body } => {
                    self.count(link, room::whole_packet(packet, body.as_deref()));
                    if !self.stalled.contains(&link) {
                        self.room.handle_input(self.now, room::Input::Sent { link });
                    }
                }
                room::Output::Close { link, reason, .. } => {
                    assert!(!self.sent.contains_key(&link), "a transport ended: {reason:?}");
                }
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
    first_packet(&mut client, now)
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
        // After a quiet time, the first newcomer causes a tick at once.
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
    // The first of 20 is sent one packet more than one that joins alone: the tick tells it of the
    // others.
    assert_eq!(newcomers[0] + 1, newcomers[1]);
}

/// A room with a snapshot of many lines, a tail of the log behind it and the newest values of some
/// keys.
pub(crate) fn full_room(people: usize, tick: Duration) -> Crowd {
    let mut config = room_of(people, tick);
    (config.limits.snapshot_after, config.limits.snapshot_after_bytes) = (1500, 1 << 20);
    let mut world = World::new(1, config);
    let person = world.add();
    let draw = world.channel(person, "draw", Qos::transaction());
    let pointer = world.channel(person, "pointer", Qos::awareness());
    world.run(Duration::from_secs(1));
    for nth in 0..2000 {
        let (x, y) = (nth * 37 % 1920, nth * 53 % 1080);
        let line = format!(r##"{{"type":"line","id":{nth},"x":{x},"y":{y},"color":"#1b6ca8"}}"##);
        world.send(person, draw, &line);
        if nth % 10 == 0 {
            let value = format!(r#"{{"x":{x},"y":{y},"tool":"pen"}}"#);
            world.send_key(person, pointer, &format!("key{nth}"), &value);
        }
        world.run(10 * MS);
    }
    world.settle();
    Crowd::of(world)
}

/// Newcomers of a large room that come within a step are sent late-joiner state that was coded
/// once, and it is whole.
#[test]
fn late_joiner_state_of_a_large_room_is_coded_once() {
    let mut crowd = full_room(2000, 40 * MS);
    (1..=300).for_each(|link| crowd.join(link));
    crowd.run(Duration::from_secs(2));
    let (before, sent) = (crowd.room.stats(), crowd.take_total());
    (1001..=1100).for_each(|link| crowd.join(link));
    let after = crowd.room.stats();
    let coded = after.state_coded - before.state_coded;
    let shared = after.state_shared - before.state_shared;
    assert_eq!(shared, 99 * coded, "{coded} messages for a newcomer");
    assert!(coded >= 600, "{coded}");
    assert!(sent.packets > 300);
    let [first, last] = [1001, 1100].map(|link| crowd.sent[&LinkId(link)].bytes);
    // The packets of newcomers differ only in their numbers and secrets.
    assert!(first.abs_diff(last) < 16, "{first} and {last} bytes");
}

/// The cost of joining for rooms of some sizes. `cargo test --release -p groupwire-session --test
/// all what_joining_costs -- --ignored --nocapture` prints it. A full room has a snapshot, a tail
/// of the log and values; `coded` are the messages of late-joiner state that are coded for each
/// join, `shared` those that were coded for another one.
#[test]
#[ignore = "it prints a table"]
fn what_joining_costs() {
    println!(
        "  room  people  tick_ms  joins_per_tick  packets_per_join  bytes_per_join  coded_per_join  shared_per_join  cpu_us_per_join"
    );
    for (is_full, people, tick, joins) in [
        (false, 250, 0, 1),
        (false, 250, 40, 40),
        (false, 2000, 0, 1),
        (false, 2000, 40, 4),
        (false, 2000, 40, 40),
        (false, 10_000, 40, 40),
        (true, 250, 40, 40),
        (true, 2000, 0, 1),
        (true, 2000, 40, 4),
        (true, 2000, 40, 40),
    ] {
        let (count, time) = (people as usize, tick * MS);
        let mut crowd =
            if is_full { full_room(count, time) } else { Crowd::new(room_of(count, time)) };
        let before = crowd.room.stats();
        let begun = std::time::Instant::now();
        for join in 0..people {
            crowd.join(1000 + join);
            if join % joins == joins - 1 {
                crowd.run(if tick == 0 { 10 * MS } else { time });
            }
            if crowd.now.as_secs().is_multiple_of(3) && crowd.now.subsec_millis() < 40 {
                crowd.keep_alive();
            }
        }
        crowd.run(Duration::from_secs(1));
        let (total, time, after) = (crowd.take_total(), begun.elapsed(), crowd.room.stats());
        let each = |sum: u64| sum as f64 / people as f64;
        println!(
            "{:>6}  {people:6}  {tick:7}  {joins:14}  {:16.1}  {:14.0}  {:14.1}  {:15.1}  {:15.0}",
            if is_full { "full" } else { "empty" },
            each(total.packets as u64),
            each(total.bytes as u64),
            each(after.state_coded - before.state_coded),
            each(after.state_shared - before.state_shared),
            time.as_micros() as f64 / people as f64
        );
    }
}

/// What quiet people take of memory, as the system counts it. `cargo test --release -p
/// groupwire-session --test all what_a_participant_takes -- --ignored --nocapture` prints it; it
/// has to run alone.
#[test]
#[ignore = "it prints a table"]
#[cfg(target_os = "linux")]
fn what_a_participant_takes() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    };
    println!("  room  people  bytes_each_joining  bytes_each_after");
    for is_full in [false, true] {
        let people = 10_000;
        let mut crowd = match is_full {
            true => full_room(people, 40 * MS),
            false => Crowd::new(room_of(people, 40 * MS)),
        };
        // The first participants make the room allocate memory that later ones do not need.
        (1..=1000).for_each(|link| crowd.join(link));
        crowd.run(Duration::from_secs(3));
        let before = resident();
        for link in 1001..=people as u64 {
            crowd.join(link);
            if link % 40 == 0 {
                crowd.run(40 * MS);
            }
            if link % 1000 == 0 {
                crowd.keep_alive();
            }
        }
        let joining = resident() - before;
        for _ in 0..5 {
            crowd.keep_alive();
            crowd.run(Duration::from_secs(2));
        }
        let each = |sum: usize| sum / (people - 1000);
        let room = if is_full { "full" } else { "empty" };
        println!("{room:>6}  {people:6}  {:18}  {:16}", each(joining), each(resident() - before));
    }
}
