//! One channel of a sender.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::cadence::Cadence;
use super::history::History;
use crate::code::{Code, Repeats};
use crate::qos::{Order, Qos};
use crate::stats::SenderStats;

/// Keys whose last message is remembered.
const KEYS: usize = 64;

/// A message that was not sent yet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) origin: Duration,
    pub(super) key: u32,
    pub(super) payload: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: u32,
    pub(super) qos: Qos,
    pub(super) code: Code,
    /// Fractions of a message that is to get the code's other repeats.
    share: f64,
    pub(super) next_index: u32,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) history: History,
    pub(super) cadence: Cadence,
    /// When a packet goes that ends the cluster, unless there is a new message before.
    pub(super) closing: Option<Duration>,
    /// The earliest time for the next new message.
    pub(super) paced: Duration,
    /// Mean bytes of a message with what stands before it.
    pub(super) bytes: f64,
    /// What the receiver last said of missed messages against the target.
    pub(super) standing: f64,
    /// The share of messages that is expected to miss, if the application was told that the target cannot be met.
    pub(super) told: Option<f64>,
    pub(super) stats: SenderStats,
    /// Keys and the index of their last message, least recently used first.
    keys: Vec<(u32, u32)>,
}

impl Channel {
    pub(super) fn new(id: u32, qos: Qos, code: Code) -> Self {
        Channel {
            id,
            qos,
            code,
            share: 0.0,
            next_index: 0,
            waiting: VecDeque::new(),
            history: History::default(),
            cadence: Cadence::default(),
            closing: None,
            paced: Duration::ZERO,
            bytes: 25.0,
            standing: 0.0,
            told: None,
            stats: SenderStats::default(),
            keys: Vec::new(),
        }
    }

    /// Whether only the newest value of each key matters.
    pub(super) fn conflates(&self) -> bool {
        self.qos.order == Order::Newest
    }

    /// The repeats of the next message. The two sets alternate as evenly as the share allows.
    pub(super) fn repeats(&mut self) -> Repeats {
        self.share += self.code.share;
        if self.share >= 1.0 {
            self.share -= 1.0;
            return self.code.other;
        }
        self.code.repeats
    }

    /// The key as it stands in a packet: with how many messages ago it was used before.
    pub(super) fn key(&mut self, key: u32, index: u32) -> Option<(u32, u32)> {
        if !self.conflates() {
            return None;
        }
        let known = self.keys.iter().position(|(known, _)| *known == key);
        let back = known.map_or(0, |place| index.wrapping_sub(self.keys.remove(place).1));
        if self.keys.len() == KEYS {
            self.keys.remove(0);
        }
        self.keys.push((key, index));
        Some((key, back))
    }

    /// The mean interval between messages at the channel's highest rate.
    pub(super) fn spacing(&self) -> Duration {
        if self.qos.rate_max > 0.0 {
            Duration::from_secs_f64((1.0 / self.qos.rate_max).min(60.0))
        } else {
            Duration::ZERO
        }
    }

    pub(super) fn memory(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.payload.capacity()).sum();
        size_of::<Self>()
            + self.history.memory()
            + self.waiting.capacity() * size_of::<Waiting>()
            + waiting
            + self.keys.capacity() * size_of::<(u32, u32)>()
    }
}
