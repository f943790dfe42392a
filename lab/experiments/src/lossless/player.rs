//! The encoder and decoder of a contender at both ends of a connection.

use std::io;
use std::time::{Duration, Instant};

use groupwire_codecs::{Auto, Choice, Costs, Link, Memory, Packer, by_number};

use super::connection::{Connection, LENGTH};
use super::contender::Contender;
use super::work::Work;

/// The two ends of a contender, which share only the messages.
pub(super) struct Player {
    near: End,
    far: End,
}

/// A message that was sent there and back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// The round trip, with packing and unpacking at both ends.
    pub(super) time: Duration,
    /// The bytes of both packed messages.
    pub(super) packed: usize,
    /// The codecs with which both ends packed a message.
    pub(super) course: Course,
}

/// The codecs that both ends chose for a message, each with the codec of a trial.
pub(super) type Course = [Option<Choice>; 4];

/// The reason why a message did not come back.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection failed.
    Connection(io::Error),
    /// The contender failed.
    Contender(String),
}

impl Player {
    /// Makes both ends. Auto estimates times with `costs`.
    pub(super) fn new(contender: Contender, costs: &Costs) -> Self {
        Player { near: End::new(contender, costs), far: End::new(contender, costs) }
    }

    /// Sends a message from the near end to the far one, which unpacks it, packs it again and sends
    /// it back (paper LMC, section 7).
    pub(super) fn exchange(
        &mut self,
        [near, far]: &mut [Connection; 2],
        message: &[u8],
    ) -> Result<Exchange, Failure> {
        let start = Instant::now();
        self.near.send(near, message)?;
        self.far.receive(far, message.len())?;
        let got = std::mem::take(&mut self.far.message);
        self.far.send(far, &got)?;
        self.near.receive(near, message.len())?;
        let time = start.elapsed();
        if got != message || self.near.message != message {
            return Err(Failure::Contender("what came was not what was sent".into()));
        }
        self.far.message = got;
        let ([a, b], [c, d]) = (self.near.chosen, self.far.chosen);
        let packed = self.near.packed() + self.far.packed();
        Ok(Exchange { time, packed, course: [a, b, c, d] })
    }

    /// The connection is used by other contenders before the next message.
    pub(super) fn rest(&mut self) {
        self.near.sent = None;
        self.far.sent = None;
    }

    /// The memory of one end.
    pub(super) fn memory(&self) -> Memory {
        self.near.packer.memory()
    }

    /// The work of packing and unpacking one of these messages by the near end's codec; for auto by
    /// those that both ends chose, as often as they did.
    pub(super) fn work(&mut self, messages: &[Vec<u8>]) -> Option<Work> {
        let picked = match &self.near.chooser {
            Chooser::Fixed(choice) => vec![(*choice, 1)],
            Chooser::Auto(_) => self.picked(),
        };
        let all: usize = picked.iter().map(|(_, times)| times).sum();
        let works = picked.iter().map(|(choice, times)| {
            let share = *times as f64 / all.max(1) as f64;
            Some(Work::measure(&mut self.near.packer, *choice, messages)?.times(share))
        });
        works.collect::<Option<Vec<_>>>().map(Work::sum)
    }

    /// How often both ends made each choice.
    pub(super) fn picked(&self) -> Vec<(Choice, usize)> {
        let mut all = self.near.picked.clone();
        self.far.picked.iter().for_each(|(choice, times)| count(&mut all, *choice, *times));
        all
    }
}

fn count(picked: &mut Vec<(Choice, usize)>, choice: Choice, times: usize) {
    match picked.iter_mut().find(|(known, _)| *known == choice) {
        Some((_, count)) => *count += times,
        None => picked.push((choice, times)),
    }
}

struct End {
    packer: Packer,
    chooser: Chooser,
    /// The packed message that was sent last, behind its length.
    frame: Vec<u8>,
    /// The message that was received last.
    message: Vec<u8>,
    /// The output of packing a message as a trial, which is not sent.
    other: Vec<u8>,
    /// The codec that auto chose for the last message, and the codec of a trial.
    chosen: [Option<Choice>; 2],
    sent: Option<Sent>,
    /// The number of messages for which auto chose.
    count: usize,
    /// Measurements of the last message, which auto learns from once the next message is under way.
    seen: Option<Seen>,
    picked: Vec<(Choice, usize)>,
}

enum Chooser {
    Fixed(Choice),
    Auto(Box<(Auto, Link)>),
}

/// A message that is timed and may be answered.
struct Sent {
    at: Instant,
    /// The time that packing took.
    packing: Duration,
}

/// The measurements of a timed message and its answer.
struct Seen {
    /// The bytes of both packed messages.
    bytes: usize,
    time: Duration,
    packing: (Choice, Duration),
    unpacking: (Choice, Duration),
    size: usize,
}

/// At first every message is timed, then one of `TIMED`, because reading the clock takes time, too.
const TIMED_FIRST: usize = 64;
const TIMED: usize = 7;

impl End {
    fn new(contender: Contender, costs: &Costs) -> Self {
        let chooser = match contender {
            Contender::Fixed(choice) | Contender::Published(choice) => Chooser::Fixed(choice),
            Contender::Auto => {
                let mut candidates = Auto::candidates(|codec| by_number(codec).is_some());
                candidates.retain(|choice| Contender::Fixed(*choice).check().is_ok());
                Chooser::Auto(Box::new((Auto::new(&candidates, costs), Link::new())))
            }
        };
        End {
            packer: Packer::new(contender.codecs()),
            chooser,
            frame: Vec::new(),
            message: Vec::new(),
            other: Vec::new(),
            chosen: [None; 2],
            sent: None,
            count: 0,
            seen: None,
            picked: Vec::new(),
        }
    }

    fn send(&mut self, connection: &mut Connection, message: &[u8]) -> Result<(), Failure> {
        match &mut self.chooser {
            Chooser::Fixed(choice) => {
                pack(&mut self.packer, *choice, message, &mut self.frame)?;
                connection.send(&self.frame).map_err(Failure::Connection)
            }
            Chooser::Auto(known) => {
                let (auto, link) = &mut **known;
                self.count += 1;
                let is_timed = self.count <= TIMED_FIRST || self.count.is_multiple_of(TIMED);
                let pick = auto.choose(message.len(), link);
                let start = is_timed.then(Instant::now);
                pack(&mut self.packer, pick.choice, message, &mut self.frame)?;
                let packed = start.map(|start| (start, Instant::now()));
                connection.send(&self.frame).map_err(Failure::Connection)?;
                // Work that the message does not need is done while it is under way.
                self.sent = packed.map(|(start, at)| Sent { at, packing: at - start });
                if let Some(seen) = self.seen.take() {
                    seen.report(auto, link);
                }
                auto.learn(pick.choice, message.len(), self.frame.len() - LENGTH);
                self.chosen = [Some(pick.choice), pick.also];
                if let Some(also) = pick.also {
                    let start = Instant::now();
                    pack(&mut self.packer, also, message, &mut self.other)?;
                    auto.took(also, message.len(), start.elapsed());
                    auto.learn(also, message.len(), self.other.len() - LENGTH);
                }
                count(&mut self.picked, pick.choice, 1);
                Ok(())
            }
        }
    }

    fn receive(&mut self, connection: &mut Connection, limit: usize) -> Result<(), Failure> {
        let packed = connection.receive().map_err(Failure::Connection)?;
        let come = self.sent.take().map(|sent| (sent, Instant::now()));
        self.message.clear();
        self.packer
            .unpack(packed, limit, &mut self.message)
            .map_err(|error| Failure::Contender(error.to_string()))?;
        if let (Some((sent, come)), [Some(choice), _]) = (come, self.chosen) {
            let unpacking = come.elapsed();
            let time = come - sent.at;
            // Auto uses no filters.
            let came_by = Choice::codec(packed.first().map_or(0, |first| first & 15));
            self.seen = Some(Seen {
                bytes: self.frame.len() + LENGTH + packed.len(),
                time,
                packing: (choice, sent.packing),
                unpacking: (came_by, unpacking),
                size: self.message.len(),
            });
        }
        Ok(())
    }

    /// Bytes of the packed message that was sent last.
    fn packed(&self) -> usize {
        self.frame.len() - LENGTH
    }
}

impl Seen {
    fn report(self, auto: &mut Auto, link: &mut Link) {
        // Meanwhile the other end packed and unpacked.
        let work = auto.others_work(self.packing.0, self.unpacking.0, self.size);
        link.heard(self.bytes, self.time.saturating_sub(work));
        auto.took(self.packing.0, self.size, self.packing.1);
        auto.unpacked(self.unpacking.0, self.size, self.unpacking.1);
    }
}

/// Packs a message behind its length.
fn pack(
    packer: &mut Packer,
    choice: Choice,
    message: &[u8],
    frame: &mut Vec<u8>,
) -> Result<(), Failure> {
    let wrong = |why: String| Failure::Contender(why);
    frame.clear();
    frame.extend([0; LENGTH]);
    packer.pack(choice, message, frame).map_err(|error| wrong(error.to_string()))?;
    let length = u16::try_from(frame.len() - LENGTH);
    let length = length.map_err(|_| wrong("a message of over 65,535 bytes".into()))?;
    frame[..LENGTH].copy_from_slice(&length.to_le_bytes());
    Ok(())
}
