//! Strings of holes in a snapshot, and what compaction keeps of them. A hole is a place of a
//! message where the value differs from message to message, and a label is a number that names a
//! hole.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting. The strings are in a ring, the
//! history, to which holes refer.

use alloc::vec::Vec;

use super::{Recent, Texts};
use crate::archive::{Archive, Result};
use crate::cache::snapshot::Candidate;
use crate::hash::hash_message;
use crate::history::{History, StringPlace};
use crate::range_coder::Coder;
use crate::sort::sort;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const CACHE: u32 = 0x1102;
const USED: u32 = 0x1100;
const TAIL: u32 = 0x1101;

/// What compaction keeps of the strings of holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptText {
    /// All strings, and the byte contexts: the probabilities of single bytes, which predict new
    /// strings. Probabilities are rounded.
    All,
    /// All strings, but not the byte contexts.
    Strings,
    /// The newest strings to which holes refer, up to this many bytes together, and no byte
    /// contexts.
    Recent(usize),
}

impl Recent {
    fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        history: &History,
        strings: &[StringPlace],
    ) -> Result<()> {
        self.novelty = self.novelty.archive(archive)?;
        let used = archive.up_to(USED, Self::PLACES, self.used.into())?;
        self.used = used as u8;
        for place in &mut self.places[..used] {
            *place = history.archive_place(archive, strings, *place)?;
        }
        let mut end = self.places.first().copied().filter(|&place| history.has(place));
        if used == 0 {
            end = None;
        }
        // The tail is, as a rule, the end of the newest string.
        let mut usual = [0; 2];
        for &byte in end.into_iter().flat_map(|place| history.bytes(place)).flatten() {
            usual = [usual[1], byte];
        }
        if !archive.flag(TAIL, self.tail == usual) {
            for byte in &mut self.tail {
                *byte = archive.raw(8, (*byte).into()) as u8;
            }
        } else {
            self.tail = usual;
        }
        Ok(())
    }
}

impl Texts {
    /// Writes or reads the strings of the holes that may be known: first those of `labels`, then
    /// those that `more` derives from the result, then all others.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        labels: &[Candidate],
        more: impl FnOnce(&Self) -> Vec<Candidate>,
    ) -> Result<()> {
        let strings = self.literals.history.strings();
        let mut progress = self.recents.archive(archive, CACHE)?;
        let Self { literals, recents } = self;
        recents.archive_some(archive, &mut progress, labels, |archive, _, recent| {
            recent.archive(archive, &literals.history, &strings)
        })?;
        let more = more(self);
        let Self { literals, recents } = self;
        recents.archive_some(archive, &mut progress, &more, |archive, _, recent| {
            recent.archive(archive, &literals.history, &strings)
        })?;
        recents.archive_rest(archive, progress, |archive, recent| {
            recent.archive(archive, &literals.history, &strings)
        })
    }

    /// The identities of the strings that are known in a hole: the hashes that
    /// [`Seen::identity`](crate::keys::Seen) has for them.
    pub(crate) fn identities(&self, label: u32) -> Vec<u32> {
        let history = &self.literals.history;
        let known = self.recents.find(label).map_or(&[][..], Recent::known);
        let known = known.iter().filter(|&&place| history.has(place));
        known.map(|&place| hash_message(0x1d, &history.bytes(place).concat())).collect()
    }

    /// Keeps the strings of the `most` holes used last, and of the history what `kept` says.
    /// `other` is the place of a string that no hole refers to; returns its new place.
    pub(crate) fn compact(
        &mut self,
        most: usize,
        other: StringPlace,
        kept: KeptText,
    ) -> StringPlace {
        self.recents.compact(most, |_| true);
        self.recents.change_all(|recent| recent.novelty = recent.novelty.rounded());
        self.literals.compact(kept == KeptText::All);
        match kept {
            KeptText::Recent(bytes) => self.keep_recent(other, bytes),
            KeptText::All | KeptText::Strings => other,
        }
    }

    /// Keeps only the newest strings to which holes refer, and the one at `other`, up to `bytes`
    /// bytes together. Returns the new place of the string at `other`.
    fn keep_recent(&mut self, other: StringPlace, bytes: usize) -> StringPlace {
        let history = &self.literals.history;
        let mut kept = alloc::vec![other];
        self.recents.each(|recent| kept.extend(recent.known()));
        kept.retain(|&place| place.length > 0 && history.has(place));
        // The age and the length of each, the newest first.
        let age = |start: u32| history.head().wrapping_sub(start);
        let mut ages: Vec<(u32, u32)> =
            kept.iter().map(|place| (age(place.start), place.length)).collect();
        sort(&mut ages);
        ages.dedup();
        let start = |age: u32| history.head().wrapping_sub(age);
        let places =
            ages.into_iter().map(|(age, length)| StringPlace { start: start(age), length });
        let mut kept: Vec<StringPlace> = places.collect();
        let mut left = bytes;
        kept.retain(|place| {
            let fits = place.length as usize <= left;
            left -= if fits { place.length as usize } else { 0 };
            fits
        });
        // The oldest string must be added first.
        kept.reverse();
        let moved = self.literals.history.keep(&kept);
        let gone = self.literals.history.stale();
        let now = |place: StringPlace| match kept.iter().position(|&known| known == place) {
            Some(at) => moved[at],
            None if place.length == 0 => StringPlace::default(),
            None => gone,
        };
        self.recents.change_all(|recent| {
            for place in &mut recent.places[..usize::from(recent.used)] {
                *place = now(*place);
            }
        });
        now(other)
    }
}
