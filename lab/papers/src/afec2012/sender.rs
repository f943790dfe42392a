//! The sending half: new messages, and the repeats that are due.

use std::collections::VecDeque;
use std::time::Duration;

use super::Made;
use super::packet::{Message, message_len};
use super::path::Path;

/// The most repeats of a message with the controller, and the most messages that are kept for
/// repeats: about as many messages of a telepointer (the pointer of another user) as one packet
/// holds. Beyond that the oldest is forgotten.
const MOST: u8 = 32;
/// The most scheduled repeats: FEC-32 needs 528 (a triangle of 32 messages).
const SCHEDULED: usize = 640;
/// A longer time between two messages is a pause between clusters of messages.
const PAUSE: Duration = Duration::from_millis(250);
/// The interval between messages in seconds until it is known: that of the paper's telepointer.
const INTERVAL: f64 = 0.033_333;
/// While the path seems too slow for every message to be in time, one is sent this often
/// nevertheless, or neither end would notice that the path became faster.
const PROBE: Duration = Duration::from_millis(200);

/// The deadline of messages that never expire: longer than any measurement.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The sending half of an endpoint.
#[derive(Debug)]
pub(super) struct Sender {
    deadline: Duration,
    /// The number of packets that repeat a message.
    pub(super) repeats: u8,
    next_index: u32,
    /// New messages, with the time at which the application at their first sender had them.
    waiting: VecDeque<(Duration, Vec<u8>)>,
    /// The newest messages, with consecutive indices.
    history: VecDeque<Sent>,
    scheduled: Vec<Due>,
    /// The number of packets with new messages so far.
    packets_with_new: u32,
    /// The smoothed interval between packets with new messages in seconds, and when the last one
    /// was sent.
    interval: f64,
    last_new: Option<Duration>,
}

/// A message that was sent at least once.
#[derive(Debug)]
struct Sent {
    index: u32,
    origin: Duration,
    payload: Vec<u8>,
    /// The number of the newest packet with this message.
    packet: u16,
    is_repeated: bool,
}

/// A scheduled repeat.
#[derive(Debug, Clone, Copy)]
struct Due {
    index: u32,
    /// The count of packets with new messages from which on a packet may carry the repeat.
    from_packet: u32,
    /// When the repeat gets a packet without new messages.
    at: Duration,
    /// The time from which on the repeat would arrive too late.
    until: Duration,
}

impl Sender {
    pub(super) fn new(repeats: u8, deadline: Option<Duration>) -> Self {
        Sender {
            deadline: deadline.unwrap_or(FOREVER),
            repeats,
            next_index: 0,
            waiting: VecDeque::new(),
            history: VecDeque::new(),
            scheduled: Vec::new(),
            packets_with_new: 0,
            interval: INTERVAL,
            last_new: None,
        }
    }

    pub(super) fn submit(&mut self, origin: Duration, payload: &[u8]) {
        self.waiting.push_back((origin, payload.to_vec()));
    }

    /// Takes a step of the controller: 1 for one more repeat, -1 for one less.
    pub(super) fn step(&mut self, step: i8) {
        self.repeats = self.repeats.saturating_add_signed(step.clamp(-1, 1)).min(MOST);
    }

    /// When the next packet with messages is due.
    pub(super) fn next(&self, now: Duration) -> Option<Duration> {
        let new = (!self.waiting.is_empty()).then_some(now);
        let repeats = self.scheduled.iter().map(|due| due.at.max(now));
        repeats.chain(new).min()
    }

    /// Appends messages to packet `number`, which may have `mtu` bytes: new ones, then the repeats
    /// that are due. They are written in the order of their indices.
    pub(super) fn fill(
        &mut self,
        now: Duration,
        number: u16,
        path: &Path,
        mtu: usize,
        packet: &mut Vec<u8>,
    ) -> Made {
        let mut made = Made::default();
        let mut room = mtu.saturating_sub(packet.len());
        let first_new = self.next_index;
        self.take_new(now, number, path, &mut room);
        made.new = self.next_index.wrapping_sub(first_new);
        let count = self.packets_with_new.wrapping_add(u32::from(made.new > 0));
        self.take_repeats(now, number, count, &mut room, &mut made);
        if made.new > 0 {
            self.packets_with_new = count;
            self.note_interval(now);
            self.schedule(now, first_new, path);
        }
        for sent in self.history.iter().filter(|sent| sent.packet == number) {
            let Sent { index, is_repeated, payload, .. } = sent;
            let age = age(now, sent.origin);
            Message { index: *index as u16, age, is_repeated: *is_repeated, payload }.write(packet);
        }
        made
    }

    /// Takes those new messages that fit. Drops messages that would arrive too late.
    fn take_new(&mut self, now: Duration, number: u16, path: &Path, room: &mut usize) {
        let mut taken = 0;
        while let Some((origin, payload)) = self.waiting.front() {
            let until = *origin + self.deadline;
            let is_hopeless = until < now + path.certain_one_way();
            let probes = self.last_new.is_none_or(|last| last + PROBE <= now);
            if until < now || (is_hopeless && !probes) {
                self.waiting.pop_front();
                continue;
            }
            let len = message_len(age(now, *origin), payload.len());
            if taken == usize::from(MOST) || (len > *room && taken > 0) {
                break;
            }
            let Some((origin, payload)) = self.waiting.pop_front() else { break };
            taken += 1;
            *room = room.saturating_sub(len);
            if self.history.len() == usize::from(MOST) {
                self.history.pop_front();
            }
            let index = self.next_index;
            self.next_index = index.wrapping_add(1);
            let is_repeated = false;
            self.history.push_back(Sent { index, origin, payload, packet: number, is_repeated });
        }
    }

    /// Takes those repeats that are due and fit. `count` is the count of packets with new messages;
    /// in a packet without new messages only repeats are due whose time has come.
    fn take_repeats(
        &mut self,
        now: Duration,
        number: u16,
        count: u32,
        room: &mut usize,
        made: &mut Made,
    ) {
        let (history, has_new) = (&mut self.history, made.new > 0);
        self.scheduled.retain(|due| {
            if due.until < now {
                return false;
            }
            let rides = has_new && count.wrapping_sub(due.from_packet) as i32 >= 0;
            let is_timed = due.at <= now;
            if !rides && !is_timed {
                return true;
            }
            let Some(sent) = history.iter_mut().find(|sent| sent.index == due.index) else {
                return false;
            };
            if sent.packet == number {
                // A second copy of a message in one packet is useless, so the repeat waits for a
                // later packet.
                return !is_timed;
            }
            let len = message_len(age(now, sent.origin), sent.payload.len());
            if len <= *room || made.new + made.repeated == 0 {
                *room = room.saturating_sub(len);
                (sent.packet, sent.is_repeated) = (number, true);
                made.repeated += 1;
                made.repeated_bytes += len as u32;
            }
            false
        });
    }

    /// Updates the interval between packets with new messages. Pauses do not count.
    fn note_interval(&mut self, now: Duration) {
        if let Some(last) = self.last_new {
            let gap = now.saturating_sub(last);
            if gap < PAUSE {
                self.interval += (gap.as_secs_f64() - self.interval) / 16.0;
            }
        }
        self.last_new = Some(now);
    }

    /// Schedules the repeats of the new messages, which are those from `first` on. A repeat gets a
    /// packet of its own three quarters of an interval after the packet that should have carried
    /// it.
    fn schedule(&mut self, now: Duration, first: u32, path: &Path) {
        let interval = Duration::from_secs_f64(self.interval.max(0.001));
        let is_new = |sent: &&Sent| (sent.index.wrapping_sub(first) as i32) >= 0;
        for sent in self.history.iter().filter(is_new) {
            let until = (sent.origin + self.deadline).saturating_sub(path.one_way());
            for lag in (1..=u32::from(self.repeats)).take(SCHEDULED - self.scheduled.len()) {
                let at = (now + interval * lag + interval * 3 / 4).min(until);
                let from_packet = self.packets_with_new.wrapping_add(lag);
                self.scheduled.push(Due { index: sent.index, from_packet, at, until });
            }
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        let waiting = self.waiting.iter().map(|(_, payload)| payload.capacity());
        let sent = self.history.iter().map(|sent| sent.payload.capacity());
        self.history.capacity() * size_of::<Sent>()
            + self.scheduled.capacity() * size_of::<Due>()
            + waiting.chain(sent).sum::<usize>()
    }
}

/// The age of a message in ms, rounded up, so that rounding does not make a late message seem to be
/// in time.
fn age(now: Duration, origin: Duration) -> u32 {
    now.saturating_sub(origin).as_micros().div_ceil(1000).min(u128::from(u32::MAX)) as u32
}
