//! A narrow link with a sender and a receiver of real-time messages, in simulated time.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_afec::rate::{Budget, News, RateEstimator, differs};

/// The step of simulated time in ms.
const STEP: f64 = 0.5;
/// The delay of a report in ms.
const REPORT_DELAY: f64 = 50.0;
/// The share of reports that are lost.
const REPORT_LOSS: f64 = 0.2;

/// The capacity of the link.
#[derive(Clone)]
pub(crate) enum Capacity {
    /// Bytes per second, each from a time (ms) on.
    Steps(Vec<(f64, f64)>),
    /// 1500 bytes at each of these times (ms).
    Opportunities(Vec<f64>),
}

/// The settings of a run.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) capacity: Capacity,
    /// The length of the queue in bytes.
    pub(crate) queue: f64,
    /// The delay in ms.
    pub(crate) delay: f64,
    /// The highest additional delay of a packet, in ms.
    pub(crate) jitter: f64,
    pub(crate) loss: f64,
    /// The mean number of packets that are lost together (Gilbert's model).
    pub(crate) burst: f64,
    /// No packet is lost before this time (ms).
    pub(crate) loss_from: f64,
    /// Whether packets are lost before the queue, or after it.
    pub(crate) loss_first: bool,
    /// The bytes of a packet.
    pub(crate) packet: f64,
    /// The bytes per second that the sender wants to send, each from a time (ms) on.
    pub(crate) demand: Vec<(f64, f64)>,
    /// The length of the queue in ms.
    pub(crate) length: f64,
    pub(crate) seed: u64,
}

/// The samples of a run.
#[derive(Default)]
pub(crate) struct Seen {
    /// When a packet entered the queue, and how many ms it waited there.
    pub(crate) queueing: Vec<(f64, f64)>,
    /// When the link delivered a packet (even if it was lost later), and its bytes.
    pub(crate) delivered: Vec<(f64, f64)>,
    /// The rate limit of the receiver, sampled every 10 ms.
    pub(crate) caps: Vec<(f64, Option<u32>)>,
    /// When packets were sent, and their bytes.
    pub(crate) offered: Vec<(f64, f64)>,
    pub(crate) sent: usize,
    pub(crate) dropped: usize,
    pub(crate) reports: usize,
}

impl Path {
    /// A link of `kbit` kbit/s with a queue of 300 ms, and a sender of 60-byte packets that wants
    /// `over` times that rate.
    pub(crate) fn narrow(kbit: f64, over: f64) -> Self {
        let rate = kbit * 125.0;
        Path {
            capacity: Capacity::Steps(vec![(0.0, rate)]),
            queue: rate * 0.3,
            delay: 25.0,
            jitter: 0.0,
            loss: 0.0,
            burst: 1.0,
            loss_from: 0.0,
            loss_first: true,
            packet: 60.0,
            demand: vec![(0.0, rate * over)],
            length: 60_000.0,
            seed: 1,
        }
    }

    /// The bytes that the link could deliver between two times.
    pub(crate) fn capacity_between(&self, from: f64, to: f64) -> f64 {
        match &self.capacity {
            Capacity::Opportunities(times) => {
                times.iter().filter(|t| (from..to).contains(*t)).count() as f64 * 1500.0
            }
            Capacity::Steps(steps) => {
                let ends = steps.iter().skip(1).map(|(t, _)| *t).chain([f64::MAX]);
                let span = |start: f64, end: f64| (end.min(to) - start.max(from)).max(0.0);
                steps
                    .iter()
                    .zip(ends)
                    .map(|((start, rate), end)| span(*start, end) * rate / 1000.0)
                    .sum()
            }
        }
    }

    pub(crate) fn run(&self) -> Seen {
        let mut random = oorandom::Rand64::new(u128::from(self.seed));
        let mut seen = Seen::default();
        let mut link = Link::new(self);
        let mut losing = false;
        let mut loses = |now: f64, random: &mut oorandom::Rand64| {
            if now < self.loss_from {
                return false;
            }
            // Random losses are bursts whose beginning and end do not depend on earlier packets.
            let (stop, start) = match self.burst {
                1.0 => (1.0 - self.loss, self.loss),
                burst => (1.0 / burst, self.loss / (1.0 - self.loss) / burst),
            };
            losing = if losing { random.rand_float() >= stop } else { random.rand_float() < start };
            losing
        };
        let mut sender = Sender::new(self);
        let mut receiver = Receiver::new();
        let mut flying: Vec<(f64, Packet)> = Vec::new();
        let mut reports: VecDeque<(f64, u64, Option<u32>)> = VecDeque::new();

        for tick in 0..(self.length / STEP) as u64 {
            let now = tick as f64 * STEP;
            while reports.front().is_some_and(|(at, ..)| *at <= now) {
                let (_, number, cap) = reports.pop_front().expect("it was looked at");
                sender.report(number, cap);
            }
            while let Some(packet) = sender.poll(now) {
                seen.sent += 1;
                seen.offered.push((now, packet.bytes));
                if self.loss_first && loses(now, &mut random) {
                    continue;
                }
                if !link.push(now, packet) {
                    seen.dropped += 1;
                }
            }
            while let Some((packet, began)) = link.poll(now) {
                seen.queueing.push((packet.queued, began - packet.queued));
                seen.delivered.push((now, packet.bytes));
                if !self.loss_first && loses(now, &mut random) {
                    continue;
                }
                flying.push((now + self.delay + random.rand_float() * self.jitter, packet));
            }
            flying.retain(|(at, packet)| {
                if *at <= now {
                    receiver.arrived(now, packet);
                }
                *at > now
            });
            if tick % 20 == 0 {
                seen.caps.push((now, receiver.estimator.cap(time(now))));
            }
            if let Some(report) = receiver.poll(now) {
                seen.reports += 1;
                if random.rand_float() >= REPORT_LOSS {
                    reports.push_back((now + REPORT_DELAY, report.0, report.1));
                }
            }
        }
        seen
    }
}

fn time(ms: f64) -> Duration {
    Duration::from_micros((ms * 1000.0) as u64)
}

#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    bytes: f64,
    sent: u16,
    queued: f64,
    /// The newest report that the sender knows.
    echo: u64,
}

struct Sender<'a> {
    path: &'a Path,
    budget: Budget,
    /// When the next message comes; only the newest message waits.
    next: f64,
    waits: bool,
    number: u64,
    echo: u64,
}

impl<'a> Sender<'a> {
    fn new(path: &'a Path) -> Self {
        Sender { path, budget: Budget::new(None), next: 0.0, waits: false, number: 0, echo: 0 }
    }

    fn report(&mut self, number: u64, cap: Option<u32>) {
        if number > self.echo {
            self.echo = number;
            self.budget.set_reported_rate(cap);
        }
    }

    fn poll(&mut self, now: f64) -> Option<Packet> {
        // A receiver's heartbeat is not simulated: the budget always hears of a report.
        self.budget.on_report();
        let demand = self
            .path
            .demand
            .iter()
            .rev()
            .find(|(from, _)| *from <= now)
            .map_or(0.0, |(_, rate)| *rate);
        if now >= self.next && demand > 0.0 {
            self.waits = true;
            self.next += self.path.packet / demand * 1000.0;
        } else if demand == 0.0 {
            self.next = now;
        }
        let bytes = self.path.packet;
        if !self.waits || !self.budget.allows(time(now), bytes as usize) {
            return None;
        }
        self.waits = false;
        self.budget.spend(time(now), bytes as usize);
        self.number += 1;
        // The sender's clock is 100 ppm slow.
        let sent = (now * 0.9999 + 61_000.0) as u64 as u16;
        Some(Packet { number: self.number, bytes, sent, queued: now, echo: self.echo })
    }
}

struct Receiver {
    estimator: RateEstimator,
    highest: u64,
    /// The numbers of missing packets, and when each was noticed.
    missing: Vec<(u64, f64)>,
    reported: u64,
    reported_cap: Option<u32>,
    reported_at: f64,
    /// The newest report that the sender is known to have.
    echo: u64,
}

impl Receiver {
    fn new() -> Self {
        Receiver {
            estimator: RateEstimator::new(),
            highest: 0,
            missing: Vec::new(),
            reported: 0,
            reported_cap: None,
            reported_at: -1000.0,
            echo: 0,
        }
    }

    fn arrived(&mut self, now: f64, packet: &Packet) {
        self.missing.retain(|(number, _)| *number != packet.number);
        self.missing.extend((self.highest + 1..packet.number).map(|number| (number, now)));
        self.highest = self.highest.max(packet.number);
        self.estimator.arrived(time(now), packet.sent, packet.bytes as usize);
        // After three further packets (RFC 9002, section 6.1.1) and 20 ms a packet counts as lost.
        let before = self.missing.len();
        self.missing.retain(|(number, noticed)| number + 3 > self.highest || now - noticed < 20.0);
        let lost = before - self.missing.len();
        if lost > 0 {
            self.estimator.lost(time(now), lost as u32);
        }
        self.echo = self.echo.max(packet.echo);
    }

    fn poll(&mut self, now: f64) -> Option<(u64, Option<u32>)> {
        let cap = self.estimator.cap(time(now));
        let since = now - self.reported_at;
        // A report that is not confirmed for more than a round trip was lost.
        let again = self.echo < self.reported && since >= 250.0;
        let due = match differs(self.reported_cap, cap) {
            News::None => again,
            News::Worth => since >= 100.0,
            News::Urgent => since >= 20.0,
        };
        if !due {
            return None;
        }
        self.reported += 1;
        self.reported_cap = cap;
        self.reported_at = now;
        Some((self.reported, cap))
    }
}

struct Link<'a> {
    path: &'a Path,
    queue: VecDeque<Packet>,
    bytes: f64,
    /// When the link is idle again.
    free: f64,
    opportunity: usize,
    left: f64,
}

impl<'a> Link<'a> {
    fn new(path: &'a Path) -> Self {
        Link { path, queue: VecDeque::new(), bytes: 0.0, free: 0.0, opportunity: 0, left: 0.0 }
    }

    fn push(&mut self, now: f64, packet: Packet) -> bool {
        if self.bytes + packet.bytes > self.path.queue {
            return false;
        }
        if self.queue.is_empty() {
            self.free = self.free.max(now);
        }
        self.bytes += packet.bytes;
        self.queue.push_back(packet);
        true
    }

    /// The next packet that has passed the link by now, and when its transmission began.
    fn poll(&mut self, now: f64) -> Option<(Packet, f64)> {
        match &self.path.capacity {
            Capacity::Steps(steps) => {
                let packet = *self.queue.front()?;
                let rate = steps
                    .iter()
                    .rev()
                    .find(|(from, _)| *from <= now)
                    .map_or(1.0, |(_, rate)| *rate);
                let done = self.free + packet.bytes / rate * 1000.0;
                if done > now {
                    return None;
                }
                let began = self.free;
                self.free = done;
                self.take().map(|packet| (packet, began))
            }
            Capacity::Opportunities(times) => {
                while times.get(self.opportunity).is_some_and(|at| *at <= now) {
                    self.left = 1500.0;
                    self.opportunity += 1;
                    if let Some(packet) =
                        self.queue.front().copied().filter(|packet| packet.bytes <= self.left)
                    {
                        self.left -= packet.bytes;
                        return self.take().map(|packet| (packet, now));
                    }
                    // An opportunity without a waiting packet is lost.
                    self.left = 0.0;
                }
                let packet =
                    self.queue.front().copied().filter(|packet| packet.bytes <= self.left)?;
                // Only packets that waited at the time of the opportunity use it.
                let at = times[self.opportunity - 1];
                if packet.queued > at {
                    self.left = 0.0;
                    return None;
                }
                self.left -= packet.bytes;
                self.take().map(|packet| (packet, now))
            }
        }
    }

    fn take(&mut self) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.bytes -= packet.bytes;
        Some(packet)
    }
}

impl Seen {
    /// A quantile of the queueing delay in ms, from a time on.
    pub(crate) fn queueing(&self, quantile: f64, from: f64) -> f64 {
        let mut waits: Vec<f64> =
            self.queueing.iter().filter(|(at, _)| *at >= from).map(|(_, wait)| *wait).collect();
        waits.sort_by(f64::total_cmp);
        waits
            .get(((waits.len() as f64 * quantile) as usize).min(waits.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    }

    /// The bytes that the link delivered between two times.
    pub(crate) fn delivered_between(&self, from: f64, to: f64) -> f64 {
        between(&self.delivered, from, to)
    }

    /// The bytes that were sent between two times.
    pub(crate) fn offered_between(&self, from: f64, to: f64) -> f64 {
        between(&self.offered, from, to)
    }

    /// The ms after `from` until the queue stays below `wait` ms for at least a second.
    pub(crate) fn queue_below(&self, wait: f64, from: f64) -> f64 {
        let mut below = from;
        for (at, waited) in self.queueing.iter().filter(|(at, _)| *at >= from) {
            if *at - below > 1000.0 {
                break;
            }
            if *waited > wait {
                below = *at + *waited;
            }
        }
        below - from
    }

    /// The ms after `from` until the link delivers at least `rate` bytes per second, over half a
    /// second.
    pub(crate) fn rate_reached(&self, rate: f64, from: f64) -> f64 {
        let reached =
            |after: &f64| self.delivered_between(from + after - 500.0, from + after) >= rate / 2.0;
        (5..400).map(|i| f64::from(i) * 100.0).find(reached).unwrap_or(f64::INFINITY)
    }

    /// The share of the time with a rate limit.
    pub(crate) fn capped(&self) -> f64 {
        self.caps.iter().filter(|(_, cap)| cap.is_some()).count() as f64 / self.caps.len() as f64
    }
}

fn between(bytes: &[(f64, f64)], from: f64, to: f64) -> f64 {
    bytes.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, bytes)| bytes).sum()
}
