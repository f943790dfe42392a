//! The LZO compressor. It takes the last position of the same four bytes as a match, and skips more
//! positions the longer there was no match.

use alloc::vec::Vec;

use super::{END, FAR, MIDDLE, NEAR};
use crate::lz77::{STRIDE, Table, Writer, four, same, same_before};

/// The shortest copy that the compressor makes.
const SHORTEST: usize = 4;

/// After 2^5 bytes without a copy only every second position is tried, after 2^6 every third, and
/// so on.
const SKIP_BITS: u32 = 5;

/// Appends the block of `input` to `out`.
pub(super) fn block(input: &[u8], table: &mut Table, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + longest(input.len()), 0);
    let mut writer = Writer { bytes: &mut out[start..], at: 0 };
    let rest = copies(input, table, &mut writer);
    literals(input, rest, input.len(), &mut writer);
    for byte in END {
        writer.push(byte);
    }
    let written = writer.at;
    out.truncate(start + written);
}

/// The longest block of `length` bytes. A copy is at least one byte shorter than the copied bytes,
/// which pays for the first byte before the literals after it; more than 18 literals cost a second
/// byte, and one for each 255 of them.
fn longest(length: usize) -> usize {
    length + length / 16 + 16 + STRIDE
}

/// Writes all copies with the literals before each. Returns where the literals after the last copy
/// begin.
fn copies(input: &[u8], table: &mut Table, writer: &mut Writer<'_>) -> usize {
    let mut positions = table.begin(input.len());
    let end = input.len().saturating_sub(SHORTEST);
    let (mut at, mut done) = (0, 0);
    while at < end {
        let sequence = four(input, at);
        let distance = positions.note(sequence, at);
        // The distance is checked last, because it is the rarer reason to fail.
        let from = at.saturating_sub(distance);
        if four(input, from) != sequence || distance > at.min(FAR) {
            at += 1 + ((at - done) >> SKIP_BITS);
            continue;
        }
        let earlier = same_before(input, from, at).min(at - done);
        let length = earlier + SHORTEST + same(input, from + SHORTEST, at + SHORTEST, input.len());
        at -= earlier;
        literals(input, done, at, writer);
        copy(distance, length, writer);
        at += length;
        done = at;
        positions.note(four(input, at - 2), at - 2);
    }
    done
}

/// Writes `input[from..to]` as literals, at the start of a block or after a copy.
#[inline(always)]
fn literals(input: &[u8], from: usize, to: usize, writer: &mut Writer<'_>) {
    let count = to - from;
    if writer.at == 0 {
        match count {
            0 => {}
            1..=238 => writer.push(17 + count as u8),
            _ => {
                writer.push(0);
                more(count - 18, writer);
            }
        }
    } else if count <= 3 {
        // The two low bits of the previous copy's last byte but one hold this number.
        writer.bytes[writer.at - 2] |= count as u8;
    } else if count <= 18 {
        writer.push(count as u8 - 3);
    } else {
        writer.push(0);
        more(count - 18, writer);
    }
    writer.copy(input, from, count);
}

/// Writes a copy of `length` bytes at `distance`.
#[inline(always)]
fn copy(distance: usize, length: usize, writer: &mut Writer<'_>) {
    let far = distance > MIDDLE;
    let back = distance - if far { MIDDLE } else { 1 };
    let kind = if far { 16 | back >> 14 << 3 } else { 32 };
    let [low, high] = ((back << 2) as u16).to_le_bytes();
    if length <= 8 {
        let near = distance <= NEAR;
        let first = if near { (length - 1) << 5 | (back & 7) << 2 } else { kind | (length - 2) };
        let second = if near { (back >> 3) as u8 } else { low };
        let chunk = [first as u8, second, high];
        writer.bytes[writer.at..writer.at + 3].copy_from_slice(&chunk);
        writer.at += if near { 2 } else { 3 };
        return;
    }
    let short = if far { 9 } else { 33 };
    if length <= short {
        writer.push((kind | (length - 2)) as u8);
    } else {
        writer.push(kind as u8);
        more(length - short, writer);
    }
    writer.push(low);
    writer.push(high);
}

/// Writes the part of a length that does not fit into an instruction; it is not zero.
fn more(mut rest: usize, writer: &mut Writer<'_>) {
    while rest > 255 {
        writer.push(0);
        rest -= 255;
    }
    writer.push(rest as u8);
}
