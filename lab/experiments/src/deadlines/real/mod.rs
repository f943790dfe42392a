//! Schemes over real sockets: what a telepointer sends goes through the kernel and an [emulated
//! path](crate::emulator), and each message is timed. It shows that simulation tells the truth, and
//! what the kernel's TCP does, which is not simulated. Both ends run in this process, so one clock
//! serves.

mod bare;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use bare::Plain;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::emulator::{Emulator, EmulatorError};
use crate::sim::LinkStats;
use crate::sim::input::{Update, number_of, write_payload};
use wire::{Arrival, Wire};

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

    /// The sender and the receiver.
    fn ends(&self) -> (Box<dyn End>, Box<dyn End>);
}

/// One end of a path: a state machine that is handed what happens and asked what to do, until that
/// is nothing. Times count from the start of the measurement.
pub(crate) trait End {
    /// The app sends a message. Only senders are given any.
    fn send(&mut self, now: Duration, message: &[u8]);

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
    /// Give this message to the app. A message may be given several times; the first counts.
    Message(Vec<u8>),
}

/// The latencies of the messages of a run, and its traffic.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outcome {
    /// The latency of each message, in the order of sending; `None` if the message never arrived.
    pub(crate) latencies: Vec<Option<Duration>>,
    /// The traffic in the direction of the messages.
    pub(crate) forward: Traffic,
    /// The traffic in the opposite direction.
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

/// Sends a telepointer's updates from a client of the emulated network to its server, and waits
/// until all have arrived and the ends are at rest, or `patience` has passed since the last was
/// sent. `congestion` is the congestion control of TCP.
///
/// # Errors
/// If a socket fails, or what was delivered is not what was sent ([`io::ErrorKind::InvalidData`]).
pub(crate) fn measure(
    (emulator, client): (&Emulator, usize),
    scheme: &dyn Scheme,
    updates: &[Update],
    (patience, congestion): (Duration, &str),
) -> Result<Outcome, EmulatorError> {
    let (events, arrivals) = channel();
    let before = emulator.stats(client);
    let transports = wire::open(emulator.client(client), scheme.carrier(), congestion)?;
    let (sender, receiver) = scheme.ends();
    let mut ends = Vec::new();
    for (transport, end) in transports.into_iter().zip([sender, receiver]) {
        let wire = Wire::start(transport, ends.len(), events.clone())?;
        ends.push(Station { end, wire });
    }
    let (clock, messages) = (Instant::now(), vec![Message::default(); updates.len()]);
    let mut run = Run { ends, messages, arrived: 0, clock };
    run.all(updates, &arrivals, patience)?;
    thread::sleep(LAST_PACKETS);

    let after = emulator.stats(client);
    Ok(Outcome {
        latencies: run.messages.iter().map(Message::latency).collect(),
        forward: Traffic::between(before.up, after.up),
        back: Traffic::between(before.down, after.down),
    })
}

impl Outcome {
    /// Bytes on the wire, both ways.
    pub(crate) fn wire_bytes(&self) -> u64 {
        self.forward.bytes + self.back.bytes
    }
}

impl Traffic {
    fn between(before: LinkStats, after: LinkStats) -> Self {
        Traffic { packets: after.packets - before.packets, bytes: after.bytes - before.bytes }
    }
}

/// A measurement under way.
struct Run {
    /// The sender and the receiver.
    ends: Vec<Station>,
    messages: Vec<Message>,
    /// How many messages have come at least once.
    arrived: usize,
    clock: Instant,
}

struct Station {
    end: Box<dyn End>,
    wire: Wire,
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
                self.send(next, update.len)?;
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

    fn send(&mut self, number: usize, len: usize) -> io::Result<()> {
        let mut message = Vec::with_capacity(len);
        write_payload(number as u32, len, &mut message);
        let now = self.now();
        self.messages[number].sent = now;
        self.ends[0].end.send(now, &message);
        self.settle(0)
    }

    /// Carries out the actions of an end until there are no more.
    fn settle(&mut self, at: usize) -> io::Result<()> {
        let now = self.now();
        while let Some(output) = self.ends[at].end.poll(now) {
            match output {
                Output::Packet(packet) => self.ends[at].wire.send(&packet)?,
                Output::Message(message) => self.deliver(&message)?,
            }
        }
        Ok(())
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
