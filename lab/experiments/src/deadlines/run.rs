//! The log of a run: when each message was sent and delivered.

use std::time::Duration;

use groupwire_afec::Notice;
use groupwire_afec::code::Code;

use super::cell::{Cell, Judged};
use crate::sim::input::{Update, number_of};

/// The number of messages over which the paper measures the share that misses.
pub(super) const WINDOW: usize = 1000;

/// The fate of every message, and what it cost.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    /// When each message was sent, and its latency; `None` if it never arrived.
    pub(super) messages: Vec<(Duration, Option<Duration>)>,
    deadline: Duration,
    judged: Judged,
    target: f64,
    /// Bytes on the wire both ways, headers included, of all hops.
    pub(super) bytes: f64,
    pub(super) packets: u64,
    /// Messages sent again, and their bytes.
    pub(super) repeats: u64,
    pub(super) repeated_bytes: u64,
    /// The notices to the sending application, and when they came.
    pub(super) notices: Vec<(Duration, Notice)>,
    /// The number of messages that the sender repeated, and when.
    pub(super) repeated_at: Vec<(Duration, u32)>,
    /// The codes of the last sender, and when each began.
    pub(super) codes: Vec<(Duration, Code)>,
    /// The code in force at the end.
    pub(super) code: Option<Code>,
    /// Bytes that an end keeps, at most.
    pub(super) memory: usize,
    /// The processor time of writing or reading each packet, if it is recorded.
    pub(super) work: Vec<Duration>,
    /// The first message that arrived but was never sent.
    pub(super) failure: Option<String>,
}

/// Figures of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub(super) mer: f64,
    pub(super) never: f64,
    pub(super) windows: usize,
    pub(super) windows_met: f64,
    pub(super) latency_mean: f64,
    pub(super) latency_p99: f64,
    /// Bytes on the wire per message, with repeats at their price.
    pub(super) bytes_per_message: f64,
    pub(super) repeats_per_message: f64,
    /// The code sets, where the scheme has some.
    pub(super) code_sets: Option<CodeSets>,
}

/// The code sets (numbers of repeats of a message) of the last sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CodeSets {
    /// Changes per 1000 messages.
    pub(super) changes: f64,
    pub(super) fewest: usize,
    pub(super) most: usize,
}

/// The notices to the sending application that the target cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Told {
    /// Seconds from the third run of missed messages to the first notice, 0 if the notice came
    /// before.
    pub(super) after: Option<f64>,
    /// The share of the time in which the notice applied.
    pub(super) share: f64,
}

impl Log {
    pub(super) fn new(input: &[Update], cell: &Cell) -> Self {
        Log {
            messages: input.iter().map(|update| (update.at, None)).collect(),
            deadline: cell.deadline,
            judged: cell.judged,
            target: cell.target,
            ..Log::default()
        }
    }

    /// Records an arriving message. It must have been sent; later copies of it do not count.
    pub(super) fn arrival(&mut self, payload: &[u8], at: Duration) {
        let number = number_of(payload).map(|number| number as usize);
        let fault = match number.and_then(|number| self.messages.get_mut(number)) {
            None => "what came was never sent",
            Some((sent, _)) if *sent > at => "a message came before it was sent",
            Some((_, Some(_))) => "a message came twice",
            Some((sent, latency)) => {
                *latency = Some(at - *sent);
                return;
            }
        };
        self.fail(|| format!("{fault}: {payload:?} at {at:?}"));
    }

    pub(super) fn fail(&mut self, why: impl FnOnce() -> String) {
        self.failure.get_or_insert_with(why);
    }

    /// The log judged by another target.
    pub(super) fn with_target(&self, target: f64) -> Self {
        Log { target, ..self.clone() }
    }

    /// Joins the logs of several seeds into one. It begins with the first `skip` messages of each.
    /// Notices and codes, whose times mean nothing beside those of another seed, are left out.
    pub(super) fn together(logs: Vec<Log>, skip: usize) -> Log {
        let mut logs = logs.into_iter();
        let Some(mut all) = logs.next() else { return Log::default() };
        let mut rest = all.messages.split_off(skip.min(all.messages.len()));
        for mut log in logs {
            rest.extend(log.messages.split_off(skip.min(log.messages.len())));
            all.messages.append(&mut log.messages);
            all.bytes += log.bytes;
            all.packets += log.packets;
            all.repeats += log.repeats;
            all.repeated_bytes += log.repeated_bytes;
            all.memory = all.memory.max(log.memory);
            all.failure = all.failure.or(log.failure);
            (all.notices, all.repeated_at, all.codes) = Default::default();
        }
        all.messages.append(&mut rest);
        all
    }

    /// Whether a message never came, or came after the deadline.
    fn is_late(&self, latency: Option<Duration>) -> bool {
        latency.is_none_or(|latency| latency > self.deadline)
    }

    /// Whether a message missed, as the scheme judges it.
    pub(super) fn missed(&self, latency: Option<Duration>) -> bool {
        match self.judged {
            Judged::Arrival => latency.is_none(),
            Judged::Deadline => self.is_late(latency),
        }
    }

    /// The figures of all messages but the first `skip`, during which adaptive schemes settle.
    /// `price` is the cost of a repeat in bytes, if it is not the repeat's length. Costs are those
    /// of all messages.
    pub(super) fn figures(&self, skip: usize, price: Option<f64>) -> Figures {
        let messages = &self.messages[skip.min(self.messages.len())..];
        let share = |wrong: usize, all: usize| wrong as f64 / all.max(1) as f64;
        let missed = |messages: &[(Duration, Option<Duration>)]| {
            messages.iter().filter(|(_, latency)| self.missed(*latency)).count()
        };
        let windows = messages.chunks_exact(WINDOW);
        let met = |window: &&[(Duration, Option<Duration>)]| {
            share(missed(window), WINDOW) <= self.target * 1.2 + 1e-9
        };
        let never = messages.iter().filter(|(_, latency)| latency.is_none()).count();
        let late = messages.iter().filter(|(_, latency)| self.is_late(*latency)).count();
        let mut latencies: Vec<Duration> =
            messages.iter().filter_map(|(_, latency)| *latency).collect();
        latencies.sort_unstable();
        let ms = |latency: Duration| latency.as_secs_f64() * 1e3;
        let sum: Duration = latencies.iter().sum();
        let mean = ms(sum) / latencies.len().max(1) as f64;
        let p99 = latencies.len().saturating_sub(1) * 99 / 100;
        let saved =
            price.map_or(0.0, |price| self.repeated_bytes as f64 - price * self.repeats as f64);
        Figures {
            mer: share(late, messages.len()),
            never: share(never, messages.len()),
            windows: windows.len(),
            windows_met: share(windows.clone().filter(met).count(), windows.len()),
            latency_mean: mean,
            latency_p99: latencies.get(p99).map_or(0.0, |latency| ms(*latency)),
            bytes_per_message: (self.bytes - saved) / self.messages.len().max(1) as f64,
            repeats_per_message: self.repeats as f64 / self.messages.len().max(1) as f64,
            code_sets: self.code_sets(skip),
        }
    }

    /// The code sets from the time of this message on.
    fn code_sets(&self, skip: usize) -> Option<CodeSets> {
        let (first, _) = self.messages.get(skip)?;
        let changes = self.codes.iter().filter(|(at, _)| at > first).count();
        let sizes = || {
            let in_force = self.codes.len().saturating_sub(changes + 1);
            self.codes[in_force..].iter().map(|(_, code)| code.repeats.iter().count())
        };
        let messages = self.messages.len() - skip;
        let changes = changes as f64 * 1000.0 / messages as f64;
        Some(CodeSets { changes, fewest: sizes().min()?, most: sizes().max()? })
    }

    pub(super) fn told(&self) -> Told {
        let mut was_missed = false;
        let mut bursts = self.messages.iter().filter(|(_, latency)| {
            let is_missed = self.missed(*latency);
            !std::mem::replace(&mut was_missed, is_missed) && is_missed
        });
        // A miss shows once the deadline has passed.
        let third = bursts.nth(2).map(|(sent, _)| *sent + self.deadline);
        let is_told = |notice: &Notice| matches!(notice, Notice::CannotMeet { .. });
        let first = self.notices.iter().find(|(_, notice)| is_told(notice)).map(|(at, _)| *at);
        let after = first.map(|at| at.saturating_sub(third.unwrap_or(Duration::MAX)).as_secs_f64());
        let end = self.messages.last().map_or(Duration::ZERO, |(sent, _)| *sent);
        let ends = self.notices.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let stood = self.notices.iter().zip(ends).filter(|((_, notice), _)| is_told(notice));
        let stood: Duration = stood.map(|((from, _), to)| to.saturating_sub(*from)).sum();
        Told { after, share: stood.as_secs_f64() / end.as_secs_f64().max(1e-9) }
    }
}
