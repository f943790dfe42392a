//! Congestion control for conversations: how many bytes may be in flight. It has no clock and no
//! I/O, so that the same code serves QUIC ([`crate::controller`]) and simulations. Rules such
//! as *T24* are those of docs/transports.md.
//!
//! A conversation sends little data and needs it delivered soon. Losses alone say nothing about the
//! capacity of the path, since wireless links lose packets at any rate; what matters is whether
//! packets wait in a queue. The *queue* is the round trip without the other end's delay of
//! acknowledgements, above the least round trip of the last 15 to 30 s ([`QueueDelay`]). An
//! acknowledgement for several packets permits as many at once; their waits for each other are no
//! queue that stays ([`Bursts`]).
//!
//! - While there is no queue the window grows, and losses do not lower it below twice the delivery
//!   rate.
//! - A queue above the target is assumed to be this connection's own: the window is lowered to what
//!   the path holds without one.
//! - If the queue stays although the window was lowered three times, or if two losses show that a
//!   queue was full, other connections cause it. Then the window follows losses as TCP's does;
//!   otherwise this connection would get nothing beside TCP. Every five seconds the window is
//!   lowered for two round trips, to see whether the queue is this connection's own by now
//!   ([`Others`]).
//! - The floor: while acknowledgements arrive and there is no queue above the target, the minimum
//!   rates of the channels may be sent even if the window is full ([`Floor`]).
//! - Signs of life: in silence a packet may be sent now and then even if the window is full
//!   ([`SILENCE`]).

mod beside;
mod bursts;
mod delay;
mod delivery;
mod floor;
#[cfg(test)]
mod tests;

use std::time::Duration;

use beside::Others;
use bursts::Bursts;
use delay::QueueDelay;
use delivery::Delivery;
use floor::Floor;

pub use floor::FLOOR_MOST;

/// The queue above which the window is lowered. It is less than half of the 50 ms by which a
/// conversation may delay itself, because the queue grows further during the one or two round trips
/// until it is noticed.
const TARGET: Duration = Duration::from_millis(20);

/// A queue shorter than this is taken for jitter; with a longer one a loss counts as congestion.
/// SCReAM and GCC ignore queues up to about this length.
const GROWN: Duration = Duration::from_millis(8);

/// How often in a row, two round trips apart, the window is lowered before the queue is attributed
/// to other connections.
const PATIENCE: u32 = 3;
/// The same number for some time after a queue was last attributed to other connections
/// ([`Others`]).
const IMPATIENCE: u32 = 1;

/// Packets of the first window (RFC 9002, section 7.2), below which losses without a queue never
/// lower the window.
const INITIAL: u64 = 10;
/// Packets of the smallest window (RFC 9002, section 7.2).
const LEAST: u64 = 2;
/// Bytes of the largest window: 1 Gbit/s at a round trip of a second.
const MOST: u64 = 128 << 20;

/// The factor by which a loss lowers the window beside other connections (that of Cubic, RFC 9438).
const AFTER_LOSS: f64 = 0.7;
/// Packets by which the window grows per round trip beside other connections. With 0.53 and
/// [`AFTER_LOSS`] it would get as much as Reno (RFC 9438, section 4.3).
const GROWTH: f64 = 0.65;
/// The least growth of the window per round trip while the connection is alone, as a share of the
/// window.
const GROWTH_ALONE: f64 = 1.0 / 16.0;
/// The same until the first queue: half of the growth of slow start, because a queue is noticed one
/// round trip late.
const GROWTH_FIRST: f64 = 0.5;

/// The window when a queue is drained, as a share of what the path holds without one.
const DRAIN: f64 = 0.9;

/// After this time, or two round trips without a queue if that is longer, without a packet sent or
/// acknowledged one packet may be sent even if the window is full. QUIC's own probes (RFC 9002,
/// section 6.2) may come seconds later, because they wait for the smoothed round trip, which a
/// handshake behind a slow link makes long; the other end would give up the connection.
const SILENCE: Duration = Duration::from_millis(250);

/// The assumed cause of the queue. It decides how the window changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// No queue was ever seen: the window grows fast.
    Starting,
    /// This connection causes the queue.
    Alone,
    /// Other connections cause the queue: losses lower the window.
    Beside,
}

/// The number of attempts in a row to drain a queue, and the window and the queue before the first
/// attempt.
#[derive(Debug, Clone, Copy)]
struct Drains {
    count: u32,
    window: u64,
    queue: Duration,
}

/// The congestion control of one path.
///
/// Times count from any moment, the same for all calls. If a time is before that of an earlier
/// call, that one counts.
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
    /// The window in bytes, without the floor.
    window: u64,
    mode: Mode,
    delay: QueueDelay,
    delivery: Delivery,
    bursts: Bursts,
    /// The mean time from when a packet is sent until its acknowledgement arrives, with the delay
    /// of acknowledgements.
    in_flight_time: Option<Duration>,
    floor: Floor,
    in_flight: u64,
    /// When a packet was last sent or acknowledged.
    active: Duration,
    /// Whether the receiver of datagrams has measured that the path carries no more than it does
    /// now.
    is_limited: bool,
    /// The attempts to drain the present queue, if there were any.
    drains: Option<Drains>,
    /// What is known of other connections.
    others: Others,
    /// Whether the window was full at some time since it was lowered.
    was_full: bool,
    /// When the window was last lowered. Packets that were sent before say nothing about the
    /// lowered window.
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
            bursts: Bursts::default(),
            in_flight_time: None,
            floor: Floor::default(),
            in_flight: 0,
            active: Duration::ZERO,
            is_limited: false,
            drains: None,
            others: Others::default(),
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

    /// Forgets all measurements, because packets take another path from now on. Packets that were
    /// sent before do not count.
    pub fn start_over(&mut self) {
        let packet = u16::try_from(self.packet).unwrap_or(u16::MAX);
        let (in_flight, active, now) = (self.in_flight, self.active, self.now);
        *self =
            Congestion { in_flight, active, now, lowered: Some(now), ..Congestion::new(packet) };
    }

    /// Sets the minimum rate of the channels in bytes per second. It counts up to [`FLOOR_MOST`].
    pub fn set_minimum_rate(&mut self, bytes_per_second: u32) {
        self.floor.set_rate(bytes_per_second);
    }

    /// Sets whether the receiver of datagrams has measured that the path carries no more than it
    /// does now. If so, losses count as congestion even without a queue.
    pub fn set_limited(&mut self, is_limited: bool) {
        self.is_limited = is_limited;
    }

    /// Notes that a packet leaves.
    pub fn on_sent(&mut self, now: Duration, bytes: u64) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_add(bytes);
        self.active = now;
        self.floor.on_sent(now, bytes);
    }

    /// Notes the acknowledgement of a packet that was sent at `sent`. `is_idle` says that the
    /// sender had no more to send.
    pub fn on_acknowledged(&mut self, now: Duration, sent: Duration, bytes: u64, is_idle: bool) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.active = now;
        self.floor.on_acknowledged(now);
        self.delivery.on_acknowledged(now, bytes);
        self.bursts.on_acknowledged(sent, self.delivery.time_of(now, bytes));
        let time = now.saturating_sub(sent);
        // As TCP smooths round trips, but for each packet.
        self.in_flight_time =
            Some(self.in_flight_time.map_or(time, |mean| mean - mean / 16 + time / 16));
        let is_recent = self.lowered.is_none_or(|at| sent > at);
        self.was_full |= !is_idle && is_recent;
        let has_own_queue = self.mode != Mode::Beside && self.has_queue(TARGET);
        if !is_idle && is_recent && !has_own_queue {
            self.grow(bytes);
        }
    }

    /// Notes a measured round trip, without the time for which the other end held the
    /// acknowledgement back.
    pub fn on_round_trip(&mut self, now: Duration, round_trip: Duration) {
        let now = self.advance(now);
        self.delay.on_round_trip(now, round_trip, self.bursts.wait());
        self.others.on_round_trip(self.round_trip());
        if self.has_queue(GROWN) {
            self.quiet_since = None;
            if self.mode == Mode::Starting {
                self.mode = Mode::Alone;
            }
        } else if self.quiet_time() + *self.quiet_since.get_or_insert(now) <= now {
            self.drains = None;
            self.others.losses = 0;
            if self.mode == Mode::Beside {
                self.be_alone();
            }
        }
        if self.mode == Mode::Beside {
            self.keep_least();
            self.probe();
        }
        if self.has_queue(TARGET) && self.mode != Mode::Beside && self.has_settled() {
            self.drain();
        }
    }

    /// Notes the loss of a packet that was sent at `sent`.
    pub fn on_lost(&mut self, now: Duration, sent: Duration, bytes: u64) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        if self.lowered.is_some_and(|at| sent <= at) {
            return;
        }
        if self.delay.whole() > self.delay.least() + GROWN {
            return self.on_congestion_loss(bytes);
        }
        if self.is_limited {
            return self.back_off();
        }
        // Losses alone do not lower the window. But if most of a large window is lost, the path
        // does not carry that much.
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

    /// Notes that no packet arrived for long: what is known of the path may be out of date.
    pub fn on_outage(&mut self, now: Duration) {
        self.advance(now);
        self.others.probe = None;
        self.set_window((self.window as f64).min((INITIAL * self.packet) as f64));
    }

    /// Corrects the bytes in flight, because some packets leave the count without a report.
    pub fn set_in_flight(&mut self, bytes: u64) {
        self.in_flight = bytes;
    }

    /// Bytes that may be in flight.
    pub fn window(&self, now: Duration) -> u64 {
        debug_assert!(
            (LEAST * self.packet..=MOST).contains(&self.window),
            "the window stays between two packets and {MOST} bytes"
        );
        let now = now.max(self.now);
        let is_within_floor = !self.has_queue(TARGET) && self.floor.permits(now);
        if !is_within_floor && !self.is_silent(now) {
            return self.window;
        }
        // The transport sends while a full packet fits into the window in addition to the bytes in
        // flight.
        self.window.max(self.in_flight.saturating_add(self.packet + 1)).min(MOST)
    }

    /// The delay that queues on the path add at present, also those that other connections cause.
    pub fn queue(&self) -> Duration {
        self.round_trip() - self.delay.least()
    }

    /// Whether nothing was sent or acknowledged for long.
    fn is_silent(&self, now: Duration) -> bool {
        now.saturating_sub(self.active) >= SILENCE.max(2 * self.delay.least())
    }

    fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    fn has_queue(&self, longer: Duration) -> bool {
        self.queue() > longer
    }

    /// The present round trip. Waits behind packets of the same burst are no standing queue. Beside
    /// other connections they count, because they are computed from the rate of the path, which is
    /// not this connection's then.
    fn round_trip(&self) -> Duration {
        match self.mode {
            Mode::Beside => self.delay.whole(),
            Mode::Starting | Mode::Alone => self.delay.standing(),
        }
    }

    /// Whether the last change of the window shows in the delay by now: the queue shrinks within a
    /// round trip, and another one passes until that is measured.
    fn has_settled(&self) -> bool {
        self.lowered.is_none_or(|at| self.now >= at + 2 * self.round_trip())
    }

    fn grow(&mut self, bytes: u64) {
        let bytes = bytes as f64;
        let per_packet = GROWTH * self.packet as f64 * bytes / self.window as f64;
        let growth = match self.mode {
            Mode::Starting => bytes * GROWTH_FIRST,
            // Other flows may share the link again.
            Mode::Alone if self.others.are_remembered(self.now) => per_packet,
            Mode::Alone => per_packet.max(bytes * GROWTH_ALONE),
            // The growth is per round trip, although the other end holds acknowledgements back.
            Mode::Beside => {
                per_packet * self.time().as_secs_f64() / self.round_trip().as_secs_f64()
            }
        };
        self.set_window(self.window as f64 + growth.max(1.0));
    }

    /// Lowers the window to what the path holds without a queue, or attributes the queue to other
    /// connections.
    fn drain(&mut self) {
        debug_assert!(self.mode == Mode::Alone, "the queue is assumed to be this connection's own");
        let queue = self.delay.queue();
        let mut drains = self.drains.unwrap_or(Drains { count: 0, window: self.window, queue });
        let is_remembered = self.others.are_remembered(self.now);
        let patience = if is_remembered { IMPATIENCE } else { PATIENCE };
        // If this connection causes the queue, the queue shrinks with the window. A connection that
        // never fills the window causes no lasting queue.
        let stays = self.window <= drains.window / 2 && queue > drains.queue / 2;
        if drains.count >= patience && (stays || !self.was_full) {
            let used = self.delivery.bytes_in(self.now, self.time()).min(self.window);
            self.be_beside();
            self.lower(drains.window.min(2 * used.max(self.packet)) as f64);
            return;
        }
        drains.count = drains.count.saturating_add(1);
        self.drains = Some(drains);
        self.lower(self.drained());
    }

    /// The window that makes the queue drain, if it is this connection's own. What the other end
    /// has received and not yet acknowledged is no queue, so it counts as in flight.
    fn drained(&self) -> f64 {
        let time = self.time();
        debug_assert!(time > self.delay.queue(), "packets are in flight for longer than they wait");
        let used = self.delivery.bytes_in(self.now, time).min(self.window);
        used as f64 * (time - self.delay.queue()).as_secs_f64() / time.as_secs_f64() * DRAIN
    }

    /// The mean time that packets are in flight.
    fn time(&self) -> Duration {
        self.in_flight_time.unwrap_or_default().max(self.round_trip())
    }

    /// Lowers the window after a sign of congestion.
    fn back_off(&mut self) {
        self.lower(self.window as f64 * AFTER_LOSS);
        if let Some(window) = &mut self.others.probe {
            *window = (*window as f64 * AFTER_LOSS) as u64;
        }
        if self.mode == Mode::Starting {
            self.mode = Mode::Alone;
        }
    }

    fn lower(&mut self, window: f64) {
        self.lowered = Some(self.now);
        self.others.on_lowered(self.round_trip());
        self.was_full = false;
        self.set_window(window);
    }

    fn set_window(&mut self, window: f64) {
        debug_assert!(!window.is_nan(), "round trips and windows, which divide, are not zero");
        debug_assert!(
            self.others.probe.is_none() || self.mode == Mode::Beside,
            "only beside other connections is the window lowered to see whether they have gone"
        );
        self.window = (window as u64).clamp(LEAST * self.packet, MOST);
    }
}
