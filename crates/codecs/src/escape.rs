//! The parts that run-length encoding and null suppression share: an escape byte marks runs among
//! literal bytes.

use alloc::vec::Vec;

use crate::CodecError;

/// How often each byte value occurs in `input`.
pub(crate) fn frequencies(input: &[u8]) -> [u32; 256] {
    let mut frequencies = [0; 256];
    for &byte in input {
        frequencies[usize::from(byte)] += 1;
    }
    frequencies
}

/// The lowest byte value with the lowest frequency.
pub(crate) fn rarest(frequencies: &[u32; 256]) -> u8 {
    let pairs = (0..=u8::MAX).zip(*frequencies);
    // Nearly every message lacks one of the first byte values, so this search is short.
    let absent = pairs.clone().find(|&(_, count)| count == 0);
    absent.or_else(|| pairs.min_by_key(|&(_, count)| count)).map_or(0, |(byte, _)| byte)
}

/// Appends bytes that are no run. A zero follows each byte that equals the escape byte, to mark it
/// as a literal.
pub(crate) fn literals(bytes: &[u8], escape: u8, out: &mut Vec<u8>) {
    let mut pieces = bytes.split(|&byte| byte == escape);
    if let Some(piece) = pieces.next() {
        out.extend_from_slice(piece);
    }
    for piece in pieces {
        out.extend_from_slice(&[escape, 0]);
        out.extend_from_slice(piece);
    }
}

/// The end of the run of equal bytes that begins at `at`; a longer run than `longest` is cut there.
pub(crate) fn end_of_run(input: &[u8], at: usize, longest: usize) -> usize {
    let run = input[at..].iter().take(longest).take_while(|&&byte| byte == input[at]);
    at + run.count()
}

/// Appends the original of `items` to `out`, if it has at most `limit` bytes. `read` decodes the
/// escape at the start of its argument into a byte, its number of repetitions, and the items that
/// follow. On an error `out` is unchanged.
pub(crate) fn expand<'a>(
    items: &'a [u8],
    escape: u8,
    limit: usize,
    out: &mut Vec<u8>,
    read: impl Fn(&'a [u8]) -> Option<(u8, usize, &'a [u8])>,
) -> Result<(), CodecError> {
    let start = out.len();
    let mut rest = items;
    let error = loop {
        let plain = rest.iter().position(|&byte| byte == escape).unwrap_or(rest.len());
        let (plain, escaped) = rest.split_at(plain);
        let remaining = limit - (out.len() - start);
        if plain.len() > remaining {
            break CodecError::TooLarge;
        }
        out.extend_from_slice(plain);
        if escaped.is_empty() {
            return Ok(());
        }
        let Some((byte, count, after)) = read(escaped) else { break CodecError::Malformed };
        if count > remaining - plain.len() {
            break CodecError::TooLarge;
        }
        out.resize(out.len() + count, byte);
        rest = after;
    };
    out.truncate(start);
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_byte_is_an_absent_one_if_there_is_one() {
        assert_eq!(rarest(&frequencies(&[0, 1, 1, 3])), 2);
        let mut all: Vec<u8> = (0..=255).chain(0..=255).collect();
        all.remove(77);
        assert_eq!(rarest(&frequencies(&all)), 77);
    }
}
