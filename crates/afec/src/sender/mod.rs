//! The sending half of an endpoint: its channels, the messages that wait, and when the next packet
//! is due. A code is the plan by which the messages of a channel are repeated. On a conflated
//! channel only the newest value of each key matters.
//!
//! `fill` puts messages into a packet, `plan` schedules the repeats of these messages, `resend`
//! adds the repeats that are due, `answer` serves the receiver's requests, `decide` chooses the
//! redundancy of each channel. A report of the receiver tells what arrived.

mod answer;
mod cadence;
mod channel;
mod decide;
mod fill;
mod history;
mod plan;
mod resend;
mod schedule;
mod submission;
#[cfg(test)]
mod tests;
mod values;

use alloc::vec::Vec;
use core::time::Duration;

use self::channel::{Channel, Waiting};
use self::schedule::Schedule;
pub use self::submission::{CHANNELS, PacketSummary, SendError, Submission, Submitted};
use crate::code::Code;
use crate::ids::{ChannelId, Key, MessageIndex};
use crate::loss::LossModel;
use crate::qos::Qos;
use crate::rate::Budget;
use crate::scheme::Scheme;
use crate::stats::SenderStats;
use crate::wire::{MessageHead, message_len};
use crate::within::Within;

/// The most messages of a channel that wait for a packet. Beyond that the oldest is dropped for a
/// newer one. It is two seconds of a telepointer (the pointer of another user) at 30 messages per
/// second. Chosen by judgement; not tuned.
const WAITING: usize = 64;
/// The least time between two notices to the application that repeats do not fit. Chosen by
/// judgement; not tuned.
const OVERFLOW_NOTICE: Duration = Duration::from_secs(30);
/// The least compression ratio that is assumed when a packet is filled. So a packet gets messages
/// of at most eight times its size (before compression), however well earlier messages compressed.
/// Chosen by judgement; not tuned.
const LEAST_RATIO: f64 = 0.125;
/// How long a reported rate limit stays in force. A receiver that still sees a limit reports it
/// every second, so three reports may be lost. One forged report limits the rate of a path for no
/// longer than this.
const LIMIT_HOLDS: Duration = Duration::from_secs(4);
/// How long a path counts as narrow after its last rate limit. While a channel sends less than a
/// limit the receiver drops the limit, but repeats as on a path without one would fill the path's
/// queue again. At 28.8 kbit/s and 20 % loss this happened every half minute (`groupwire-lab
/// contract --setup modem`).
const NARROW_FOR: Duration = Duration::from_secs(60);

/// The number of packets over which [`Sender::unsent`] is smoothed: about as many as a loss model
/// is estimated from. Chosen by judgement; not tuned.
const UNSENT_PACKETS: f64 = 100.0;

/// The sending half of an endpoint: see the [module](self).
#[derive(Debug)]
pub(crate) struct Sender {
    channels: Vec<Channel>,
    /// The planned repeats of single messages. Those of conflated channels are planned in
    /// [`values::Values`].
    schedule: Schedule,
    /// The number of packets with new messages that were sent so far. It wraps around.
    packets_with_new: u32,
    /// The messages of the packet that is being filled.
    entries: Vec<Entry>,
    /// How the path to the receiver loses packets, as the receiver last reported.
    loss: LossModel,
    /// The share of recent packets that were dropped at this end. The receiver counts them as lost.
    unsent: f64,
    budget: Budget,
    /// When the receiver last reported a rate limit; `None` if no reported limit is in force.
    limited: Option<Duration>,
    /// Until when the path counts as narrow: [`NARROW_FOR`] after the receiver last reported a rate
    /// limit.
    narrow_until: Duration,
    /// The earliest time of the next packet. Set while a rate limit is known.
    allowed: Option<Duration>,
    scheme: Scheme,
    /// The bytes of headers per packet: those of IP and UDP (or another transport) and those of
    /// this crate's packet format.
    headers: usize,
    /// See [`Config::repeat_price`](crate::Config::repeat_price).
    repeat_price: Option<f64>,
    /// The compression ratio of the caller's packet coder: coded bytes divided by message bytes,
    /// smoothed.
    ratio: f64,
}

/// A message in the packet that is being filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The index of the message's channel in [`Sender::channels`].
    channel: usize,
    index: MessageIndex,
}

impl Sender {
    pub(crate) fn new(scheme: Scheme, headers: usize, repeat_price: Option<f64>) -> Self {
        Sender {
            channels: Vec::new(),
            schedule: Schedule::default(),
            packets_with_new: 0,
            entries: Vec::new(),
            loss: LossModel::default(),
            unsent: 0.0,
            budget: Budget::new(None),
            limited: None,
            narrow_until: Duration::ZERO,
            allowed: None,
            scheme,
            headers,
            repeat_price,
            ratio: 1.0,
        }
    }

    /// Updates the compression ratio: the packet coder turned `raw` bytes of messages into `coded`
    /// bytes.
    pub(crate) fn on_coded(&mut self, raw: usize, coded: usize) {
        if raw > 0 {
            let ratio = (coded as f64 / raw as f64).within(LEAST_RATIO, 1.0);
            // Smoothed over about 16 packets.
            self.ratio += (ratio - self.ratio) / 16.0;
        }
    }

    /// The earliest time of the next packet, if the path's rate is limited.
    pub(crate) fn allowed(&self) -> Option<Duration> {
        self.allowed
    }

    /// Replaces the QoS of a channel; the next decision uses it. `reset_balance` clears the
    /// channel's error-budget balance: how many more messages were missed than the target permits.
    pub(crate) fn set_qos(&mut self, id: ChannelId, qos: Qos, reset_balance: bool) {
        if let Some(place) = self.place(id) {
            self.channels[place].set_qos(qos, reset_balance);
        }
    }

    pub(crate) fn open(&mut self, id: ChannelId, qos: Qos) -> Result<(), SendError> {
        qos.validate().map_err(SendError::Qos)?;
        if id > ChannelId::MAX {
            return Err(SendError::Id(id.0));
        }
        if self.place(id).is_some() {
            return Err(SendError::Open(id.0));
        }
        if self.channels.len() == CHANNELS {
            return Err(SendError::TooManyChannels);
        }
        self.channels.push(Channel::new(id, qos, self.scheme.first_code()));
        Ok(())
    }

    /// Drops the messages of a channel: they are neither sent nor repeated any more.
    pub(crate) fn forget_messages(&mut self, id: ChannelId) {
        if let Some(place) = self.place(id) {
            self.schedule.forget(place);
            self.channels[place].forget_messages();
        }
    }

    /// The index of a channel in [`Sender::channels`].
    fn place(&self, id: ChannelId) -> Option<usize> {
        self.channels.iter().position(|channel| channel.id == id)
    }

    /// The statistics of what was sent on a channel, and the channel's code. For a conflated
    /// channel the code describes the repeats that [`Values`](values::Values) plans.
    pub(crate) fn stats(&self, id: ChannelId) -> Option<(SenderStats, Code)> {
        let place = self.place(id)?;
        let channel = &self.channels[place];
        let code = if self.supersedes(place) { channel.values.code() } else { channel.code };
        Some((channel.stats, code))
    }

    /// Accepts a message for sending. `remaining` is the most bytes that a message with its header
    /// may have to fit into a packet.
    pub(crate) fn submit(
        &mut self,
        now: Duration,
        id: ChannelId,
        message: Submission<'_>,
        remaining: usize,
    ) -> Result<Submitted, SendError> {
        let place = self.place(id).ok_or(SendError::NotOpen(id.0))?;
        let is_narrow = self.is_narrow(now);
        let channel = &mut self.channels[place];
        let key = Key(message.key);
        let largest = MessageHead {
            channel: id,
            index: 0,
            age: u32::MAX,
            repeated: false,
            key: channel.conflates().then_some((key, u32::MAX)),
        };
        let len = message_len(&largest, message.payload.len());
        if len > remaining {
            return Err(SendError::TooLarge { len, room: remaining });
        }
        let origin = now.saturating_sub(message.age);
        let mut payload = channel.history.buffer();
        payload.extend_from_slice(message.payload);
        let mut waiting = Waiting { origin, key, payload };
        if channel.conflates() {
            waiting = match channel.conflate(waiting, !is_narrow) {
                Ok(older) => {
                    channel.history.recycle(older.payload);
                    channel.stats.conflated += 1;
                    return Ok(Submitted::Conflated);
                }
                Err(newer) => newer,
            };
        }
        channel.waiting.push_back(waiting);
        if channel.waiting.len() > WAITING {
            let oldest = channel.waiting.pop_front().expect("more than one message waits");
            channel.history.recycle(oldest.payload);
            channel.stats.stale += 1;
            return Ok(Submitted::Dropped);
        }
        Ok(Submitted::Accepted)
    }

    /// When the next packet with messages is due.
    pub(crate) fn next(&self, now: Duration) -> Option<Duration> {
        let new_at = |channel: &Channel| (!channel.waiting.is_empty()).then(|| channel.paced());
        let new = self.channels.iter().filter_map(new_at).min();
        let flush = self.channels.iter().filter_map(|channel| channel.flush_at).min();
        let values = self.channels.iter().filter_map(|channel| channel.values.next()).min();
        let at = [new, flush, values, self.schedule.next()].into_iter().flatten().min()?;
        Some(at.max(self.allowed.unwrap_or(now)))
    }

    /// Notes that a packet of `bytes` bytes, headers included, was sent.
    pub(crate) fn on_sent(&mut self, now: Duration, bytes: usize) {
        self.unsent -= self.unsent / UNSENT_PACKETS;
        // With a fixed code the receiver reports no rate.
        if !matches!(self.scheme, Scheme::Adaptive) {
            return;
        }
        self.budget.spend(now, bytes);
        // The next packet is filled only when the budget allows a packet as large as this one. So
        // the messages in the next packet are as new as possible.
        let limited = self.budget.rate(now).is_some();
        self.allowed = limited.then(|| self.budget.next(now, bytes));
    }

    /// Notes that a report arrived. `rate` is the rate limit in bytes per second if the report has
    /// one; 0 says that there is no limit.
    pub(crate) fn on_report(&mut self, now: Duration, rate: Option<u32>) {
        self.budget.on_report();
        if let Some(rate) = rate {
            self.budget.set_reported_rate((rate > 0).then_some(rate));
            self.limited = (rate > 0).then_some(now);
            if rate > 0 {
                self.narrow_until = now.saturating_add(NARROW_FOR);
            }
            self.allowed = None;
        }
    }

    /// Whether the path has a rate limit or had one lately, so that repeats take the place of newer
    /// values.
    fn is_narrow(&self, now: Duration) -> bool {
        now < self.narrow_until || self.budget.rate(now).is_some()
    }

    /// The number of open channels.
    pub(crate) fn channels(&self) -> u32 {
        self.channels.len() as u32
    }

    /// The rate limit in bytes per second, if there is one.
    pub(crate) fn rate(&self, now: Duration) -> Option<u32> {
        self.budget.rate(now)
    }

    /// Drops a rate limit that the receiver has not repeated for [`LIMIT_HOLDS`]. Returns whether
    /// it dropped one.
    pub(crate) fn drop_old_limit(&mut self, now: Duration) -> bool {
        let is_old = self.limited.is_some_and(|since| since + LIMIT_HOLDS < now);
        if is_old {
            self.limited = None;
            self.budget.set_reported_rate(None);
            self.allowed = None;
        }
        is_old
    }

    pub(crate) fn set_transport_rate(&mut self, rate: Option<u32>) {
        self.budget.set_transport_rate(rate);
        self.allowed = None;
    }

    /// Stores the error-budget balance of a channel from a report: how many more messages were
    /// missed than the target permits.
    pub(crate) fn set_balance(&mut self, id: ChannelId, balance: f64) {
        if let Some(place) = self.place(id) {
            self.channels[place].balance = balance;
        }
    }

    pub(crate) fn set_loss(&mut self, loss: LossModel) {
        self.loss = loss.without(self.unsent);
    }

    /// Notes that a packet, which [`Sender::on_sent`] has counted, was dropped at this end.
    pub(crate) fn on_dropped(&mut self) {
        self.unsent += (1.0 - self.unsent) / UNSENT_PACKETS;
    }

    pub(crate) fn loss(&self) -> LossModel {
        self.loss
    }

    /// Calls `notify` for the channels whose repeats stopped fitting into packets at `now`.
    pub(crate) fn overflowing(&mut self, now: Duration, mut notify: impl FnMut(ChannelId)) {
        for channel in &mut self.channels {
            match channel.overflowing {
                Some(since) if since == now => notify(channel.id),
                Some(since) if since + OVERFLOW_NOTICE < now => channel.overflowing = None,
                _ => {}
            }
        }
    }

    /// Whether the receiver should request the messages that it misses.
    pub(crate) fn wants_requests(&self) -> bool {
        self.channels.iter().any(|channel| channel.code.answers > 0)
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let channels: usize = self.channels.iter().map(Channel::memory).sum();
        channels + self.schedule.memory() + self.entries.capacity() * size_of::<Entry>()
    }

    /// True if [`Values`](values::Values) decides which messages of the channel with index `place`
    /// are sent again: the channel is conflated.
    fn supersedes(&self, place: usize) -> bool {
        matches!(self.scheme, Scheme::Adaptive) && self.channels[place].conflates()
    }
}
