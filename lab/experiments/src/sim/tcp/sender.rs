//! The sending half of a connection: what is under way, what was lost, and how much may be sent.
//!
//! Slow start and [`Cubic`], counted in segments as Linux counts, with selective acknowledgements
//! (RFC 6675), loss detected by time and tail loss probes (RFC 8985) and the retransmission timeout
//! of RFC 6298.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use super::cubic::Cubic;
use super::rack::Rack;
use super::rtt::Rto;

/// The most data bytes of a segment: an Ethernet packet without the headers of IP and TCP with
/// timestamps.
const MSS: usize = 1448;
/// Segments that may be under way at first (RFC 6928).
const INITIAL_WINDOW: u32 = 10;

#[derive(Debug)]
pub(super) struct Sender {
    /// The bytes from the first unacknowledged one on.
    buffer: VecDeque<u8>,
    unacknowledged: u64,
    /// The sequence number of the first byte that was never sent.
    next: u64,
    /// Segments that were sent, in the order of the stream.
    flight: VecDeque<Sent>,
    /// The congestion window, in segments.
    window: u32,
    /// The window at which slow start ends.
    threshold: u32,
    cubic: Cubic,
    /// True if the window kept data from being sent at the last attempt.
    limited: bool,
    recovery: Option<Recovery>,
    rto: Rto,
    /// When the retransmission timer expires.
    expires: Option<Duration>,
    rack: Rack,
    /// The time at which a segment that seems lost counts as lost.
    overdue: Option<Duration>,
    probe: Probe,
    last_sent: Duration,
}

/// The state of the tail loss probe: if no acknowledgement comes, one more segment reveals losses
/// sooner than a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    Idle,
    /// The probe is sent at that time.
    At(Duration),
    /// The probe is sent now, even if the window is full.
    Now,
    /// The probe was sent, when this was the next sequence number. Only one probe is under way at a
    /// time.
    Until(u64),
}

#[derive(Debug)]
struct Sent {
    seq: u64,
    len: usize,
    at: Duration,
    again: bool,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Arrived,
    Lost,
}

/// The recovery from a loss, until all data that was sent before the loss was noticed has been
/// acknowledged.
#[derive(Debug)]
struct Recovery {
    until: u64,
    /// After a timeout the window grows from one segment; otherwise it shrinks to the threshold, by
    /// proportional rate reduction (RFC 9937): for each segment that arrives about one goes.
    timed_out: bool,
    /// The window before the loss.
    prior: u32,
    /// Segments that have arrived since then, and segments that were sent.
    delivered: u32,
    out: u32,
}

/// A range of the stream to be sent.
pub(super) struct Chunk {
    pub(super) seq: u64,
    pub(super) len: usize,
}

impl Default for Sender {
    fn default() -> Self {
        Sender {
            buffer: VecDeque::new(),
            unacknowledged: 0,
            next: 0,
            flight: VecDeque::new(),
            window: INITIAL_WINDOW,
            threshold: u32::MAX,
            cubic: Cubic::default(),
            limited: false,
            recovery: None,
            rto: Rto::default(),
            expires: None,
            rack: Rack::default(),
            overdue: None,
            probe: Probe::Idle,
            last_sent: Duration::ZERO,
        }
    }
}

impl Sender {
    /// Appends bytes to the stream.
    pub(super) fn write(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.buffer.extend(bytes);
    }

    /// Bytes that are not yet acknowledged.
    pub(super) fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that were never sent.
    pub(super) fn unsent(&self) -> usize {
        self.buffer.len() - (self.next - self.unacknowledged) as usize
    }

    /// The sequence number of the first byte that was never sent.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The time at which the first of its timers expires, if one runs.
    pub(super) fn expires(&self) -> Option<Duration> {
        let probe = match self.probe {
            Probe::At(time) => Some(time),
            _ => None,
        };
        [self.expires, self.overdue, probe].into_iter().flatten().min()
    }

    /// Handles an acknowledgement.
    pub(super) fn acknowledged(&mut self, now: Duration, ack: u64, sacks: &[Range<u64>]) {
        if ack > self.next {
            return;
        }
        let under_way = self.flight.len() as u32;
        let (mut sample, mut repeated) = (None, false);
        let (mut arrived, mut delivered) = (0, 0);
        while let Some(first) = self.flight.front()
            && first.seq + first.len as u64 <= ack
        {
            if first.fate != Fate::Arrived {
                let end = first.seq + first.len as u64;
                self.rack.arrived(now, first.at, end, first.again);
                sample.get_or_insert(now - first.at);
                delivered += 1;
            }
            repeated |= first.again;
            arrived += 1;
            self.flight.pop_front();
        }
        // The beginning of segments that were joined may have arrived by itself.
        if let Some(first) = self.flight.front_mut().filter(|first| first.seq < ack) {
            first.len -= (ack - first.seq) as usize;
            first.seq = ack;
        }
        // If one of the segments was sent twice, the others may have arrived long ago, and been
        // acknowledged only with it: no sample is taken (Karn's algorithm).
        sample = sample.filter(|_| !repeated);
        for sent in &mut self.flight {
            let end = sent.seq + sent.len as u64;
            let covers = |block: &&Range<u64>| block.start <= sent.seq && end <= block.end;
            if sent.fate != Fate::Arrived && sacks.iter().find(covers).is_some() {
                self.rack.arrived(now, sent.at, end, sent.again);
                if !sent.again {
                    sample.get_or_insert(now - sent.at);
                }
                sent.fate = Fate::Arrived;
                delivered += 1;
            }
        }
        if let Some(rtt) = sample {
            self.rto.measured(rtt);
        }
        let advanced = ack > self.unacknowledged;
        if advanced {
            self.buffer.drain(..(ack - self.unacknowledged) as usize);
            self.unacknowledged = ack;
            self.rto.recover();
            self.expires = (!self.flight.is_empty()).then(|| now + self.rto.timeout());
            self.grow(now, arrived, under_way);
            if let Some(recovery) = self.recovery.take_if(|recovery| recovery.until <= ack)
                && !recovery.timed_out
            {
                self.window = self.threshold;
            }
            if matches!(self.probe, Probe::Until(end) if end <= ack) {
                self.probe = Probe::Idle;
            }
        }
        let found = self.find_lost(now);
        self.reduce(delivered, advanced && !found);
        // An acknowledgement of nothing new, as in each packet of the other direction, must not
        // delay the timer.
        if advanced || !self.may_probe() {
            self.plan_probe(now);
        }
    }

    /// Handles the timers that have expired.
    pub(super) fn check_timers(&mut self, now: Duration) {
        if self.overdue.is_some_and(|overdue| overdue <= now) {
            let was_recovering = self.recovery.is_some();
            if self.find_lost(now) && !was_recovering {
                self.reduce(1, false);
            }
            self.plan_probe(now);
        }
        if matches!(self.probe, Probe::At(time) if time <= now) {
            self.probe = Probe::Now;
            self.expires = Some(now + self.rto.timeout());
        }
        if self.expires.is_some_and(|expires| expires <= now) {
            self.time_out(now);
        }
    }

    /// Takes all segments for lost that are not known to have arrived, but those that were sent
    /// less than a round trip ago.
    fn time_out(&mut self, now: Duration) {
        let (rtt, mut recent) = (self.rack.rtt(), 0);
        for (place, sent) in self.flight.iter_mut().enumerate() {
            match sent.fate {
                Fate::Arrived => {}
                _ if place > 0 && now < sent.at + rtt => recent += 1,
                _ => sent.fate = Fate::Lost,
            }
        }
        // A second timeout reveals nothing new about the path's capacity (RFC 5681, 3.1).
        if !self.recovery.as_ref().is_some_and(|recovery| recovery.timed_out) {
            self.threshold = self.cubic.lost(self.window);
        }
        self.cubic.reset();
        self.window = recent + 1;
        self.recover(true, self.window);
        (self.probe, self.overdue) = (Probe::Idle, None);
        self.rto.back_off();
        self.expires = Some(now + self.rto.timeout());
    }

    /// The next range that may be sent now: first what was lost, then new data.
    pub(super) fn send(&mut self, now: Duration) -> Option<Chunk> {
        if self.probe == Probe::Now {
            return self.send_probe(now);
        }
        let window = self.window_after_idle(now);
        let lost = self.flight.iter().position(|sent| sent.fate == Fate::Lost);
        let unsent = self.unsent();
        let something = lost.is_some() || unsent > 0;
        let room = self.under_way() < window;
        self.limited = something && !room;
        if !something || !room {
            return None;
        }
        self.window = window;
        self.last_sent = now;
        if let Some(recovery) = &mut self.recovery {
            recovery.out += 1;
        }
        let Some(lost) = lost else {
            let chunk = self.send_new(now, unsent.min(MSS));
            self.plan_probe(now);
            return Some(chunk);
        };
        if lost == 0 {
            self.expires = Some(now + self.rto.timeout());
        }
        Some(self.send_again(now, lost))
    }

    /// The bytes of a chunk.
    pub(super) fn copy(&self, chunk: &Chunk, out: &mut Vec<u8>) {
        let start = (chunk.seq - self.unacknowledged) as usize;
        out.extend(self.buffer.range(start..start + chunk.len));
    }

    fn send_new(&mut self, now: Duration, len: usize) -> Chunk {
        let seq = self.next;
        self.next += len as u64;
        self.flight.push_back(Sent { seq, len, at: now, again: false, fate: Fate::UnderWay });
        self.expires.get_or_insert(now + self.rto.timeout());
        Chunk { seq, len }
    }

    /// Sends a segment again, joined with those after it that have not arrived, as far as they fit
    /// into one (Linux's `tcp_retrans_collapse`).
    fn send_again(&mut self, now: Duration, place: usize) -> Chunk {
        let (mut len, mut end) = (self.flight[place].len, place + 1);
        while let Some(next) = self.flight.get(end)
            && next.fate != Fate::Arrived
            && len + next.len <= MSS
        {
            len += next.len;
            end += 1;
        }
        self.flight.drain(place + 1..end);
        let sent = &mut self.flight[place];
        *sent = Sent { len, at: now, again: true, fate: Fate::UnderWay, ..*sent };
        Chunk { seq: sent.seq, len }
    }

    /// Sends new data if there is some, otherwise the last segment once more.
    fn send_probe(&mut self, now: Duration) -> Option<Chunk> {
        self.last_sent = now;
        let unsent = self.unsent();
        let last = self.flight.len().checked_sub(1);
        let chunk = match last {
            _ if unsent > 0 => Some(self.send_new(now, unsent.min(MSS))),
            last => last.map(|last| self.send_again(now, last)),
        };
        self.probe = Probe::Until(self.next);
        chunk
    }

    /// There is no probe while losses are known or something is missing, which has its own timer
    /// (RFC 8985, 7.2).
    fn may_probe(&self) -> bool {
        self.recovery.is_none() && self.flight.iter().all(|sent| sent.fate == Fate::UnderWay)
    }

    /// Puts the probe off, to the time at which the newest segments should have been acknowledged,
    /// at most to the timeout.
    fn plan_probe(&mut self, now: Duration) {
        if matches!(self.probe, Probe::Until(_) | Probe::Now) {
            return;
        }
        self.probe = match self.expires.filter(|_| self.may_probe()) {
            Some(expires) => {
                let probe = now + self.rto.probe_timeout(self.flight.len() == 1);
                Probe::At(probe.min(expires))
            }
            None => Probe::Idle,
        };
    }

    /// The window halves with each timeout's time in which nothing was sent, down to the first
    /// window (RFC 2861, 3.1, as Linux does it).
    fn window_after_idle(&self, now: Duration) -> u32 {
        if !self.flight.is_empty() || self.window <= INITIAL_WINDOW {
            return self.window;
        }
        let idle = (now - self.last_sent).as_nanos() / self.rto.timeout().as_nanos().max(1);
        (self.window >> idle.min(31)).max(INITIAL_WINDOW)
    }

    /// Grows the window for segments acknowledged in order: by each in slow start, slower after it,
    /// if the window is what limits.
    fn grow(&mut self, now: Duration, arrived: u32, under_way: u32) {
        let slow_start = self.window < self.threshold;
        // In slow start Linux grows the window while at least half of it is used.
        let used = self.limited || (slow_start && self.window < 2 * under_way);
        if !used || self.recovery.as_ref().is_some_and(|recovery| !recovery.timed_out) {
            return;
        }
        if slow_start {
            self.window = (self.window + arrived).min(self.threshold);
            return;
        }
        self.window += self.cubic.grow(now, self.rack.rtt(), self.window, arrived);
    }

    /// Segments that are neither known to have arrived nor taken for lost.
    fn under_way(&self) -> u32 {
        self.flight.iter().filter(|sent| sent.fate == Fate::UnderWay).count() as u32
    }

    fn recover(&mut self, timed_out: bool, prior: u32) {
        self.recovery = Some(Recovery { until: self.next, timed_out, prior, delivered: 0, out: 0 });
    }

    /// Sets the window while it shrinks to the threshold, when `delivered` segments have arrived;
    /// `goes_well`: without a hole at the beginning that grew.
    fn reduce(&mut self, delivered: u32, goes_well: bool) {
        let under_way = self.under_way();
        let Some(recovery) = self.recovery.as_mut().filter(|recovery| !recovery.timed_out) else {
            return;
        };
        if delivered == 0 {
            return;
        }
        recovery.delivered += delivered;
        let room = if under_way > self.threshold {
            let share = (self.threshold * recovery.delivered).div_ceil(recovery.prior.max(1));
            share.saturating_sub(recovery.out)
        } else {
            let conserved = recovery.delivered.saturating_sub(recovery.out).max(delivered);
            (conserved + u32::from(goes_well)).min(self.threshold - under_way)
        };
        // The first segment of a recovery is always sent.
        let least = u32::from(recovery.out == 0);
        self.window = under_way + room.max(least);
    }

    /// Takes segments for lost whose time has passed, and plans the next check. Returns whether
    /// there were any.
    fn find_lost(&mut self, now: Duration) -> bool {
        let arrived = self.flight.iter().filter(|sent| sent.fate == Fate::Arrived).count();
        let slack = self.rack.slack(self.recovery.is_some(), arrived);
        let mut found = false;
        self.overdue = None;
        for sent in self.flight.iter_mut().filter(|sent| sent.fate == Fate::UnderWay) {
            match self.rack.lost_at(sent.at, sent.seq + sent.len as u64, slack) {
                Some(time) if time <= now => {
                    sent.fate = Fate::Lost;
                    found = true;
                }
                // One timer, at the latest of these times, serves for all segments that seem lost.
                later => self.overdue = self.overdue.max(later),
            }
        }
        if found && self.recovery.is_none() {
            let prior = self.window;
            self.threshold = self.cubic.lost(prior);
            self.recover(false, prior);
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of blocks")]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Sends all segments that may be sent. Returns their sequence numbers.
    fn sent(sender: &mut Sender, now: Duration) -> Vec<u64> {
        std::iter::from_fn(|| sender.send(now)).map(|chunk| chunk.seq / MSS as u64).collect()
    }

    fn segments(count: usize) -> Sender {
        let mut sender = Sender::default();
        sender.write(std::iter::repeat_n(0, count * MSS));
        sender
    }

    fn at(segment: u64) -> u64 {
        segment * MSS as u64
    }

    #[test]
    fn slow_start_doubles_the_window() {
        let mut sender = segments(200);
        assert_eq!(sent(&mut sender, MS), Vec::from_iter(0..10));
        for ack in 1..=10 {
            sender.acknowledged(100 * MS, at(ack), &[]);
        }
        assert_eq!(sent(&mut sender, 100 * MS), Vec::from_iter(10..30));
        assert_eq!(sender.pending(), 190 * MSS);
    }

    #[test]
    fn three_later_segments_show_a_loss_and_shrink_the_window() {
        let mut sender = segments(200);
        sent(&mut sender, MS);
        sender.acknowledged(100 * MS, at(0), &[at(1)..at(2)]);
        sender.acknowledged(100 * MS, at(0), &[at(1)..at(3)]);
        assert_eq!(sent(&mut sender, 100 * MS), [10, 11], "limited transmit");
        sender.acknowledged(101 * MS, at(0), &[at(1)..at(4)]);
        assert_eq!(sent(&mut sender, 101 * MS), [0], "though more than the window is under way");
        assert_eq!((sender.window, sender.threshold), (9, 7));
        sender.acknowledged(200 * MS, at(12), &[]);
        assert_eq!(sent(&mut sender, 200 * MS), Vec::from_iter(12..19));
        assert!(sender.recovery.is_none());
        // From here on the window grows slowly.
        for ack in 13..=19 {
            sender.acknowledged(300 * MS, at(ack), &[]);
        }
        assert_eq!(sent(&mut sender, 300 * MS), Vec::from_iter(19..26));
    }

    #[test]
    fn a_timeout_starts_over_with_one_segment_and_backs_off() {
        let mut sender = segments(20);
        sent(&mut sender, Duration::ZERO);
        assert_eq!(sender.expires(), Some(1000 * MS));
        sender.check_timers(999 * MS);
        assert!(sent(&mut sender, 999 * MS).is_empty());
        sender.check_timers(1000 * MS);
        assert_eq!(sent(&mut sender, 1000 * MS), [10], "a probe");
        sender.check_timers(2000 * MS);
        assert_eq!(sent(&mut sender, 2000 * MS), [0]);
        assert_eq!(sender.expires(), Some(4000 * MS));
        sender.check_timers(4000 * MS);
        assert_eq!(sent(&mut sender, 4000 * MS), [0]);
        assert_eq!(sender.expires(), Some(8000 * MS));
        assert_eq!((sender.window, sender.threshold), (1, 7));
        sender.acknowledged(4100 * MS, at(1), &[at(5)..at(7)]);
        assert_eq!(sent(&mut sender, 4100 * MS), [1, 2]);
        sender.acknowledged(4200 * MS, at(3), &[at(5)..at(7)]);
        assert_eq!(sent(&mut sender, 4200 * MS), [3, 4, 7, 8], "what arrived is not sent again");
    }

    #[test]
    fn one_later_segment_and_a_quarter_round_trip_show_a_loss() {
        let mut sender = segments(2);
        sent(&mut sender, Duration::ZERO);
        sender.acknowledged(100 * MS, at(0), &[at(1)..at(2)]);
        assert_eq!(sender.expires(), Some(125 * MS));
        sender.check_timers(124 * MS);
        assert!(sent(&mut sender, 124 * MS).is_empty());
        sender.check_timers(125 * MS);
        assert_eq!(sent(&mut sender, 125 * MS), [0]);
        // One segment has arrived, so one was sent: new data waits.
        sender.write(std::iter::repeat_n(0, MSS));
        assert!(sent(&mut sender, 130 * MS).is_empty());
        sender.acknowledged(225 * MS, at(2), &[]);
        assert_eq!(sent(&mut sender, 225 * MS), [2]);
    }

    #[test]
    fn a_probe_finds_a_lost_tail_before_the_timeout() {
        let mut sender = segments(1);
        sent(&mut sender, Duration::ZERO);
        sender.acknowledged(100 * MS, at(1), &[]);
        sender.write(std::iter::repeat_n(0, 3 * MSS));
        assert_eq!(sent(&mut sender, 200 * MS), [1, 2, 3]);
        // The probe comes after two round trips of 100 ms and 2 ms; the timeout would come after
        // 300 ms.
        sender.acknowledged(300 * MS, at(1), &[]);
        assert_eq!(sender.expires(), Some(402 * MS), "nothing new puts nothing off");
        sender.check_timers(402 * MS);
        assert_eq!(sent(&mut sender, 402 * MS), [3]);
        sender.acknowledged(502 * MS, at(1), &[at(3)..at(4)]);
        assert_eq!(sent(&mut sender, 502 * MS), [1]);
        sender.acknowledged(602 * MS, at(2), &[at(3)..at(4)]);
        assert_eq!(sent(&mut sender, 602 * MS), [2]);
    }

    #[test]
    fn small_segments_that_are_sent_again_are_joined_up_to_what_has_arrived() {
        let mut sender = Sender::default();
        for n in 0..6 {
            sender.write([n; 20]);
            assert!(sender.send(MS * u32::from(n)).is_some());
        }
        // The fifth segment has arrived; the first two were sent long enough before it.
        sender.acknowledged(100 * MS, 0, &[80..100]);
        sender.check_timers(130 * MS);
        let chunk = sender.send(130 * MS).unwrap();
        assert_eq!((chunk.seq, chunk.len), (0, 80));
        assert!(sender.send(130 * MS).is_none());
        // The first segment had arrived after all, and only its acknowledgement was lost.
        sender.acknowledged(150 * MS, 20, &[80..100]);
        let first = sender.flight.front().map(|first| (first.seq, first.len));
        assert_eq!((first, sender.pending()), (Some((20, 60)), 100));
    }

    #[test]
    fn small_writes_do_not_wait_nor_grow_the_window() {
        let mut sender = Sender::default();
        for n in 0..100 {
            sender.write([n; 20]);
            let chunk = sender.send(MS * u32::from(n) * 30).unwrap();
            assert_eq!((chunk.seq, chunk.len), (u64::from(n) * 20, 20));
            sender.acknowledged(MS * (u32::from(n) * 30 + 20), chunk.seq + 20, &[]);
        }
        assert_eq!(sender.window, INITIAL_WINDOW);
    }

    #[test]
    fn acknowledgements_of_what_was_never_sent_are_ignored() {
        let mut sender = segments(20);
        sent(&mut sender, MS);
        sender.acknowledged(2 * MS, at(11), &[at(12)..at(30)]);
        assert_eq!(sender.pending(), 20 * MSS);
    }
}
