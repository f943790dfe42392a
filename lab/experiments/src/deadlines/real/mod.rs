//! Schemes over real sockets: what a telepointer sends goes through the kernel and an [emulated
//! path](crate::emulator), and each message is timed. It shows that simulation tells the truth, and
//! what the kernel's TCP does, which is not simulated. Both ends run in this process, so one clock
//! serves.

mod bare;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use bare::Plain;
pub(super) use wire::{Transport, Wire};

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::emulator::{Emulator, EmulatorError, Host, Path};
use crate::sim::LinkStats;
use crate::sim::input::{Update, number_of, write_payload};
use crate::sim::link::UDP_HEADER;
use wire::Arrival;

/// After a measurement, for packets that the kernel still sends: TCP's last acknowledgement is
/// delayed by up to 40 ms.
const LAST_PACKETS: Duration = Duration::from_millis(100);

/// The kernel's transport that carries the packets of an [`End`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// Datagrams.
    Udp,
    /// A connection without Nagle's algorithm; each packet has its length of 2 bytes in front. All
    /// arrive, in order.
    Tcp,
}

/// A way to get messages from one end of a path to the other.
pub(crate) trait Scheme {
    /// The transport that carries its packets.
    fn carrier(&self) -> Carrier;

    /// An end of a leg: the sender, the receiver, or one of the two ends of a relay.
    fn end(&self) -> Box<dyn End>;
}

/// An end of the path between two hosts: a state machine that is handed what happens and asked what
/// to do, until that is nothing. Times count from the start of the measurement.
pub(crate) trait End {
    /// The app, or a relay, sends a message of this age. Only senders are given any.
    fn send(&mut self, now: Duration, age: Duration, message: &[u8]);

    /// A packet has come from the other end.
    fn receive(&mut self, now: Duration, packet: &[u8]);

    /// Returns the end's next action, if there is one.
    fn poll(&mut self, now: Duration) -> Option<Output>;

    /// The time of the next poll, even if nothing happens.
    fn due(&self) -> Option<Duration>;
}

/// The next action of an [`End`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// Send this to the other end.
    Packet(Vec<u8>),
    /// Give this message to the app, or to the next leg: its age as far as this end knows. A
    /// message may be given several times; the first counts.
    Message(Duration, Vec<u8>),
}

/// The latencies of the messages of a run, and its traffic.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outcome {
    /// The latency of each message, in the order of sending; `None` if the message never arrived.
    pub(crate) latencies: Vec<Option<Duration>>,
    /// The traffic in the direction of the messages, on all legs.
    pub(crate) forward: Traffic,
    /// The traffic in the opposite direction, on all legs.
    pub(crate) back: Traffic,
}

/// The traffic over an emulated link, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Traffic {
    /// Packets sent.
    pub(crate) packets: u64,
    /// Their bytes, from the IP header on.
    pub(crate) bytes: u64,
}

/// Sends a telepointer's updates from the first of these clients of the emulated network to its
/// server and, if there is a second client, on to that one, each over its path. Waits until all
/// have arrived and the ends are at rest, or `patience` has passed since the last was sent.
/// `congestion` is the congestion control of TCP. Each leg is a connection of its own, which is set
/// up before the path loses anything. If it breaks, what it has not delivered never comes.
///
/// # Errors
/// If a socket fails, or what was delivered is not what was sent ([`io::ErrorKind::InvalidData`]).
pub(crate) fn measure(
    (emulator, clients): (&Emulator, &[(usize, Path)]),
    scheme: &dyn Scheme,
    updates: &[Update],
    (patience, congestion): (Duration, &str),
) -> Result<Outcome, EmulatorError> {
    let (events, arrivals) = channel();
    let mut hosts: Vec<Host> = clients.iter().map(|(client, _)| emulator.client(*client)).collect();
    hosts.insert(1, Host::SERVER);
    for (client, path) in clients {
        emulator.change(*client, &path.without_loss());
    }
    let mut ends = Vec::new();
    for leg in hosts.windows(2) {
        for transport in wire::open((leg[0], leg[1]), scheme.carrier(), congestion)? {
            let wire = Wire::start(transport, ends.len(), events.clone())?;
            ends.push(Station { end: scheme.end(), wire, traffic: Traffic::default() });
        }
    }
    // Counts begin anew.
    clients.iter().for_each(|(client, path)| emulator.change(*client, path));
    let (clock, messages) = (Instant::now(), vec![Message::default(); updates.len()]);
    let mut run = Run { ends, messages, arrived: 0, clock };
    run.all(updates, &arrivals, patience)?;
    thread::sleep(LAST_PACKETS);

    let latencies = run.messages.iter().map(Message::latency).collect();
    let mut outcome = Outcome { latencies, ..Outcome::default() };
    for (leg, (client, _)) in clients.iter().enumerate() {
        let stats = emulator.stats(*client);
        // The first leg goes up to the server, the second one down from it.
        let (forward, back) = match leg {
            0 => (stats.up, stats.down),
            _ => (stats.down, stats.up),
        };
        outcome.forward.add(forward);
        outcome.back.add(back);
    }
    Ok(outcome)
}

/// What one end measured, whose messages came back from the other.
#[derive(Debug, Default)]
pub(crate) struct Alone {
    /// As in [`Outcome`].
    pub(crate) latencies: Vec<Option<Duration>>,
    /// The packets of both directions, with headers of IP and UDP.
    pub(crate) traffic: Traffic,
}

/// Sends a telepointer's updates to another machine, which sends each message back.
///
/// # Errors
/// As [`measure`].
pub(crate) fn measure_alone(
    transport: Transport,
    end: Box<dyn End>,
    updates: &[Update],
    patience: Duration,
) -> io::Result<Alone> {
    let (events, arrivals) = channel();
    let wire = Wire::start(transport, 0, events)?;
    let ends = vec![Station { end, wire, traffic: Traffic::default() }];
    let messages = vec![Message::default(); updates.len()];
    let mut run = Run { ends, messages, arrived: 0, clock: Instant::now() };
    run.all(updates, &arrivals, patience)?;
    Ok(Alone {
        latencies: run.messages.iter().map(Message::latency).collect(),
        traffic: run.ends[0].traffic,
    })
}

impl Outcome {
    /// Bytes on the wire, both ways.
    pub(crate) fn wire_bytes(&self) -> u64 {
        self.forward.bytes + self.back.bytes
    }
}

impl Traffic {
    fn add_packet(&mut self, packet: &[u8]) {
        self.packets += 1;
        self.bytes += (packet.len() + UDP_HEADER) as u64;
    }

    fn add(&mut self, link: LinkStats) {
        self.packets += link.packets;
        self.bytes += link.bytes;
    }
}

/// A measurement under way.
struct Run {
    /// The ends of each leg in the direction of the messages: first the sender, last the receiver.
    ends: Vec<Station>,
    messages: Vec<Message>,
    /// How many messages have come at least once.
    arrived: usize,
    clock: Instant,
}

struct Station {
    end: Box<dyn End>,
    wire: Wire,
    /// The packets that it has sent and received, with headers of IP and UDP.
    traffic: Traffic,
}

#[derive(Debug, Clone, Copy, Default)]
struct Message {
    sent: Duration,
    came: Option<Duration>,
}

impl Message {
    fn latency(&self) -> Option<Duration> {
        Some(self.came?.saturating_sub(self.sent))
    }
}

impl Run {
    fn all(
        &mut self,
        updates: &[Update],
        arrivals: &Receiver<Arrival>,
        patience: Duration,
    ) -> io::Result<()> {
        let mut next = 0;
        loop {
            if let Some(update) = updates.get(next).filter(|update| update.at <= self.now()) {
                self.send(next, update)?;
                next += 1;
                continue;
            }
            let now = self.now();
            for at in 0..self.ends.len() {
                if self.ends[at].end.due().is_some_and(|due| due <= now) {
                    self.settle(at)?;
                }
            }
            let due = self.ends.iter().filter_map(|station| station.end.due()).min();
            let wake = match updates.get(next) {
                Some(update) => update.at,
                None if due.is_none() && self.arrived == updates.len() => return Ok(()),
                None => self.messages.last().map_or(now, |last| last.sent) + patience,
            };
            if next == updates.len() && wake <= now {
                return Ok(());
            }
            let wait = due.map_or(wake, |due| due.min(wake)).saturating_sub(self.now());
            match arrivals.recv_timeout(wait) {
                Ok(arrival) => {
                    let now = self.now();
                    let station = &mut self.ends[arrival.at];
                    station.wire.came_from(arrival.from);
                    station.traffic.add_packet(&arrival.packet);
                    station.end.receive(now, &arrival.packet);
                    self.settle(arrival.at)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("all sockets have failed"));
                }
            }
        }
    }

    /// Sends an update, whose time counts from the moment at which it was due: a socket that takes
    /// no more delays it, too.
    fn send(&mut self, number: usize, update: &Update) -> io::Result<()> {
        let mut message = Vec::with_capacity(update.len);
        write_payload(number as u32, update.len, &mut message);
        let now = self.now();
        self.messages[number].sent = update.at;
        self.ends[0].end.send(now, now.saturating_sub(update.at), &message);
        self.settle(0)
    }

    /// Carries out the actions of an end until there are no more. What a relay receives on one leg
    /// it sends on the next one.
    fn settle(&mut self, at: usize) -> io::Result<()> {
        let (now, mut has_more) = (self.now(), false);
        while let Some(output) = self.ends[at].end.poll(now) {
            match output {
                Output::Packet(packet) => {
                    self.ends[at].traffic.add_packet(&packet);
                    self.ends[at].wire.send(&packet)?;
                }
                Output::Message(_, message) if at + 1 == self.ends.len() => {
                    self.deliver(&message)?
                }
                Output::Message(age, message) => {
                    self.ends[at + 1].end.send(now, age, &message);
                    has_more = true;
                }
            }
        }
        if has_more { self.settle(at + 1) } else { Ok(()) }
    }

    fn deliver(&mut self, message: &[u8]) -> io::Result<()> {
        let now = self.now();
        let number = number_of(message).map(|number| number as usize);
        let known = number.and_then(|number| self.messages.get_mut(number));
        let Some(known) = known else {
            let what = format!("delivered what was never sent: {message:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        };
        if known.came.is_none() {
            known.came = Some(now);
            self.arrived += 1;
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.clock.elapsed()
    }
}
