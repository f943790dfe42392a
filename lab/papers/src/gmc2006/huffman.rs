//! A template's Huffman code set: shorter codes for the bytes that its messages use most. A
//! template is an earlier message, with which similar ones are compressed.

use alloc::vec;
use alloc::vec::Vec;

use super::error::DecodeError;

/// How often each byte value was seen.
pub(super) type Frequencies = [u32; 256];

/// A canonical Huffman code for all 256 byte values. Both ends make the same code from the same
/// frequencies.
///
/// A coded text needs no length: it is filled up to a whole byte with ones, which are the start of
/// a code of at least 8 bits and thus never a code. (Of 256 codes the longest has at least 8 bits,
/// and the longest code is all ones.)
#[derive(Debug)]
pub(super) struct CodeSet {
    lengths: [u8; 256],
    codes: [u32; 256],
    /// The byte values in the order of their codes.
    ordered: Vec<u8>,
    /// For each code length: the first code, and the index in `ordered` of the byte that it stands
    /// for.
    first: [(u32, u16); MAX_LENGTH + 2],
}

/// The longest code in bits. Longer ones would gain less than one bit in a million.
const MAX_LENGTH: usize = 24;

/// The weight of a byte value that was seen once. One that was never seen must have a code too and
/// weighs 1.
const SEEN: u64 = 16;

impl CodeSet {
    pub(super) fn new(frequencies: &Frequencies) -> Self {
        let mut weights = frequencies.map(|count| u64::from(count) * SEEN + 1);
        let mut lengths = code_lengths(&weights);
        while lengths.iter().any(|&length| usize::from(length) > MAX_LENGTH) {
            weights = weights.map(|weight| weight.div_ceil(2));
            lengths = code_lengths(&weights);
        }
        Self::canonical(lengths)
    }

    /// The number of bits that `bytes` take when coded.
    pub(super) fn bits(&self, bytes: &[u8]) -> usize {
        bytes.iter().map(|&byte| usize::from(self.lengths[usize::from(byte)])).sum()
    }

    pub(super) fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let (mut pending, mut count) = (0_u64, 0_u32);
        for &byte in bytes {
            let length = u32::from(self.lengths[usize::from(byte)]);
            pending = pending << length | u64::from(self.codes[usize::from(byte)]);
            count += length;
            while count >= 8 {
                count -= 8;
                out.push((pending >> count) as u8);
            }
        }
        if count > 0 {
            out.push((pending << (8 - count)) as u8 | (0xff >> count));
        }
    }

    /// Appends the bytes coded in `coded`: at most 8 for each of its bytes.
    pub(super) fn decode(&self, coded: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let (mut code, mut length) = (0_u32, 0_usize);
        for bit in coded.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)) {
            code = code << 1 | u32::from(bit);
            length += 1;
            // The codes of one length are consecutive numbers: a number in the range of its length
            // is a complete code.
            let ((first, start), (_, end)) = (self.first[length], self.first[length + 1]);
            if code >= first && code - first < u32::from(end - start) {
                out.push(self.ordered[usize::from(start) + (code - first) as usize]);
                (code, length) = (0, 0);
            }
        }
        let filling = (1 << length) - 1;
        if length < 8 && code == filling { Ok(()) } else { Err(DecodeError::Malformed) }
    }

    fn canonical(lengths: [u8; 256]) -> Self {
        let mut ordered: Vec<u8> = (0..=255).collect();
        ordered.sort_by_key(|&byte| lengths[usize::from(byte)]);
        let mut codes = [0; 256];
        let mut first = [(0, 0); MAX_LENGTH + 2];
        let (mut code, mut place) = (0, 0);
        for (length, first) in first.iter_mut().enumerate().skip(1) {
            code <<= 1;
            *first = (code, place as u16);
            while place < 256 && usize::from(lengths[usize::from(ordered[place])]) == length {
                codes[usize::from(ordered[place])] = code;
                code += 1;
                place += 1;
            }
        }
        Self { lengths, codes, ordered, first }
    }
}

/// Huffman's algorithm with two queues: one of bytes by weight, the other of pairs in the order in
/// which they were made.
fn code_lengths(weights: &[u64; 256]) -> [u8; 256] {
    let mut leaves: Vec<usize> = (0..256).collect();
    leaves.sort_by_key(|&byte| weights[byte]);
    // Nodes below 256 are the leaves by weight, the others are pairs; a parent always comes after
    // its children.
    let mut node_weights: Vec<u64> = leaves.iter().map(|&byte| weights[byte]).collect();
    let mut parents = vec![0; 511];
    let (mut leaf, mut pair) = (0, 256);
    for parent in 256..511 {
        let mut weight = 0;
        for _ in 0..2 {
            let take_leaf =
                leaf < 256 && (pair == parent || node_weights[leaf] <= node_weights[pair]);
            let next = if take_leaf { &mut leaf } else { &mut pair };
            weight += node_weights[*next];
            parents[*next] = parent;
            *next += 1;
        }
        node_weights.push(weight);
    }
    let mut depths = [0_u8; 511];
    for node in (0..510).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    let mut lengths = [0; 256];
    for (place, &byte) in leaves.iter().enumerate() {
        lengths[byte] = depths[place];
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frequent_bytes_take_few_bits() {
        let mut frequencies = [0; 256];
        frequencies[usize::from(b'a')] = 1000;
        frequencies[usize::from(b'b')] = 900;
        let codes = CodeSet::new(&frequencies);
        assert_eq!(codes.bits(b"ab"), 1 + 2);
        assert!(codes.bits(b"c") > 8);
    }

    #[test]
    fn frequencies_as_skew_as_can_be_make_codes_of_bounded_length() {
        // Fibonacci's numbers make the deepest tree.
        let mut frequencies = [0; 256];
        let (mut a, mut b) = (1_u32, 1_u32);
        for frequency in frequencies.iter_mut().take(46) {
            *frequency = a;
            (a, b) = (b, a.saturating_add(b));
        }
        let codes = CodeSet::new(&frequencies);
        let bytes: Vec<u8> = (0..=255).collect();
        let mut coded = Vec::new();
        codes.encode(&bytes, &mut coded);
        let mut decoded = Vec::new();
        codes.decode(&coded, &mut decoded).unwrap();
        assert_eq!(decoded, bytes);
        assert!(codes.lengths.iter().all(|&length| usize::from(length) <= MAX_LENGTH));
    }

    proptest! {
        #[test]
        fn decodes_what_it_encoded(
            frequencies in prop::array::uniform32(0_u32..),
            bytes in prop::collection::vec(0_u8.., 0..100),
        ) {
            let mut all = [0; 256];
            all[40..72].copy_from_slice(&frequencies);
            let codes = CodeSet::new(&all);
            let mut coded = Vec::new();
            codes.encode(&bytes, &mut coded);
            prop_assert_eq!(coded.len(), codes.bits(&bytes).div_ceil(8));
            let mut decoded = Vec::new();
            codes.decode(&coded, &mut decoded).unwrap();
            prop_assert_eq!(decoded, bytes);
        }

        #[test]
        fn decodes_anything_without_panic(coded in prop::collection::vec(0_u8.., 0..100)) {
            let mut decoded = Vec::new();
            let _ = CodeSet::new(&[3; 256]).decode(&coded, &mut decoded);
            prop_assert!(decoded.len() <= coded.len() * 8);
        }
    }
}
