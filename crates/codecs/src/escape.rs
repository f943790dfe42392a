//! What run-length encoding and null suppression share: an octet that says that the next ones are meant otherwise.

use alloc::vec::Vec;

/// How often each octet stands in `input`.
pub(crate) fn frequencies(input: &[u8]) -> [u32; 256] {
    let mut frequencies = [0; 256];
    for &octet in input {
        frequencies[usize::from(octet)] += 1;
    }
    frequencies
}

/// The octet that stands there least often: the first of them.
pub(crate) fn rarest(frequencies: &[u32; 256]) -> u8 {
    let pairs = (0..=u8::MAX).zip(*frequencies);
    // In a message there is nearly always one that it does not hold, and soon.
    let absent = pairs.clone().find(|&(_, count)| count == 0);
    absent.or_else(|| pairs.min_by_key(|&(_, count)| count)).map_or(0, |(octet, _)| octet)
}

/// Appends octets that are no run. The escape octet itself is told from an escape by a zero behind it.
pub(crate) fn literals(octets: &[u8], escape: u8, out: &mut Vec<u8>) {
    let mut pieces = octets.split(|&octet| octet == escape);
    if let Some(piece) = pieces.next() {
        out.extend_from_slice(piece);
    }
    for piece in pieces {
        out.extend_from_slice(&[escape, 0]);
        out.extend_from_slice(piece);
    }
}

/// The end of the run of equal octets that begins at `at`, or what there is of it up to the longest that can be told.
pub(crate) fn end_of_run(input: &[u8], at: usize, longest: usize) -> usize {
    let run = input[at..].iter().take(longest).take_while(|&&octet| octet == input[at]);
    at + run.count()
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
