//! What a room alone takes to deliver: ten senders of 25 messages of 90 octets a second, and as many receivers as asked
//! for, without sockets.
//!
//! ```text
//! cargo run --release -p groupwire-session --example fanout -- [RECEIVERS [TICK_MS]]
//! ```
#![allow(clippy::unwrap_used, reason = "a measurement may fail by panicking")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use groupwire_session::client::{Client, Config, Event, Input, Outgoing, Output};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, LinkId, Opening, Qos};

const MS: Duration = Duration::from_millis(1);
const SENDERS: u64 = 10;
/// Between two messages of a sender.
const EVERY: u64 = 40;
/// Of simulated time: until all share a stream, and then.
const START: u64 = 2000;
const MEASURED: u64 = 20_000;

struct World {
    room: Room,
    clients: BTreeMap<LinkId, Client>,
    /// What is measured: the room's own work, and what it sent.
    work: Duration,
    octets: usize,
    packets: usize,
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().unwrap());
    let (receivers, tick) = (args.next().unwrap_or(500), args.next().unwrap_or(40));
    let mut config = room::Config::new("fanout", 1);
    config.timing.tick = MS * tick as u32;
    config.timing.dead = Duration::from_secs(3600);
    let mut world = World {
        room: Room::new(config, Box::new(AllowAll)),
        clients: BTreeMap::new(),
        work: Duration::ZERO,
        octets: 0,
        packets: 0,
    };
    for link in 0..SENDERS + receivers {
        let mut client = Client::new(Duration::ZERO, Config::new("fanout")).unwrap();
        client.channel("paths", Qos::awareness().aggregate()).unwrap();
        client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 });
        world.clients.insert(LinkId(link), client);
        world.drive(Duration::ZERO, LinkId(link));
    }
    let before = (0..START).map(|ms| world.step(ms)).last().map(|()| world.room.stats()).unwrap();
    // The others are not asked any more.
    world.clients.retain(|&link, _| link < LinkId(SENDERS));
    (world.work, world.octets, world.packets) = Default::default();
    (START..START + MEASURED).for_each(|ms| world.step(ms));
    let deliveries = (world.room.stats().deliveries - before.deliveries) as f64;
    println!(
        "{receivers} receivers, tick {tick} ms: {:.0} ns and {:.2} octets per delivery, {:.0} ns per packet",
        world.work.as_nanos() as f64 / deliveries,
        world.octets as f64 / deliveries,
        world.work.as_nanos() as f64 / world.packets as f64,
    );
}

impl World {
    fn step(&mut self, ms: u64) {
        let now = MS * ms as u32;
        for link in 0..SENDERS {
            if (ms + link * 4).is_multiple_of(EVERY) {
                let text = format!(
                    r#"{{"at":{:012},"x":{:04},"y":{:03},"user":"b81d6e0{link}","tool":"pen","s":"------------------"}}"#,
                    ms * 1000 + link,
                    ms % 1777,
                    (ms + 99 * link) % 913
                );
                let message =
                    Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
                let client = self.clients.get_mut(&LinkId(link)).unwrap();
                let channel = client.channel("paths", Qos::awareness()).unwrap();
                client.send(now, channel, message).unwrap();
            }
            self.drive(now, LinkId(link));
        }
        self.tell_room(now, room::Input::Timeout);
    }

    /// Does what a client says.
    fn drive(&mut self, now: Duration, link: LinkId) {
        loop {
            let Some(client) = self.clients.get_mut(&link) else { return };
            match client.poll_output(now) {
                Output::Timeout(_) => return,
                Output::Send(packet) => {
                    client.handle_input(now, Input::Sent);
                    match packet.first() {
                        Some(1) if now.is_zero() && Opening::read(&packet).is_ok() => {
                            let opening = &Opening::read(&packet).unwrap();
                            let (secret, max_datagram) = ([7; 16], 0);
                            self.tell_room(
                                now,
                                room::Input::Join { link, opening, secret, max_datagram },
                            );
                        }
                        _ => self.tell_room(now, room::Input::Packet { link, packet: &packet }),
                    }
                }
                Output::Event(Event::Error { error, .. }) => panic!("{error}"),
                _ => {}
            }
        }
    }

    fn tell_room(&mut self, now: Duration, input: room::Input<'_>) {
        let start = Instant::now();
        self.room.handle_input(now, input);
        self.work += start.elapsed();
        loop {
            let start = Instant::now();
            let output = self.room.poll_output();
            let (link, packet, body) = match output {
                room::Output::Timeout(_) => return,
                room::Output::Send { link, packet, body } => (link, packet, body),
                _ => continue,
            };
            self.room.handle_input(now, room::Input::Sent { link });
            self.work += start.elapsed();
            self.octets += packet.len() + body.as_ref().map_or(0, |body| body.len());
            self.packets += 1;
            if let Some(client) = self.clients.get_mut(&link) {
                let packet = room::whole_packet(packet, body.as_deref());
                client.handle_input(now, Input::Packet(&packet));
                self.drive(now, link);
            }
        }
    }
}
