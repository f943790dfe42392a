//! Reports to the sender: when one is due, and what it says. A report tells which packets arrived,
//! how the path loses packets, the path's rate limit, and what channels miss. The sender echoes the
//! number of a report to confirm it. The error-budget balance of a channel is how many more
//! messages were missed than its loss target permits.

use alloc::vec::Vec;
use core::time::Duration;

use super::Receiver;
use super::channel::Channel;
use crate::ids::MessageIndex;
use crate::path::Path;
use crate::rate::{News, differs};
use crate::scheme::Scheme;
use crate::wire::{ChannelReport, Report};
use crate::within::Within;

/// While many messages arrive, the sender gets a report at least this often: the report shows that
/// the receiver is alive, and the sender measures the round trip with it. Few messages are reported
/// less often: see [`HEARTBEAT_BYTES`].
const HEARTBEAT: Duration = Duration::from_secs(5);
/// A report that has no news is sent only after this many bytes of packets, so that its 44 bytes
/// add less than half a percent. A telepointer (the pointer of another user) sends as much in 15 s,
/// pauses included. It is less than half of the bytes after which a sender without reports slows
/// down ([`Budget`](crate::rate::Budget)).
const HEARTBEAT_BYTES: usize = 12_000;
/// The longest time between two reports while messages arrive, however few they are. Chosen by
/// judgement; not tuned.
const SLOW_HEARTBEAT: Duration = Duration::from_secs(20);
/// The time from the first message to the first report. It is shorter, because the round trip is
/// not known yet. Chosen by judgement; not tuned.
const FIRST_HEARTBEAT: Duration = Duration::from_millis(300);
/// The number of first reports. The sender believes the fourth round trip, and two may be lost.
const FIRST_REPORTS: u8 = 6;
/// The time between two of the first reports: all of them go while a pointer moves for the first
/// time.
const FIRST_APART: Duration = Duration::from_millis(200);
/// The time between two reports while the sender has not echoed the newest one, or while there is a
/// rate limit. Chosen by judgement; not tuned.
const UNCONFIRMED: Duration = Duration::from_secs(1);
/// How long a change that is not urgent waits for a packet with messages that can carry the report.
/// Chosen by judgement; not tuned.
const PATIENCE: Duration = Duration::from_secs(1);
/// The least time between two packets that carry only a report, whatever packets arrive: there are
/// at most 200 per second.
const APART: Duration = Duration::from_millis(5);
/// The most parts about channels in a report, so that the report fits beside large messages.
/// Further parts wait for the next report.
const PARTS: usize = 16;
/// By how many messages a channel's error-budget balance must change to be worth a report, if the
/// channel's target is at most 5 %. Tuned on `groupwire-lab afec --part steps`: with five, misses
/// after a change to 20 % loss were made up for too late.
const BALANCE_NEWS: f64 = 3.0;
/// By how many messages the balance must change at a higher target: by as many as the target
/// permits to miss of this many. Then each report changes the share of messages that the sender
/// lets miss by the same part of the target.
const BALANCE_NEWS_OF: f64 = 60.0;

/// The number of messages after the first one that a request can name by bits. 14 bits take two
/// bytes on the wire.
const REQUEST_BITS: u32 = 14;

impl Receiver {
    /// When the next packet is due that carries only a report.
    pub(crate) fn next_report(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        let due = self.due(now, sender_path)?;
        Some(self.reported.at.map_or(due, |at| due.max(at + APART)))
    }

    /// The same as [`next_report`](Receiver::next_report), but without [`APART`], the least time
    /// between two reports.
    fn due(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        let requests = self.next_request(now, sender_path);
        let (Scheme::Adaptive, Some(news)) = (self.scheme, self.news) else {
            return requests;
        };
        let heartbeat = match self.reported.at {
            None => news + FIRST_HEARTBEAT,
            Some(at) => {
                let heartbeat = match self.reported.echoed && self.limit.is_none() {
                    _ if self.reported.first < FIRST_REPORTS => FIRST_APART,
                    false => UNCONFIRMED,
                    true if self.reported.bytes >= HEARTBEAT_BYTES || !self.path.is_sure() => {
                        HEARTBEAT
                    }
                    true => SLOW_HEARTBEAT,
                };
                (at + heartbeat).max(news)
            }
        };
        let losses = self.losses_news(now);
        let balance =
            self.has_balance_news().then(|| self.reported.at.map_or(now, |at| at + PATIENCE));
        [Some(heartbeat), requests, losses, balance].into_iter().flatten().min()
    }

    /// When the next request for a missing message is due.
    fn next_request(&self, now: Duration, sender_path: &Path) -> Option<Duration> {
        let (path, overtaken) = (self.known_path(sender_path), self.numbers.reorder());
        self.channels
            .iter()
            .filter(|channel| channel.may_request(self.wants_requests))
            .filter_map(|channel| channel.next_request(now, channel.wait(overtaken), path))
            .min()
    }

    /// When to report the losses of the path or its rate limit: if one of these changed noticeably,
    /// or if the last report of them is not confirmed.
    fn losses_news(&self, now: Duration) -> Option<Duration> {
        if self.loss.differs(&self.reported.losses) {
            return Some(now);
        }
        match differs(self.reported.rate, self.limit) {
            News::Urgent => return Some(now),
            News::Worth => return Some(self.reported.at.map_or(now, |at| at + PATIENCE / 2)),
            News::None => {}
        }
        let again =
            || self.reported.at.map_or(now, |at| at + self.path.smallest() * 2 + PATIENCE / 8);
        self.reported.unconfirmed.then(again)
    }

    /// Whether the balance of some channel changed enough since it was last reported.
    fn has_balance_news(&self) -> bool {
        let news = |channel: &Channel| {
            let least = BALANCE_NEWS.max(BALANCE_NEWS_OF * channel.qos.target);
            (channel.balance() - channel.reported_balance).abs() >= least
        };
        self.channels.iter().any(news)
    }

    /// Appends a report to a packet, if one is due, and returns whether it did. `alone` says that
    /// the packet carries no messages. `short` says that the packet has a short header, so that the
    /// report's highest packet number has eight bits.
    pub(crate) fn report(
        &mut self,
        now: Duration,
        alone: bool,
        sender_path: &Path,
        short: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        self.parts.clear();
        let adaptive = matches!(self.scheme, Scheme::Adaptive);
        self.collect_requests(now, sender_path);
        let model = self.loss;
        let unconfirmed = adaptive && self.reported.unconfirmed;
        let losses = unconfirmed || (adaptive && model.differs(&self.reported.losses));
        let limited = self.limit.is_some();
        let rate_news = limited || differs(self.reported.rate, self.limit) != News::None;
        let rate = unconfirmed || (adaptive && rate_news);
        let due = self.next_report(now, sender_path).is_some_and(|at| at <= now);
        let quiet = self.reported.at.is_none_or(|at| at + PATIENCE / 2 <= now);
        let piggybacks = !alone && adaptive && self.news.is_some() && quiet;
        if self.parts.is_empty() && !due && !piggybacks {
            return false;
        }
        if adaptive {
            self.collect_balances();
        }
        let reported = &mut self.reported;
        reported.number = reported.number.next();
        reported.at = Some(now);
        reported.first = (reported.first + 1).min(FIRST_REPORTS);
        reported.bytes = 0;
        reported.echoed = false;
        if losses {
            reported.losses = model;
        }
        if rate {
            reported.rate = self.limit;
        }
        if losses || rate_news && adaptive {
            reported.unconfirmed = true;
            reported.unconfirmed_number = reported.number;
        }
        self.news = None;
        let report = Report {
            number: reported.number,
            highest: self.numbers.highest().low(),
            hold: now.saturating_sub(self.last_arrival).as_millis().min(60_000) as u32,
            losses: losses.then_some(model),
            rate: rate.then_some(self.limit.unwrap_or(0)),
        };
        report.write(&self.parts, short, out);
        true
    }

    /// Collects the requests for missing messages: each names one message by its index, and further
    /// messages after it by bits.
    fn collect_requests(&mut self, now: Duration, sender_path: &Path) {
        let path = if sender_path.is_known() { sender_path } else { &self.path };
        let parts = &mut self.parts;
        let mut left = PARTS;
        let (wanted, loss) = (self.wants_requests, self.loss.rate);
        for channel in self.channels.iter_mut().filter(|channel| channel.may_request(wanted)) {
            let wait = channel.wait(self.numbers.reorder());
            let id = channel.id;
            let mut request: Option<(MessageIndex, u32)> = None;
            let mut finish = |request: Option<(MessageIndex, u32)>| {
                if let Some((first, more)) = request {
                    parts.push((id, ChannelReport::Requests { first: first.low(), more }));
                }
            };
            channel.requests(now, wait, path, loss, |index| {
                match &mut request {
                    Some((first, more)) if (1..=REQUEST_BITS).contains(&index.since(*first)) => {
                        *more |= 1 << (index.since(*first) - 1);
                    }
                    _ if left == 0 => return false,
                    _ => {
                        left -= 1;
                        finish(request.take());
                        request = Some((index, 0));
                    }
                }
                true
            });
            finish(request);
        }
    }

    /// Collects the balances that changed by at least half of [`BALANCE_NEWS`]. Half is enough
    /// because the report is sent anyway.
    fn collect_balances(&mut self) {
        for channel in &mut self.channels {
            if self.parts.len() == PARTS {
                return;
            }
            if (channel.balance() - channel.reported_balance).abs() >= BALANCE_NEWS / 2.0 {
                channel.reported_balance = channel.balance();
                let quarters = (channel.balance() * 4.0).within(-128.0, 127.0) as i8;
                self.parts.push((channel.id, ChannelReport::Balance(quarters)));
            }
        }
    }
}
