//! What goes into a class's datagrams at a tick.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::loss::LADDER;
use super::{Class, HEADER, KEPT, Kept, MAX_BODY, takes};
use crate::ids::{GroupId, Order, ParticipantId};
use crate::room::journal::{Awareness, Journal};
use crate::room::{Channel, Stats};
use crate::trace::{self, Part, Purpose};
use crate::wire::frame::shared_datagram;
use crate::wire::record::Number;

/// Repeats are counted in ticks, of at least so long.
const SHORTEST_STEP: Duration = Duration::from_millis(20);

/// What was sent for the first time at one moment, to be repeated.
#[derive(Debug)]
pub(super) struct Round {
    at: Duration,
    /// Orders after the first of these, up to the second.
    orders: (Order, Order),
    /// How often it was repeated.
    times: usize,
    /// When it is to be repeated next.
    next: Duration,
}

impl Round {
    pub(super) fn after(&self) -> Order {
        self.orders.0
    }
}

/// A class's datagrams of one tick.
pub(super) struct Made {
    pub(super) packets: Vec<Packet>,
    /// All awareness that came is in them or was none of the class's members' business.
    pub(super) is_complete: bool,
}

pub(super) struct Packet {
    /// As it ends a datagram.
    pub(super) frame: Arc<[u8]>,
    /// That it was coded under.
    pub(super) epoch: u32,
    pub(super) parts: Vec<Part>,
    /// New messages and their octets, of all and of each sender.
    news: (u64, u64),
    by_sender: BTreeMap<ParticipantId, (u64, u64)>,
}

impl Packet {
    /// It goes to this receiver.
    pub(super) fn count(&self, receiver: ParticipantId, stats: &mut Stats) {
        let (own, own_bytes) = self.by_sender.get(&receiver).copied().unwrap_or_default();
        stats.packets_out += 1;
        stats.bytes_out_after += self.frame.len() as u64;
        stats.deliveries += self.news.0 - own;
        stats.bytes_out_before += self.news.1 - own_bytes;
    }

    pub(super) fn traced(
        &self,
        now: Duration,
        receiver: ParticipantId,
        class: GroupId,
    ) -> trace::Packet {
        trace::Packet {
            at: now,
            participant: receiver,
            out: true,
            way: trace::Way::Datagram,
            class: Some(class),
            epoch: Some(self.epoch),
            octets: self.frame.len(),
            private: 0,
            feedback: 0,
            parts: self.parts.clone(),
        }
    }
}

impl Class {
    pub(super) fn next_round(&self) -> Option<Duration> {
        self.rounds.iter().map(|round| round.next).min()
    }

    /// Makes the datagrams of what came between these orders and of what is to be repeated, for the members that there are.
    pub(super) fn compose(
        &mut self,
        now: Duration,
        (before, due): (Order, Order),
        tick: Duration,
        journal: &Journal,
        channels: &[Channel],
    ) -> Made {
        let mut made = Made { packets: Vec::new(), is_complete: true };
        if self.members.is_empty() {
            self.rounds.clear();
            return made;
        }
        let step = tick.max(SHORTEST_STEP);
        let mut parts = self.repeat(now, step, journal, channels);
        let is_new = parts.len();
        for (_, one) in journal.awareness_after(before).take_while(|(order, _)| *order <= due) {
            if !self.brings(one) {
                made.is_complete = false;
            } else if one.expires.is_none_or(|expires| expires > now) {
                self.add(now, one, Purpose::New, &mut parts);
            }
        }
        if parts.len() > is_new {
            self.plan(now, step, (before, due));
        }
        if !parts.is_empty() {
            self.code(now, parts, &mut made);
        }
        made
    }

    /// Whether this is for its members, and fits.
    fn brings(&self, one: &Awareness) -> bool {
        let message = &one.message;
        let key = message.key.as_ref().map_or(0, |key| key.len());
        self.key.audience.contains(message.channel) && takes(message.bytes.len() + key)
    }

    fn add(&mut self, now: Duration, one: &Awareness, purpose: Purpose, parts: &mut Vec<Part>) {
        let message = &one.message;
        let record = message.record(now, Number::Awareness { index: one.index, after: one.after });
        self.encoder.push(&record);
        parts.push(Part {
            channel: message.channel,
            sender: message.sender,
            index: one.index.get(),
            purpose,
            before: message.bytes.len(),
            age: record.age,
            cost: None,
        });
    }

    /// Adds what is to be repeated now and still matters.
    fn repeat(
        &mut self,
        now: Duration,
        step: Duration,
        journal: &Journal,
        channels: &[Channel],
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let lags = LADDER[usize::from(self.key.step)];
        let mut rounds = core::mem::take(&mut self.rounds);
        rounds.retain_mut(|round| {
            let (from, to) = round.orders;
            let values = journal.awareness_after(from).take_while(|(order, _)| *order <= to);
            // What was replaced by a newer value need not be repeated; what is too late must not.
            let alive = values.map(|(_, one)| one).filter(|one| {
                let deadline = channels[one.message.channel.place()].qos.deadline;
                self.brings(one)
                    && deadline.is_none_or(|deadline| one.message.born + deadline > now)
            });
            let alive: Vec<&Awareness> = alive.collect();
            // A tick that comes a little early is as good.
            if round.next <= now + step / 4 {
                alive.iter().for_each(|one| self.add(now, one, Purpose::Repeated, &mut parts));
                round.times += 1;
                round.next = round.at + step * lags.get(round.times).copied().unwrap_or(0);
            }
            round.times < lags.len() && !alive.is_empty()
        });
        self.rounds = rounds;
        parts
    }

    /// What is sent now for the first time is to be repeated.
    fn plan(&mut self, now: Duration, step: Duration, orders: (Order, Order)) {
        if let Some(lag) = LADDER[usize::from(self.key.step)].first() {
            self.rounds.push_back(Round { at: now, orders, times: 0, next: now + step * *lag });
        }
    }

    fn code(&mut self, now: Duration, parts: Vec<Part>, made: &mut Made) {
        for one in self.encoder.finish(MAX_BODY - HEADER) {
            let mut frame = Vec::with_capacity(HEADER + one.body.len());
            shared_datagram(self.id, &mut frame);
            frame.extend_from_slice(&one.body);
            let frame: Arc<[u8]> = frame.into();
            self.newest = one.number;
            if self.kept.len() == KEPT {
                self.kept.pop_front();
            }
            let number = one.number;
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
