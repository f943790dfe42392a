//! Messages that no compressor makes smaller, and whose receiver can check that they are intact:
//! `web/bench/src/load.ts` does the same.

/// Number, flags, run: 4 bytes each.
const HEADER: usize = 12;
const LAST: u32 = 1;

/// A message of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    /// The number of the message, from 0 on.
    pub(crate) number: u32,
    /// The load's name.
    pub(crate) run: u32,
    /// True for the last message of the load.
    pub(crate) is_last: bool,
}

impl Load {
    /// The message, of `size` bytes; 12 at the least.
    pub(crate) fn fill(self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size.max(HEADER));
        for word in [self.number, if self.is_last { LAST } else { 0 }, self.run] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(random(self.number, self.run).take(size.saturating_sub(HEADER)));
        bytes
    }

    /// The fields of a message; none if it is not intact.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (header, content) = bytes.split_first_chunk::<HEADER>()?;
        let mut words = header
            .chunks_exact(4)
            .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)));
        let (number, flags, run) = (words.next()?, words.next()?, words.next()?);
        let is_right = random(number, run).take(content.len()).eq(content.iter().copied());
        is_right.then_some(Load { number, run, is_last: flags == LAST })
    }
}

/// Xorshift with 32 bits (Marsaglia, 2003).
fn random(number: u32, run: u32) -> impl Iterator<Item = u8> {
    let seed = number.wrapping_add(1).wrapping_mul(0x9E37_79B1)
        ^ run.wrapping_add(1).wrapping_mul(0x85EB_CA6B);
    let mut state = if seed == 0 { 1 } else { seed };
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_filled_or_nothing() {
        let load = Load { number: 70_000, run: 3, is_last: true };
        let mut bytes = load.fill(500);
        assert_eq!(bytes.len(), 500);
        assert_eq!(Load::read(&bytes), Some(load));
        // The same values as in `web/bench/test/load.test.ts`.
        assert_eq!(Load { number: 1, run: 2, is_last: false }.fill(16)[12..], [29, 156, 118, 88]);
        bytes[300] ^= 1;
        assert_eq!(Load::read(&bytes), None);
        assert_eq!(Load::read(&bytes[..11]), None);
        assert_eq!(Load { number: 0, run: 0, is_last: false }.fill(5).len(), HEADER);
    }
}
