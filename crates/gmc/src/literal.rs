//! Spells strings that nothing else predicts: byte by byte, guided by what followed the same bytes
//! before.

use alloc::vec::Vec;

use crate::byte_contexts::ByteContexts;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::history::{History, Next, Place};
use crate::pass::Pass;
use crate::probability::Probability;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod snapshot;

#[derive(Clone)]
pub(crate) struct LiteralCoder {
    byte_contexts: ByteContexts,
    pub(crate) history: History,
    /// Whether the prediction of a match of this length is right.
    hits: Table<Probability>,
}

/// Longer matches are trusted no more than this one.
const MATCH_MAX: usize = 24;

/// Of a string that is learned some time after it was coded, the letters up to here count.
const REPLAYED_MAX: usize = 64;

/// What is known about a string before it is spelled.
pub(crate) struct Setting {
    /// What kind of string it is.
    pub(crate) label: u32,
    /// The last two bytes of the string before it.
    pub(crate) before: [u8; 2],
    /// A string that it may start like.
    pub(crate) like: Option<Place>,
    /// The most bytes that it may have.
    pub(crate) limit: usize,
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

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.hits);
        self.byte_contexts.visit(visit);
        self.history.visit(visit);
    }

    /// Codes a string, appends it to `out` and remembers it. Returns where.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        setting: &Setting,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Place, DecodeError> {
        let start = out.len();
        let place = self.history.head();
        let like = setting.like.filter(|&place| place.length > 0 && self.history.has(place));
        let mut follow = Follow { position: like.map(|place| place.start), length: 0 };
        let mut context = setting.before;
        loop {
            let spelled = out.len() - start;
            let actual = given.get(spelled).map_or(Next::End, |&byte| Next::Byte(byte));
            let predicted = self.predict(&follow);
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
                    let ends = predicted != Some(Next::End) && {
                        let row = pass.single(hash(setting.label, 0xe0d));
                        pass.bit(row, spelled.min(14), actual == Next::End)
                    };
                    // To go back over all letters of a long string would take more memory than they
                    // are worth.
                    let skips = pass.is_replay() && spelled >= REPLAYED_MAX;
                    if ends {
                        Next::End
                    } else if skips {
                        actual
                    } else {
                        self.spell(pass.coder, setting.label, context, actual)
                    }
                }
            };
            let Next::Byte(byte) = next else { break };
            if spelled == setting.limit {
                return Err(DecodeError::TooLarge);
            }
            if pass.coder.is_exhausted() {
                return Err(DecodeError::Malformed);
            }
            out.push(byte);
            context = [context[1], byte];
            self.step(&out[start..], &mut follow);
        }
        let length = out.len() - start;
        if length > 0 {
            self.history.end();
        }
        Ok(Place { start: place, length: length as u32 })
    }

    fn predict(&self, follow: &Follow) -> Option<Next> {
        self.history.next(follow.position?, follow.length > 0)
    }

    /// Follows the earlier string over the byte just spelled, or looks for one, and remembers the
    /// byte.
    fn step(&mut self, string: &[u8], follow: &mut Follow) {
        if let Some(position) = &mut follow.position {
            *position = position.wrapping_add(1);
            follow.length += 1;
        } else if let Some((position, length)) = self.history.find(string) {
            *follow = Follow { position: Some(position), length };
        }
        self.history.push(string);
    }

    /// Codes a byte in the context of the two bytes before it.
    fn spell<C: Coder + ?Sized>(
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

/// The earlier string that is taken as a guide: where in it we are, and how many bytes have agreed.
struct Follow {
    position: Option<u32>,
    length: usize,
}
