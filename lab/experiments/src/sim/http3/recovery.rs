//! The packets under way, loss detection, and the window (RFC 9002).

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use super::ends::Asking;
use super::packet::MTU;
use super::window::Window;
use super::{Ends, Side};

/// Later packets that arrived before an earlier one counts as lost (RFC 9002, 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// The round trip before one was measured (RFC 9002, 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);
/// The granularity of timers (RFC 9002, 6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);
/// PINGs after a timeout, as quinn sends them.
const PROBES: u8 = 2;

#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) asking: Asking,
    next: u64,
    under_way: BTreeMap<u64, Sent>,
    largest_acknowledged: Option<u64>,
    rtt: Option<Rtt>,
    /// The number of timeouts without an acknowledgement between them.
    timeouts: u32,
    last_eliciting: Duration,
    /// The time at which a packet that may be lost counts as lost.
    loss_at: Option<Duration>,
    /// Packets to be sent even if the window is full.
    pub(super) probes: u8,
    pub(super) window: Window,
    in_flight: usize,
    /// Whether there was no data left to send, when data was last looked for.
    pub(super) is_idle: bool,
}

#[derive(Debug, Clone, Copy)]
struct Rtt {
    latest: Duration,
    least: Duration,
    smooth: Duration,
    variation: Duration,
}

/// A packet that was sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) at: Duration,
    pub(super) bytes: usize,
    pub(super) is_eliciting: bool,
    /// The range of the stream in it.
    pub(super) stream: Option<Range<u64>>,
    /// The largest packet that it acknowledged.
    pub(super) ack: Option<u64>,
}

/// The effects of an acknowledgement.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) acked: Vec<Range<u64>>,
    pub(super) lost: Vec<Range<u64>>,
    /// Acknowledgements up to this packet arrived.
    pub(super) acks_seen: Option<u64>,
}

impl Recovery {
    pub(super) fn new(ends: Ends, side: Side) -> Self {
        Recovery {
            asking: Asking::new(ends),
            next: 0,
            under_way: BTreeMap::new(),
            largest_acknowledged: None,
            rtt: None,
            timeouts: 0,
            last_eliciting: Duration::ZERO,
            loss_at: None,
            probes: 0,
            window: Window::new(ends, side),
            in_flight: 0,
            is_idle: true,
        }
    }
}

impl Sent {
    pub(super) fn at(at: Duration) -> Self {
        Sent { at, ..Sent::default() }
    }
}

impl Recovery {
    pub(super) fn next_number(&self) -> u64 {
        self.next
    }

    pub(super) fn sent(&mut self, number: u64, sent: Sent) {
        self.next = number + 1;
        // Packets that have nothing but acknowledgements in them are not acknowledged.
        if sent.is_eliciting {
            self.probes = self.probes.saturating_sub(1);
            self.in_flight += sent.bytes;
            self.window.on_sent(sent.at, sent.bytes);
            self.last_eliciting = sent.at;
            self.under_way.insert(number, sent);
        }
    }

    pub(super) fn has_room(&self, now: Duration) -> bool {
        (self.in_flight + MTU) as u64 <= self.window.bytes(now)
    }

    pub(super) fn acknowledged(
        &mut self,
        now: Duration,
        ranges: &[Range<u64>],
        delay: Duration,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let largest = ranges.first().map(|newest| newest.end - 1);
        for range in ranges {
            let numbers: Vec<u64> =
                self.under_way.range(range.clone()).map(|(number, _)| *number).collect();
            for number in numbers {
                let Some(sent) = self.under_way.remove(&number) else { continue };
                if Some(number) == largest {
                    self.measured(now, now - sent.at, delay.min(self.asking.delay()));
                }
                self.asking.acknowledged(number);
                self.in_flight -= sent.bytes;
                self.window.on_acknowledged(now, &sent, self.is_idle);
                self.timeouts = 0;
                outcome.acked.extend(sent.stream);
                outcome.acks_seen = outcome.acks_seen.max(sent.ack);
            }
        }
        self.largest_acknowledged = self.largest_acknowledged.max(largest);
        outcome.lost = self.detect_lost(now);
        outcome
    }

    /// Declares packets lost whose time has run out, and returns the ranges of the stream in them.
    /// A probe timeout asks for probes.
    pub(super) fn check_timers(&mut self, now: Duration) -> Vec<Range<u64>> {
        if self.loss_at.is_some_and(|at| at <= now) {
            return self.detect_lost(now);
        }
        if self.timer().is_some_and(|at| at <= now) {
            self.timeouts += 1;
            self.probes = PROBES;
        }
        Vec::new()
    }

    /// The round trip, measured or assumed.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt.map_or(INITIAL_RTT, |rtt| rtt.smooth)
    }

    pub(super) fn timer(&self) -> Option<Duration> {
        if self.under_way.is_empty() {
            return None;
        }
        Some(self.loss_at.unwrap_or_else(|| {
            let (smooth, variation) =
                self.rtt.map_or((INITIAL_RTT, INITIAL_RTT / 2), |rtt| (rtt.smooth, rtt.variation));
            let timeout = smooth + (variation * 4).max(GRANULARITY) + self.asking.delay();
            self.last_eliciting + timeout * 2_u32.pow(self.timeouts.min(10))
        }))
    }

    fn detect_lost(&mut self, now: Duration) -> Vec<Range<u64>> {
        self.loss_at = None;
        let (Some(largest), Some(rtt)) = (self.largest_acknowledged, self.rtt) else {
            return Vec::new();
        };
        let patience = (rtt.smooth.max(rtt.latest) * 9 / 8).max(GRANULARITY);
        let mut lost = Vec::new();
        let before: Vec<u64> = self.under_way.range(..largest).map(|(number, _)| *number).collect();
        for number in before {
            let at = self.under_way[&number].at;
            if number + PACKET_THRESHOLD > largest && at + patience > now {
                let due = at + patience;
                self.loss_at = Some(self.loss_at.map_or(due, |before| before.min(due)));
            } else if let Some(sent) = self.under_way.remove(&number) {
                self.in_flight -= sent.bytes;
                self.window.on_lost(now, &sent);
                lost.extend(sent.stream);
            }
        }
        lost
    }

    fn measured(&mut self, now: Duration, latest: Duration, delay: Duration) {
        let Some(rtt) = &mut self.rtt else {
            self.rtt = Some(Rtt { latest, least: latest, smooth: latest, variation: latest / 2 });
            self.window.on_round_trip(now, latest);
            return;
        };
        rtt.latest = latest;
        rtt.least = rtt.least.min(latest);
        let adjusted = if latest >= rtt.least + delay { latest - delay } else { latest };
        rtt.variation = rtt.variation * 3 / 4 + rtt.smooth.abs_diff(adjusted) / 4;
        rtt.smooth = rtt.smooth * 7 / 8 + adjusted / 8;
        self.window.on_round_trip(now, adjusted);
    }
}
