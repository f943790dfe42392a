//! The incoming direction of a stream: it turns bytes of the transport into bytes of the
//! application. The bytes of the transport are frames: blocks, which are decompressed one by one,
//! and messages about the other direction. The history is the last bytes of the direction, which
//! codecs may use as their dictionary.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::CodecError;

use crate::frame::{Acknowledgement, HEADER, HELLO, Header, Hello, Kind, LARGEST_BLOCK};
use crate::history::History;
use crate::spare::{Spare, append, reserve_up_to};
use crate::{Coders, StreamError};

/// The most received bytes that may wait for decompression, not counting the frame that is being
/// received: one block of the usual size.
const WAITING: usize = 64 << 10;
/// The memory in bytes that is allocated when a frame begins, whatever length it claims to have:
/// one block of the usual size.
const FIRST: usize = 64 << 10;
/// The length in bytes below which a frame gets a buffer of exactly its length, so that many small
/// frames take little memory.
const SMALL: usize = 4 << 10;

/// An acknowledgement is due after this many received bytes, or after [`ACKNOWLEDGE_BLOCKS`] blocks
/// if that is earlier (docs/ace.md, rule A13). The bytes are a quarter of a usual block, so that
/// the measurements of the sender are up to date. The blocks are so few that the sender can keep an
/// entry for each.
pub(crate) const ACKNOWLEDGE_BYTES: usize = 16 << 10;
const ACKNOWLEDGE_BLOCKS: u64 = 64;

/// A message of the other end that concerns the outgoing direction.
pub(crate) enum Control {
    Hello(Hello),
    Acknowledgement(Acknowledgement),
}

/// The incoming direction. Blocks are decompressed one by one as the application reads.
#[derive(Debug)]
pub(crate) struct Incoming {
    state: State,
    /// Complete frames that wait for decompression.
    waiting: VecDeque<Frame>,
    /// The bytes of the waiting frames, including their headers.
    held: usize,
    /// Whether the frame that ends the direction has been received.
    is_complete: bool,
    /// Whether decompression has reached the end of the direction.
    is_unpacked: bool,
    /// The bytes of the last block that was decompressed.
    plain: Vec<u8>,
    /// The number of bytes of `plain` that the application has read.
    read: usize,
    history: History,
    tally: Tally,
    pub(crate) plain_bytes: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) unpacking: Duration,
}

/// The state of reception: which part of the byte stream is being received.
#[derive(Debug)]
enum State {
    Hello { bytes: [u8; HELLO], have: usize },
    Header { bytes: [u8; HEADER], have: usize },
    Payload { header: Header, bytes: Vec<u8> },
}

const NEXT: State = State::Header { bytes: [0; HEADER], have: 0 };

#[derive(Debug)]
enum Frame {
    Block { codec: u8, history: bool, bytes: Vec<u8> },
    End,
    Forget,
}

/// Measurements for the next acknowledgement.
#[derive(Debug, Default)]
struct Tally {
    blocks: u64,
    wire: u64,
    unpacking: Duration,
    waited: Duration,
    /// The time of the last acknowledgement or, before the first one, of the first byte.
    since: Option<Duration>,
    /// The time since which this end waits for the network. `None` if it does not.
    starved: Option<Duration>,
    is_end: bool,
}

impl Incoming {
    /// A direction with at most `history` bytes of history.
    pub(crate) fn new(history: usize) -> Self {
        Incoming {
            state: State::Hello { bytes: [0; HELLO], have: 0 },
            waiting: VecDeque::new(),
            held: 0,
            is_complete: false,
            is_unpacked: false,
            plain: Vec::new(),
            read: 0,
            history: History::new(history),
            tally: Tally::default(),
            plain_bytes: 0,
            wire_bytes: 0,
            unpacking: Duration::ZERO,
        }
    }

    // Calls for the transport.

    /// How many received bytes this end can accept.
    pub(crate) fn wanted(&self) -> usize {
        let (coming, length) = match &self.state {
            State::Payload { header, bytes } => (bytes.len(), header.length),
            _ => (0, 0),
        };
        (WAITING + length).saturating_sub(self.held + coming)
    }

    /// Accepts received bytes, and passes messages about the outgoing direction to `emit`.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        mut bytes: &[u8],
        spare: &mut Spare,
        mut emit: impl FnMut(Control, &mut Spare) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        self.tally.since.get_or_insert(now);
        self.tally.stop_waiting(now);
        while !bytes.is_empty() {
            match &mut self.state {
                State::Hello { bytes: hello, have } => {
                    fill(hello, have, &mut bytes);
                    if let Some(hello) = Hello::read(&hello[..*have])? {
                        self.state = NEXT;
                        self.history.shorten(hello.history, spare);
                        emit(Control::Hello(hello), spare)?;
                    }
                }
                State::Header { bytes: header, have } => {
                    fill(header, have, &mut bytes);
                    if *have == HEADER {
                        let header = Header::read(*header)?;
                        self.start_frame(header, spare)?;
                    }
                }
                State::Payload { header, bytes: payload } => {
                    let missing = header.length - payload.len();
                    let (piece, rest) = bytes.split_at(missing.min(bytes.len()));
                    reserve_up_to(payload, piece.len(), header.length);
                    append(payload, piece);
                    bytes = rest;
                    if piece.len() == missing {
                        let kind = header.kind;
                        let payload = core::mem::take(payload);
                        self.state = NEXT;
                        match self.end_frame(kind, payload) {
                            Some(Ok(acknowledgement)) => {
                                emit(Control::Acknowledgement(acknowledgement), spare)?;
                            }
                            Some(Err(error)) => return Err(error),
                            None => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Starts a frame whose header has been received.
    fn start_frame(&mut self, header: Header, spare: &mut Spare) -> Result<(), StreamError> {
        let [tag, ..] = header.bytes();
        if self.is_complete && header.kind != Kind::Acknowledgement {
            return Err(StreamError::Frame { tag });
        }
        match header.kind {
            Kind::Block { .. } | Kind::Acknowledgement => {
                let bytes = match header.length {
                    ..SMALL => Vec::with_capacity(header.length),
                    length => {
                        let mut bytes = spare.take();
                        reserve_up_to(&mut bytes, length.min(FIRST), FIRST);
                        bytes
                    }
                };
                self.state = State::Payload { header, bytes };
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

    /// Ends a frame whose payload has been received. Returns the acknowledgement if the frame is
    /// one.
    fn end_frame(
        &mut self,
        kind: Kind,
        bytes: Vec<u8>,
    ) -> Option<Result<Acknowledgement, StreamError>> {
        let Kind::Block { codec, history } = kind else {
            let acknowledgement = Acknowledgement::read(&bytes);
            return Some(acknowledgement.ok_or(StreamError::Acknowledgement));
        };
        self.held += HEADER + bytes.len();
        self.waiting.push_back(Frame::Block { codec, history, bytes });
        None
    }

    /// Notes that the transport has no input. This end counts as waiting for the network only if
    /// the application has read everything.
    pub(crate) fn starved(&mut self, now: Duration) {
        if self.waiting.is_empty() && self.is_read() {
            self.tally.starved.get_or_insert(now);
        }
    }

    /// Excludes the time from `before` to `after`, in which this end worked, from the time of
    /// waiting.
    pub(crate) fn worked(&mut self, before: Duration, after: Duration) {
        if self.tally.starved.is_some() {
            self.tally.stop_waiting(before);
            self.tally.starved = Some(after);
        }
    }

    /// Whether the end of the direction has been received. Blocks before it may still wait for
    /// decompression.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    // Decompression.

    /// Whether there is a frame to decompress, and the application has read the previous block.
    pub(crate) fn has_work(&self) -> bool {
        self.is_read() && !self.waiting.is_empty()
    }

    /// Decompresses one block. Returns the time at its end.
    pub(crate) fn unpack(
        &mut self,
        coders: &mut Coders,
        spare: &mut Spare,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<Duration, StreamError> {
        let Some(frame) = self.waiting.pop_front() else { return Ok(clock()) };
        self.held -= HEADER;
        let (codec, history, bytes) = match frame {
            Frame::Block { codec, history, bytes } => (codec, history, bytes),
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
        self.held -= bytes.len();
        self.tally.count(HEADER + bytes.len());
        self.wire_bytes += (HEADER + bytes.len()) as u64;
        let before = clock();
        self.read = 0;
        if codec == 0 {
            self.plain = bytes;
        } else {
            let mut plain = spare.take();
            let history = history.then(|| self.history.bytes(spare));
            coders.unpack(codec, history, &bytes, LARGEST_BLOCK, &mut plain)?;
            spare.give(bytes);
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
        self.plain_bytes += self.plain.len() as u64;
        Ok(after)
    }

    /// The acknowledgement to send now, if one is due. With `at_once` it is due if there is any
    /// block to acknowledge.
    pub(crate) fn acknowledgement(
        &mut self,
        now: Duration,
        at_once: bool,
    ) -> Option<Acknowledgement> {
        let tally = &mut self.tally;
        let is_due = tally.is_end
            || tally.wire >= ACKNOWLEDGE_BYTES as u64
            || tally.blocks >= ACKNOWLEDGE_BLOCKS
            || at_once && tally.blocks > 0;
        if !is_due {
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

    // Calls for the application.

    pub(crate) fn readable(&self) -> &[u8] {
        &self.plain[self.read..]
    }

    pub(crate) fn read(&mut self, bytes: usize, spare: &mut Spare) {
        self.read += bytes.min(self.plain.len() - self.read);
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

    /// Releases unused memory.
    pub(crate) fn rest(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
    }

    /// The memory of this direction in bytes.
    pub(crate) fn memory(&self) -> usize {
        let coming = match &self.state {
            State::Payload { bytes, .. } => bytes.capacity(),
            _ => 0,
        };
        let frames = self.waiting.iter().map(|frame| match frame {
            Frame::Block { bytes, .. } => bytes.capacity(),
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

    /// Ends the time of waiting, if this end waits.
    fn stop_waiting(&mut self, now: Duration) {
        if let Some(starved) = self.starved.take() {
            self.waited += now.saturating_sub(starved);
        }
    }
}

/// Moves as many bytes as fit to the unfilled part of an array. `have` is the number of filled
/// bytes.
fn fill(array: &mut [u8], have: &mut usize, bytes: &mut &[u8]) {
    let missing = array.len() - *have;
    let (piece, rest) = bytes.split_at(missing.min(bytes.len()));
    array[*have..*have + piece.len()].copy_from_slice(piece);
    *have += piece.len();
    *bytes = rest;
}
