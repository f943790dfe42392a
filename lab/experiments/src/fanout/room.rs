//! The system `room`: a room without sockets in simulated time, so that only its own work is
//! measured. The number of instructions is repeatable, too, for tools that count them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use groupwire_session::client::{Client, Config, Event, Input, Outgoing, Output};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Identity, LinkId, Opening, Qos, Secret, Secrets, SessionName};

use super::message::{Pointer, find};
use super::system::System;
use super::{Options, row};
use crate::Row;

/// The name of the system.
pub(super) const ROOM: &str = "room";

const MS: Duration = Duration::from_millis(1);
/// Simulated time before anything counts, in ms: until all receivers share a stream.
const WARM_UP: u64 = 2000;
/// Simulated time after the last message, in ms: until everything has arrived.
const REST: u64 = 1000;
/// The time of the first message, in ms since 1970: an arbitrary one with 13 digits.
const START: u64 = 1_764_000_000_000;
const CHANNEL: &str = "pointers";

/// A room, and the clients that are asked what they received.
struct World {
    room: Room,
    clients: BTreeMap<LinkId, Client>,
    pointers: Vec<Pointer>,
    /// Messages sent, and received by the senders.
    sent: u64,
    received: u64,
    /// The processor time of the room, and the bytes that it sent.
    work: Duration,
    bytes: usize,
}

/// Measures a room with this number of clients. The senders are real clients to the end. Of the
/// others only what the room sends them is counted, once they have joined and share a stream.
pub(super) fn measure(system: &System, clients: usize, options: &Options) -> Row {
    let senders = options.senders.min(clients);
    let mut config = room::Config::new("fanout", 1);
    config.timing.tick = MS * system.tick_ms as u32;
    // Most clients send nothing after they have joined.
    config.timing.dead = Duration::from_secs(24 * 3600);
    let mut world = World {
        room: Room::new(config, Box::new(AllowAll)),
        clients: BTreeMap::new(),
        pointers: (0..senders).map(|sender| Pointer::new(sender, options.common.seed)).collect(),
        sent: 0,
        received: 0,
        work: Duration::ZERO,
        bytes: 0,
    };
    for link in (0..clients as u64).map(LinkId) {
        let mut client =
            Client::new(Duration::ZERO, Config::new("fanout")).expect("the name is short");
        client.channel(CHANNEL, Qos::awareness().aggregate()).expect("the QoS is sound");
        client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 });
        world.clients.insert(link, client);
        world.drive(Duration::ZERO, link);
    }
    let interval = 1000 / u64::from(options.rate);
    (0..WARM_UP).for_each(|ms| world.step(ms, Some(interval)));
    world.clients.retain(|&link, _| link < LinkId(senders as u64));
    let before = world.room.stats().deliveries;
    (world.work, world.bytes) = Default::default();
    let seconds = options.common.quick_or(1.0, options.seconds);
    let end = WARM_UP + (seconds * 1e3) as u64;
    (WARM_UP..end).for_each(|ms| world.step(ms, Some(interval)));
    let deliveries = world.room.stats().deliveries - before;
    let (work, bytes) = (world.work, world.bytes);
    (end..end + REST).for_each(|ms| world.step(ms, None));

    let due = world.sent * (senders as u64).saturating_sub(1);
    let wrong = (world.received != due)
        .then(|| format!("the senders received {} of {due} messages", world.received));
    let each = |value: f64| (deliveries > 0).then(|| value / deliveries as f64);
    row::row(system, clients, options)
        .with("seconds", seconds)
        .with("messages", world.sent)
        .with("delivered", world.received as f64 / due.max(1) as f64)
        .with("deliveries", deliveries)
        .with("sampled", senders)
        .with("server_us_per_delivery", each(work.as_secs_f64() * 1e6))
        .with("socket_bytes_per_delivery", each(bytes as f64))
        .failed(wrong)
}

impl World {
    /// Simulates a millisecond. Senders send at the interval, one after the other.
    fn step(&mut self, ms: u64, interval: Option<u64>) {
        let now = MS * ms as u32;
        for sender in 0..self.pointers.len() {
            let link = LinkId(sender as u64);
            if interval.is_some_and(|interval| (ms + 4 * link.0).is_multiple_of(interval)) {
                let (_, bytes) = self.pointers[sender].next(START + ms);
                let message = Outgoing { bytes: &bytes, text: true, ..Outgoing::default() };
                let client = self.clients.get_mut(&link).expect("senders stay");
                let channel = client.channel(CHANNEL, Qos::awareness().aggregate());
                let sent = channel
                    .map_err(drop)
                    .and_then(|id| client.send(now, id, message).map_err(drop));
                self.sent += u64::from(sent.is_ok());
            }
            self.drive(now, link);
        }
        self.tell_room(now, room::Input::Timeout);
    }

    /// Carries out the outputs of a client.
    fn drive(&mut self, now: Duration, link: LinkId) {
        loop {
            let Some(client) = self.clients.get_mut(&link) else { return };
            match client.poll_output(now) {
                Output::Timeout(_) => return,
                Output::Send(packet) => {
                    client.handle_input(now, Input::Sent);
                    let opening = Opening::read(&packet).ok().filter(|_| now.is_zero());
                    match &opening {
                        Some(opening) => {
                            let (secrets, max_datagram) = (&OneSecret, 0);
                            let join = room::Input::Join {
                                link,
                                opening,
                                identity: &Identity::default(),
                                secrets,
                                max_datagram,
                            };
                            self.tell_room(now, join);
                        }
                        None => self.tell_room(now, room::Input::Packet { link, packet: &packet }),
                    }
                }
                Output::Event(Event::Message(message)) if !message.own => {
                    let is_whole = find(&message.bytes).next().is_some();
                    self.received += u64::from(is_whole && link.0 < self.pointers.len() as u64);
                }
                _ => {}
            }
        }
    }

    /// Passes an input to the room, and the room's packets to the clients.
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
            self.bytes += packet.len() + body.as_ref().map_or(0, |body| body.len());
            if let Some(client) = self.clients.get_mut(&link) {
                let packet = room::whole_packet(packet, body.as_deref());
                client.handle_input(now, Input::Packet(&packet));
                self.drive(now, link);
            }
        }
    }
}

/// Gives every session the same secret: no client resumes one here.
#[derive(Debug)]
struct OneSecret;

impl Secrets for OneSecret {
    fn secret(&self, _session: &SessionName<'_>) -> Secret {
        [7; 16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    #[test]
    fn every_delivery_is_counted_and_the_senders_receive_all() {
        let options = parsed("--quick --senders 3");
        let row = measure(&System { name: ROOM, tick_ms: 40 }, 10, &options);
        assert!(row.is("verified"), "{row:?}");
        // Each second, 25 messages from each of three senders to nine others; the first and last
        // tick may fall outside.
        let deliveries = row.number("deliveries").unwrap();
        assert!((deliveries - 3.0 * 25.0 * 9.0).abs() <= 27.0, "{row:?}");
        assert!(row.number("server_us_per_delivery") > Some(0.0), "{row:?}");
    }
}
