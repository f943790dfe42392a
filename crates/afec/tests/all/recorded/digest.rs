//! A digest of everything that endpoints put out.

use std::time::Duration;

use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_afec::loss::LossModel;
use groupwire_afec::stats::{ReceiverStats, SenderStats};
use groupwire_afec::{Delivery, Endpoint, Notice, PacketError, PacketSummary, Submitted};

/// FNV-1a with 64 bits: short to write, the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn float(&mut self, number: f64) {
        self.number(number.to_bits());
    }

    pub(crate) fn time(&mut self, time: Duration) {
        self.number(time.as_nanos() as u64);
    }

    pub(crate) fn maybe_time(&mut self, time: Option<Duration>) {
        self.number(time.map_or(u64::MAX, |time| time.as_nanos() as u64));
    }

    pub(crate) fn submitted(&mut self, submitted: Submitted) {
        self.number(match submitted {
            Submitted::Accepted => 0,
            Submitted::Conflated => 1,
            Submitted::Dropped => 2,
        });
    }

    pub(crate) fn made(&mut self, made: PacketSummary) {
        let PacketSummary { new, repeated, repeated_bytes, bytes, report_bytes } = made;
        for number in [new, repeated, repeated_bytes, bytes, report_bytes] {
            self.number(number.into());
        }
    }

    pub(crate) fn delivery(&mut self, end: usize, delivery: &Delivery<'_>) {
        self.number(end as u64);
        self.number(delivery.channel.0.into());
        self.number(delivery.index.into());
        self.number(delivery.key.map_or(u64::MAX, u64::from));
        self.time(delivery.age);
        self.number(delivery.recovered.into());
        self.bytes(delivery.payload);
    }

    pub(crate) fn result(&mut self, result: &Result<(), PacketError>) {
        self.number(match result {
            Ok(()) => 0,
            Err(PacketError::Truncated) => 1,
            Err(PacketError::IntegerTooLarge) => 2,
            Err(PacketError::Version) => 3,
            Err(PacketError::UnknownChannel(id)) => 100 + u64::from(id.0),
            Err(PacketError::Duplicate) => 5,
            Err(PacketError::UnknownReport) => 6,
        });
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::CannotMeet { channel, target, expected } => {
                self.number(u64::from(channel.0) * 4);
                self.float(target);
                self.float(expected);
            }
            Notice::Overloaded { channel } => self.number(u64::from(channel.0) * 4 + 2),
            Notice::CanMeet { channel } => self.number(u64::from(channel.0) * 4 + 3),
        }
    }

    fn repeats(&mut self, repeats: &Repeats) {
        self.number(repeats.len() as u64);
        for repeat in repeats.iter() {
            match repeat {
                Repeat::Piggyback(lag) => self.number(lag.into()),
                Repeat::Dedicated(after) => self.time(after),
            }
        }
    }

    pub(crate) fn code(&mut self, code: &Code) {
        self.repeats(&code.repeats);
        self.repeats(&code.other);
        self.float(code.share);
        self.number(code.answers.into());
        self.number(code.tail_flush.into());
    }

    pub(crate) fn loss(&mut self, loss: &LossModel) {
        self.float(loss.rate);
        loss.again.iter().for_each(|again| self.float(*again));
        self.float(loss.weight);
    }

    fn sender(&mut self, stats: SenderStats) {
        let SenderStats { messages, bytes, conflated, stale, .. } = stats;
        let SenderStats { repeats, repeat_bytes, answers, crowded_out, .. } = stats;
        for number in
            [messages, bytes, conflated, stale, repeats, repeat_bytes, answers, crowded_out]
        {
            self.number(number);
        }
    }

    fn receiver(&mut self, stats: &ReceiverStats) {
        let ReceiverStats { judged, missed, late, recovered, .. } = *stats;
        let ReceiverStats { useless, superseded, asked, .. } = *stats;
        for number in [judged, missed, late, recovered, useless, superseded, asked] {
            self.number(number);
        }
        for (ms, count) in stats.latency.buckets() {
            self.number(ms.into());
            self.number(count.into());
        }
    }

    /// Adds the estimates of an endpoint, and its statistics of these channels.
    pub(crate) fn endpoint(&mut self, now: Duration, end: &Endpoint, channels: &[u32]) {
        for id in channels {
            if let Some((stats, code)) = end.sent(*id) {
                self.sender(stats);
                self.code(&code);
            }
            if let Some(stats) = end.received(*id) {
                self.receiver(stats);
            }
        }
        self.loss(&end.loss());
        self.loss(&end.loss_ahead());
        self.number(end.rate(now).map_or(u64::MAX, u64::from));
        self.maybe_time(end.round_trip());
        self.maybe_time(end.one_way());
        self.maybe_time(end.allowed());
        self.maybe_time(end.timeout(now));
    }
}
