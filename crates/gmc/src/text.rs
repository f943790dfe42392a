//! Strings in holes: the same string as before, one of the last few, or a literal, which is coded
//! byte by byte. A hole is a place of a message where the value differs from message to message. To
//! "code" is to write in the encoder and to read in the decoder.

use alloc::vec::Vec;

use crate::budget::Budget;
use crate::cache::Cache;
use crate::category::Novelty;
use crate::error::DecodeError;
use crate::hash::{hash, hash_message};
use crate::history::StringPlace;
use crate::keys::Seen;
use crate::literal::{LiteralCoder, Setting};
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::table::Versioned;

pub(crate) mod snapshot;

#[derive(Clone)]
pub(crate) struct Texts {
    pub(crate) literals: LiteralCoder,
    recents: Cache<Recent>,
}

/// The last different strings in a hole (of one sender, or of all), the newest first.
#[derive(Clone, Copy, Default)]
struct Recent {
    places: [StringPlace; Recent::PLACES],
    used: u8,
    novelty: Novelty,
    /// The last two bytes of the newest string, as context for the next one.
    tail: [u8; 2],
}

const _: () = assert!(Cache::<Recent>::ENTRY == 44);

impl Recent {
    /// The number of strings that are remembered. If it were larger, a string would take more bits
    /// than as a literal, which the history of strings predicts.
    const PLACES: usize = 4;

    fn known(&self) -> &[StringPlace] {
        &self.places[..usize::from(self.used)]
    }

    /// Whether the hole has one of a few strings as a rule, and not always the same, so that it can
    /// tell the sender or object of a message.
    fn is_key(&self) -> bool {
        self.used > 1 && self.novelty.is_low()
    }

    /// Moves a string to the front. A new one replaces the string that was used longest ago.
    fn note(&mut self, place: StringPlace) {
        let rank = self.known().iter().position(|&known| known == place);
        self.novelty.note(rank.is_none());
        let rank = rank.unwrap_or_else(|| {
            self.used = (self.used + 1).min(Self::PLACES as u8);
            usize::from(self.used) - 1
        });
        self.places.copy_within(..rank, 1);
        self.places[0] = place;
    }
}

impl Texts {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            literals: LiteralCoder::new(budget.byte_contexts, budget.history),
            recents: Cache::new(budget.recents),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.literals.memory() + self.recents.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.literals.visit(visit);
        self.recents.visit(visit);
    }

    /// Codes the string of a hole, of at most `limit` bytes, and appends it to `out`.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        self.code_string(pass, series, given, (limit, false), out)
    }

    /// Codes the string of a hole whose strings have `length` bytes, and appends it to `out`. The
    /// caller checks that it has as many.
    pub(crate) fn code_fixed<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        given: &[u8],
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        self.code_string(pass, series, given, (length, true), out)
    }

    /// Codes a string of at most `limit` bytes, or if `is_fixed`, of exactly as many.
    fn code_string<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        given: &[u8],
        (limit, is_fixed): (usize, bool),
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let own_key = hash(series.label, hash(series.sender, 1));
        let read_only = pass.is_read_only();
        let mut recent = |key: u32| {
            let at = self.recents.index(key);
            let at = if read_only { at } else { Some(self.recents.touch(key, at)) };
            (at.map(|at| *self.recents.at(at)).unwrap_or_default(), at)
        };
        let ((own, own_at), (all, all_at)) = (recent(own_key), recent(series.label));
        let start = out.len();
        let like = own.known().first().copied();
        let label = series.label;
        let place = if is_fixed && self.literals.code_is_random(pass, label, like, given) {
            self.literals.code_random(pass, limit, given, out)?
        } else if let Some(place) = self.find(pass, label, [&own, &all], given) {
            if place.length as usize > limit {
                return Err(DecodeError::TooLarge);
            }
            let bytes = self.literals.history.bytes(place);
            bytes.iter().for_each(|bytes| out.extend_from_slice(bytes));
            place
        } else {
            let before = own.tail;
            let setting = Setting { label, before, like, limit, is_fixed, has_runs: true };
            self.literals.code(pass, &setting, given, out)?
        };

        let mut tail = own.tail;
        for &byte in out[start..].iter().rev().take(2).rev() {
            tail = [tail[1], byte];
        }
        let is_key = if read_only {
            all.is_key()
        } else {
            let own = self.recents.touched_at(own_key, own_at);
            (own.tail, own.used, own.places[0]) = (tail, 1, place);
            let all = self.recents.touched_at(series.label, all_at);
            let is_key = all.is_key();
            all.note(place);
            is_key
        };
        Ok(Seen {
            label: series.label,
            identity: hash_message(0x1d, &out[start..]),
            is_key,
            number: None,
        })
    }

    /// Codes which of the last strings comes again: first the sender's, then those of all senders.
    fn find<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        label: u32,
        [own, all]: [&Recent; 2],
        given: &[u8],
    ) -> Option<StringPlace> {
        let row = pass.single(hash(label, 0x7e7));
        let history = &self.literals.history;
        let candidates =
            own.known().iter().chain(all.known().iter().filter(|&&place| place != own.places[0]));
        for (node, &place) in candidates.filter(|&&place| history.has(place)).enumerate() {
            if pass.bit(row, node, !pass.coder.decodes() && history.equals(place, given)) {
                return Some(place);
            }
        }
        None
    }
}
