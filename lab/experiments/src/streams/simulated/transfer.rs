//! One transfer in simulated time: the sender packs, the link carries, the receiver unpacks and
//! acknowledges.
//!
//! A policy is the real one, and sees the real bytes; what packing yields and takes is looked up.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_ace::{Candidate, Delivered, Packed, Policy, Situation};

use super::conditions::Course;
use super::table::Trace;

/// Bytes that the sender's transport accepts before it has sent them.
const TRANSPORT: f64 = 128.0 * 1024.0;
/// Bytes that the receiver's transport buffers before they are read, in addition to twice the bytes
/// under way.
const RECEIVING: f64 = 512.0 * 1024.0;
/// The bytes of the header of a block.
const HEADER: usize = 4;
/// The receiver acknowledges at once after this many bytes.
const ACKNOWLEDGED: usize = 16 << 10;
/// The time that one choice of a codec takes, in ns: as the crate's benchmark says.
const CHOOSING: f64 = 1500.0;

/// The outcome of a transfer.
#[derive(Debug, Clone, Default)]
pub(in crate::streams) struct Outcome {
    /// The time until the last byte could be read, in seconds.
    pub(in crate::streams) seconds: f64,
    /// Bytes on the wire, headers included.
    pub(in crate::streams) wire: usize,
    /// For each block the time at which it could be read, and its candidate.
    pub(in crate::streams) blocks: Vec<(f64, Candidate)>,
}

/// An acknowledgement under way.
struct Word {
    comes: f64,
    delivered: Delivered,
    /// The time at which the last of these blocks was passed to the application.
    handed: f64,
}

/// Sends all blocks, each as soon as it is packed.
pub(in crate::streams) fn transfer(
    policy: &mut dyn Policy,
    trace: &Trace<'_>,
    course: &Course,
) -> Outcome {
    let charged = policy.window() != usize::MAX;
    let mut run = Run {
        now: 0.0,
        packed: 0.0,
        acknowledged: 0.0,
        handed: VecDeque::from([(0.0, 0.0)]),
        wire_free: 0.0,
        receiver: Receiver { free: f64::NAN, ..Receiver::default() },
        words: VecDeque::new(),
        last_word: 0.0,
        outcome: Outcome::default(),
    };
    let hello = course.at(0.0, 0).0.delay.as_secs_f64();
    let mut has_hello = false;
    for (at, (block, cells)) in trace.blocks.iter().enumerate() {
        let is_last = at + 1 == trace.blocks.len();
        run.wait(policy);
        if !has_hello && run.now >= hello {
            has_hello = true;
            policy.peer_has(u16::MAX, true);
        }
        let (conditions, _) = course.at(run.now, at);
        if charged {
            run.now += CHOOSING / 1e9 / conditions.server;
        }
        let situation = Situation {
            more: usize::MAX / 2,
            flushed: false,
            in_flight: (run.packed - run.acknowledged) as usize,
            unsent: 0,
        };
        let started = run.now;
        let candidate = policy.choose(time(run.now), block, &situation).candidate;
        let which = trace.candidates.iter().position(|known| *known == candidate);
        let cell = cells[which.expect("a candidate that was measured")];
        run.now += f64::from(cell.packing) / 1e9 / conditions.server;
        let packed = Packed {
            candidate,
            plain: block.len(),
            wire: cell.wire as usize,
            took: time(run.now - started),
        };
        policy.packed(time(run.now), &packed);
        run.send(course, at, cell.wire as usize + HEADER, f64::from(cell.unpacking) / 1e9);
        run.receiver.word(course, at, is_last, &mut run.words);
        run.outcome.blocks.push((run.receiver.free, candidate));
    }
    run.outcome.seconds = run.receiver.free;
    run.outcome
}

fn time(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}

struct Run {
    now: f64,
    /// The number of packed bytes so far.
    packed: f64,
    acknowledged: f64,
    /// For recent blocks: the bytes up to their end, and the time at which the link had carried
    /// them.
    handed: VecDeque<(f64, f64)>,
    wire_free: f64,
    receiver: Receiver,
    words: VecDeque<Word>,
    last_word: f64,
    outcome: Outcome,
}

impl Run {
    /// Waits until the next block may be packed.
    fn wait(&mut self, policy: &mut dyn Policy) {
        // The transport has accepted the packed bytes.
        self.now = self.now.max(self.handed_at(self.packed));
        loop {
            while self.words.front().is_some_and(|word| word.comes <= self.now) {
                let Some(word) = self.words.pop_front() else { break };
                self.acknowledged += word.delivered.wire as f64;
                let delivered = Delivered {
                    round_trip: time(word.comes - word.handed),
                    backlogged: word.handed <= self.last_word,
                    ..word.delivered
                };
                self.last_word = word.comes;
                policy.delivered(time(word.comes), &delivered);
            }
            let in_flight = self.packed - self.acknowledged;
            match self.words.front() {
                Some(word) if in_flight >= policy.window() as f64 => self.now = word.comes,
                _ => return,
            }
        }
    }

    /// The time at which the transport had accepted `bytes` bytes in all: the link had carried all
    /// of them but those in the transport's buffer.
    fn handed_at(&self, bytes: f64) -> f64 {
        let carried = bytes - TRANSPORT;
        let mut before = self.handed[0];
        for &(end, at) in &self.handed {
            if end >= carried {
                let share = ((carried - before.0) / (end - before.0).max(1.0)).max(0.0);
                return before.1 + share * (at - before.1);
            }
            before = (end, at);
        }
        before.1
    }

    fn send(&mut self, course: &Course, at: usize, wire: usize, unpacking: f64) {
        self.outcome.wire += wire;
        self.packed += wire as f64;
        let (conditions, _) = course.at(self.now.max(self.wire_free), at);
        let delay = conditions.delay.as_secs_f64();
        let room = self.receiver.room(self.packed, 2.0 * delay * conditions.rate());
        let start = self.now.max(self.wire_free).max(room + delay);
        self.wire_free = course.carried(start, wire as f64, at);
        self.handed.push_back((self.packed, self.wire_free));
        let handed = self.now.max(self.handed_at(self.packed));
        while self.handed.len() > 2 && self.handed[1].0 < self.packed - 2.0 * TRANSPORT {
            self.handed.pop_front();
        }
        self.receiver.take(course, at, self.wire_free + delay, wire, unpacking, handed);
    }
}

/// The receiver of the transfer.
#[derive(Default)]
struct Receiver {
    /// The time at which it has unpacked everything that came; NaN if nothing came.
    free: f64,
    /// The time of its last acknowledgement.
    spoke: f64,
    owed: Owed,
    /// The bytes up to the end of each block, and the time at which it was unpacked.
    unpacked: VecDeque<(f64, f64)>,
    bytes: f64,
}

#[derive(Default)]
struct Owed {
    blocks: u32,
    wire: usize,
    unpacking: f64,
    waited: f64,
    handed: f64,
}

impl Receiver {
    fn take(
        &mut self,
        course: &Course,
        at: usize,
        comes: f64,
        wire: usize,
        unpacking: f64,
        handed: f64,
    ) {
        let (conditions, _) = course.at(comes, at);
        if self.free.is_nan() {
            // The hello arrived before all blocks.
            (self.free, self.spoke) =
                (conditions.delay.as_secs_f64(), conditions.delay.as_secs_f64());
        }
        let start = comes.max(self.free);
        let end = start + unpacking / conditions.client;
        self.owed.blocks += 1;
        self.owed.wire += wire;
        self.owed.waited += start - self.free;
        self.owed.unpacking += end - start;
        self.owed.handed = handed;
        self.free = end;
        self.bytes += wire as f64;
        self.unpacked.push_back((self.bytes, end));
    }

    /// The time at which the receiver had room for bytes up to `end`.
    fn room(&mut self, end: f64, under_way: f64) -> f64 {
        let first = end - RECEIVING - under_way;
        while self.unpacked.len() > 1 && self.unpacked[1].0 <= first {
            self.unpacked.pop_front();
        }
        self.unpacked.front().filter(|(bytes, _)| *bytes <= first).map_or(0.0, |(_, at)| *at)
    }

    /// Sends an acknowledgement if one is due.
    fn word(&mut self, course: &Course, at: usize, at_once: bool, words: &mut VecDeque<Word>) {
        let Owed { blocks, wire, unpacking, waited, handed } = self.owed;
        if wire < ACKNOWLEDGED && blocks < 64 && !at_once {
            return;
        }
        let delivered = Delivered {
            blocks,
            wire,
            unpacking: Duration::from_micros((unpacking * 1e6) as u64),
            span: Duration::from_micros(((self.free - self.spoke) * 1e6) as u64),
            waited: Duration::from_micros((waited * 1e6) as u64),
            round_trip: Duration::ZERO,
            backlogged: false,
        };
        let comes = self.free + course.at(self.free, at).0.delay.as_secs_f64();
        words.push_back(Word { comes, delivered, handed });
        self.spoke = self.free;
        self.owed = Owed::default();
    }
}
