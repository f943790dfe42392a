//! Runs of random characters in a string, such as the digits of a UUID, which the byte contexts
//! would not predict better. An identifier that an earlier string ended with is coded as its place.

use alloc::vec::Vec;

use super::{LiteralCoder, Setting, Tail};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::history::Next;
use crate::integer::{Contexts, code_unsigned};
use crate::pass::Pass;
use crate::random::{Alphabet, LENGTH_MAX, Run, code_even};
use crate::range_coder::Coder;

/// Why a run may begin at a place. The number is that of a decision.
#[derive(Clone, Copy)]
pub(super) enum Chance {
    /// The string begins here.
    Start = 0,
    /// An earlier string, which agreed up to here, has another byte. This is behind at most two
    /// bytes, or behind letters and digits with a digit among them: so differ identifiers that
    /// begin with the same letter, or with a time.
    Difference = 1,
    /// A punctuation mark stands before it. The words of a text, behind spaces, are seldom random.
    Mark = 2,
    /// Another run ends here.
    Run = 3,
}

/// The decision behind those of [`Chance`]: whether an earlier string had the same characters.
const AGAIN: usize = 4;

/// Names the contexts of all decisions here.
const SALT: u32 = 0x4a9d;

/// A part of a string that begins with random characters.
pub(super) enum Piece {
    Run(Run),
    /// The end of an earlier string, which begins this far before the next byte of the history.
    /// This string ends with it, too.
    Again {
        distance: u32,
    },
}

impl Chance {
    /// Whether a run may begin behind `string`. `predicted`: what an earlier string has here.
    pub(super) fn new(string: &[u8], tail: &Tail, predicted: Option<Next>) -> Option<Self> {
        match string.last() {
            _ if tail.is_run => Some(Chance::Run),
            None => Some(Chance::Start),
            Some(byte) if byte.is_ascii_punctuation() => Some(Chance::Mark),
            Some(_) if predicted.is_some() && (string.len() <= 2 || tail.has_digit) => {
                Some(Chance::Difference)
            }
            Some(_) => None,
        }
    }
}

impl LiteralCoder {
    /// Codes whether random characters follow, and which. `given`: the rest of the string, if it is
    /// known.
    pub(super) fn choose_piece<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        label: u32,
        chance: Chance,
        given: Option<&[u8]>,
    ) -> Result<Option<Piece>, DecodeError> {
        let given = given.unwrap_or_default();
        let run = Run::at_start(given);
        let distance = run.and_then(|_| self.history.distance(given));
        let contexts = |kind: u32| {
            let general = hash(SALT, kind);
            Contexts { general, special: hash(label, general) }
        };
        let row = contexts(0).pair(pass);
        if !pass.bit(row, chance as usize, run.is_some()) {
            return Ok(None);
        }
        if pass.bit(row, AGAIN, distance.is_some()) {
            let distance = code_unsigned(pass, contexts(1), distance.unwrap_or_default().into());
            if !(1..=u64::from(self.history.filled())).contains(&distance) {
                return Err(DecodeError::Malformed);
            }
            return Ok(Some(Piece::Again { distance: distance as u32 }));
        }
        let run = run.unwrap_or(Run { alphabet: Alphabet::Uuid, length: 0 });
        let row = contexts(2).pair(pass);
        let alphabet = Alphabet::ALL[usize::from(pass.tree(row, 3, run.alphabet as u8))];
        let length = code_unsigned(pass, contexts(3 + alphabet as u32), run.length as u64);
        if !(1..=LENGTH_MAX as u64).contains(&length) {
            return Err(DecodeError::Malformed);
        }
        Ok(Some(Piece::Run(Run { alphabet, length: length as usize })))
    }

    /// Codes the characters, and appends them to `out`. `given`: the whole string, if it is known.
    pub(super) fn code_piece<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        setting: &Setting,
        piece: &Piece,
        given: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match *piece {
            Piece::Run(run) => {
                for number in 0..run.length {
                    if pass.coder.is_exhausted() {
                        return Err(DecodeError::Malformed);
                    }
                    if run.has_hyphen_before(number) {
                        self.add(b'-', setting, start, out)?;
                    }
                    let given = given.get(out.len() - start).copied().unwrap_or_default();
                    let byte = if pass.is_replay() {
                        given
                    } else {
                        code_character(pass, setting.label, run, number, given)
                    };
                    self.add(byte, setting, start, out)?;
                }
                Ok(())
            }
            Piece::Again { distance } => {
                let first = self.history.head().wrapping_sub(distance);
                for at in 0..distance {
                    let (byte, is_last) = self.history.at(first.wrapping_add(at));
                    self.add(byte, setting, start, out)?;
                    if is_last {
                        return Ok(());
                    }
                }
                Err(DecodeError::Malformed)
            }
        }
    }

    fn add(
        &mut self,
        byte: u8,
        setting: &Setting,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        if out.len() - start == setting.limit {
            return Err(DecodeError::TooLarge);
        }
        out.push(byte);
        self.history.push(&out[start..]);
        Ok(())
    }
}

fn code_character<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    label: u32,
    run: Run,
    number: usize,
    given: u8,
) -> u8 {
    let alphabet = run.alphabet;
    let given = alphabet.number(given).unwrap_or_default();
    if !run.is_known_field(number) {
        return alphabet.character(code_even(pass.coder, alphabet.size(), given));
    }
    let row = pass.single(hash(hash(label, SALT), (run.length - number) as u32));
    alphabet.character(pass.tree(row, 4, given))
}
