//! A simulation of messages over a lossy path, packet by packet, as the documentation of
//! `groupwire_afec::choice` describes it.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::choice::Situation;
use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_afec::loss::{LAGS, LossModel};
use groupwire_sim::{Loss, LossProcess};
use oorandom::Rand64;

/// The loss model that an estimator would find in the long run.
pub(crate) fn learn(loss: &Loss) -> LossModel {
    let mut process = LossProcess::new(loss, 7);
    let losses: Vec<bool> = (0..300_000).map(|_| process.lost(Duration::ZERO)).collect();
    let lost = losses.iter().filter(|lost| **lost).count() as f64;
    let again = std::array::from_fn(|lag| {
        let both = losses.iter().zip(&losses[lag + 1..]).filter(|(a, b)| **a && **b).count();
        both as f64 / lost.max(1.0)
    });
    let _: [f64; LAGS] = again;
    LossModel { rate: lost / losses.len() as f64, again, weight: losses.len() as f64 }
}

/// The result of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) misses: f64,
    /// The bytes per message beyond sending each message once.
    pub(crate) cost: f64,
}

/// Simulates a number of messages.
pub(crate) fn run(
    situation: &Situation,
    code: &Code,
    loss: &Loss,
    messages: usize,
    seed: u64,
) -> Measured {
    Sim::new(situation, code, loss, messages, seed).run()
}

/// Times are in µs.
type Time = i64;

enum Event {
    Regular(usize),
    Dedicated(usize),
    Flush(usize),
    Arrive { messages: Vec<usize>, newest: usize },
    Check(usize),
    Request,
    Requested(Vec<usize>),
}

struct Message {
    sent: Time,
    repeats: Repeats,
    /// The last message of its cluster.
    last: usize,
    came: Option<Time>,
    checked: bool,
}

struct Sim<'a> {
    situation: &'a Situation<'a>,
    code: &'a Code,
    losses: LossProcess,
    random: Rand64,
    messages: Vec<Message>,
    events: BTreeMap<(Time, usize), Event>,
    scheduled: usize,
    /// Answers that are piggybacks: the message whose packet carries each, and the answered
    /// message.
    piggybacks: Vec<(usize, usize)>,
    next: usize,
    noticed: usize,
    requested: Vec<usize>,
    /// The messages that the receiver may still miss.
    credit: f64,
    cost: f64,
}

fn micros(duration: Duration) -> Time {
    duration.as_micros() as Time
}

fn piggyback_lags(repeats: &Repeats) -> impl Iterator<Item = usize> + '_ {
    repeats.iter().filter_map(|repeat| match repeat {
        Repeat::Piggyback(lag) => Some(usize::from(lag)),
        Repeat::Dedicated(_) => None,
    })
}

impl<'a> Sim<'a> {
    fn new(situation: &'a Situation, code: &'a Code, loss: &Loss, count: usize, seed: u64) -> Self {
        let mut random = Rand64::new(u128::from(seed) + 1);
        let mut messages = Vec::with_capacity(count);
        let (mut sent, mut last) = (0, 0);
        for index in 0..count {
            if index > last {
                // Clusters have a third to five thirds of the mean length, pauses two seconds.
                let mean = situation.cluster as u64;
                last = index + random.rand_range(mean / 3..mean * 5 / 3) as usize;
                sent += 2_000_000;
            }
            sent += micros(situation.interval);
            let repeats = if random.rand_float() < code.share { code.other } else { code.repeats };
            messages.push(Message { sent, repeats, last, came: None, checked: false });
        }
        let mut sim = Sim {
            situation,
            code,
            losses: LossProcess::new(loss, seed),
            random,
            messages,
            events: BTreeMap::new(),
            scheduled: 0,
            piggybacks: Vec::new(),
            next: 0,
            noticed: 0,
            requested: Vec::new(),
            credit: 0.0,
            cost: 0.0,
        };
        sim.at(sim.messages[0].sent, Event::Regular(0));
        sim
    }

    fn run(mut self) -> Measured {
        while let Some(((now, _), event)) = self.events.pop_first() {
            match event {
                Event::Regular(message) => self.regular(now, message),
                Event::Dedicated(message) => self.dedicated(now, vec![message]),
                Event::Flush(last) => self.flush(now, last),
                Event::Arrive { messages, newest } => self.arrive(now, &messages, newest),
                Event::Check(message) => self.check(now, message),
                Event::Request => self.request(now),
                Event::Requested(messages) => self.answer(now, &messages),
            }
        }
        let deadline = micros(self.situation.deadline);
        let missed =
            |message: &&Message| message.came.is_none_or(|came| came > message.sent + deadline);
        let count = self.messages.len() as f64;
        let misses = self.messages.iter().filter(missed).count() as f64 / count;
        Measured { misses, cost: self.cost / count }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.scheduled += 1;
        self.events.insert((time, self.scheduled), event);
    }

    fn send(&mut self, now: Time, messages: Vec<usize>) {
        if !self.losses.lost(Duration::ZERO) {
            let newest = self.next - 1;
            self.at(now + micros(self.situation.one_way), Event::Arrive { messages, newest });
        }
    }

    fn regular(&mut self, now: Time, index: usize) {
        self.next = index + 1;
        let mut packet = vec![index];
        for (earlier, message) in self.messages[..index].iter().enumerate().rev().take(8) {
            if message.last >= index
                && piggyback_lags(&message.repeats).any(|lag| lag == index - earlier)
            {
                packet.push(earlier);
            }
        }
        packet.extend(
            self.piggybacks.iter().filter(|(on, _)| *on == index).map(|(_, answer)| *answer),
        );
        self.piggybacks.retain(|(on, _)| *on > index);
        self.cost += (packet.len() - 1) as f64 * self.situation.repeat_bytes;
        self.send(now, packet);

        for repeat in self.messages[index].repeats.iter().collect::<Vec<_>>() {
            if let Repeat::Dedicated(after) = repeat {
                self.at(now + micros(after), Event::Dedicated(index));
            }
        }
        if let Some(next) = self.messages.get(index + 1) {
            self.at(next.sent, Event::Regular(index + 1));
        }
        if self.code.tail_flush && self.messages[index].last == index {
            let sets = [self.code.repeats, self.code.other];
            let first = piggyback_lags(&self.messages[index].repeats).min().unwrap_or(1) as Time;
            let longest = sets.iter().flat_map(piggyback_lags).max().unwrap_or(1) as Time;
            let interval = micros(self.situation.interval);
            let latest = self.slack(self.messages[index].sent, now) - (longest - 1) * interval;
            self.at(now + (first * interval).min(latest), Event::Flush(index));
        }
    }

    fn dedicated(&mut self, now: Time, messages: Vec<usize>) {
        self.cost +=
            self.situation.packet_bytes + messages.len() as f64 * self.situation.repeat_bytes;
        self.send(now, messages);
    }

    fn flush(&mut self, now: Time, last: usize) {
        let orphaned = |index: &usize| {
            let message = &self.messages[*index];
            let lacks = piggyback_lags(&message.repeats).any(|lag| lag > last - index);
            message.last == last && (*index == last || lacks)
        };
        let messages = (last.saturating_sub(8)..=last).filter(orphaned).collect();
        self.dedicated(now, messages);
    }

    /// How long a repeat of a message may wait before it is too late.
    fn slack(&self, sent: Time, now: Time) -> Time {
        let Situation { deadline, one_way, jitter, .. } = *self.situation;
        sent + micros(deadline) - micros(one_way + jitter) - now
    }

    fn arrive(&mut self, now: Time, messages: &[usize], newest: usize) {
        for index in messages {
            self.messages[*index].came.get_or_insert(now);
        }
        let interval = micros(self.situation.interval);
        let last_of = |repeats: Repeats| {
            let at = |repeat: Repeat| match repeat {
                Repeat::Piggyback(lag) => Time::from(lag) * interval,
                Repeat::Dedicated(after) => micros(after),
            };
            repeats.iter().map(at).max()
        };
        let last = last_of(self.code.repeats).max(last_of(self.code.other));
        while self.noticed <= newest {
            let message = &self.messages[self.noticed];
            self.credit = (self.credit + self.situation.target).min(20.0);
            if message.came.is_none() {
                let shown = message.sent + micros(self.situation.one_way) + interval;
                let due = now.max(shown + last.unwrap_or(0));
                let wait = micros(self.situation.ask_delay) - interval;
                self.at(due + wait, Event::Check(self.noticed));
            }
            self.noticed += 1;
        }
    }

    fn check(&mut self, now: Time, index: usize) {
        let message = &mut self.messages[index];
        if message.came.is_some() {
            return;
        }
        let first = !std::mem::replace(&mut message.checked, true);
        let late = now + micros(self.situation.round_trip + self.situation.jitter)
            > message.sent + micros(self.situation.deadline);
        if self.code.answers == 0 || late || (first && self.credit >= 1.0) {
            self.credit = (self.credit - 1.0).max(-20.0);
            return;
        }
        if self.requested.is_empty() {
            self.at(now, Event::Request);
        }
        self.requested.push(index);
        let again = self.situation.round_trip + self.situation.jitter + self.situation.interval;
        self.at(now + micros(again), Event::Check(index));
    }

    fn request(&mut self, now: Time) {
        let messages = std::mem::take(&mut self.requested);
        self.cost += self.situation.ask_bytes;
        if self.random.rand_float() >= self.situation.loss_back {
            let back = micros(self.situation.round_trip) - micros(self.situation.one_way);
            self.at(now + back, Event::Requested(messages));
        }
    }

    fn answer(&mut self, now: Time, messages: &[usize]) {
        let mut own = vec![Vec::new(); usize::from(self.code.answers)];
        for index in messages {
            let latest = now + self.slack(self.messages[*index].sent, now);
            for (on, own) in (self.next..).zip(&mut own) {
                if self.messages.get(on).is_some_and(|packet| packet.sent <= latest) {
                    self.piggybacks.push((on, *index));
                } else {
                    own.push(*index);
                }
            }
        }
        for messages in own.into_iter().filter(|messages| !messages.is_empty()) {
            self.dedicated(now, messages);
        }
    }
}
