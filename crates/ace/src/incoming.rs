//! The direction towards us: from the transport's octets to the application's.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::CodecError;

use crate::frame::{Acknowledgement, HEADER, HELLO, Header, Hello, Kind, LARGEST_BLOCK};
use crate::history::History;
use crate::spare::{Spare, append, make_room};
use crate::{Coders, StreamError};

/// Octets of the transport that may wait, beyond the frame that is coming.
const WAITING: usize = 64 << 10;
/// A frame takes so much memory at first, whatever length it claims: that of a usual block.
const FIRST: usize = 64 << 10;
/// Frames up to this length have a buffer of their own length, so that many of them do not take much.
const SMALL: usize = 4 << 10;

/// An acknowledgement is owed at the latest for so many octets on the wire, or blocks.
pub(crate) const OWED_OCTETS: usize = 16 << 10;
const OWED_BLOCKS: u64 = 64;

/// What the other end says to the other direction.
pub(crate) enum Word {
    Hello(Hello),
    Acknowledgement(Acknowledgement),
}

/// What came, and is unpacked block by block as the application reads.
#[derive(Debug)]
pub(crate) struct Incoming {
    state: State,
    /// Whole frames.
    waiting: VecDeque<Frame>,
    /// Octets of these.
    held: usize,
    /// No block follows those that wait.
    is_complete: bool,
    /// Everything was unpacked.
    is_unpacked: bool,
    /// The last block that was unpacked.
    plain: Vec<u8>,
    /// How much of it was read.
    read: usize,
    history: History,
    tally: Tally,
    pub(crate) plain_octets: u64,
    pub(crate) wire_octets: u64,
    pub(crate) unpacking: Duration,
}

/// Where in the octets of the transport we are.
#[derive(Debug)]
enum State {
    Hello { octets: [u8; HELLO], have: usize },
    Header { octets: [u8; HEADER], have: usize },
    Payload { header: Header, octets: Vec<u8> },
}

const NEXT: State = State::Header { octets: [0; HEADER], have: 0 };

#[derive(Debug)]
enum Frame {
    Block { codec: u8, history: bool, octets: Vec<u8> },
    End,
    Forget,
}

/// What the next acknowledgement says.
#[derive(Debug, Default)]
struct Tally {
    blocks: u64,
    wire: u64,
    unpacking: Duration,
    waited: Duration,
    /// When the last one was made, or the first octet came.
    since: Option<Duration>,
    /// We have been waiting for the network from then on.
    starved: Option<Duration>,
    is_end: bool,
}

impl Incoming {
    /// Keeps so much history.
    pub(crate) fn new(history: usize) -> Self {
        Incoming {
            state: State::Hello { octets: [0; HELLO], have: 0 },
            waiting: VecDeque::new(),
            held: 0,
            is_complete: false,
            is_unpacked: false,
            plain: Vec::new(),
            read: 0,
            history: History::new(history),
            tally: Tally::default(),
            plain_octets: 0,
            wire_octets: 0,
            unpacking: Duration::ZERO,
        }
    }

    // The transport's side.

    /// How many octets there is room for.
    pub(crate) fn wanted(&self) -> usize {
        let (coming, length) = match &self.state {
            State::Payload { header, octets } => (octets.len(), header.length),
            _ => (0, 0),
        };
        (WAITING + length).saturating_sub(self.held + coming)
    }

    /// Takes octets, and hands on what they say to the other direction.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        mut octets: &[u8],
        spare: &mut Spare,
        mut hand_on: impl FnMut(Word, &mut Spare) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        self.tally.since.get_or_insert(now);
        self.tally.stop_waiting(now);
        while !octets.is_empty() {
            match &mut self.state {
                State::Hello { octets: hello, have } => {
                    fill(hello, have, &mut octets);
                    if let Some(hello) = Hello::read(&hello[..*have])? {
                        self.state = NEXT;
                        self.history.shorten(hello.history, spare);
                        hand_on(Word::Hello(hello), spare)?;
                    }
                }
                State::Header { octets: header, have } => {
                    fill(header, have, &mut octets);
                    if *have == HEADER {
                        let header = Header::read(*header)?;
                        self.begin(header, spare)?;
                    }
                }
                State::Payload { header, octets: payload } => {
                    let missing = header.length - payload.len();
                    let (piece, rest) = octets.split_at(missing.min(octets.len()));
                    make_room(payload, piece.len(), header.length);
                    append(payload, piece);
                    octets = rest;
                    if piece.len() == missing {
                        let kind = header.kind;
                        let payload = core::mem::take(payload);
                        self.state = NEXT;
                        match self.whole(kind, payload) {
                            Some(Ok(word)) => hand_on(Word::Acknowledgement(word), spare)?,
                            Some(Err(error)) => return Err(error),
                            None => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A header has come.
    fn begin(&mut self, header: Header, spare: &mut Spare) -> Result<(), StreamError> {
        let [tag, ..] = header.octets();
        if self.is_complete && header.kind != Kind::Acknowledgement {
            return Err(StreamError::Frame { tag });
        }
        match header.kind {
            Kind::Block { .. } | Kind::Acknowledgement => {
                let octets = match header.length {
                    ..SMALL => Vec::with_capacity(header.length),
                    length => {
                        let mut octets = spare.take();
                        make_room(&mut octets, length.min(FIRST), FIRST);
                        octets
                    }
                };
                self.state = State::Payload { header, octets };
                return Ok(());
            }
            Kind::End => {
                self.is_complete = true;
                self.waiting.push_back(Frame::End);
            }
            Kind::Forget => self.waiting.push_back(Frame::Forget),
        }
        self.held += HEADER;
        self.state = NEXT;
        Ok(())
    }

    /// A payload has come whole. Returns what it says of the other direction.
    fn whole(
        &mut self,
        kind: Kind,
        octets: Vec<u8>,
    ) -> Option<Result<Acknowledgement, StreamError>> {
        let Kind::Block { codec, history } = kind else {
            let word = Acknowledgement::read(&octets);
            return Some(word.ok_or(StreamError::Acknowledgement));
        };
        self.held += HEADER + octets.len();
        self.waiting.push_back(Frame::Block { codec, history, octets });
        None
    }

    /// The transport has nothing. Only if there is nothing to read either do we wait for the network, and not for our
    /// application.
    pub(crate) fn starved(&mut self, now: Duration) {
        if self.waiting.is_empty() && self.is_read() {
            self.tally.starved.get_or_insert(now);
        }
    }

    /// We worked, and so did not wait.
    pub(crate) fn worked(&mut self, before: Duration, after: Duration) {
        if self.tally.starved.is_some() {
            self.tally.stop_waiting(before);
            self.tally.starved = Some(after);
        }
    }

    /// Whether the end has come, if only on the transport's side.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    // The work between.

    /// Whether there is something to unpack, and what was unpacked before was read.
    pub(crate) fn has_work(&self) -> bool {
        self.is_read() && !self.waiting.is_empty()
    }

    /// Unpacks one block. Returns when it was done.
    pub(crate) fn unpack(
        &mut self,
        coders: &mut Coders,
        spare: &mut Spare,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<Duration, StreamError> {
        let Some(frame) = self.waiting.pop_front() else { return Ok(clock()) };
        self.held -= HEADER;
        let (codec, history, octets) = match frame {
            Frame::Block { codec, history, octets } => (codec, history, octets),
            Frame::Forget => {
                self.history.forget();
                return Ok(clock());
            }
            Frame::End => {
                self.is_unpacked = true;
                self.history.forget();
                self.tally.count(HEADER);
                self.tally.is_end = true;
                return Ok(clock());
            }
        };
        self.held -= octets.len();
        self.tally.count(HEADER + octets.len());
        self.wire_octets += (HEADER + octets.len()) as u64;
        let before = clock();
        self.read = 0;
        if codec == 0 {
            self.plain = octets;
        } else {
            let mut plain = spare.take();
            let history = history.then(|| self.history.octets(spare));
            coders.unpack(codec, history, &octets, LARGEST_BLOCK, &mut plain)?;
            spare.give(octets);
            self.plain = plain;
        }
        let after = clock();
        let took = after.saturating_sub(before);
        self.worked(before, after);
        self.tally.unpacking += took;
        self.unpacking += took;
        if self.plain.is_empty() {
            return Err(StreamError::Block(CodecError::Malformed));
        }
        self.plain_octets += self.plain.len() as u64;
        Ok(after)
    }

    /// What the other end should hear now: if it is owed, or if there is anything and `at_once`.
    pub(crate) fn acknowledgement(
        &mut self,
        now: Duration,
        at_once: bool,
    ) -> Option<Acknowledgement> {
        let tally = &mut self.tally;
        let is_owed = tally.is_end
            || tally.wire >= OWED_OCTETS as u64
            || tally.blocks >= OWED_BLOCKS
            || at_once && tally.blocks > 0;
        if !is_owed {
            return None;
        }
        let was_starved = tally.starved.is_some();
        tally.stop_waiting(now);
        let since = tally.since.unwrap_or(now);
        let starved = was_starved.then_some(now);
        let tally = core::mem::take(tally);
        self.tally.since = Some(now);
        self.tally.starved = starved;
        Some(Acknowledgement {
            blocks: tally.blocks,
            wire: tally.wire,
            unpacking: tally.unpacking,
            span: now.saturating_sub(since),
            waited: tally.waited,
        })
    }

    // The application's side.

    pub(crate) fn readable(&self) -> &[u8] {
        &self.plain[self.read..]
    }

    pub(crate) fn read(&mut self, octets: usize, spare: &mut Spare) {
        self.read += octets.min(self.plain.len() - self.read);
        if self.is_read() && !self.plain.is_empty() {
            let plain = core::mem::take(&mut self.plain);
            self.read = 0;
            match self.is_complete && self.waiting.len() <= 1 {
                true => spare.give(plain),
                false => self.history.push(Arc::new(plain), 0, spare),
            }
        }
    }

    fn is_read(&self) -> bool {
        self.read == self.plain.len()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.is_unpacked && self.is_read()
    }

    /// Gives back memory that holds nothing.
    pub(crate) fn rest(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
    }

    /// Octets.
    pub(crate) fn memory(&self) -> usize {
        let coming = match &self.state {
            State::Payload { octets, .. } => octets.capacity(),
            _ => 0,
        };
        let frames = self.waiting.iter().map(|frame| match frame {
            Frame::Block { octets, .. } => octets.capacity(),
            Frame::End | Frame::Forget => 0,
        });
        let places = self.waiting.capacity() * size_of::<Frame>();
        coming + places + frames.sum::<usize>() + self.plain.capacity() + self.history.memory()
    }
}

impl Tally {
    fn count(&mut self, wire: usize) {
        self.blocks += 1;
        self.wire += wire as u64;
    }

    /// What passed without anything to work on.
    fn stop_waiting(&mut self, now: Duration) {
        if let Some(starved) = self.starved.take() {
            self.waited += now.saturating_sub(starved);
        }
    }
}

/// Fills the rest of an array, as far as there are octets.
fn fill(array: &mut [u8], have: &mut usize, octets: &mut &[u8]) {
    let missing = array.len() - *have;
    let (piece, rest) = octets.split_at(missing.min(octets.len()));
    array[*have..*have + piece.len()].copy_from_slice(piece);
    *have += piece.len();
    *octets = rest;
}
