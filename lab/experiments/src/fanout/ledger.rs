//! The times at which messages were sent, shared by senders and receivers; and the counts and
//! latencies of one receiver.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::message::{Name, find, hash};

/// The send times of all messages, in nanoseconds since the origin.
pub(crate) struct Ledger {
    origin: Instant,
    /// The messages, by sender and number.
    sent: Vec<Vec<Slot>>,
    /// Arrivals between these times count for rates.
    from: AtomicU64,
    until: AtomicU64,
}

#[derive(Default)]
struct Slot {
    /// The send time; 0: not sent.
    at: AtomicU64,
    hash: AtomicU64,
}

impl Ledger {
    /// A ledger for `senders` senders of `messages` messages each.
    pub(crate) fn new(senders: usize, messages: usize) -> Self {
        let slots = || std::iter::repeat_with(Slot::default).take(messages).collect();
        Ledger {
            origin: Instant::now(),
            sent: (0..senders).map(|_| slots()).collect(),
            from: AtomicU64::new(u64::MAX),
            until: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Records that a message is sent now. Returns false if there are more than were planned.
    pub(super) fn send(&self, name: Name, message: &[u8]) -> bool {
        let Some(slot) = self.slot(name) else { return false };
        slot.hash.store(hash(message), Ordering::Relaxed);
        slot.at.store(self.now(), Ordering::Release);
        true
    }

    /// The send time of a message. `None`: it was not sent, or differs from what was sent.
    pub(super) fn sent(&self, name: Name, message: &[u8]) -> Option<u64> {
        let slot = self.slot(name)?;
        let at = slot.at.load(Ordering::Acquire);
        (at > 0 && slot.hash.load(Ordering::Relaxed) == hash(message)).then_some(at)
    }

    /// Lets arrivals count from now on.
    pub(crate) fn open(&self) {
        self.from.store(self.now(), Ordering::Relaxed);
    }

    /// Lets arrivals count no more.
    pub(crate) fn close(&self) {
        self.until.store(self.now(), Ordering::Relaxed);
    }

    /// The send time of a message of which only the name is known. `None`: it was not sent.
    fn sent_at(&self, name: Name) -> Option<u64> {
        let at = self.slot(name)?.at.load(Ordering::Acquire);
        (at > 0).then_some(at)
    }

    pub(crate) fn window(&self) -> Duration {
        let (from, until) = (self.from.load(Ordering::Relaxed), self.until.load(Ordering::Relaxed));
        Duration::from_nanos(until.saturating_sub(from))
    }

    pub(super) fn is_within(&self, at: u64) -> bool {
        at >= self.from.load(Ordering::Relaxed) && at < self.until.load(Ordering::Relaxed)
    }

    /// Messages that were sent, by sender.
    pub(crate) fn totals(&self) -> Vec<u64> {
        let count = |slots: &Vec<Slot>| {
            slots.iter().take_while(|slot| slot.at.load(Ordering::Acquire) > 0).count() as u64
        };
        self.sent.iter().map(count).collect()
    }

    pub(super) fn senders(&self) -> usize {
        self.sent.len()
    }

    fn slot(&self, name: Name) -> Option<&Slot> {
        self.sent.get(name.sender)?.get(name.number as usize)
    }
}

/// The messages that one receiver got.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// The number of this receiver as a sender, if it sends: servers may or may not return its own
    /// messages.
    own: Option<usize>,
    /// The received messages of each sender.
    streams: Vec<ReceivedSet>,
    /// Different messages that arrived unchanged.
    pub(crate) arrived: u64,
    /// The messages of `arrived` that arrived within the measured window.
    pub(crate) counted: u64,
    /// Messages that differ from what was sent, or that were never sent.
    pub(super) altered: u64,
    /// Messages that arrived again although the transport should not repeat them.
    pub(super) repeated: u64,
    /// True for a follower of groups: its client does not know their messages, and may get some of
    /// them as well.
    pub(super) follows: bool,
    /// Messages that arrived after a later one of the same sender.
    pub(super) disordered: u64,
    /// The latencies of messages that arrived within the window, in ms, if they are recorded.
    pub(crate) latencies: Option<Vec<f64>>,
}

impl Tally {
    pub(super) fn new(own: Option<usize>, is_sampled: bool) -> Self {
        Tally { own, latencies: is_sampled.then(Vec::new), ..Tally::default() }
    }

    /// Counts all messages within some bytes.
    pub(super) fn take(&mut self, ledger: &Ledger, at: u64, bytes: &[u8]) {
        for (name, message) in find(bytes) {
            if self.own != Some(name.sender) {
                self.count(ledger, at, name, message);
            }
        }
    }

    /// Counts messages that are known to be intact, and the number of others. Datagrams of groups
    /// repeat some messages (wire W73), which a client drops.
    pub(super) fn follow(&mut self, ledger: &Ledger, at: u64, names: &[Name], altered: u64) {
        self.altered += altered;
        let own = self.own;
        for &name in names.iter().filter(|name| own != Some(name.sender)) {
            if self.stream(name.sender).take(name.number) {
                self.arrived += 1;
                self.counted += u64::from(ledger.is_within(at));
            }
        }
    }

    /// Counts a message of which only the sender and the lower 16 bits of its number arrived.
    pub(super) fn take_name(&mut self, ledger: &Ledger, at: u64, sender: usize, low: u16) {
        if self.own == Some(sender) {
            return;
        }
        if sender >= ledger.senders() {
            self.altered += 1;
            return;
        }
        let next = self.stream(sender).next;
        let number = next.wrapping_add_signed(i32::from(low.wrapping_sub(next as u16) as i16));
        let name = Name { sender, number };
        self.arrive(ledger, at, name, ledger.sent_at(name));
    }

    fn count(&mut self, ledger: &Ledger, at: u64, name: Name, message: &[u8]) {
        self.arrive(ledger, at, name, ledger.sent(name, message));
    }

    /// Counts a message that was sent at `sent`; `None`: it was never sent.
    fn arrive(&mut self, ledger: &Ledger, at: u64, name: Name, sent: Option<u64>) {
        let Some(sent) = sent else {
            self.altered += 1;
            return;
        };
        let stream = self.stream(name.sender);
        let (is_new, is_late) = (stream.take(name.number), name.number + 1 < stream.next);
        if !is_new {
            self.repeated += u64::from(!self.follows);
            return;
        }
        self.disordered += u64::from(is_late);
        self.arrived += 1;
        if ledger.is_within(at) {
            self.counted += 1;
            if let Some(latencies) = &mut self.latencies {
                latencies.push(at.saturating_sub(sent) as f64 / 1e6);
            }
        }
    }

    fn stream(&mut self, sender: usize) -> &mut ReceivedSet {
        if self.streams.len() <= sender {
            self.streams.resize(sender + 1, ReceivedSet::default());
        }
        &mut self.streams[sender]
    }

    /// Whether all messages of others arrived, once, in order, and intact.
    pub(crate) fn is_perfect(&self, totals: &[u64]) -> bool {
        let wrong = self.altered + self.repeated + self.disordered;
        wrong == 0 && self.arrived == self.due(totals)
    }

    /// The number of messages that other clients sent.
    pub(crate) fn due(&self, totals: &[u64]) -> u64 {
        let others = totals.iter().enumerate().filter(|(sender, _)| Some(*sender) != self.own);
        others.map(|(_, count)| count).sum()
    }
}

/// The numbers of the messages of one sender that arrived.
#[derive(Debug, Clone, Default)]
struct ReceivedSet {
    /// The number after the highest one that arrived.
    next: u32,
    /// A bit for each number.
    came: Vec<u64>,
}

impl ReceivedSet {
    /// Adds a number. Returns false if it arrived before. The ledger bounds numbers.
    fn take(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.came.len() <= word {
            self.came.resize(word + 1, 0);
        }
        let is_new = self.came[word] & bit == 0;
        self.came[word] |= bit;
        self.next = self.next.max(number + 1);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Pointer;
    use super::*;

    #[test]
    fn what_is_missing_repeated_or_altered_is_told() {
        let ledger = Ledger::new(2, 10);
        ledger.open();
        let (mut one, mut two) = (Pointer::new(0, 1), Pointer::new(1, 1));
        let send = |pointer: &mut Pointer| {
            let (name, message) = pointer.next(1_764_012_345_678);
            assert!(ledger.send(name, &message));
            message
        };
        let messages = [send(&mut one), send(&mut one), send(&mut two)];
        let totals = ledger.totals();
        assert_eq!(totals, [2, 1]);

        let mut right = Tally::new(None, true);
        messages.iter().for_each(|message| right.take(&ledger, ledger.now(), message));
        assert!(right.is_perfect(&totals));
        assert_eq!((right.counted, right.latencies.as_ref().map(Vec::len)), (3, Some(3)));

        let mut own = Tally::new(Some(0), false);
        messages.iter().for_each(|message| own.take(&ledger, ledger.now(), message));
        assert!(own.is_perfect(&totals));
        assert_eq!((own.arrived, own.due(&totals)), (1, 1));

        let mut again = Tally::new(None, false);
        again.take(&ledger, ledger.now(), &messages[1]);
        again.take(&ledger, ledger.now(), &messages[0]);
        again.take(&ledger, ledger.now(), &messages[2]);
        assert_eq!((again.arrived, again.disordered, again.repeated), (3, 1, 0));
        again.take(&ledger, ledger.now(), &messages[2]);
        assert_eq!((again.arrived, again.disordered, again.repeated), (3, 1, 1));
        assert!(!again.is_perfect(&totals));

        let mut follower = Tally::new(Some(1), false);
        let names = [(0, 1), (0, 0), (1, 0), (0, 1)];
        let names = names.map(|(sender, number)| Name { sender, number });
        follower.follow(&ledger, ledger.now(), &names, 0);
        assert!(follower.is_perfect(&totals), "its own are not due, what is repeated does no harm");
        assert_eq!((follower.arrived, follower.counted), (2, 2));
        follower.follow(&ledger, ledger.now(), &[], 1);
        assert!(!follower.is_perfect(&totals));

        let mut altered = Tally::new(None, false);
        let mut wrong = messages[0].clone();
        wrong[50] ^= 1;
        altered.take(&ledger, ledger.now(), &wrong);
        assert_eq!((altered.altered, altered.is_perfect(&totals)), (1, false));
    }

    #[test]
    fn only_what_comes_within_the_window_counts_for_rates() {
        let ledger = Ledger::new(1, 10);
        let mut pointer = Pointer::new(0, 1);
        let mut tally = Tally::new(None, true);
        let (name, message) = pointer.next(1_764_012_345_678);
        ledger.send(name, &message);
        tally.take(&ledger, ledger.now(), &message);
        ledger.open();
        ledger.close();
        assert!(ledger.window() < Duration::from_secs(60));
        assert_eq!((tally.arrived, tally.counted), (1, 0));
    }
}
