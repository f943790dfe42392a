//! The literal coder: codes strings that nothing else predicts, byte by byte, guided by the
//! history, which holds earlier strings. To "code" is to write in the encoder and to read in the
//! decoder.

use alloc::vec::Vec;

use crate::byte_contexts::ByteContexts;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::history::{History, Next, StringPlace};
use crate::pass::Pass;
use crate::probability::Probability;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod runs;
mod snapshot;

use runs::{Chance, Piece};

#[derive(Clone)]
pub(crate) struct LiteralCoder {
    byte_contexts: ByteContexts,
    pub(crate) history: History,
    /// The probability that a match (an earlier string that has agreed so far) predicts the next
    /// byte, by the length of the match.
    hits: Table<Probability>,
}

/// The longest match that has a probability of its own. Longer ones share this.
const MATCH_MAX: usize = 24;

/// When a packet that was coded earlier is learned ("replayed"), only this many bytes of a string
/// train the byte contexts: to log all changes for a long string would take more memory than they
/// are worth.
const REPLAYED_MAX: usize = 64;

/// What is known about a string before it is coded.
pub(crate) struct Setting {
    /// The label: a number that names the hole (a place of a message) which the string fills, or
    /// another kind of string.
    pub(crate) label: u32,
    /// The last two bytes of the previous string, as context for the first bytes.
    pub(crate) before: [u8; 2],
    /// The place of an earlier string, whose beginning this string may repeat.
    pub(crate) like: Option<StringPlace>,
    /// The longest string that is allowed, in bytes.
    pub(crate) limit: usize,
    /// Whether the string has exactly as many bytes as are allowed.
    pub(crate) is_fixed: bool,
    /// Whether runs of random characters are looked for; in a string of fixed length, random bytes.
    /// A message that fits no template is seldom followed by another one. It would pay for what it
    /// learns about runs.
    pub(crate) has_runs: bool,
}

impl LiteralCoder {
    pub(crate) fn new(letters: usize, history: usize) -> Self {
        Self {
            byte_contexts: ByteContexts::new(letters),
            history: History::new(history),
            hits: Table::new(Probability::default(), MATCH_MAX + 1),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.byte_contexts.memory() + self.history.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.hits);
        self.byte_contexts.visit(visit);
        self.history.visit(visit);
    }

    /// Codes a string, appends it to `out` and adds it to the history. Returns the string's place
    /// in the history.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        setting: &Setting,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<StringPlace, DecodeError> {
        let start = out.len();
        let place = self.history.head();
        let like = setting.like.filter(|&place| place.length > 0 && self.history.has(place));
        let mut follow = Follow { position: like.map(|place| place.start), length: 0 };
        let mut tail = Tail { last: setting.before, has_digit: false, is_run: false };
        loop {
            let coded = out.len() - start;
            if setting.is_fixed && coded == setting.limit {
                break;
            }
            let actual = given.get(coded).map_or(Next::End, |&byte| Next::Byte(byte));
            let predicted = self.predict(&follow);
            let predicted = predicted.filter(|&next| !setting.is_fixed || next != Next::End);
            let next = match predicted {
                Some(next)
                    if self
                        .hits
                        .change(follow.length.min(MATCH_MAX))
                        .code(pass.coder, actual == next) =>
                {
                    next
                }
                _ => {
                    follow = Follow { position: None, length: 0 };
                    let ends = !setting.is_fixed && predicted != Some(Next::End) && {
                        let row = pass.single(hash(setting.label, 0xe0d));
                        pass.bit(row, coded.min(14), actual == Next::End)
                    };
                    let skips = pass.is_replay() && coded >= REPLAYED_MAX;
                    if ends {
                        Next::End
                    } else if skips {
                        actual
                    } else if setting.has_runs
                        && let Some(chance) = Chance::new(setting, &out[start..], &tail, predicted)
                        && let Some(piece) =
                            self.choose_piece(pass, setting, chance, given.get(coded..))?
                    {
                        self.code_piece(pass, setting, &piece, given, start, out)?;
                        if let Piece::Again { .. } = piece {
                            break;
                        }
                        out[start + coded..].iter().for_each(|&byte| tail.note(byte));
                        tail.is_run = true;
                        continue;
                    } else {
                        self.code_byte(pass.coder, setting.label, tail.last, actual)
                    }
                }
            };
            let Next::Byte(byte) = next else { break };
            if coded == setting.limit {
                return Err(DecodeError::TooLarge);
            }
            if pass.coder.is_exhausted() {
                return Err(DecodeError::Malformed);
            }
            out.push(byte);
            tail.note(byte);
            self.step(&out[start..], &mut follow);
        }
        let length = out.len() - start;
        if length > 0 {
            self.history.end();
        }
        Ok(StringPlace { start: place, length: length as u32 })
    }

    fn predict(&self, follow: &Follow) -> Option<Next> {
        self.history.next(follow.position?, follow.length > 0)
    }

    /// Moves on by one byte in the earlier string that predicts this one; if there is none, looks
    /// for one. Adds the byte to the history.
    fn step(&mut self, string: &[u8], follow: &mut Follow) {
        if let Some(position) = &mut follow.position {
            *position = position.wrapping_add(1);
            follow.length += 1;
        } else if let Some((position, length)) = self.history.find(string) {
            *follow = Follow { position: Some(position), length };
        }
        self.history.push(string);
    }

    /// Codes a byte in a context of the byte before it, and in one of the two bytes before it.
    fn code_byte<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        label: u32,
        context: [u8; 2],
        actual: Next,
    ) -> Next {
        let byte = if let Next::Byte(byte) = actual { byte } else { 0 };
        let general = hash(label, u32::from(context[1]));
        let special = hash(u32::from(context[0]) + 1000, u32::from(context[1]));
        Next::Byte(self.byte_contexts.byte(coder, general, special, byte))
    }
}

/// The end of a string as far as it is coded.
struct Tail {
    /// The last two bytes.
    last: [u8; 2],
    /// Whether there is a digit among the letters and digits at the end.
    has_digit: bool,
    /// Whether it is a run of random characters.
    is_run: bool,
}

impl Tail {
    fn note(&mut self, byte: u8) {
        self.last = [self.last[1], byte];
        self.has_digit = byte.is_ascii_digit() || self.has_digit && byte.is_ascii_alphabetic();
        self.is_run = false;
    }
}

/// The earlier string that predicts the next byte: the position of the predicted byte in the
/// history, and the number of bytes that have agreed so far.
struct Follow {
    position: Option<u32>,
    length: usize,
}
