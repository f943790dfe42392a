//! The parts that the LZF and LZO codecs share: their coder, a hash table of earlier positions,
//! comparing, and copying.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{CodecError, Coder, Memory, length};

/// Slots of the table: 32 KiB, which fit a first-level cache beside a message.
const TABLE_SLOTS: usize = 1 << TABLE_BITS;
const TABLE_BITS: u32 = 13;

/// Bytes are copied in chunks of this size where the buffer allows it. The surplus is overwritten
/// by the next copy.
pub(crate) const STRIDE: usize = 16;

/// Appends the block of a message.
type Compress = fn(&[u8], &mut Table, &mut Vec<u8>);
/// Appends the original of a block, which has this length.
type Decompress = fn(&[u8], usize, &mut Vec<u8>) -> Result<(), CodecError>;

/// A coder whose messages are the length of the original as a LEB128 number, then a block.
pub(crate) struct BlockCoder {
    table: Table,
    compress: Compress,
    decompress: Decompress,
}

impl BlockCoder {
    pub(crate) fn new(compress: Compress, decompress: Decompress) -> Self {
        BlockCoder { table: Table::default(), compress, decompress }
    }
}

impl Coder for BlockCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        length::write(input.len(), out);
        (self.compress)(input, &mut self.table, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let (length, block) = length::read(input, limit)?;
        (self.decompress)(block, length, out)
    }

    fn memory(&self) -> Memory {
        Memory { compress: self.table.memory(), decompress: 0 }
    }
}

/// A hash table of the last position of each sequence of three or four bytes.
///
/// It is not cleared between messages. Positions continue from message to message, so that an
/// earlier message's positions lie before the start of this one and are not found.
#[derive(Default)]
pub(crate) struct Table {
    slots: Option<Box<[u32; TABLE_SLOTS]>>,
    /// The position of the next message's first byte.
    next: u32,
}

impl Table {
    /// Begins a message of `length` bytes.
    pub(crate) fn begin(&mut self, length: usize) -> Positions<'_> {
        let length = u32::try_from(length).unwrap_or(u32::MAX - 1);
        let slots = self.slots.get_or_insert_with(|| Box::new([0; TABLE_SLOTS]));
        // 0 marks an empty slot.
        let base = self.next.max(1);
        let base = match base.checked_add(length) {
            Some(_) => base,
            None => {
                slots.fill(0);
                1
            }
        };
        self.next = base.saturating_add(length);
        Positions { slots, base }
    }

    /// Working memory, bytes.
    pub(crate) fn memory(&self) -> usize {
        self.slots.as_ref().map_or(0, |slots| size_of_val(&**slots))
    }
}

/// A [`Table`] in use for one message.
pub(crate) struct Positions<'a> {
    slots: &'a mut [u32; TABLE_SLOTS],
    base: u32,
}

impl Positions<'_> {
    /// Records that `sequence` is at `position`. Returns the distance of the last sequence with the
    /// same hash: more than `position` if there was none in this message.
    #[inline(always)]
    pub(crate) fn note(&mut self, sequence: u32, position: usize) -> usize {
        // Knuth's multiplicative hash; the factor is the prime next to 2^32 divided by the golden
        // ratio.
        let hash = sequence.wrapping_mul(2_654_435_761) >> (u32::BITS - TABLE_BITS);
        let slot = &mut self.slots[hash as usize];
        let here = self.base.wrapping_add(position as u32);
        here.wrapping_sub(core::mem::replace(slot, here)) as usize
    }
}

/// Four bytes as a number; 0 beyond the end.
#[inline(always)]
pub(crate) fn four(input: &[u8], at: usize) -> u32 {
    match input.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => 0,
    }
}

/// The number of equal bytes from `earlier` and from `at` on, up to `end`.
#[inline(always)]
pub(crate) fn same(buffer: &[u8], earlier: usize, at: usize, end: usize) -> usize {
    let here = &buffer[at..end];
    let there = &buffer[earlier..];
    let mut count = 0;
    for (a, b) in here.as_chunks::<8>().0.iter().zip(there.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return count + (differ.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    count + here[count..].iter().zip(&there[count..]).take_while(|(a, b)| a == b).count()
}

/// The number of equal bytes among the eight before `left` and the eight before `right`; 0 if there
/// are fewer than eight.
#[inline(always)]
pub(crate) fn same_before(input: &[u8], left: usize, right: usize) -> usize {
    let eight = |end: usize| input.get(..end).and_then(|before| before.last_chunk());
    match (eight(left), eight(right)) {
        (Some(left), Some(right)) => {
            let different = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
            different.leading_zeros() as usize / 8
        }
        _ => 0,
    }
}

/// Appends the original of `block` to `out` if it has exactly `length` bytes; `read` decodes it. A
/// byte of a block never gives more than `densest` bytes, so that a false length is refused before
/// memory is allocated. On an error `out` is unchanged.
pub(crate) fn exactly(
    length: usize,
    block: &[u8],
    densest: usize,
    out: &mut Vec<u8>,
    read: impl FnOnce(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    if length / densest > block.len() {
        return Err(CodecError::Malformed);
    }
    let start = out.len();
    out.resize(start + length, 0);
    let mut writer = Writer { bytes: &mut out[start..], at: 0 };
    if read(&mut writer).is_ok() && writer.at == length {
        return Ok(());
    }
    out.truncate(start);
    Err(CodecError::Malformed)
}

/// Writes into a buffer of known length.
pub(crate) struct Writer<'a> {
    pub(crate) bytes: &'a mut [u8],
    /// The position of the next byte.
    pub(crate) at: usize,
}

impl Writer<'_> {
    /// Writes one byte.
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        self.bytes[self.at] = byte;
        self.at += 1;
    }

    /// Writes `input[from..from + count]`. The caller has checked the bounds.
    #[inline(always)]
    pub(crate) fn copy(&mut self, input: &[u8], from: usize, count: usize) {
        if count <= STRIDE
            && let Some(chunk) = input.get(from..from + STRIDE)
            && let Some(to) = self.bytes.get_mut(self.at..self.at + STRIDE)
        {
            to.copy_from_slice(chunk);
        } else {
            self.bytes[self.at..self.at + count].copy_from_slice(&input[from..from + count]);
        }
        self.at += count;
    }

    /// Writes `count` bytes of a block from `from` on.
    ///
    /// # Errors
    /// If the block or the buffer is too short.
    #[inline(always)]
    pub(crate) fn literals(
        &mut self,
        block: &[u8],
        from: usize,
        count: usize,
    ) -> Result<(), CodecError> {
        if count > block.len() - from || count > self.bytes.len() - self.at {
            return Err(CodecError::Malformed);
        }
        self.copy(block, from, count);
        Ok(())
    }

    /// Writes `count` bytes of the output again, from `distance` bytes back; source and target may
    /// overlap.
    ///
    /// # Errors
    /// If the distance is 0 or reaches before the buffer, or the buffer is too short.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, distance: usize, count: usize) -> Result<(), CodecError> {
        let Some(from) = self.at.checked_sub(distance) else { return Err(CodecError::Malformed) };
        if count > self.bytes.len() - self.at || distance == 0 {
            return Err(CodecError::Malformed);
        }
        let end = self.at + count;
        if distance >= STRIDE && end + STRIDE <= self.bytes.len() {
            let (mut from, mut to) = (from, self.at);
            while to < end {
                let mut chunk = [0; STRIDE];
                chunk.copy_from_slice(&self.bytes[from..from + STRIDE]);
                self.bytes[to..to + STRIDE].copy_from_slice(&chunk);
                from += STRIDE;
                to += STRIDE;
            }
        } else {
            self.repeat_slowly(from, end);
        }
        self.at = end;
        Ok(())
    }

    /// [`Writer::repeat`] near the buffer's end and for short distances: doubles the repeated part
    /// until it is long enough.
    fn repeat_slowly(&mut self, from: usize, end: usize) {
        let mut to = self.at;
        while to < end {
            let count = (to - from).min(end - to);
            self.bytes.copy_within(from..from + count, to);
            to += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::noise;
    use alloc::vec;

    #[test]
    fn positions_restart_before_they_overflow() {
        let mut table = Table { next: u32::MAX - 250, ..Table::default() };
        for _ in 0..5 {
            let mut positions = table.begin(100);
            assert!(positions.note(1, 50) > 50, "an earlier message");
            assert_eq!(positions.note(1, 99), 49);
        }
    }

    #[test]
    fn what_is_the_same_before_is_counted() {
        for length in 1..40 {
            let mut bytes = noise(100, 1);
            bytes.extend_from_within(..length);
            // If there are fewer than eight bytes before, none is compared.
            let expected = if length < 8 { 0 } else { 8 };
            assert_eq!(same_before(&bytes, length, 100 + length), expected);
            bytes[100 + length / 2] ^= 1;
            let expected = if length < 8 { 0 } else { (length - length / 2 - 1).min(8) };
            assert_eq!(same_before(&bytes, length, 100 + length), expected);
        }
    }

    #[test]
    fn bytes_are_repeated_at_all_distances() {
        for (distance, count) in
            (1..40).flat_map(|distance| (0..80).map(move |count| (distance, count)))
        {
            let mut bytes = noise(40, 2);
            let mut expected = bytes.clone();
            for _ in 0..count {
                expected.push(expected[expected.len() - distance]);
            }
            for spare in [0, 3, STRIDE, 50] {
                bytes.resize(40 + count + spare, 0);
                let mut writer = Writer { bytes: &mut bytes, at: 40 };
                writer.repeat(distance, count).unwrap();
                assert_eq!((writer.at, &bytes[..40 + count]), (40 + count, &expected[..]));
            }
        }
        let mut bytes = vec![0; 10];
        for (distance, count) in [(0, 1), (6, 1), (1, 6), (usize::MAX, 1), (1, usize::MAX)] {
            assert!(Writer { bytes: &mut bytes, at: 5 }.repeat(distance, count).is_err());
        }
    }
}
