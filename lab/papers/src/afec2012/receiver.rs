//! The receiving half: which messages arrived, and which are missing.

use std::collections::VecDeque;
use std::time::Duration;

use super::Delivery;
use super::controller::{Controller, Outcome, Window};
use super::packet::{Header, Message, Report, millis};
use super::path::Path;

/// The most missing messages that are remembered: four seconds of a telepointer (the pointer of
/// another user).
const MISSING: usize = 128;
/// The least time between two reports.
const APART: Duration = Duration::from_millis(5);
/// The time for which the fastest packet counts: clocks drift.
const PERIOD: Duration = Duration::from_secs(10);

/// The receiving half of an endpoint.
#[derive(Debug)]
pub(super) struct Receiver {
    /// `None`: messages never expire.
    deadline: Option<Duration>,
    /// `None` without a controller.
    window: Option<Window>,
    /// The index after the highest one that arrived.
    next: u32,
    /// The messages that may still come in time. Empty without a deadline: a message is lost then
    /// once a newer one arrives before it.
    missing: VecDeque<Missing>,
    /// The time of the newest message at its first sender, and the smoothed interval between
    /// messages in seconds: at first that of the paper's telepointer.
    last_origin: Option<Duration>,
    interval: f64,
    /// The highest packet number that arrived, and when.
    highest: Option<(u16, Duration)>,
    queues: Queues,
    /// The low bits of the newest report's number, when that report was sent, and whether the
    /// sender has confirmed it.
    reported: (u8, Option<Duration>, bool),
    /// Round trips, measured from reports to their confirmations.
    path: Path,
}

/// A message that did not arrive although a newer one did.
#[derive(Debug, Clone, Copy)]
struct Missing {
    index: u32,
    /// The time of the message at its first sender, interpolated between the messages around it.
    origin: Duration,
    /// True once the message counts as lost.
    is_judged: bool,
}

impl Receiver {
    pub(super) fn new(controller: Option<Controller>, deadline: Option<Duration>) -> Self {
        Receiver {
            deadline,
            window: controller.map(Window::new),
            next: 0,
            missing: VecDeque::new(),
            last_origin: None,
            interval: 0.033,
            highest: None,
            queues: Queues::default(),
            reported: (0, None, true),
            path: Path::default(),
        }
    }

    /// Notes a packet that arrived with this header. Returns its delay in queues.
    pub(super) fn arrived(&mut self, now: Duration, header: &Header) -> Duration {
        let is_newer =
            |(newest, _): (u16, Duration)| (header.number.wrapping_sub(newest) as i16) > 0;
        if self.highest.is_none_or(is_newer) {
            self.highest = Some((header.number, now));
        }
        let (number, at, is_confirmed) = self.reported;
        if header.echo == number && !is_confirmed {
            self.reported.2 = true;
            if let (Some(at), Some(held)) = (at, header.held) {
                let held = Duration::from_millis(u64::from(held));
                self.path.sample(now.saturating_sub(at).saturating_sub(held));
            }
        }
        self.queues.arrived(now, header.sent)
    }

    /// Half of the smallest round trip, as measured by the sending half or else by this one; 0 if
    /// it is not known.
    pub(super) fn one_way(&self, sender_path: &Path) -> Duration {
        let path = if sender_path.is_known() { sender_path } else { &self.path };
        if path.is_known() { path.smallest() / 2 } else { Duration::ZERO }
    }

    /// Accepts a message that took `delay`. Delivers it if it is in time and new.
    pub(super) fn message<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        delay: Duration,
        message: &Message<'_>,
        deliver: &mut F,
    ) {
        let age = Duration::from_millis(u64::from(message.age)) + delay;
        let ahead = message.index.wrapping_sub(self.next as u16) as i16;
        if ahead < 0 {
            let index = self.next.wrapping_add_signed(ahead.into());
            let place = self.missing.iter().position(|missing| missing.index == index);
            let missing = place.and_then(|place| self.missing.remove(place));
            if missing.is_none_or(|missing| missing.is_judged) {
                return;
            }
        } else {
            self.note_gap(ahead.unsigned_abs().into(), now.saturating_sub(age));
        }
        let is_in_time = self.deadline.is_none_or(|deadline| age <= deadline);
        self.judge(if is_in_time { Outcome::Met } else { Outcome::Late });
        if is_in_time {
            deliver(Delivery { age, payload: message.payload });
        }
    }

    /// Notes as missing, or as lost, the `gap` messages before one that arrived, which is the
    /// newest one now.
    fn note_gap(&mut self, gap: u32, origin: Duration) {
        if self.deadline.is_none() {
            (0..gap).for_each(|_| self.judge(Outcome::Never));
            self.next = self.next.wrapping_add(gap + 1);
            return;
        }
        let last = self.last_origin.unwrap_or(origin);
        let spacing = origin.saturating_sub(last).as_secs_f64() / f64::from(gap + 1);
        // A longer time between messages is a pause between clusters of messages.
        if spacing < 0.25 {
            self.interval += (spacing - self.interval) / 16.0;
        }
        let spacing = spacing.min(self.interval * 1.25);
        for nth in 0..gap {
            if self.missing.len() == MISSING
                && let Some(oldest) = self.missing.pop_front()
                && !oldest.is_judged
            {
                self.judge(Outcome::Never);
            }
            self.missing.push_back(Missing {
                index: self.next.wrapping_add(nth),
                origin: last + Duration::from_secs_f64(spacing * f64::from(nth + 1)),
                is_judged: false,
            });
        }
        self.next = self.next.wrapping_add(gap + 1);
        self.last_origin = Some(origin);
    }

    /// Counts the missing messages as lost whose deadline has passed.
    pub(super) fn expire(&mut self, now: Duration) {
        let Some(deadline) = self.deadline else { return };
        for place in 0..self.missing.len() {
            let Missing { origin, is_judged, .. } = self.missing[place];
            if !is_judged && origin + deadline < now {
                self.missing[place].is_judged = true;
                self.judge(Outcome::Never);
            }
        }
        while let Some(oldest) = self.missing.front()
            && oldest.is_judged
            && oldest.origin + deadline * 3 < now
        {
            self.missing.pop_front();
        }
    }

    fn judge(&mut self, outcome: Outcome) {
        if let Some(window) = &mut self.window {
            window.push(outcome);
        }
    }

    /// When the controller looks at the error rate next.
    pub(super) fn next_report(&self) -> Option<Duration> {
        let look = self.window.as_ref()?.next_look()?;
        Some(self.reported.1.map_or(look, |at| look.max(at + APART)))
    }

    /// A report, if the controller wants another number of repeats.
    pub(super) fn report(&mut self, now: Duration) -> Option<Report> {
        let step = self.window.as_mut()?.step(now)?;
        let (highest, arrived) = self.highest?;
        let number = (self.reported.0 + 1) & 0b111;
        self.reported = (number, Some(now), false);
        Some(Report { number, highest, hold: millis(now.saturating_sub(arrived)), step })
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.missing.capacity() * size_of::<Missing>()
            + self.window.as_ref().map_or(0, Window::memory)
    }
}

/// How long packets wait in queues: how much longer they took than the fastest one of the last ten
/// to twenty seconds. All numbers are in ms.
#[derive(Debug, Default)]
struct Queues {
    /// The difference of both clocks for the first packet.
    origin: u16,
    /// The smallest differences of this period and of the last one, relative to `origin`.
    smallest: Option<(i16, i16)>,
    /// When this period began.
    since: Duration,
}

impl Queues {
    /// The time that a packet waited, which was sent when the sender's clock showed `sent`.
    fn arrived(&mut self, now: Duration, sent: u16) -> Duration {
        let difference = (now.as_millis() as u16).wrapping_sub(sent);
        let Some((mut this, mut last)) = self.smallest else {
            (self.origin, self.smallest, self.since) = (difference, Some((0, 0)), now);
            return Duration::ZERO;
        };
        let delay = difference.wrapping_sub(self.origin) as i16;
        let age = now.saturating_sub(self.since);
        if age >= PERIOD {
            (this, last) = (delay, if age >= PERIOD * 2 { delay } else { this });
            self.since = now;
        }
        this = this.min(delay);
        self.smallest = Some((this, last));
        let waited = i32::from(delay) - i32::from(this.min(last));
        Duration::from_millis(u64::from(waited.max(0).unsigned_abs()))
    }
}
