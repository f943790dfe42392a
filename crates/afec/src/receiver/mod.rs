//! The receiving half: what came, what is missing, and what the sender should know of it.

mod asking;
mod channel;
mod delays;
mod numbers;
mod window;

use alloc::vec::Vec;
use core::time::Duration;

use self::channel::Channel;
pub use self::channel::Delivery;
use self::delays::{Clock, Delays, Queued};
use self::numbers::Numbers;
use self::window::Window;
use crate::loss::{LossEstimator, LossModel};
use crate::path::Path;
use crate::qos::Qos;
use crate::rate::{News, RateEstimator, differs};
use crate::scheme::Scheme;
use crate::sender::{CHANNELS, SendError};
use crate::stats::ReceiverStats;
use crate::wire::{ChannelReport, ECHO, Header, MessageHead, Messages, PacketError, Report};
use crate::within::Within;

/// While messages come, the sender hears from the receiver at least this often: it shows that somebody listens, and
/// measures the round trip.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// After the first packet, sooner: the round trip is not known yet.
const FIRST_HEARTBEAT: Duration = Duration::from_millis(300);
/// If the sender does not seem to have heard it, or is to hold a limit, sooner.
const UNHEARD: Duration = Duration::from_secs(1);
/// A packet that took this much longer than others tells nothing of the path's rate: a queue that long would have been seen
/// to grow.
const LONGEST_QUEUE: Duration = Duration::from_secs(2);
/// News that is not urgent waits this long for a packet that goes anyway.
const PATIENCE: Duration = Duration::from_secs(1);
/// The sender's clock, of which a packet tells 16 bits of ms, is no measure after so long a silence.
const CLOCK: Duration = Duration::from_secs(20);
/// Between two packets that go for reports alone, whatever comes: at most 200 a second.
const APART: Duration = Duration::from_millis(5);
/// The most that a report says of channels, so that packets with large messages hold it too. The rest waits for the
/// next one.
const PARTS: usize = 16;
/// A change of a channel's standing by so many messages is news.
const STANDING_NEWS: f64 = 3.0;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Receiver {
    scheme: Scheme,
    channels: Vec<Channel>,
    numbers: Numbers,
    delays: Delays,
    losses: LossEstimator,
    /// What it believes since the last packet.
    loss: LossModel,
    rate: RateEstimator,
    /// What the path carries, in bytes per second, if it shows a limit.
    cap: Option<u32>,
    path: Path,
    /// Whether the sender wants to be asked for what is missing.
    asks: bool,
    reported: Reported,
    /// Messages came since the last report.
    news: Option<Duration>,
    last_arrival: Duration,
    /// The low bits of the newest packet's number, and its sender's clock.
    newest: Option<(u16, u16)>,
    parts: Vec<(u32, ChannelReport)>,
}

/// What the sender was told.
#[derive(Debug)]
struct Reported {
    number: u8,
    at: Option<Duration>,
    losses: LossModel,
    rate: Option<u32>,
    /// The sender has not shown that it knows the newest report about losses or the rate.
    open: bool,
    /// The number of that report.
    open_number: u8,
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
            cap: None,
            path: Path::new(),
            asks: false,
            reported: Reported {
                number: 0,
                at: None,
                losses: LossModel::default(),
                rate: None,
                open: false,
                open_number: 0,
                echoed: true,
            },
            news: None,
            last_arrival: Duration::ZERO,
            newest: None,
            parts: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self, id: u32, qos: Qos) -> Result<(), SendError> {
        qos.validate().map_err(SendError::Qos)?;
        if self.channels.iter().any(|channel| channel.id == id) {
            return Err(SendError::Open(id));
        }
        if self.channels.len() == CHANNELS {
            return Err(SendError::TooManyChannels);
        }
        let window = match self.scheme {
            Scheme::Afec2012(settings) => Some(Window::new(settings)),
            _ => None,
        };
        self.channels.push(Channel::new(id, qos, window));
        Ok(())
    }

    pub(crate) fn stats(&self, id: u32) -> Option<&ReceiverStats> {
        self.channels.iter().find(|channel| channel.id == id).map(|channel| &channel.stats)
    }

    /// What is believed of the path from the other end.
    pub(crate) fn loss(&self) -> LossModel {
        self.loss
    }

    /// A packet came, of which the header has been read. Whether it is new.
    pub(crate) fn arrived(
        &mut self,
        now: Duration,
        header: &Header,
        bytes: usize,
    ) -> Option<Duration> {
        let losses = &mut self.losses;
        let mut lost_now = 0;
        let settle = |lost| {
            losses.push(lost);
            lost_now += u32::from(lost);
        };
        if !self.numbers.arrived(header.number, settle) {
            return None;
        }
        self.loss = self.losses.model();
        let queued = self.delays.arrived(now, header.sent);
        self.note_rate(now, queued, bytes, lost_now);
        // An overtaken packet tells nothing that a newer one did not tell better.
        let newest = self.numbers.highest() as u16 == header.number;
        if newest {
            self.newest = Some((header.number, header.sent));
            self.last_arrival = now;
            self.asks = header.ask;
        }
        let reported = &mut self.reported;
        if header.echo == Some(reported.number & ECHO) && !reported.echoed {
            reported.echoed = true;
            if let (Some(at), Some(held)) = (reported.at, header.held) {
                let held = Duration::from_millis(u64::from(held));
                self.path.sample(now.saturating_sub(at).saturating_sub(held));
            }
        }
        // Reports since then say the same or newer things.
        if let Some(echo) = header.echo
            && echo.wrapping_sub(reported.open_number) & ECHO < 4
        {
            reported.open = false;
        }
        Some(queued.delay)
    }

    /// Learns what the path carries, from packets whose clock can be believed.
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
            self.cap = self.rate.cap(now);
        }
    }

    /// The messages of a packet that queues delayed by `queued`.
    pub(crate) fn messages<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        queued: Duration,
        sender_path: &Path,
        mut messages: Messages<'_>,
        deliver: &mut F,
    ) -> Result<(), PacketError> {
        let way = self.way(sender_path).unwrap_or_default() + queued;
        let result = messages.try_for_each(|message| {
            let (head, payload) = message?;
            let age = Duration::from_millis(u64::from(head.age)) + way;
            self.message(now, &head, age, payload, sender_path, deliver)
        });
        self.expire(now, deliver);
        result
    }

    /// One message, which is `age` old.
    pub(crate) fn message<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        head: &MessageHead,
        age: Duration,
        payload: &[u8],
        sender_path: &Path,
        deliver: &mut F,
    ) -> Result<(), PacketError> {
        let answer = self.ask_path(sender_path).smallest() * 7 / 8;
        let channel =
            self.channel(head.channel).ok_or(PacketError::UnknownChannel(head.channel))?;
        channel.answer = answer;
        channel.message(now, head, age, payload, deliver);
        self.news.get_or_insert(now);
        Ok(())
    }

    fn channel(&mut self, id: u32) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|channel| channel.id == id)
    }

    /// So many messages of a channel more were missed than is permitted, says who knows better.
    pub(crate) fn judged(&mut self, id: u32, beyond: f64) {
        if let Some(channel) = self.channel(id) {
            channel.stand(beyond, true);
        }
    }

    /// Other needs of a channel.
    pub(crate) fn change(&mut self, id: u32, qos: Qos, anew: bool) {
        if let Some(channel) = self.channel(id) {
            channel.change(qos, anew);
        }
    }

    /// The number that ends in `low` of a packet that was sent at `sent`: after the newest one if its time is later.
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

    /// Half of the path's own round trip, once one was measured.
    pub(crate) fn way(&self, sender_path: &Path) -> Option<Duration> {
        let path = self.ask_path(sender_path);
        path.is_known().then(|| path.smallest() / 2)
    }

    /// Judges messages whose deadline has passed.
    pub(crate) fn expire<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, deliver: &mut F) {
        for channel in &mut self.channels {
            channel.expire(now, deliver);
        }
    }

    /// When [`Receiver::expire`] hands something over.
    pub(crate) fn next_expiry(&self) -> Option<Duration> {
        self.channels.iter().filter_map(Channel::next_expiry).min()
    }

    /// When a report is due that gets a packet of its own.
    pub(crate) fn next_report(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        let due = self.due(now, sender_path)?;
        Some(self.reported.at.map_or(due, |at| due.max(at + APART)))
    }

    fn due(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        match self.scheme {
            Scheme::Fixed(_) | Scheme::Fec(_) | Scheme::Interleaved { .. } => {
                return self.next_ask(now, sender_path);
            }
            Scheme::Afec2012(_) => {
                return self
                    .channels
                    .iter()
                    .filter_map(|channel| channel.window.as_ref()?.next_look())
                    .min();
            }
            Scheme::Adaptive => {}
        }
        let asks = self.next_ask(now, sender_path);
        let Some(news) = self.news else {
            return asks;
        };
        let heartbeat = match self.reported.at {
            None => news + FIRST_HEARTBEAT,
            Some(at) => {
                let calm = self.reported.echoed && self.cap.is_none();
                (at + if calm { HEARTBEAT } else { UNHEARD }).max(news)
            }
        };
        let losses = self.losses_news(now);
        let standing =
            self.standing_news().then(|| self.reported.at.map_or(now, |at| at + PATIENCE));
        [Some(heartbeat), asks, losses, standing].into_iter().flatten().min()
    }

    fn next_ask(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        if !self.asks {
            return None;
        }
        let (path, overtaken) = (self.ask_path(sender_path), self.numbers.reorder());
        self.channels
            .iter()
            .filter_map(|channel| channel.next_ask(now, channel.wait(overtaken), path))
            .min()
    }

    fn ask_path<'a>(&'a self, sender_path: &'a Path) -> &'a Path {
        if sender_path.is_known() { sender_path } else { &self.path }
    }

    /// When to tell how the path loses packets.
    fn losses_news(&self, now: Duration) -> Option<Duration> {
        if self.loss.differs(&self.reported.losses) {
            return Some(now);
        }
        match differs(self.reported.rate, self.cap) {
            News::Urgent => return Some(now),
            News::Worth => return Some(self.reported.at.map_or(now, |at| at + PATIENCE / 2)),
            News::None => {}
        }
        let again =
            || self.reported.at.map_or(now, |at| at + self.path.smallest() * 2 + PATIENCE / 8);
        self.reported.open.then(again)
    }

    fn standing_news(&self) -> bool {
        let news = |channel: &Channel| {
            (channel.standing() - channel.reported_standing).abs() >= STANDING_NEWS
        };
        self.channels.iter().any(news)
    }

    /// Writes a report, if there is anything to say. `alone`: it would be for this report that a packet goes. `short`: its
    /// highest number has eight bits.
    pub(crate) fn report(
        &mut self,
        now: Duration,
        alone: bool,
        sender_path: &Path,
        short: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        self.parts.clear();
        let open = matches!(self.scheme, Scheme::Adaptive);
        self.collect_asks(now, sender_path);
        self.collect_steps(now);
        let model = self.loss;
        let open_news = open && self.reported.open;
        let losses = open_news || (open && model.differs(&self.reported.losses));
        let limited = self.cap.is_some();
        let rate_news = limited || differs(self.reported.rate, self.cap) != News::None;
        let rate = open_news || (open && rate_news);
        let due = self.next_report(now, sender_path).is_some_and(|at| at <= now);
        let quiet = self.reported.at.is_none_or(|at| at + PATIENCE / 2 <= now);
        let rides = !alone && open && self.news.is_some() && quiet;
        if self.parts.is_empty() && !due && !rides {
            return false;
        }
        if open {
            self.collect_standings();
        }
        let reported = &mut self.reported;
        reported.number = reported.number.wrapping_add(1) & 0x0f;
        reported.at = Some(now);
        reported.echoed = false;
        if losses {
            reported.losses = model;
        }
        if rate {
            reported.rate = self.cap;
        }
        if losses || rate_news && open {
            reported.open = true;
            reported.open_number = reported.number;
        }
        self.news = None;
        let report = Report {
            number: reported.number,
            highest: self.numbers.highest() as u16,
            hold: now.saturating_sub(self.last_arrival).as_millis().min(60_000) as u32,
            losses: losses.then_some(model),
            rate: rate.then_some(self.cap.unwrap_or(0)),
        };
        report.write(&self.parts, short, out);
        true
    }

    fn collect_asks(&mut self, now: Duration, sender_path: &Path) {
        if !self.asks {
            return;
        }
        let path = if sender_path.is_known() { sender_path } else { &self.path };
        let parts = &mut self.parts;
        let mut left = PARTS;
        for channel in &mut self.channels {
            let wait = channel.wait(self.numbers.reorder());
            let id = channel.id;
            let mut open: Option<(u32, u32)> = None;
            let mut close = |open: Option<(u32, u32)>| {
                if let Some((first, more)) = open {
                    parts.push((id, ChannelReport::Asks { first: first as u16, more }));
                }
            };
            channel.asks(now, wait, path, |index| {
                match &mut open {
                    Some((first, more)) if (1..=14).contains(&index.wrapping_sub(*first)) => {
                        *more |= 1 << (index.wrapping_sub(*first) - 1);
                    }
                    _ if left == 0 => return false,
                    _ => {
                        left -= 1;
                        close(open.take());
                        open = Some((index, 0));
                    }
                }
                true
            });
            close(open);
        }
    }

    fn collect_steps(&mut self, now: Duration) {
        for channel in &mut self.channels {
            if self.parts.len() == PARTS {
                return;
            }
            let step = channel.window.as_mut().and_then(|window| window.step(now));
            if let Some(step) = step {
                self.parts.push((channel.id, ChannelReport::Step(step)));
            }
        }
    }

    fn collect_standings(&mut self) {
        for channel in &mut self.channels {
            if self.parts.len() == PARTS {
                return;
            }
            if (channel.standing() - channel.reported_standing).abs() >= STANDING_NEWS / 2.0 {
                channel.reported_standing = channel.standing();
                let quarters = (channel.standing() * 4.0).within(-128.0, 127.0) as i8;
                self.parts.push((channel.id, ChannelReport::Standing(quarters)));
            }
        }
    }

    pub(crate) fn memory(&self) -> usize {
        let channels: usize = self.channels.iter().map(Channel::memory).sum();
        size_of::<Self>() + channels + self.parts.capacity() * size_of::<(u32, ChannelReport)>()
    }
}
