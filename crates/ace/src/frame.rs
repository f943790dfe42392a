//! The wire format of docs/ace.md: the hello, with which each end names its codecs and limits;
//! frame headers; and acknowledgements. The history is the last bytes of a direction, which codecs
//! may use as their dictionary.

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, CodecError, by_number};

use crate::StreamError;

/// The length of a frame header in bytes, as in the paper "Adaptive On-the-Fly Compression".
pub(crate) const HEADER: usize = 4;
/// The length of a hello in bytes.
pub(crate) const HELLO: usize = 8;
/// The largest block in bytes, compressed or not. It bounds the memory that a peer can make this
/// end allocate.
pub(crate) const LARGEST_BLOCK: usize = 1 << 20;
/// The block size in bytes that every end accepts. Blocks of this size can be sent before the hello
/// of the other end has arrived.
pub(crate) const SURE_BLOCK: usize = 64 << 10;
/// The longest history in bytes.
pub(crate) const LONGEST_HISTORY: usize = 1 << 20;
/// The shortest history in bytes, apart from none: a shorter one would not help a codec.
pub(crate) const SHORTEST_HISTORY: usize = 1 << 10;

/// The first bytes of a hello: name and version.
const MAGIC: [u8; 4] = *b"GWA\x01";
/// The codecs that every end can decompress: none and lz4.
const SURE_CODECS: u16 = 0b11;
/// The most bytes of a varint: 64 bits in groups of seven.
const LONGEST_VARINT: usize = 10;
/// The number of varints in an acknowledgement.
const VARINTS: usize = 5;

/// The capabilities of an end. Each end sends its hello first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The codecs that the end can decompress, one bit for each codec number.
    pub(crate) codecs: u16,
    /// The largest block that the end accepts, in bytes, a power of two.
    pub(crate) block: usize,
    /// The history that the end keeps of each direction, in bytes, a power of two or 0.
    pub(crate) history: usize,
}

impl Hello {
    /// The hello of an end that keeps at most `history` bytes of history; the number is rounded
    /// down to a power of two.
    pub(crate) fn new(history: usize) -> Self {
        let codecs = ALL.iter().fold(0, |mask, codec| mask | 1 << codec.number());
        let history = history.checked_ilog2().map_or(0, |log| 1 << log);
        let history = if history < SHORTEST_HISTORY { 0 } else { history };
        Hello { codecs, block: LARGEST_BLOCK, history }
    }

    pub(crate) fn bytes(self) -> [u8; HELLO] {
        let [g, w, a, version] = MAGIC;
        let [low, high] = self.codecs.to_le_bytes();
        let history = self.history.checked_ilog2().unwrap_or(0);
        [g, w, a, version, low, high, self.block.ilog2() as u8, history as u8]
    }

    /// Parses the bytes of a hello that have arrived. `None` if they are valid so far but not
    /// complete.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, StreamError> {
        let name = bytes.len().min(MAGIC.len());
        if bytes[..name] != MAGIC[..name] {
            return Err(StreamError::NoPeer);
        }
        let &[_, _, _, _, low, high, block, history] = bytes else { return Ok(None) };
        let codecs = u16::from_le_bytes([low, high]);
        let blocks = SURE_BLOCK.ilog2()..=LARGEST_BLOCK.ilog2();
        let histories = SHORTEST_HISTORY.ilog2()..=LONGEST_HISTORY.ilog2();
        let has_history = history != 0;
        if codecs & SURE_CODECS != SURE_CODECS
            || !blocks.contains(&block.into())
            || has_history && !histories.contains(&history.into())
        {
            return Err(StreamError::NoPeer);
        }
        let history = if has_history { 1 << history } else { 0 };
        Ok(Some(Hello { codecs, block: 1 << block, history }))
    }
}

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A block. It is compressed by the codec with this number, with or without the history as
    /// dictionary.
    Block { codec: u8, history: bool },
    /// Measurements of blocks of the opposite direction.
    Acknowledgement,
    /// No more blocks follow in this direction.
    End,
    /// A request to empty the history of this direction at both ends.
    Forget,
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The length of the payload in bytes.
    pub(crate) length: usize,
}

/// The bits of the tag, which is the first byte of a header: the codec number, whether the history
/// is used, and above these the kind of the frame.
const CODEC: u8 = 0x0f;
const HISTORY: u8 = 0x10;
const KIND_SHIFT: u32 = 5;

impl Header {
    pub(crate) fn bytes(self) -> [u8; HEADER] {
        let tag = match self.kind {
            Kind::Block { codec, history: false } => codec,
            Kind::Block { codec, history: true } => codec | HISTORY,
            Kind::Acknowledgement => 1 << KIND_SHIFT,
            Kind::End => 2 << KIND_SHIFT,
            Kind::Forget => 3 << KIND_SHIFT,
        };
        let [low, middle, high, _] = (self.length as u32).to_le_bytes();
        [tag, low, middle, high]
    }

    /// Parses a header and refuses headers that this version of the format does not allow.
    pub(crate) fn read([tag, low, middle, high]: [u8; HEADER]) -> Result<Self, StreamError> {
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        let (kind, lengths) = match (tag >> KIND_SHIFT, tag & (CODEC | HISTORY)) {
            (0, _) => (block(tag)?, 1..=LARGEST_BLOCK),
            (1, 0) => (Kind::Acknowledgement, VARINTS..=VARINTS * LONGEST_VARINT),
            (2, 0) => (Kind::End, 0..=0),
            (3, 0) => (Kind::Forget, 0..=0),
            _ => return Err(StreamError::Frame { tag }),
        };
        if length > *lengths.end() {
            return Err(StreamError::TooLong { length, limit: *lengths.end() });
        }
        if length < *lengths.start() {
            return Err(StreamError::Frame { tag });
        }
        Ok(Header { kind, length })
    }
}

fn block(tag: u8) -> Result<Kind, StreamError> {
    let number = tag & CODEC;
    let codec = by_number(number).ok_or(CodecError::UnknownCodec { number })?;
    let history = tag & HISTORY != 0;
    if history && !codec.takes_dictionary() {
        return Err(StreamError::Frame { tag });
    }
    Ok(Kind::Block { codec: number, history })
}

/// Measurements of some blocks by the end that decompressed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// The number of blocks since the previous acknowledgement. The end of the direction counts as
    /// a block.
    pub(crate) blocks: u64,
    /// The bytes of these blocks on the wire, including headers.
    pub(crate) wire: u64,
    /// The time that the decompression of these blocks took.
    pub(crate) unpacking: Duration,
    /// The time since the previous acknowledgement.
    pub(crate) span: Duration,
    /// The part of `span` in which the end that decompresses waited for bytes of the network.
    pub(crate) waited: Duration,
}

impl Acknowledgement {
    /// Appends the acknowledgement as a frame.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&[0; HEADER]);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let times = [self.unpacking, self.span, self.waited].map(micros);
        for number in [self.blocks, self.wire].into_iter().chain(times) {
            varint(number, out);
        }
        let length = out.len() - at - HEADER;
        let header = Header { kind: Kind::Acknowledgement, length };
        out[at..at + HEADER].copy_from_slice(&header.bytes());
    }

    /// Parses the payload of an acknowledgement frame.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let acknowledgement = Acknowledgement {
            blocks: read_varint(bytes)?,
            wire: read_varint(bytes)?,
            unpacking: Duration::from_micros(read_varint(bytes)?),
            span: Duration::from_micros(read_varint(bytes)?),
            waited: Duration::from_micros(read_varint(bytes)?),
        };
        bytes.is_empty().then_some(acknowledgement)
    }
}

/// Appends a number as LEB128: seven bits per byte, the lowest first; the highest bit is set in all
/// bytes but the last.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7).take(LONGEST_VARINT) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte may hold one bit only.
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test] // A1 A3 A4
    fn an_incomplete_hello_is_recognised() {
        let hello = Hello::new(128 << 10);
        let bytes = hello.bytes();
        assert_eq!(bytes[..4], *b"GWA\x01");
        assert_eq!(bytes[6..], [20, 17]);
        for length in 0..HELLO {
            assert_eq!(Hello::read(&bytes[..length]), Ok(None), "{length}");
        }
        assert_eq!(Hello::read(&bytes), Ok(Some(hello)));
        assert_eq!(Hello::new(1023).history, 0);
        assert_eq!(Hello::new(5000).history, 4096);
    }

    #[test] // A1 to A4
    fn other_first_bytes_are_no_peer() {
        let right = Hello::new(0).bytes();
        for wrong in [&b"H"[..], b"GET ", b"GWA\x02", b"SSH-2.0-"] {
            assert_eq!(Hello::read(wrong), Err(StreamError::NoPeer));
        }
        for (place, byte) in [(4, 0xfd), (6, 15), (6, 21), (7, 9), (7, 21)] {
            let mut bytes = right;
            bytes[place] = byte;
            assert_eq!(Hello::read(&bytes), Err(StreamError::NoPeer), "{place} {byte}");
        }
    }

    #[test] // A15
    fn headers_that_no_end_sends_are_refused() {
        let too_long = |length, limit| Err(StreamError::TooLong { length, limit });
        let frame = |tag| Err(StreamError::Frame { tag });
        assert_eq!(Header::read([0x00, 1, 0, 0x10]), too_long(0x10_0001, 1 << 20));
        assert_eq!(Header::read([0x00, 0, 0, 0]), frame(0));
        assert_eq!(Header::read([0x10, 1, 0, 0]), frame(0x10));
        assert_eq!(Header::read([0x20, 4, 0, 0]), frame(0x20));
        assert_eq!(Header::read([0x20, 51, 0, 0]), too_long(51, 50));
        assert_eq!(Header::read([0x40, 1, 0, 0]), too_long(1, 0));
        assert_eq!(Header::read([0x60, 0, 0, 1]), too_long(1 << 16, 0));
        for tag in [0x21, 0x30, 0x41, 0x70, 0x80, 0xa0, 0xff] {
            assert_eq!(Header::read([tag, 5, 0, 0]), frame(tag));
        }
        let unknown = StreamError::Block(CodecError::UnknownCodec { number: 15 });
        assert_eq!(Header::read([0x0f, 5, 0, 0]), Err(unknown));
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read_varint(&mut &most[..]), Some(u64::MAX));
        for last in [2, 0x81] {
            let mut more = most;
            more[9] = last;
            assert_eq!(read_varint(&mut &more[..]), None);
        }
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written(codec in 0u8..13, length in 1usize..=1 << 20) {
            for history in [false, true] {
                let header = Header { kind: Kind::Block { codec, history }, length };
                let takes = by_number(codec).is_some_and(|codec| codec.takes_dictionary());
                let tag = header.bytes()[0];
                let expected =
                    if history && !takes { Err(StreamError::Frame { tag }) } else { Ok(header) };
                prop_assert_eq!(Header::read(header.bytes()), expected);
            }
            for kind in [Kind::End, Kind::Forget] {
                let header = Header { kind, length: 0 };
                prop_assert_eq!(Header::read(header.bytes()), Ok(header));
            }
        }

        #[test]
        fn acknowledgements_are_read_as_they_were_written(blocks: u64, wire: u64, times: [u64; 3]) {
            let [unpacking, span, waited] = times.map(Duration::from_micros);
            let written = Acknowledgement { blocks, wire, unpacking, span, waited };
            let mut out = Vec::new();
            written.write(&mut out);
            let (header, payload) = out.split_first_chunk().unwrap();
            let header = Header::read(*header).unwrap();
            prop_assert_eq!((header.kind, header.length), (Kind::Acknowledgement, payload.len()));
            prop_assert_eq!(Acknowledgement::read(payload), Some(written));
            prop_assert_eq!(Acknowledgement::read(&payload[..payload.len() - 1]), None);
            prop_assert_eq!(Acknowledgement::read(&[payload, &[0]].concat()), None);
        }

        #[test]
        fn arbitrary_bytes_are_parsed_or_refused(bytes: [u8; HEADER], payload: Vec<u8>) {
            if let Ok(header) = Header::read(bytes) {
                prop_assert_eq!(header.bytes(), bytes);
            }
            let _ = Acknowledgement::read(&payload);
            let _ = Hello::read(&payload);
        }
    }
}
