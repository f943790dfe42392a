//! The receiving half of an endpoint: which packets and messages arrived, and which are missing.
//!
//! `channel` judges the messages of a channel, `ordering` drops messages that a newer value
//! replaces, `requests` finds messages to request, `reporting` writes the reports, which tell the
//! sender what arrived.

mod balance;
mod channel;
mod delays;
mod numbers;
mod ordering;
mod reporting;
mod requests;

use alloc::vec::Vec;
use core::time::Duration;

use self::channel::Channel;
use self::delays::{Clock, Delays, Queued};
use self::numbers::Numbers;
pub use self::ordering::Delivery;
use crate::ids::{ChannelId, ReportNumber};
use crate::loss::{LossEstimator, LossModel};
use crate::path::Path;
use crate::qos::Qos;
use crate::rate::RateEstimator;
use crate::scheme::Scheme;
use crate::sender::{CHANNELS, SendError};
use crate::stats::ReceiverStats;
use crate::wire::{ChannelReport, Header, MessageHead, Messages, PacketError};

/// The delay in queues beyond which a packet tells nothing about the path's rate: the estimator
/// would have seen the queue grow before. Chosen by judgement; not tuned.
const LONGEST_QUEUE: Duration = Duration::from_secs(2);
/// The silence after which the sender's clock no longer shows the order of packets: its 16 bits of
/// ms repeat after 65 s, and half of that is ambiguous. 20 s leave a margin.
const CLOCK: Duration = Duration::from_secs(20);

/// The receiving half of an endpoint: see the [module](self).
#[derive(Debug)]
pub(crate) struct Receiver {
    scheme: Scheme,
    channels: Vec<Channel>,
    numbers: Numbers,
    delays: Delays,
    losses: LossEstimator,
    /// The loss model as estimated when the newest packet arrived.
    loss: LossModel,
    rate: RateEstimator,
    /// The rate limit of the path in bytes per second. `None` if the path shows none.
    limit: Option<u32>,
    /// Round trips, measured from reports to their echoes (the sender's confirmations). They are
    /// used as long as the sending half has measured none with its own packets.
    path: Path,
    /// Whether the sender wants requests for missing messages.
    wants_requests: bool,
    reported: Reported,
    /// When the first message since the last report arrived.
    news: Option<Duration>,
    /// When the packet with the highest number arrived.
    last_arrival: Duration,
    /// The low bits of that packet's number, and the sender's clock in it.
    newest: Option<(u16, u16)>,
    /// The parts about channels of the report that is being written.
    parts: Vec<(ChannelId, ChannelReport)>,
}

/// What the last reports said, and whether the sender has confirmed them.
#[derive(Debug)]
struct Reported {
    /// The number of the newest report.
    number: ReportNumber,
    /// When the newest report was sent.
    at: Option<Duration>,
    /// The number of reports that were sent, as far as they count as the first ones.
    first: u8,
    /// The bytes of the packets that arrived since then.
    bytes: usize,
    losses: LossModel,
    rate: Option<u32>,
    /// True while no echo has shown that the sender knows the newest losses and rate.
    unconfirmed: bool,
    /// The number of the newest report with losses or a rate.
    unconfirmed_number: ReportNumber,
    /// True if the sender has echoed the newest report.
    echoed: bool,
}

impl Receiver {
    pub(crate) fn new(scheme: Scheme) -> Self {
        let losses = LossEstimator::new();
        Receiver {
            scheme,
            channels: Vec::new(),
            numbers: Numbers::default(),
            delays: Delays::default(),
            loss: losses.model(),
            losses,
            rate: RateEstimator::new(),
            limit: None,
            path: Path::new(),
            wants_requests: false,
            reported: Reported {
                number: ReportNumber::default(),
                at: None,
                first: 0,
                bytes: 0,
                losses: LossModel::default(),
                rate: None,
                unconfirmed: false,
                unconfirmed_number: ReportNumber::default(),
                echoed: true,
            },
            news: None,
            last_arrival: Duration::ZERO,
            newest: None,
            parts: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self, id: ChannelId, qos: Qos) -> Result<(), SendError> {
        qos.validate().map_err(SendError::Qos)?;
        if self.channels.iter().any(|channel| channel.id == id) {
            return Err(SendError::Open(id.0));
        }
        if self.channels.len() == CHANNELS {
            return Err(SendError::TooManyChannels);
        }
        self.channels.push(Channel::new(id, qos));
        Ok(())
    }

    pub(crate) fn stats(&self, id: ChannelId) -> Option<&ReceiverStats> {
        self.channels.iter().find(|channel| channel.id == id).map(|channel| &channel.stats)
    }

    /// How the path from the other end loses packets.
    pub(crate) fn loss(&self) -> LossModel {
        self.loss
    }

    /// Notes a packet of `bytes` bytes that arrived with this header. Returns its delay in queues,
    /// or `None` if it arrived before.
    pub(crate) fn arrived(
        &mut self,
        now: Duration,
        header: &Header,
        bytes: usize,
    ) -> Option<Duration> {
        let losses = &mut self.losses;
        let mut lost_now = 0;
        let decide = |lost| {
            losses.push(lost);
            lost_now += u32::from(lost);
        };
        if !self.numbers.arrived(header.number, decide) {
            return None;
        }
        self.loss = self.losses.model();
        let queued = self.delays.arrived(now, header.sent);
        self.note_rate(now, queued, bytes, lost_now);
        // The header of a packet that later ones overtook is out of date.
        let newest = self.numbers.highest().low() == header.number;
        if newest {
            self.newest = Some((header.number, header.sent));
            self.last_arrival = now;
            self.wants_requests = header.ask;
        }
        let reported = &mut self.reported;
        reported.bytes = reported.bytes.saturating_add(bytes);
        if header.echo == Some(reported.number.echo()) && !reported.echoed {
            reported.echoed = true;
            if let (Some(at), Some(held)) = (reported.at, header.held) {
                let held = Duration::from_millis(u64::from(held));
                self.path.sample(now.saturating_sub(at).saturating_sub(held));
            }
        }
        // An echo of a later report confirms the losses and the rate, too: later reports repeat
        // them, or have newer ones.
        if header.echo.is_some_and(|echo| echo.covers(reported.unconfirmed_number)) {
            reported.unconfirmed = false;
        }
        Some(queued.delay)
    }

    /// Updates the rate estimate, if the packet's clock is believed. `lost` is the number of
    /// packets whose loss this packet showed.
    fn note_rate(&mut self, now: Duration, queued: Queued, bytes: usize, lost: u32) {
        match queued.clock {
            Clock::Odd => return,
            Clock::New => self.rate = RateEstimator::new(),
            Clock::Same => {}
        }
        if queued.delay < LONGEST_QUEUE {
            let sent = now.saturating_sub(queued.delay).as_millis() as u16;
            self.rate.arrived(now, sent, bytes);
            self.rate.lost(now, lost);
            self.limit = self.rate.cap(now);
        }
    }

    /// Accepts the messages of a packet that waited in queues for `queued`.
    pub(crate) fn messages<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        queued: Duration,
        sender_path: &Path,
        mut messages: Messages<'_>,
        deliver: &mut F,
    ) -> Result<(), PacketError> {
        let one_way = self.one_way(sender_path).unwrap_or_default() + queued;
        let result = messages.try_for_each(|message| {
            let (head, payload) = message?;
            let age = Duration::from_millis(u64::from(head.age)) + one_way;
            self.message(now, &head, age, payload, sender_path, deliver)
        });
        self.expire(now);
        result
    }

    /// Accepts one message that is `age` old.
    pub(crate) fn message<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        head: &MessageHead,
        age: Duration,
        payload: &[u8],
        sender_path: &Path,
        deliver: &mut F,
    ) -> Result<(), PacketError> {
        // A little less than the smallest round trip, because clocks are read in whole ms.
        let fastest_answer = self.known_path(sender_path).smallest() * 7 / 8;
        let channel =
            self.channel(head.channel).ok_or(PacketError::UnknownChannel(head.channel))?;
        channel.fastest_answer = fastest_answer;
        channel.message(now, head, age, payload, deliver);
        self.news.get_or_insert(now);
        Ok(())
    }

    fn channel(&mut self, id: ChannelId) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|channel| channel.id == id)
    }

    /// Notes that the caller judged the messages of a channel from application to application:
    /// `beyond` more messages were missed than the target permits.
    pub(crate) fn report_misses(&mut self, id: ChannelId, beyond: f64) {
        if let Some(channel) = self.channel(id) {
            channel.report_misses(beyond);
        }
    }

    /// Replaces the QoS of a channel. `reset_balance` clears the channel's error-budget balance:
    /// how many more messages were missed than the target permits.
    pub(crate) fn set_qos(&mut self, id: ChannelId, qos: Qos, reset_balance: bool) {
        if let Some(channel) = self.channel(id) {
            channel.set_qos(qos, reset_balance);
        }
    }

    /// Completes a packet number from its eight low bits. If the packet was sent after the newest
    /// one (`sent` is its sender's clock), this is the nearest number after the newest number,
    /// otherwise the nearest one before it.
    pub(crate) fn whole_number(&self, now: Duration, low: u8, sent: u16) -> u16 {
        let Some((number, newest)) = self.newest else { return u16::from(low) };
        let ahead = low.wrapping_sub(number as u8);
        let later = sent.wrapping_sub(newest) as i16;
        let follows = match later {
            _ if now > self.last_arrival + CLOCK => true,
            0 => (1..0x80).contains(&ahead),
            later => later > 0,
        };
        match follows {
            true => number.wrapping_add(if ahead == 0 { 0x100 } else { u16::from(ahead) }),
            false => number.wrapping_sub(u16::from(ahead.wrapping_neg())),
        }
    }

    /// Half of the smallest round trip. `None` until a round trip was measured.
    pub(crate) fn one_way(&self, sender_path: &Path) -> Option<Duration> {
        let path = self.known_path(sender_path);
        path.is_known().then(|| path.smallest() / 2)
    }

    /// Judges messages whose deadline has passed.
    pub(crate) fn expire(&mut self, now: Duration) {
        for channel in &mut self.channels {
            channel.expire(now);
        }
    }

    /// The delay of the path as the sending half measured it or, if it measured none, as the
    /// receiving half did.
    fn known_path<'a>(&'a self, sender_path: &'a Path) -> &'a Path {
        if sender_path.is_known() { sender_path } else { &self.path }
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let channels: usize = self.channels.iter().map(Channel::memory).sum();
        size_of::<Self>()
            + channels
            + self.parts.capacity() * size_of::<(ChannelId, ChannelReport)>()
    }
}
