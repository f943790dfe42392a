//! Copies of transactions that are on their way over the stream, in case the stream is late (wire
//! W81 to W83). A copy goes in a datagram that is sent anyway, or in one of its own.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::Planned;
use groupwire_afec::loss::LossModel;

use super::body::{Kept, keep};
use super::hash::fnv1a;
use super::share::LATE_ON_ONE_LEG;
use crate::Qos;
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::wire::record::{Direction, Number, Record};

/// Bytes of the largest transaction that is copied, key included (wire W82). Larger ones would take
/// packets that other messages need.
const MAX_COPIED: usize = 256;

/// The most transactions that are being copied at the same time. If there are more, the copies of
/// the oldest are dropped.
const MAX_COPIES: usize = 32;

/// The shortest time between a transaction and its first copy, and between two copies of it. The
/// transport would put them into one packet otherwise, and lose them together.
const APART: Duration = Duration::from_millis(5);

/// A copy goes in a datagram of its own if no other datagram is sent for some time. In bursts of
/// losses it is at most this long, otherwise at least (wire W82).
const ALONE_AFTER: Duration = Duration::from_millis(12);

/// Where losses are independent, it is at most a tenth of the deadline and at most this long, so
/// that most copies share the datagrams of the next ticks (wire W82).
const ALONE_AT_MOST: Duration = Duration::from_millis(50);

/// The fewest copies of a transaction, the fewest in bursts, and the most (wire W82). A copy takes
/// few bytes in a datagram that is sent anyway, and a transaction is rare compared with the
/// positions of pointers.
const FEWEST: u8 = 2;
const FEWEST_IN_BURSTS: u8 = 12;
const MOST: u8 = 24;

/// In bursts, the most further copies towards the server, half as often, while the transaction is
/// not known to be ordered (wire W82). Once in some hundred times a run of losses is longer than
/// all copies of the plan, and a transaction that is late on this leg is late at all receivers.
/// Most transactions are known to be ordered before, so that further copies take few bytes.
const FURTHER: u8 = 48;

/// In bursts, the further copies towards a client if the path loses more than [`HEAVY`] (wire W82).
/// There are fewer, because the server does not learn which transactions the client has, and so
/// sends all of them.
const FURTHER_TO_CLIENT: u8 = 24;

/// The loss rate above which copies towards a client continue after the planned ones. Below it the
/// planned copies were enough in `groupwire-lab contract`, and further ones cost some 2 % of all
/// bytes.
const HEAVY: f64 = 1.0 / 3.0;

/// Losses count as bursts if the probability that the packet after a lost one is lost is more than
/// this part of the way from the loss rate to 1 (wire W82).
const BURSTS: f64 = 0.25;

/// True if transactions of the channel are worth copying: the channel has a deadline, and the loss
/// rate of the path is above [`LATE_ON_ONE_LEG`] by more than the error of its estimate, or nothing
/// is known of the path yet.
pub(super) fn are_worth_it(qos: &Qos, loss: Option<&LossModel>) -> bool {
    let is_lossy = |loss: &LossModel| loss.rate > LATE_ON_ONE_LEG + loss.rate_error();
    qos.deadline.is_some() && loss.is_none_or(is_lossy)
}

/// The check of a copy (wire W81): FNV-1a of 32 bits. gmc's own check accepts one of 256 damaged
/// payloads, and a transaction that was delivered cannot be taken back.
pub(super) fn check(numbers: [u32; 6], payload: &[u8]) -> u32 {
    let numbers = numbers.map(u32::to_le_bytes);
    fnv1a(numbers.as_flattened().iter().chain(payload))
}

/// How often a transaction is copied, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    /// The number of copies.
    times: u8,
    /// Each copy goes in a datagram of its own if no other datagram is sent for this time after the
    /// one before.
    alone_after: Duration,
    /// The number of copies after these.
    further: u8,
}

impl Plan {
    /// The plan for a path (wire W82): as many copies as get through, at even distances. The first
    /// transactions of a session may leave before anything is known of the path. It may lose
    /// packets in bursts, or be so narrow that copies at short distances would fill it, so that
    /// there are as many copies as in bursts, at longer distances.
    fn new(loss: Option<&LossModel>, deadline: Duration, sends: Direction) -> Self {
        let is_bursty = |loss: &LossModel| loss.again[0] > loss.rate + BURSTS * (1.0 - loss.rate);
        let (fewest, shortest, longest, further) = match loss {
            None => (FEWEST_IN_BURSTS, APART, ALONE_AT_MOST, 0),
            Some(loss) if is_bursty(loss) => {
                let further = match sends {
                    Direction::ToServer => FURTHER,
                    Direction::ToClient if loss.rate > HEAVY => FURTHER_TO_CLIENT,
                    Direction::ToClient => 0,
                };
                (FEWEST_IN_BURSTS, APART, ALONE_AFTER, further)
            }
            Some(_) => (FEWEST, ALONE_AFTER, (deadline / 10).clamp(ALONE_AFTER, ALONE_AT_MOST), 0),
        };
        let enough = loss.map_or(0, |loss| loss.repeats_for(LATE_ON_ONE_LEG, MOST));
        let times = enough.max(fewest);
        let alone_after = (deadline * 2 / 5 / u32::from(times)).clamp(shortest, longest);
        Plan { times, alone_after, further }
    }
}

/// Transactions that are being copied, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Copies {
    waiting: VecDeque<Copy>,
    /// Buffers of finished copies, to be used again.
    spare: Vec<Vec<u8>>,
}

/// A transaction that is being copied.
#[derive(Debug)]
struct Copy {
    channel: ChannelNo,
    counter: Counter,
    /// The distance to the position of the transaction before it that the stream brings to the
    /// receiver (wire W81).
    back: u32,
    /// The record, as [`keep`] wrote it.
    kept: Vec<u8>,
    check: u32,
    /// When the application sent the transaction.
    born: Duration,
    /// The deadline: later copies are of no use.
    until: Duration,
    /// Copies that are still to be sent.
    times: u8,
    /// The last ones of them, which are sent half as often.
    further: u8,
    /// The next copy goes in a datagram of its own after this time.
    alone_after: Duration,
    /// From this time on, the next copy may go in a datagram that is sent anyway.
    piggyback_from: Duration,
    /// At this time the next copy goes in a datagram of its own.
    alone_at: Duration,
}

impl Copies {
    /// Takes a transaction that is handed to the stream now. `previous`: the position of the
    /// transaction before it that the stream brings to the receiver; 0 in the direction of the
    /// server. `loss`: the losses of the path, if they are known.
    pub(super) fn add(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        sends: Direction,
        qos: &Qos,
        loss: Option<&LossModel>,
    ) {
        let Number::Transaction { counter, position } = record.number else { return };
        let size = record.packed.unwrap_or(record.bytes).len();
        if size + record.key.map_or(0, <[u8]>::len) > MAX_COPIED {
            return;
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        keep(record, sends, &mut kept);
        let Some(Kept { sender, flags, index, stamp, payload, .. }) = Kept::read(&kept) else {
            return;
        };
        let back = u32::try_from(position.get().saturating_sub(previous.get())).unwrap_or(u32::MAX);
        let check = check([record.channel.get(), sender, flags, index, stamp, back], payload);
        let born = now.saturating_sub(record.age);
        let deadline = qos.deadline.unwrap_or_default();
        let Plan { times, alone_after, further } = Plan::new(loss, deadline, sends);
        self.waiting.push_back(Copy {
            channel: record.channel,
            counter,
            back,
            kept,
            check,
            born,
            until: born + deadline,
            times: times + further,
            further,
            alone_after,
            piggyback_from: now + APART,
            alone_at: now + alone_after,
        });
        if self.waiting.len() > MAX_COPIES {
            self.forget(|_| true, 1);
        }
    }

    /// This end's own transactions up to `counter` are ordered: they need no copies any more.
    pub(super) fn on_ordered(&mut self, counter: Counter) {
        self.forget(|copy| copy.counter <= counter, MAX_COPIES);
    }

    /// The time at which a copy is due in a datagram of its own, if none is made before.
    pub(super) fn due(&self) -> Option<Duration> {
        self.waiting.iter().map(|copy| copy.alone_at).min()
    }

    /// Datagrams per second that the copies need if no other datagrams are sent.
    pub(super) fn rate(&self) -> f64 {
        let shortest = self.waiting.iter().map(|copy| copy.alone_after).min();
        shortest.map_or(0.0, |alone_after| 1.0 / alone_after.as_secs_f64())
    }

    /// Hands to `take` the copies that go into a datagram made now. `remaining`: bytes that the
    /// datagram may still take; if it `is_empty`, one copy goes into it whatever its size. Returns
    /// the bytes of the copies before they are coded.
    pub(super) fn take(
        &mut self,
        now: Duration,
        mut remaining: usize,
        mut is_empty: bool,
        mut take: impl FnMut(&Planned<'_>, u32),
    ) -> usize {
        let mut bytes = 0;
        for copy in self.waiting.iter_mut().filter(|copy| copy.piggyback_from <= now) {
            let size = copy.kept.len() + RECORD_OVERHEAD_IN_DATAGRAMS;
            if size > remaining && !is_empty {
                break;
            }
            remaining = remaining.saturating_sub(size);
            is_empty = false;
            bytes += copy.kept.len();
            let age = now.saturating_sub(copy.born).as_millis();
            let planned = Planned {
                channel: copy.channel.get().into(),
                index: 0,
                back: copy.back,
                age: u32::try_from(age).unwrap_or(u32::MAX),
                repeated: true,
                payload: &copy.kept,
            };
            take(&planned, copy.check);
            copy.times -= 1;
            let (apart, alone_after) = match copy.times < copy.further {
                true => (copy.alone_after, copy.alone_after * 2),
                false => (APART, copy.alone_after),
            };
            copy.piggyback_from = now + apart;
            copy.alone_at = now + alone_after;
        }
        self.forget(|copy| copy.times == 0, MAX_COPIES);
        bytes
    }

    /// Drops the transactions of a channel.
    pub(super) fn close(&mut self, channel: ChannelNo) {
        self.forget(|copy| copy.channel == channel, MAX_COPIES);
    }

    /// Drops transactions whose deadline has passed.
    pub(super) fn expire(&mut self, now: Duration) {
        self.forget(|copy| copy.until < now, MAX_COPIES);
    }

    /// Drops the first `most` transactions that `which` selects.
    fn forget(&mut self, mut which: impl FnMut(&Copy) -> bool, most: usize) {
        let Copies { waiting, spare } = self;
        let mut left = most;
        waiting.retain_mut(|copy| {
            let goes = left > 0 && which(copy);
            if goes {
                left -= 1;
                spare.push(core::mem::take(&mut copy.kept));
            }
            !goes
        });
        spare.truncate(MAX_COPIES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ParticipantId;
    use crate::wire::coding::Coding;
    use crate::wire::piece::Piece;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn w82_copies_wait_for_other_datagrams_as_long_as_the_deadline_allows() {
        let plan = |percent: u32, ms: u32| {
            let loss = f64::from(percent) / 100.0;
            let plan = Plan::new(Some(&LossModel::chain(loss, loss)), MS * ms, Direction::ToServer);
            let Plan { times, alone_after, further } = plan;
            assert_eq!(further, 0);
            (times, alone_after.as_millis())
        };
        assert_eq!(
            [50, 250, 500, 5000].map(|ms| plan(5, ms)),
            [(2, 12), (2, 25), (2, 50), (2, 50)]
        );
        assert_eq!([50, 250, 500].map(|ms| plan(20, ms)), [(3, 12), (3, 25), (3, 50)]);
        assert_eq!(plan(60, 250), (10, 12));
    }

    #[test]
    fn w82_in_bursts_there_are_as_many_copies_as_get_through_before_the_deadline() {
        for (again, fewest, most) in [(0.5, 12, 12), (0.84, 20, 23), (0.97, 24, 24)] {
            let bursts = LossModel::chain(0.2, again);
            for deadline in [250, 500].map(|ms| MS * ms) {
                let Plan { times, alone_after, .. } =
                    Plan::new(Some(&bursts), deadline, Direction::ToClient);
                assert!((fewest..=most).contains(&times), "{again}: {times}");
                assert!((APART..=ALONE_AFTER).contains(&alone_after));
                assert!(alone_after * u32::from(times) <= deadline / 2, "{alone_after:?}");
            }
        }
    }

    #[test]
    fn w82_on_an_unknown_path_there_are_as_many_copies_as_in_bursts_at_longer_distances() {
        for sends in [Direction::ToServer, Direction::ToClient] {
            for (deadline, distance) in [(30, 5), (500, 16), (1500, 50), (10_000, 50)] {
                let Plan { times, alone_after, further } = Plan::new(None, MS * deadline, sends);
                assert_eq!((times, further), (FEWEST_IN_BURSTS, 0));
                assert_eq!(alone_after.as_millis(), distance);
            }
        }
        let qos = Qos::transaction().deadline(MS * 500);
        assert!(are_worth_it(&qos, None));
        assert!(!are_worth_it(&qos, Some(&LossModel::default())));
        assert!(!are_worth_it(&Qos::transaction(), None));
    }

    #[test]
    fn w82_what_counts_as_bursts() {
        let is_bursty = |rate, again| {
            let loss = LossModel::chain(rate, again);
            let plan = |sends| Plan::new(Some(&loss), MS * 500, sends);
            let is_bursty = plan(Direction::ToServer).further > 0;
            let is_heavy = plan(Direction::ToClient).further > 0;
            assert_eq!(is_heavy, is_bursty && rate > 0.4);
            is_bursty
        };
        // The second number is the probability that the packet after a lost one is lost.
        for (rate, again) in [(0.05, 0.3), (0.2, 0.41), (0.42, 0.7), (0.6, 0.8)] {
            assert!(is_bursty(rate, again), "{rate} {again}");
        }
        for (rate, again) in [(0.05, 0.12), (0.2, 0.35), (0.42, 0.5), (0.6, 0.65)] {
            assert!(!is_bursty(rate, again), "{rate} {again}");
        }
    }

    /// The times in ms of the copies of a transaction with a deadline of 500 ms that is never
    /// ordered, in bursts, if no other datagrams are sent.
    fn times(sends: Direction) -> Vec<u128> {
        let mut copies = Copies::default();
        let qos = Qos::transaction().deadline(500 * MS);
        let bursts = LossModel::chain(0.2, 0.5);
        let record = Record {
            channel: ChannelNo(1),
            sender: ParticipantId(1),
            number: Number::Transaction { counter: Counter(1), position: Position(1) },
            own: false,
            piece: Piece::Whole,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: None,
            priority: None,
            departed: None,
            to: None,
            bytes: b"moved",
            packed: None,
            coding: Coding::Alone,
        };
        copies.add(Duration::ZERO, &record, Position(0), sends, &qos, Some(&bursts));
        let mut times = Vec::new();
        while let Some(now) = copies.due() {
            assert!((copies.rate() - 1000.0 / 12.0).abs() < 1e-6, "one in 12 ms");
            copies.expire(now);
            copies.take(now, 1000, true, |_, _| times.push(now.as_millis()));
        }
        assert_eq!(copies.rate(), 0.0);
        times
    }

    #[test]
    fn w82_in_bursts_copies_to_the_server_go_on_half_as_often_until_the_deadline() {
        let to_client = times(Direction::ToClient);
        assert_eq!(to_client, (1..=12).map(|n| n * 12).collect::<Vec<_>>());
        let to_server = times(Direction::ToServer);
        let (planned, further) = to_server.split_at(12);
        assert_eq!(planned, to_client);
        assert_eq!(further[0], 156);
        assert!(further.windows(2).all(|pair| pair[1] - pair[0] == 24), "{further:?}");
        assert!((477..=500).contains(further.last().unwrap()), "{further:?}");
    }
}
