//! The sending half: which messages go into which packet.

mod again;
mod answer;
mod cadence;
mod channel;
mod decide;
mod history;
mod interleave;
mod schedule;
mod submission;
mod values;

use alloc::vec::Vec;
use core::time::Duration;

use self::channel::{Channel, Waiting};
use self::history::Sent;
use self::schedule::{Due, Schedule};
pub use self::submission::{SendError, Submission, Submitted};
use crate::code::{Code, Repeat};
use crate::loss::LossModel;
use crate::path::Path;
use crate::qos::Qos;
use crate::rate::Budget;
use crate::scheme::Scheme;
use crate::stats::SenderStats;
use crate::wire::{MessageHead, message_len};
use crate::within::Within;

/// The most messages of a channel that wait for their packet.
pub(crate) const WAITING: usize = 64;
/// The largest number of a channel: it travels with two more bits.
pub(crate) const LAST_CHANNEL: u32 = u32::MAX / 4;
/// The most channels.
pub const CHANNELS: usize = 64;
/// While all messages are expected to come too late, one goes each time.
const PROBE: Duration = Duration::from_millis(200);
/// An application is told at most so often that repeats do not fit.
const CROWDED: Duration = Duration::from_secs(30);
/// However small messages become, no more than this many times a packet's size is planned for it.
const LEAST_RATIO: f64 = 0.125;
/// How long a limit holds that the receiver told.
const LIMIT_HOLDS: Duration = Duration::from_secs(4);

/// What a packet was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// Messages that went for the first time.
    pub new: u32,
    /// Messages that went again.
    pub repeated: u32,
    /// Bytes of those, with what stands before each.
    pub repeated_bytes: u32,
    /// Bytes of all messages, with what stands before each.
    pub bytes: u32,
    /// Bytes of the report to the other end.
    pub report_bytes: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Sender {
    channels: Vec<Channel>,
    schedule: Schedule,
    /// Packets with new messages so far.
    rides: u32,
    entries: Vec<Entry>,
    loss: LossModel,
    budget: Budget,
    /// When the receiver last told a limit.
    limited: Option<Duration>,
    /// No packet goes before.
    allowed: Option<Duration>,
    scheme: Scheme,
    /// IP, UDP or the like, and ours, in bytes.
    headers: usize,
    repeat_price: Option<f64>,
    /// What a byte becomes of a message that something beneath compresses.
    ratio: f64,
}

/// A message in the packet that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    channel: usize,
    index: u32,
}

impl Sender {
    pub(crate) fn new(scheme: Scheme, headers: usize, repeat_price: Option<f64>) -> Self {
        Sender {
            channels: Vec::new(),
            schedule: Schedule::default(),
            rides: 0,
            entries: Vec::new(),
            loss: LossModel::default(),
            budget: Budget::new(None),
            limited: None,
            allowed: None,
            scheme,
            headers,
            repeat_price,
            ratio: 1.0,
        }
    }

    /// What is beneath made so many bytes of messages of so many.
    pub(crate) fn coded(&mut self, before: usize, after: usize) {
        if before > 0 {
            let ratio = (after as f64 / before as f64).within(LEAST_RATIO, 1.0);
            self.ratio += (ratio - self.ratio) / 16.0;
        }
    }

    /// No packet goes before, because of what the path carries.
    pub(crate) fn allowed(&self) -> Option<Duration> {
        self.allowed
    }

    /// Other needs of a channel, from the next decision on.
    pub(crate) fn change(&mut self, id: u32, qos: Qos, anew: bool) {
        if let Some(place) = self.place(id) {
            self.channels[place].change(qos, anew);
        }
    }

    pub(crate) fn open(&mut self, id: u32, qos: Qos) -> Result<(), SendError> {
        qos.validate().map_err(SendError::Qos)?;
        if id > LAST_CHANNEL {
            return Err(SendError::Id(id));
        }
        if self.place(id).is_some() {
            return Err(SendError::Open(id));
        }
        if self.channels.len() == CHANNELS {
            return Err(SendError::TooManyChannels);
        }
        self.channels.push(Channel::new(id, qos, self.scheme.first_code()));
        Ok(())
    }

    fn place(&self, id: u32) -> Option<usize> {
        self.channels.iter().position(|channel| channel.id == id)
    }

    pub(crate) fn stats(&self, id: u32) -> Option<(SenderStats, Code)> {
        let place = self.place(id)?;
        let channel = &self.channels[place];
        let code = if self.supersedes(place) { channel.values.code() } else { channel.code };
        Some((channel.stats, code))
    }

    /// Takes a message that is `age` old; `room` is what a packet holds for messages.
    pub(crate) fn submit(
        &mut self,
        now: Duration,
        id: u32,
        message: Submission<'_>,
        room: usize,
    ) -> Result<Submitted, SendError> {
        let place = self.place(id).ok_or(SendError::NotOpen(id))?;
        let channel = &mut self.channels[place];
        let worst = MessageHead {
            channel: id,
            index: 0,
            age: u32::MAX,
            repeated: false,
            key: channel.conflates().then_some((message.key, u32::MAX)),
        };
        let len = message_len(&worst, message.payload.len());
        if len > room {
            return Err(SendError::TooLarge { len, room });
        }
        let origin = now.saturating_sub(message.age);
        let mut payload = channel.history.buffer();
        payload.extend_from_slice(message.payload);
        let mut waiting = Waiting { origin, key: message.key, payload };
        if channel.conflates() {
            waiting = match channel.supersede(waiting, self.budget.rate(now).is_none()) {
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
            let oldest = channel.waiting.pop_front().expect("more than one waits");
            channel.history.recycle(oldest.payload);
            channel.stats.stale += 1;
            return Ok(Submitted::Dropped);
        }
        Ok(Submitted::Accepted)
    }

    /// When something is due.
    pub(crate) fn next(&self, now: Duration) -> Option<Duration> {
        let new_at = |(place, channel): (usize, &Channel)| {
            let block = self.block_due(place, now);
            (!channel.waiting.is_empty()).then(|| block.unwrap_or_else(|| channel.paced()))
        };
        let new = self.channels.iter().enumerate().filter_map(new_at).min();
        let closing = self.channels.iter().filter_map(|channel| channel.closing).min();
        let values = self.channels.iter().filter_map(|channel| channel.values.next()).min();
        let at = [new, closing, values, self.schedule.next()].into_iter().flatten().min()?;
        Some(at.max(self.allowed.unwrap_or(now)))
    }

    /// A packet of so many bytes went.
    pub(crate) fn spend(&mut self, now: Duration, bytes: usize) {
        // Other schemes know no rate, and nobody reports to them.
        if !matches!(self.scheme, Scheme::Adaptive) {
            return;
        }
        self.budget.spend(now, bytes);
        // Packets are built when there is room for one like the last, so what waits is as new as can be.
        let limited = self.budget.rate(now).is_some();
        self.allowed = limited.then(|| self.budget.next(now, bytes));
    }

    /// The receiver reported, and perhaps what the path carries; 0: no limit is known.
    pub(crate) fn heard(&mut self, now: Duration, rate: Option<u32>) {
        self.budget.heard();
        if let Some(rate) = rate {
            self.budget.set_reported_rate((rate > 0).then_some(rate));
            self.limited = (rate > 0).then_some(now);
            self.allowed = None;
        }
    }

    /// How many channels are open.
    pub(crate) fn channels(&self) -> u32 {
        self.channels.len() as u32
    }

    /// What may be sent, in bytes per second, if there is a limit.
    pub(crate) fn rate(&self, now: Duration) -> Option<u32> {
        self.budget.rate(now)
    }

    /// Forgets a limit that the receiver does not repeat: nobody who wrote one report in its name slows a path for long.
    pub(crate) fn forget_limit(&mut self, now: Duration) -> bool {
        let forgets = self.limited.is_some_and(|since| since + LIMIT_HOLDS < now);
        if forgets {
            self.limited = None;
            self.budget.set_reported_rate(None);
            self.allowed = None;
        }
        forgets
    }

    pub(crate) fn set_transport_rate(&mut self, rate: Option<u32>) {
        self.budget.set_transport_rate(rate);
        self.allowed = None;
    }

    /// Hands to `take` what goes into packet `number`, as much as `room` bytes hold, and says what that was.
    pub(crate) fn fill(
        &mut self,
        now: Duration,
        number: u32,
        path: &Path,
        room: usize,
        mut take: impl FnMut(&MessageHead, &[u8]),
    ) -> Made {
        let mut made = Made::default();
        let mut left = room;
        self.entries.clear();
        for place in 0..self.channels.len() {
            self.take_new(now, place, number, path, &mut left, &mut made);
        }
        let new = made.new as usize;
        let rides = (new > 0).then_some(self.rides.wrapping_add(1));
        self.close(now, path);
        self.take_again(now, rides, number, &mut left, &mut made);
        self.take_values(now, number, &mut left, &mut made);
        if let Some(rides) = rides {
            self.rides = rides;
            self.plan(now, new, path);
        }
        self.entries.sort_unstable();
        for entry in &self.entries {
            let channel = &self.channels[entry.channel];
            if let Some(sent) = channel.history.get(entry.index) {
                take(&head(channel.id, sent, now), &sent.payload);
            }
        }
        made
    }

    /// Takes the new messages of a channel that fit.
    fn take_new(
        &mut self,
        now: Duration,
        place: usize,
        number: u32,
        path: &Path,
        left: &mut usize,
        made: &mut Made,
    ) {
        if matches!(self.scheme, Scheme::Interleaved { .. }) {
            return self.take_block(now, place, path);
        }
        let supersedes = self.supersedes(place);
        // What waits on a path that is full would go sooner if less were sent.
        let way = if self.budget.rate(now).is_some() { path.unqueued() } else { path.one_way() };
        let way = way + path.jitter();
        let channel = &mut self.channels[place];
        if channel.paced() > now {
            return;
        }
        let before = made.new;
        while let Some(waiting) = channel.waiting.front() {
            let expired = waiting.origin + channel.qos.deadline < now;
            let hopeless = waiting.origin + channel.qos.deadline < now + path.surely();
            // Where nothing goes, nobody learns that the path became faster.
            let probes = channel.cadence.last().is_none_or(|last| last + PROBE <= now);
            if expired || (hopeless && !probes) {
                let stale = channel.waiting.pop_front().expect("it is the front");
                channel.history.recycle(stale.payload);
                channel.stats.stale += 1;
                continue;
            }
            let index = channel.next_index;
            let worst = MessageHead {
                channel: channel.id,
                index: 0,
                age: age(now, waiting.origin),
                repeated: false,
                key: channel.conflates().then_some((waiting.key, u32::MAX)),
            };
            let len = message_len(&worst, waiting.payload.len());
            let takes = taken(len, self.ratio);
            // Who codes messages finds a packet even for one that seems too large.
            if takes > *left && made.new > 0 {
                break;
            }
            let waiting = channel.waiting.pop_front().expect("it is the front");
            let key = channel.key(waiting.key, index);
            if supersedes {
                let until = channel.until(waiting.origin, way);
                channel.values.sent(now, number, (waiting.key, index), until);
            }
            *left = left.saturating_sub(takes);
            channel.note_age(now.saturating_sub(waiting.origin));
            channel.next_index = index.wrapping_add(1);
            channel.bytes += (len as f64 - channel.bytes) / 32.0;
            channel.stats.messages += 1;
            channel.stats.bytes += len as u64;
            channel.history.push(Sent {
                index,
                origin: waiting.origin,
                key,
                payload: waiting.payload,
                packet: number,
                ..Sent::default()
            });
            self.entries.push(Entry { channel: place, index });
            made.new += 1;
            made.bytes += len as u32;
        }
        if made.new > before {
            channel.cadence.message(now);
            channel.last_new = Some(now);
        }
    }

    /// Whether nothing of a channel matters but the newest value of each key, and [`Values`](values::Values) says what goes
    /// again.
    fn supersedes(&self, place: usize) -> bool {
        matches!(self.scheme, Scheme::Adaptive) && self.channels[place].conflates()
    }

    /// Plans the repeats of the messages that are new in this packet: the first entries.
    fn plan(&mut self, now: Duration, new: usize, path: &Path) {
        for entry in 0..new {
            let Entry { channel: place, index } = self.entries[entry];
            let channel = &mut self.channels[place];
            let Some(sent) = channel.history.get(index) else {
                continue;
            };
            let until = (sent.origin + channel.qos.deadline).saturating_sub(path.one_way());
            let interval = channel.cadence.interval();
            let repeats = channel.repeats();
            for repeat in repeats.iter() {
                let (ride, at) = match repeat {
                    Repeat::Ride(lag) => {
                        let at = (now + interval * u32::from(lag) + interval * 3 / 4).min(until);
                        let each = self.scheme.closes_each();
                        (Some(self.rides.wrapping_add(u32::from(lag))), each.then_some(at))
                    }
                    Repeat::Extra(after) => (None, Some(now + after)),
                };
                self.schedule.push(Due { channel: place, index, ride, at, until });
            }
            let code = channel.code;
            channel.closing = None;
            if code.close && !self.scheme.closes_each() {
                // When the last message's first ride is due, or the oldest of the others would be late.
                let ride = |repeat| if let Repeat::Ride(lag) = repeat { Some(lag) } else { None };
                let lag = repeats.iter().filter_map(ride).min().unwrap_or(1);
                let due = now + interval * u32::from(lag) + interval / 2;
                let late = self.schedule.first_until(place).map_or(until, |first| first.min(until));
                channel.closing = Some(due.min(late).max(now));
            }
        }
    }

    /// What the receiver says of missed messages against the target, in messages.
    pub(crate) fn stands(&mut self, id: u32, standing: f64) {
        if let Some(place) = self.place(id) {
            self.channels[place].standing = standing;
        }
    }

    /// NAK and DEC of the paper.
    pub(crate) fn step(&mut self, id: u32, steps: i8) {
        if let Some(place) = self.place(id) {
            self.scheme.step(&mut self.channels[place].code, steps);
        }
    }

    pub(crate) fn lost_like(&mut self, loss: LossModel) {
        self.loss = loss;
    }

    pub(crate) fn loss(&self) -> LossModel {
        self.loss
    }

    /// The channels whose repeats began not to fit packets, since the last call.
    pub(crate) fn crowded(&mut self, now: Duration, mut tell: impl FnMut(u32)) {
        for channel in &mut self.channels {
            match channel.crowded {
                Some(since) if since == now => tell(channel.id),
                Some(since) if since + CROWDED < now => channel.crowded = None,
                _ => {}
            }
        }
    }

    /// Whether the receiver should ask for what it misses.
    pub(crate) fn wants_asks(&self) -> bool {
        self.channels.iter().any(|channel| channel.code.ask > 0)
    }

    pub(crate) fn memory(&self) -> usize {
        let channels: usize = self.channels.iter().map(Channel::memory).sum();
        channels + self.schedule.memory() + self.entries.capacity() * size_of::<Entry>()
    }
}

/// What a message of so many bytes takes of a packet, about.
fn taken(len: usize, ratio: f64) -> usize {
    (len as f64 * ratio) as usize
}

fn head(channel: u32, sent: &Sent, now: Duration) -> MessageHead {
    MessageHead {
        channel,
        index: sent.index as u16,
        age: age(now, sent.origin),
        repeated: sent.repeated,
        key: sent.key,
    }
}

/// In ms, rounded up, so that rounding never makes a message seem in time.
fn age(now: Duration, origin: Duration) -> u32 {
    now.saturating_sub(origin).as_micros().div_ceil(1000).min(u128::from(u32::MAX)) as u32
}
