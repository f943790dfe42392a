//! What run-length encoding and null suppression share: a byte that says that the next ones are meant otherwise.

use alloc::vec::Vec;

use crate::CodecError;

/// How often each byte stands in `input`.
pub(crate) fn frequencies(input: &[u8]) -> [u32; 256] {
    let mut frequencies = [0; 256];
    for &byte in input {
        frequencies[usize::from(byte)] += 1;
    }
    frequencies
}

/// The byte that stands there least often: the first of them.
pub(crate) fn rarest(frequencies: &[u32; 256]) -> u8 {
    let pairs = (0..=u8::MAX).zip(*frequencies);
    // In a message there is nearly always one that it does not hold, and soon.
    let absent = pairs.clone().find(|&(_, count)| count == 0);
    absent.or_else(|| pairs.min_by_key(|&(_, count)| count)).map_or(0, |(byte, _)| byte)
}

/// Appends bytes that are no run. The escape byte itself is told from an escape by a zero behind it.
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

/// The end of the run of equal bytes that begins at `at`, or what there is of it up to the longest that can be told.
pub(crate) fn end_of_run(input: &[u8], at: usize, longest: usize) -> usize {
    let run = input[at..].iter().take(longest).take_while(|&&byte| byte == input[at]);
    at + run.count()
}

/// Appends what `items` stand for to `out`, at most `limit` bytes: `read` reads what is escaped, which is not empty,
/// as a byte, how often it stands there, and what follows. On an error `out` is as it was.
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
        let room = limit - (out.len() - start);
        if plain.len() > room {
            break CodecError::TooLarge;
        }
        out.extend_from_slice(plain);
        if escaped.is_empty() {
            return Ok(());
        }
        let Some((byte, count, after)) = read(escaped) else { break CodecError::Malformed };
        if count > room - plain.len() {
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
    fn the_rarest_is_one_that_is_absent_if_there_is_one() {
        assert_eq!(rarest(&frequencies(&[0, 1, 1, 3])), 2);
        let mut all: Vec<u8> = (0..=255).chain(0..=255).collect();
        all.remove(77);
        assert_eq!(rarest(&frequencies(&all)), 77);
    }
}
