//! Congestion control for conversations: how many bytes may be in flight. The decision alone, without clock or I/O, so
//! that the same code serves the real QUIC ([`crate::controller`]) and a simulated one. Rules such as *T24* are those
//! of docs/transports.md.
//!
//! A conversation sends little data and needs it delivered soon. Losses alone say nothing about the
//! capacity of the path, since wireless links lose packets at any rate; what matters is whether packets
//! wait in a queue. The *queue* is the round trip without the other end's delay of acknowledgements,
//! above the least round trip of the last 15 to 30 s ([`QueueDelay`]).
//!
//! - While there is no queue the window grows, and losses do not lower it below twice the delivery rate.
//! - A queue above the target is assumed to be our own: the window is lowered to what the path holds without one.
//! - If the queue stays although the window was lowered three times, other connections cause it. Then the
//!   window follows losses as TCP's does; otherwise this connection would get nothing beside TCP.
//! - Below the window is a floor: the minimum rates of the channels may be sent while acknowledgements
//!   arrive and no queue grows ([`Floor`]).

mod delay;
mod delivery;
mod floor;
#[cfg(test)]
mod tests;

use std::time::Duration;

use delay::QueueDelay;
use delivery::Delivery;
use floor::Floor;

pub use floor::FLOOR_MOST;

/// The queue above which the window is lowered. Until that shows, one or two round trips pass, in which the queue
/// grows further: less than half of the 50 ms that a conversation may wait for itself.
const TARGET: Duration = Duration::from_millis(20);

/// A shorter queue than this is taken for jitter; with a longer one a loss counts as congestion. SCReAM and GCC ignore
/// as much.
const GROWN: Duration = Duration::from_millis(8);

/// How often the window is lowered in a row, with two round trips between, until the queue is taken for that of others.
const PATIENCE: u32 = 3;
/// The number of steps before that within [`REMEMBERED`] after the queue was last taken for that of others.
const IMPATIENCE: u32 = 1;
const REMEMBERED: Duration = Duration::from_secs(10);

/// Packets of the first window (RFC 9002, section 7.2), and of the window to which losses alone never lower it.
const INITIAL: u64 = 10;
/// Packets of the smallest window (RFC 9002, section 7.2).
const LEAST: u64 = 2;
/// Bytes of the largest window: 1 Gbit/s at a round trip of a second.
const MOST: u64 = 128 << 20;

/// What is left of the window after a loss beside others (Cubic's, RFC 9438).
const AFTER_LOSS: f64 = 0.7;
/// Packets by which the window grows per round trip beside others. With [`AFTER_LOSS`] a connection gets as much as
/// Reno would at 0.53 (RFC 9438, section 4.3).
const GROWTH: f64 = 0.65;
/// Alone the window grows by at least this share of itself per round trip.
const GROWTH_ALONE: f64 = 1.0 / 16.0;
/// In the beginning it grows by this share. Half of what others take, because the first queue shows a round trip late.
const GROWTH_FIRST: f64 = 0.5;

/// The window when a queue is drained, as a share of what the path holds without one.
const DRAIN: f64 = 0.9;

/// What decides at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// No queue was ever seen: the window grows fast.
    Starting,
    /// The queue is assumed to be our own.
    Alone,
    /// The queue is that of others: losses decide.
    Beside,
}

/// The attempts in a row to drain a queue, and how it was before the first.
#[derive(Debug, Clone, Copy)]
struct Drains {
    count: u32,
    window: u64,
    queue: Duration,
}

/// The congestion control of one path.
///
/// Times count from any moment, the same for all calls; a time before that of an earlier call counts as that one's.
///
/// ```
/// use groupwire_quic::Congestion;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let mut congestion = Congestion::new(1200);
/// assert_eq!(congestion.window(ms(0)), 12_000);
/// // A packet that is lost while no queue grows changes nothing.
/// congestion.on_sent(ms(0), 100);
/// congestion.on_sent(ms(1), 100);
/// congestion.on_round_trip(ms(50), ms(50));
/// congestion.on_acknowledged(ms(51), ms(1), 100, true);
/// congestion.on_lost(ms(51), ms(0), 100);
/// assert_eq!(congestion.window(ms(51)), 12_000);
/// ```
#[derive(Debug, Clone)]
pub struct Congestion {
    /// Bytes of a full packet.
    packet: u64,
    /// In bytes, without the floor.
    window: u64,
    mode: Mode,
    delay: QueueDelay,
    delivery: Delivery,
    floor: Floor,
    in_flight: u64,
    /// Whether the receiver of datagrams has measured that the path carries no more.
    is_limited: bool,
    /// The attempts to drain a queue that does not go.
    drains: Option<Drains>,
    /// The last time at which the queue was taken for that of other connections.
    beside: Option<Duration>,
    /// Whether the window was full at some time since it was lowered.
    was_full: bool,
    /// When the window was lowered last. What was sent until then says nothing about the lowered window.
    lowered: Option<Duration>,
    /// Since when there is no queue.
    quiet_since: Option<Duration>,
    now: Duration,
}

impl Congestion {
    /// The congestion control of a new path, whose full packets have `packet` bytes.
    pub fn new(packet: u16) -> Self {
        let packet = u64::from(packet.max(1));
        Congestion {
            packet,
            window: INITIAL * packet,
            mode: Mode::Starting,
            delay: QueueDelay::default(),
            delivery: Delivery::default(),
            floor: Floor::default(),
            in_flight: 0,
            is_limited: false,
            drains: None,
            beside: None,
            was_full: false,
            lowered: None,
            quiet_since: None,
            now: Duration::ZERO,
        }
    }

    /// Changes the bytes of a full packet.
    pub fn set_packet(&mut self, packet: u16) {
        self.packet = u64::from(packet.max(1));
        self.set_window(self.window as f64);
    }

    /// Forgets what was measured: the packets take another path from now on. What was sent before says nothing about it.
    pub fn start_over(&mut self) {
        let packet = u16::try_from(self.packet).unwrap_or(u16::MAX);
        let (in_flight, now) = (self.in_flight, self.now);
        *self = Congestion { in_flight, now, lowered: Some(now), ..Congestion::new(packet) };
    }

    /// Sets what the channels need at least, in bytes per second; of more than [`FLOOR_MOST`] that much counts.
    pub fn set_minimum_rate(&mut self, bytes_per_second: u32) {
        self.floor.set_rate(bytes_per_second);
    }

    /// Tells whether the receiver of datagrams has measured that the path carries no more than it does. If so, losses count
    /// as congestion even where no queue shows.
    pub fn set_limited(&mut self, is_limited: bool) {
        self.is_limited = is_limited;
    }

    /// Notes that a packet leaves.
    pub fn on_sent(&mut self, now: Duration, bytes: u64) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_add(bytes);
        self.floor.on_sent(now, bytes);
    }

    /// Notes that a packet arrived which was sent at `sent`. `is_idle` says that the sender had no more to send.
    pub fn on_acknowledged(&mut self, now: Duration, sent: Duration, bytes: u64, is_idle: bool) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.floor.on_acknowledged(now);
        self.delivery.on_acknowledged(now, bytes);
        let is_recent = self.lowered.is_none_or(|at| sent > at);
        self.was_full |= !is_idle && is_recent;
        let has_own_queue = self.mode != Mode::Beside && self.has_queue(TARGET);
        if !is_idle && is_recent && !has_own_queue {
            self.grow(bytes);
        }
    }

    /// Notes a measured round trip, without the time for which the other end held the acknowledgement back.
    pub fn on_round_trip(&mut self, now: Duration, round_trip: Duration) {
        let now = self.advance(now);
        self.delay.on_round_trip(now, round_trip);
        if self.has_queue(GROWN) {
            self.quiet_since = None;
            if self.mode == Mode::Starting {
                self.mode = Mode::Alone;
            }
        } else if self.delay.standing() + *self.quiet_since.get_or_insert(now) <= now {
            // A queue of others drains for an instant when they lower their windows.
            self.drains = None;
            if self.mode == Mode::Beside {
                self.beside = Some(now);
                self.mode = Mode::Alone;
            }
        }
        if self.has_queue(TARGET) && self.mode != Mode::Beside && self.has_settled() {
            self.drain();
        }
    }

    /// Notes that a packet was lost which was sent at `sent`.
    pub fn on_lost(&mut self, now: Duration, sent: Duration, bytes: u64) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        if self.lowered.is_some_and(|at| sent <= at) {
            return;
        }
        if self.has_queue(GROWN) || self.is_limited {
            return self.back_off();
        }
        // Losses alone do not lower the window, but a path that lost most of a large window does not carry that much.
        let arrives = self.delivery.bytes_in(now, self.delay.standing());
        let most = (2 * arrives).max(INITIAL * self.packet);
        if self.window > most {
            self.lower(most as f64);
        }
    }

    /// Notes that a router has marked a packet, sent at `sent`, instead of dropping it (ECN).
    pub fn on_marked(&mut self, now: Duration, sent: Duration) {
        self.advance(now);
        if self.lowered.is_none_or(|at| sent > at) {
            self.back_off();
        }
    }

    /// Notes that nothing arrived for long: what is known of the path may be out of date.
    pub fn on_outage(&mut self, now: Duration) {
        self.advance(now);
        self.set_window((self.window as f64).min((INITIAL * self.packet) as f64));
    }

    /// Corrects the bytes in flight, as packets may leave the count by ways that are not reported.
    pub fn set_in_flight(&mut self, bytes: u64) {
        self.in_flight = bytes;
    }

    /// Bytes that may be in flight.
    pub fn window(&self, now: Duration) -> u64 {
        let now = now.max(self.now);
        if self.has_queue(TARGET) || !self.floor.permits(now) {
            return self.window;
        }
        // The transport sends while a full packet fits into the window beside what is in flight.
        self.window.max(self.in_flight.saturating_add(self.packet + 1)).min(MOST)
    }

    /// The delay that queues on the path add at present, whoever's packets are in them.
    pub fn queue(&self) -> Duration {
        self.delay.queue()
    }

    fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    fn has_queue(&self, longer: Duration) -> bool {
        self.delay.queue() > longer
    }

    /// Whether what was done last shows in the delay by now: a round trip until the queue has shrunk, and one until
    /// that is seen.
    fn has_settled(&self) -> bool {
        self.lowered.is_none_or(|at| self.now >= at + 2 * self.delay.standing())
    }

    fn grow(&mut self, bytes: u64) {
        let bytes = bytes as f64;
        let per_packet = GROWTH * self.packet as f64 * bytes / self.window as f64;
        let growth = match self.mode {
            Mode::Starting => bytes * GROWTH_FIRST,
            Mode::Alone => per_packet.max(bytes * GROWTH_ALONE),
            Mode::Beside => per_packet,
        };
        self.set_window(self.window as f64 + growth.max(1.0));
    }

    /// Lowers the window to what the path holds without a queue, or finds that the queue is not this connection's.
    fn drain(&mut self) {
        let queue = self.delay.queue();
        let mut drains = self.drains.unwrap_or(Drains { count: 0, window: self.window, queue });
        let used = self.window.min(self.delivery.bytes_in(self.now, self.delay.standing()));
        let is_remembered = self.beside.is_some_and(|at| self.now < at + REMEMBERED);
        let patience = if is_remembered { IMPATIENCE } else { PATIENCE };
        // A queue of this connection's shrinks with the window; and one that sends less than the window permits makes
        // none for long.
        let stays = self.window <= drains.window / 2 && queue > drains.queue / 2;
        if drains.count >= patience && (stays || !self.was_full) {
            self.drains = None;
            self.mode = Mode::Beside;
            self.beside = Some(self.now);
            self.lower(drains.window.min(2 * used.max(self.packet)) as f64);
            return;
        }
        drains.count = drains.count.saturating_add(1);
        self.drains = Some(drains);
        let share = self.delay.least().as_secs_f64() / self.delay.standing().as_secs_f64();
        self.lower(used as f64 * share * DRAIN);
    }

    /// Lowers the window after a sign of congestion.
    fn back_off(&mut self) {
        self.lower(self.window as f64 * AFTER_LOSS);
        if self.mode == Mode::Starting {
            self.mode = Mode::Alone;
        }
    }

    fn lower(&mut self, window: f64) {
        self.lowered = Some(self.now);
        self.was_full = false;
        self.set_window(window);
    }

    fn set_window(&mut self, window: f64) {
        self.window = (window as u64).clamp(LEAST * self.packet, MOST);
    }
}
