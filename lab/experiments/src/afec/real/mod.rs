//! Schemes over real sockets: what a telepointer sends goes through the kernel and an
//! [emulated path](crate::emulator), and each message is timed. It shows that simulation tells the truth, and what the
//! kernel's TCP does, which is not simulated.
//!
//! Both ends run in this process, so one clock serves. A path may have two hops, client to server to client as in the
//! AFEC paper (section 4), whose server passes on what it is delivered.

mod bare;
mod repeat;
mod wire;

#[cfg(test)]
mod tests;

pub use bare::{Tcp, Udp};
pub use repeat::RepeatLast;
pub use wire::Hop;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::emulator::EmulatorError;
use crate::sim::LinkStats;
use crate::sim::input::{Update, number_of, write_payload};
use wire::{Arrival, Wire};

/// After a measurement, for packets that the kernel still sends: TCP's last acknowledgement is delayed by up to 40 ms.
const LAST_PACKETS: Duration = Duration::from_millis(100);

/// Which of the kernel's transports carries what an [`End`] sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Datagrams.
    Udp,
    /// A connection without Nagle's algorithm; each packet has its length of 2 bytes in front. All arrive, in order.
    Tcp,
}

/// A way to get messages from one end to another.
pub trait Scheme {
    /// What its packets are carried by.
    fn carrier(&self) -> Carrier;

    /// The sender and the receiver of a hop.
    fn ends(&self) -> (Box<dyn End>, Box<dyn End>);
}

/// One end of a hop: a state machine that is handed what happens and asked what to do, until that is nothing. Times
/// count from the start of the measurement.
pub trait End {
    /// The app sends a message. Only senders are given any.
    fn send(&mut self, now: Duration, message: &[u8]);

    /// A packet has come from the other end.
    fn receive(&mut self, now: Duration, packet: &[u8]);

    /// What to do next, if anything.
    fn poll(&mut self, now: Duration) -> Option<Output>;

    /// When to poll again, even if nothing happens.
    fn due(&self) -> Option<Duration>;
}

/// What an [`End`] wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this to the other end.
    Packet(Vec<u8>),
    /// Give this message to the app. A message may be given several times; the first counts.
    Message(Vec<u8>),
}

/// What became of the messages, and what it cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Of each message, in the order they were sent, how long it took; none if it never came.
    pub latencies: Vec<Option<Duration>>,
    /// What went the way of the messages, all hops together.
    pub forward: Traffic,
    /// What went the other way.
    pub back: Traffic,
}

/// What went over emulated links. The handshake of TCP is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets sent.
    pub packets: u64,
    /// Their bytes, from the IP header on.
    pub bytes: u64,
    /// Packets that the path lost or its queue refused.
    pub lost: u64,
}

/// Sends a telepointer's updates over the hops, and waits until all have arrived and the ends are at rest, or
/// `patience` has passed since the last was sent.
///
/// # Errors
/// If a socket fails, what was delivered is not what was sent ([`io::ErrorKind::InvalidData`]), or TCP is to go through
/// a proxy that would lose.
pub fn measure(
    hops: &[Hop<'_>],
    scheme: &dyn Scheme,
    updates: &[Update],
    patience: Duration,
) -> Result<Outcome, EmulatorError> {
    let (events, arrivals) = channel();
    let (mut ends, mut meters) = (Vec::with_capacity(2 * hops.len()), Vec::new());
    for hop in hops {
        let (sender, receiver) = scheme.ends();
        let line = wire::open(hop, scheme.carrier())?;
        for (transport, end) in [(line.sender, sender), (line.receiver, receiver)] {
            let wire = Wire::start(transport, ends.len(), events.clone())?;
            ends.push(Station { end, wire });
        }
        meters.push((line.meter.stats(), line.meter));
    }
    let (clock, messages) = (Instant::now(), vec![Message::default(); updates.len()]);
    let mut run = Run { ends, messages, arrived: 0, clock };
    run.all(updates, &arrivals, patience)?;
    thread::sleep(LAST_PACKETS);

    let mut outcome = Outcome::default();
    outcome.latencies.extend(run.messages.iter().map(Message::latency));
    for (before, meter) in meters {
        let [forward, back] = meter.stats();
        outcome.forward.add(before[0], forward);
        outcome.back.add(before[1], back);
    }
    Ok(outcome)
}

impl Outcome {
    /// The share of messages that never came.
    pub fn never(&self) -> f64 {
        self.share(|latency| latency.is_none())
    }

    /// The share of messages that never came or came after the deadline (MER).
    pub fn mer(&self, deadline: Duration) -> f64 {
        self.share(|latency| latency.is_none_or(|latency| latency > deadline))
    }

    /// The mean time that the messages took that came; zero if none did.
    pub fn mean_latency(&self) -> Duration {
        let came = self.latencies.iter().flatten();
        let count = u32::try_from(came.clone().count()).unwrap_or(u32::MAX);
        came.sum::<Duration>().checked_div(count).unwrap_or_default()
    }

    /// The time within which such a share, from 0 to 1, of the messages came that came at all; zero if none did.
    pub fn latency_quantile(&self, share: f64) -> Duration {
        let mut came: Vec<_> = self.latencies.iter().flatten().copied().collect();
        came.sort_unstable();
        let last = came.len().saturating_sub(1) as f64;
        came.get((share * last).round() as usize).copied().unwrap_or_default()
    }

    /// Bytes on the wire, both ways.
    pub fn wire_bytes(&self) -> u64 {
        self.forward.bytes + self.back.bytes
    }

    fn share(&self, is_one: impl Fn(&Option<Duration>) -> bool) -> f64 {
        let count = self.latencies.iter().filter(|latency| is_one(latency)).count();
        count as f64 / self.latencies.len().max(1) as f64
    }
}

impl Traffic {
    fn add(&mut self, before: LinkStats, after: LinkStats) {
        self.packets += after.packets - before.packets;
        self.bytes += after.bytes - before.bytes;
        self.lost += (after.lost + after.dropped) - (before.lost + before.dropped);
    }
}

/// A measurement under way.
struct Run {
    /// Sender and receiver of each hop in turn.
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

    /// Does what an end wants done, and the end that its messages go on to.
    fn settle(&mut self, at: usize) -> io::Result<()> {
        let now = self.now();
        while let Some(output) = self.ends[at].end.poll(now) {
            match output {
                Output::Packet(packet) => self.ends[at].wire.send(&packet)?,
                Output::Message(message) => self.deliver(at, &message)?,
            }
        }
        Ok(())
    }

    fn deliver(&mut self, at: usize, message: &[u8]) -> io::Result<()> {
        let now = self.now();
        let number = number_of(message).map(|number| number as usize);
        let known = number.and_then(|number| self.messages.get_mut(number));
        let Some(known) = known else {
            let what = format!("delivered what was never sent: {message:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        };
        if let Some(next) = self.ends.get_mut(at + 1) {
            next.end.send(now, message);
            return self.settle(at + 1);
        }
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
