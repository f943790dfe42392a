//! What became of the messages of a run.

use std::time::Duration;

use groupwire_afec::Notice;

use super::cell::Cell;
use super::pair::Counted;
use crate::sim::input::Update;

/// Messages over which the paper takes its rate.
pub(super) const WINDOW: usize = 1000;

/// The fate of every message, and what it cost.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// When each message was sent, and how long it took; never: `None`.
    pub(super) messages: Vec<(Duration, Option<Duration>)>,
    deadline: Duration,
    target: f64,
    /// Bytes on the wire both ways.
    pub(super) bytes: f64,
    pub(super) packets: u64,
    /// Messages that the sender sent again.
    pub(super) repeats: u64,
    /// When the sending application was told something.
    pub(super) notices: Vec<(Duration, Notice)>,
    pub(super) by_time: Vec<(Duration, f64)>,
    pub(super) code: String,
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
    pub(super) bytes_per_message: f64,
    pub(super) repeats_per_message: f64,
}

impl Log {
    pub(super) fn new(input: &[Update], cell: &Cell) -> Self {
        Log {
            messages: input.iter().map(|update| (update.at, None)).collect(),
            deadline: cell.deadline,
            target: cell.target,
            bytes: 0.0,
            packets: 0,
            repeats: 0,
            notices: Vec::new(),
            by_time: Vec::new(),
            code: String::new(),
        }
    }

    /// Messages came, by number; the first time counts.
    pub(super) fn arrivals(&mut self, came: &[(u32, Duration)]) {
        for &(number, at) in came {
            if let Some((sent, latency)) = self.messages.get_mut(number as usize) {
                latency.get_or_insert(at.saturating_sub(*sent));
            }
        }
    }

    /// A station sent so much.
    pub(super) fn count(&mut self, counted: &Counted, first: bool) {
        self.bytes += counted.bytes;
        self.packets += counted.packets;
        self.repeats += counted.repeats;
        self.by_time.extend_from_slice(&counted.by_time);
        if first {
            self.notices.extend_from_slice(&counted.notices);
        }
    }

    /// Whether a message never came, or too late.
    pub(super) fn missed(&self, latency: Option<Duration>) -> bool {
        latency.is_none_or(|latency| latency > self.deadline)
    }

    /// The figures of all messages but the first `skip`, when schemes that adapt begin to.
    pub(super) fn figures(&self, skip: usize) -> Figures {
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
        let mut latencies: Vec<Duration> =
            messages.iter().filter_map(|(_, latency)| *latency).collect();
        latencies.sort_unstable();
        let ms = |latency: Duration| latency.as_secs_f64() * 1e3;
        let mean = latencies.iter().map(|latency| ms(*latency)).sum::<f64>()
            / latencies.len().max(1) as f64;
        let p99 = latencies.len().saturating_sub(1) * 99 / 100;
        Figures {
            mer: share(missed(messages), messages.len()),
            never: share(never, messages.len()),
            windows: windows.len(),
            windows_met: share(windows.clone().filter(met).count(), windows.len()),
            latency_mean: mean,
            latency_p99: latencies.get(p99).map_or(0.0, |latency| ms(*latency)),
            bytes_per_message: self.bytes / self.messages.len().max(1) as f64,
            repeats_per_message: self.repeats as f64 / self.messages.len().max(1) as f64,
        }
    }
}
