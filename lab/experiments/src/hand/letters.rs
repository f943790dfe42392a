//! Characters by their rank.

use super::Error;
use super::bits::Bits;
use super::rice::Rice;

/// Characters in the order of their use, each with the number of its uses.
pub(super) struct Letters {
    ranks: Vec<(char, u32)>,
    codes: Rice,
}

/// English letters, the most frequent first; then the other characters of a keyboard.
const FIRST: &str = " etaoinsrhldcumfpgwybvk,.'jxqz-IT\n?!\"0123456789()ABCDEFGHJKLMNOPQRSUVWXYZ:;/&@#$%*+<=>[]^_`{|}~\\\t";
/// The number of uses with which the most frequent character begins. Another character has to be
/// used as often to move before it.
const START: u32 = 40;

impl Letters {
    pub(super) fn new() -> Self {
        let start = |(rank, letter)| (letter, START / (1 + rank as u32));
        Self { ranks: FIRST.chars().enumerate().map(start).collect(), codes: Rice::new(8) }
    }

    /// A character, or, after the last rank, one that no keyboard has.
    pub(super) fn code(&mut self, bits: &mut impl Bits, character: char) -> Result<char, Error> {
        let known = self.ranks.iter().position(|(other, _)| *other == character);
        let mut rank = known.unwrap_or(self.ranks.len()) as u64;
        self.codes.code_size(bits, &mut rank)?;
        if rank > self.ranks.len() as u64 {
            return Err(Error::Value { field: "character" });
        }
        if rank == self.ranks.len() as u64 {
            let mut scalar = character.into();
            bits.bits(21, &mut scalar)?;
            return u32::try_from(scalar)
                .ok()
                .and_then(char::from_u32)
                .ok_or(Error::Value { field: "character" });
        }
        let mut rank = rank as usize;
        self.ranks[rank].1 = self.ranks[rank].1.saturating_add(1);
        while rank > 0 && self.ranks[rank - 1].1 < self.ranks[rank].1 {
            self.ranks.swap(rank - 1, rank);
            rank -= 1;
        }
        Ok(self.ranks[rank].0)
    }
}
