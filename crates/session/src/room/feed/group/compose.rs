//! Makes the datagrams that a fan-out group is sent at a tick.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::loss::LADDER;
use super::{Group, KEPT, Kept, MAX_PAYLOAD};
use crate::room::api::Stats;
use crate::room::feed::carry::{Carried, Feed};
use crate::room::log::{Carries, Channels, Filter, Item, Log, Value};
use crate::trace::{self, Part, Purpose};
use crate::wire::frame::shared_datagram;
use crate::wire::payload::GroupEncoder;
use crate::wire::record::Number;
use crate::{GroupId, Order, ParticipantId};

/// Repeats are spaced in ticks, but at least this far apart: closer ones would be lost together.
const SHORTEST_STEP: Duration = Duration::from_millis(20);

/// The most bytes of a frame's tag and group number.
const HEADER: usize = 6;

/// The values that a group was sent for the first time at one tick, and when they are repeated.
#[derive(Debug)]
pub(super) struct Round {
    at: Duration,
    /// The values after the first of these orders, up to the second.
    orders: (Order, Order),
    /// How often the values were repeated.
    times: usize,
    /// When the values are to be repeated next.
    next: Duration,
}

impl Round {
    pub(super) fn after(&self) -> Order {
        self.orders.0
    }
}

/// A group's datagrams of one tick.
pub(in crate::room) struct Composed {
    pub(in crate::room) packets: Vec<Packet>,
    /// True if the packets hold all values of the tick, so that nothing is left for the members'
    /// private feeds.
    pub(in crate::room) is_complete: bool,
}

pub(in crate::room) struct Packet {
    /// The SHARED_DATAGRAM frame: the last or only frame of a datagram.
    pub(in crate::room) frame: Arc<[u8]>,
    /// The version of the model that the frame was coded under.
    epoch: u32,
    parts: Vec<Part>,
    /// The number of new messages and of their bytes before compression, of all senders together
    /// and of each sender.
    news: (u64, u64),
    by_sender: BTreeMap<ParticipantId, (u64, u64)>,
}

impl Packet {
    /// Adds the packet to the room's statistics, as sent to this receiver. The receiver's own
    /// messages do not count.
    pub(in crate::room) fn count(&self, receiver: ParticipantId, stats: &mut Stats) {
        let (own, own_bytes) = self.by_sender.get(&receiver).copied().unwrap_or_default();
        stats.packets_out += 1;
        stats.bytes_out_after += self.frame.len() as u64;
        stats.deliveries += self.news.0 - own;
        stats.bytes_out_before += self.news.1 - own_bytes;
    }

    /// The packet's description for the inspector.
    pub(in crate::room) fn described(
        &self,
        now: Duration,
        receiver: ParticipantId,
        group: GroupId,
    ) -> trace::Packet {
        trace::Packet {
            at: now,
            participant: receiver,
            is_outgoing: true,
            carrier: trace::Carrier::Datagrams,
            group: Some(group),
            epoch: Some(self.epoch),
            bytes: self.frame.len(),
            header_bytes: 0,
            feedback_bytes: 0,
            parts: Part::read_by(receiver, &self.parts),
        }
    }
}

impl Group {
    pub(super) fn next_round(&self) -> Option<Duration> {
        self.rounds.iter().map(|round| round.next).min()
    }

    /// Makes the datagrams of a tick: new values, and values that are to be repeated. Makes none if
    /// the group has no members and nobody waits to become one.
    pub(in crate::room) fn compose(
        &mut self,
        now: Duration,
        tick: Duration,
        log: &Log,
    ) -> Composed {
        let mut made = Composed { packets: Vec::new(), is_complete: true };
        if self.members.is_empty() && !self.is_awaited {
            self.rounds.clear();
            self.feed.cursor = self.feed.until;
            return made;
        }
        let step = tick.max(SHORTEST_STEP);
        let mut parts = self.repeat(now, step, log);
        let repeated = parts.len();
        let Group { feed, key, encoder, .. } = self;
        let from = feed.cursor.awareness;
        let carries = Carries::Datagrams { max: MAX_PAYLOAD };
        let filter = Filter::new(Channels::Set(&key.channels), carries);
        let carried = feed.carry(log, Filter { now: Some(now), ..filter }, |item| {
            push(now, encoder, item, Purpose::New, &mut parts);
            true
        });
        made.is_complete = carried.is_ok_and(|Carried { has_left_out, .. }| !has_left_out);
        if parts.len() > repeated {
            self.plan(now, step, (from, self.feed.cursor.awareness));
        }
        if !parts.is_empty() {
            self.code(now, parts, &mut made);
        }
        made
    }

    /// Adds the values that are to be repeated now, except those that a newer value replaced or
    /// whose deadline has passed.
    fn repeat(&mut self, now: Duration, step: Duration, log: &Log) -> Vec<Part> {
        let mut parts = Vec::new();
        let Group { key, encoder, rounds, .. } = self;
        let lags = LADDER[usize::from(key.step)];
        rounds.retain_mut(|round| {
            let mut feed = Feed::default();
            (feed.cursor.awareness, feed.until.awareness) = round.orders;
            let carries = Carries::Datagrams { max: MAX_PAYLOAD };
            let filter = Filter::new(Channels::Set(&key.channels), carries);
            // A repeat may come a quarter of a step early, so that it does not wait for another
            // tick.
            let is_due = round.next <= now + step / 4;
            let mut is_any = false;
            // A value that a newer one has replaced need not be repeated; a value that comes too
            // late must not.
            let carried = feed.carry(log, filter, |item| {
                if let Item::Value(_, value) = item
                    && !is_too_late(now, value, log)
                {
                    is_any = true;
                    if is_due {
                        push(now, encoder, item, Purpose::Repeated, &mut parts);
                    }
                }
                true
            });
            debug_assert!(carried.is_ok(), "no transactions are due");
            if is_due {
                round.times += 1;
                round.next = round.at + step * lags.get(round.times).copied().unwrap_or(0);
            }
            round.times < lags.len() && is_any
        });
        parts
    }

    /// Plans the repeats of the values that are sent now for the first time.
    fn plan(&mut self, now: Duration, step: Duration, orders: (Order, Order)) {
        if let Some(lag) = LADDER[usize::from(self.key.step)].first() {
            self.rounds.push_back(Round { at: now, orders, times: 0, next: now + step * *lag });
        }
    }

    fn code(&mut self, now: Duration, parts: Vec<Part>, made: &mut Composed) {
        for one in self.encoder.finish(MAX_PAYLOAD - HEADER) {
            let mut frame = Vec::with_capacity(HEADER + one.body.len());
            shared_datagram(self.id, &mut frame);
            frame.extend_from_slice(&one.body);
            let frame: Arc<[u8]> = frame.into();
            self.newest = one.number;
            if self.kept.len() == KEPT {
                self.kept.pop_front();
            }
            let number = one.number;
            debug_assert!(
                self.kept.back().is_none_or(|last| last.number < number && last.sent <= now),
                "kept packets are searched by number and by time"
            );
            self.kept.push_back(Kept { number, sent: now, frame: Arc::clone(&frame) });
            let parts = parts[one.records].to_vec();
            let mut by_sender = BTreeMap::<ParticipantId, (u64, u64)>::new();
            let mut news = (0, 0);
            for part in parts.iter().filter(|part| part.purpose == Purpose::New) {
                let own = by_sender.entry(part.sender).or_default();
                for (messages, bytes) in [own, &mut news].map(|sums| (&mut sums.0, &mut sums.1)) {
                    *messages += 1;
                    *bytes += part.before as u64;
                }
            }
            let epoch = self.encoder.coder.epoch();
            made.packets.push(Packet { frame, epoch, parts, news, by_sender });
        }
    }
}

fn is_too_late(now: Duration, value: &Value, log: &Log) -> bool {
    let deadline = log.channel(value.message.channel).qos.deadline;
    deadline.is_some_and(|deadline| value.message.born + deadline <= now)
}

fn push(
    now: Duration,
    encoder: &mut GroupEncoder,
    item: Item<'_>,
    purpose: Purpose,
    parts: &mut Vec<Part>,
) {
    let Item::Value(_, value) = item else { return };
    let message = &value.message;
    let number = Number::Awareness { index: value.index, after: value.after };
    let record = message.record(now, number);
    encoder.push(&record);
    parts.push(Part {
        channel: message.channel,
        sender: message.sender,
        index: value.index.get(),
        purpose,
        before: message.bytes.len(),
        age: record.age,
        cost: None,
    });
}
