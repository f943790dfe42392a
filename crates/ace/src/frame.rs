//! The wire format, as docs/ace.md has it: the hello, the frames after it, and what an acknowledgement says.

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, CodecError, by_number};

use crate::StreamError;

/// Octets of a frame before its payload, as many as in the paper.
pub(crate) const HEADER: usize = 4;
/// Octets of a hello.
pub(crate) const HELLO: usize = 8;
/// No block stands for more octets, nor has more on the wire.
pub(crate) const LARGEST_BLOCK: usize = 1 << 20;
/// What every end takes, so that blocks can go before its hello has come.
pub(crate) const SURE_BLOCK: usize = 64 << 10;
/// As far back as a history goes.
pub(crate) const LONGEST_HISTORY: usize = 1 << 20;
/// No history is shorter, but none.
pub(crate) const SHORTEST_HISTORY: usize = 1 << 10;

/// Name and version.
const MAGIC: [u8; 4] = *b"GWA\x01";
/// Every end unpacks none and lz4.
const SURE_CODECS: u16 = 0b11;
const LONGEST_VARINT: usize = 10;
const VARINTS: usize = 5;

/// What an end says of itself before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The codecs that it unpacks, a bit each by number.
    pub(crate) codecs: u16,
    /// The largest block that it takes. Octets, a power of two.
    pub(crate) block: usize,
    /// The history that it keeps of each direction. Octets, a power of two, or 0.
    pub(crate) history: usize,
}

impl Hello {
    /// That of an end with at most so much history.
    pub(crate) fn new(history: usize) -> Self {
        let codecs = ALL.iter().fold(0, |mask, codec| mask | 1 << codec.number());
        let history = history.checked_ilog2().map_or(0, |log| 1 << log);
        let history = if history < SHORTEST_HISTORY { 0 } else { history };
        Hello { codecs, block: LARGEST_BLOCK, history }
    }

    pub(crate) fn octets(self) -> [u8; HELLO] {
        let [g, w, a, version] = MAGIC;
        let [low, high] = self.codecs.to_le_bytes();
        let history = self.history.checked_ilog2().unwrap_or(0);
        [g, w, a, version, low, high, self.block.ilog2() as u8, history as u8]
    }

    /// The hello in so many octets of it as have come; `None`: they may become one.
    pub(crate) fn read(octets: &[u8]) -> Result<Option<Self>, StreamError> {
        let name = octets.len().min(MAGIC.len());
        if octets[..name] != MAGIC[..name] {
            return Err(StreamError::NoPeer);
        }
        let &[_, _, _, _, low, high, block, history] = octets else { return Ok(None) };
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

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A block, packed by the codec of this number.
    Block { codec: u8, history: bool },
    /// How blocks of the other direction fared.
    Acknowledgement,
    /// No block follows.
    End,
    /// The history of this direction begins anew.
    Forget,
}

/// The first octets of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Octets that follow.
    pub(crate) length: usize,
}

const CODEC: u8 = 0x0f;
const HISTORY: u8 = 0x10;
const KIND_SHIFT: u32 = 5;

impl Header {
    pub(crate) fn octets(self) -> [u8; HEADER] {
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

    /// Reads a header, and refuses whatever no end of this version sends.
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

/// How some blocks fared, in the words of the end that unpacked them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// Blocks since the acknowledgement before; the end is one.
    pub(crate) blocks: u64,
    /// Octets of them on the wire, headers included.
    pub(crate) wire: u64,
    /// What unpacking took.
    pub(crate) unpacking: Duration,
    /// Since the acknowledgement before.
    pub(crate) span: Duration,
    /// Of that, time without any octets to work on.
    pub(crate) waited: Duration,
}

impl Acknowledgement {
    /// Appends it as a frame.
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
        out[at..at + HEADER].copy_from_slice(&header.octets());
    }

    /// Reads the payload of the frame.
    pub(crate) fn read(mut octets: &[u8]) -> Option<Self> {
        let octets = &mut octets;
        let acknowledgement = Acknowledgement {
            blocks: read_varint(octets)?,
            wire: read_varint(octets)?,
            unpacking: Duration::from_micros(read_varint(octets)?),
            span: Duration::from_micros(read_varint(octets)?),
            waited: Duration::from_micros(read_varint(octets)?),
        };
        octets.is_empty().then_some(acknowledgement)
    }
}

/// Seven bits at a time, the lowest first, with the highest bit of all octets but the last set (LEB128).
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(octets: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7).take(LONGEST_VARINT) {
        let (&octet, rest) = octets.split_first()?;
        *octets = rest;
        let bits = u64::from(octet & 0x7f);
        // The tenth octet has room for one bit.
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if octet < 0x80 {
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
    fn a_hello_is_read_as_far_as_it_has_come() {
        let hello = Hello::new(128 << 10);
        let octets = hello.octets();
        assert_eq!(octets[..4], *b"GWA\x01");
        assert_eq!(octets[6..], [20, 17]);
        for length in 0..HELLO {
            assert_eq!(Hello::read(&octets[..length]), Ok(None), "{length}");
        }
        assert_eq!(Hello::read(&octets), Ok(Some(hello)));
        assert_eq!(Hello::new(1023).history, 0);
        assert_eq!(Hello::new(5000).history, 4096);
    }

    #[test] // A1 to A4
    fn whoever_says_something_else_is_no_peer() {
        let right = Hello::new(0).octets();
        for wrong in [&b"H"[..], b"GET ", b"GWA\x02", b"SSH-2.0-"] {
            assert_eq!(Hello::read(wrong), Err(StreamError::NoPeer));
        }
        for (place, octet) in [(4, 0xfd), (6, 15), (6, 21), (7, 9), (7, 21)] {
            let mut octets = right;
            octets[place] = octet;
            assert_eq!(Hello::read(&octets), Err(StreamError::NoPeer), "{place} {octet}");
        }
    }

    #[test] // A15
    fn what_no_end_sends_is_refused() {
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
                let tag = header.octets()[0];
                let expected =
                    if history && !takes { Err(StreamError::Frame { tag }) } else { Ok(header) };
                prop_assert_eq!(Header::read(header.octets()), expected);
            }
            for kind in [Kind::End, Kind::Forget] {
                let header = Header { kind, length: 0 };
                prop_assert_eq!(Header::read(header.octets()), Ok(header));
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
        fn hostile_octets_do_no_harm(octets: [u8; HEADER], payload: Vec<u8>) {
            if let Ok(header) = Header::read(octets) {
                prop_assert_eq!(header.octets(), octets);
            }
            let _ = Acknowledgement::read(&payload);
            let _ = Hello::read(&payload);
        }
    }
}
