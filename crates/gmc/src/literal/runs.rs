//! Runs of random characters in a string, such as the digits of a UUID, which the byte contexts
//! would not predict better. An identifier that an earlier string ended with is coded as its place.

use alloc::vec::Vec;

use super::{LiteralCoder, Setting, Tail};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::history::{Next, StringPlace};
use crate::integer::{Contexts, EVEN, code_unsigned};
use crate::pass::Pass;
use crate::random::{Alphabet, LENGTH_MAX, Run, are_bytes, code_even};
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

/// The number of the contexts that say whether random bytes follow in a string of fixed length. The
/// contexts of random characters have the numbers below.
const BYTES: u32 = 3 + Alphabet::ALL.len() as u32;

/// A part of a string that begins with random characters.
pub(super) enum Piece {
    Run(Run),
    /// Bytes up to the end of a string of fixed length.
    Bytes,
    /// The end of an earlier string, which begins this far before the next byte of the history.
    /// This string ends with it, too.
    Again {
        distance: u32,
    },
}

impl Chance {
    /// Whether a run may begin behind `string`. `predicted`: what an earlier string has here.
    pub(super) fn new(
        setting: &Setting,
        string: &[u8],
        tail: &Tail,
        predicted: Option<Next>,
    ) -> Option<Self> {
        if setting.is_fixed {
            return predicted.map(|_| Chance::Difference);
        }
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
    /// Codes whether a string of fixed length consists of random bytes that no earlier string has.
    /// This comes before all else about the string: where nothing is known about a hole yet, each
    /// further decision takes a bit, and identifiers would be longer than as they are. `like`: the
    /// sender's string before. `given`: the string, if it is known.
    pub(crate) fn code_is_random<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        label: u32,
        like: Option<StringPlace>,
        given: &[u8],
    ) -> bool {
        // Identifiers that begin with a time begin alike.
        let begins_alike = || {
            let like = like.filter(|&place| place.length > 0 && self.history.has(place));
            like.is_some_and(|place| given.first() == Some(&self.history.at(place.start).0))
        };
        let is_random =
            are_bytes(given) && !begins_alike() && self.history.distance(given).is_none();
        let row = contexts(label, BYTES).pair(pass);
        pass.bit(row, Chance::Start as usize, is_random)
    }

    /// Codes a string of `length` random bytes, appends it to `out` and adds it to the history.
    /// Returns its place in the history.
    pub(crate) fn code_random<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        length: usize,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<StringPlace, DecodeError> {
        let start = out.len();
        let place = StringPlace { start: self.history.head(), length: length as u32 };
        self.code_bytes(pass, length, given, start, out)?;
        self.history.end();
        Ok(place)
    }

    /// Codes random bytes until the string, which begins at `start` in `out`, has `length`.
    fn code_bytes<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        length: usize,
        given: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        while out.len() - start < length {
            let given = given.get(out.len() - start).copied().unwrap_or_default();
            out.push(code_byte(pass, given)?);
            self.history.push(&out[start..]);
        }
        Ok(())
    }

    /// Codes whether a run of random characters or bytes follows, and which. `given`: the rest of
    /// the string, if it is known.
    pub(super) fn choose_piece<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        setting: &Setting,
        chance: Chance,
        given: Option<&[u8]>,
    ) -> Result<Option<Piece>, DecodeError> {
        let given = given.unwrap_or_default();
        let &Setting { label, is_fixed, .. } = setting;
        let run = if is_fixed { None } else { Run::at_start(given) };
        let is_random = run.is_some() || is_fixed && are_bytes(given);
        let distance = if is_random { self.history.distance(given) } else { None };
        let row = contexts(label, if is_fixed { BYTES } else { 0 }).pair(pass);
        if !pass.bit(row, chance as usize, is_random) {
            return Ok(None);
        }
        if pass.bit(row, AGAIN, distance.is_some()) {
            let distance = distance.unwrap_or_default().into();
            let distance = code_unsigned(pass, contexts(label, 1), distance);
            if !(1..=u64::from(self.history.filled())).contains(&distance) {
                return Err(DecodeError::Malformed);
            }
            return Ok(Some(Piece::Again { distance: distance as u32 }));
        }
        if is_fixed {
            return Ok(Some(Piece::Bytes));
        }
        let run = run.unwrap_or(Run { alphabet: Alphabet::Uuid, length: 0 });
        let row = contexts(label, 2).pair(pass);
        let alphabet = Alphabet::ALL[usize::from(pass.tree(row, 3, run.alphabet as u8))];
        let length = code_unsigned(pass, contexts(label, 3 + alphabet as u32), run.length as u64);
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
            Piece::Bytes => self.code_bytes(pass, setting.limit, given, start, out),
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

/// The contexts with this number.
fn contexts(label: u32, number: u32) -> Contexts {
    let general = hash(SALT, number);
    Contexts { general, special: hash(label, general) }
}

/// Codes a byte that nothing predicts.
fn code_byte<C: Coder + ?Sized>(pass: &mut Pass<'_, C>, given: u8) -> Result<u8, DecodeError> {
    if pass.coder.is_exhausted() {
        return Err(DecodeError::Malformed);
    }
    if pass.is_replay() {
        return Ok(given);
    }
    let byte = (0..8)
        .rev()
        .fold(0, |byte, shift| byte << 1 | u8::from(pass.coder.bit(EVEN, given >> shift & 1 == 1)));
    Ok(byte)
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
