//! The model in a snapshot, part by part. The model is all that was learned from messages; a snapshot is the model as
//! bytes, for a decoder that joins late; the archive writes and reads it.
//!
//! A label is a number that names a hole, which is a place of messages where values differ. A series is the values of
//! one sender in one hole.

use alloc::vec::Vec;

use super::message::{channel_hash, sender_hash};
use super::{Datagram, Stream};
use crate::archive::{Archive, Result};
use crate::batch::Batch;
use crate::binary::shape::Shape;
use crate::budget::Budget;
use crate::cache::Cache;
use crate::cache::snapshot::Candidate;
use crate::error::SnapshotError;
use crate::grid::Grid;
use crate::hash::hash;
use crate::packet_number::PacketNumber;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::sort::sort;
use crate::template::HoleKind;
use crate::trace::Trace;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const REFERENCES: u32 = 0x1300;
const GRIDS: u32 = 0x1301;
const CATEGORIES: u32 = 0x1302;
const USUAL: u32 = 0x1303;

impl Stream {
    /// A copy of the model without the logs of its changes.
    pub(crate) fn copy(&self) -> Self {
        let mut copy = Self {
            config: self.config.clone(),
            contexts: self.contexts.clone(),
            messages: self.messages.copy(),
            usual: self.usual.clone(),
            unused: Batch::default(),
            #[cfg(feature = "describe")]
            costs: None,
        };
        copy.record(None);
        copy
    }

    /// Writes or reads the model. When reading, it must be empty before.
    ///
    /// Most keys of the tables are hashes: of labels, which follow from the templates, and of values, which follow from
    /// other tables. Templates and these tables come first, so that such keys need not be stored.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        self.messages.fields.archive(archive)?;
        let usual = self.usual[0].archive(archive, USUAL);
        self.usual.put(0, usual);
        self.messages.holes.texts.literals.archive(archive)?;
        self.messages.templates.archive(archive)?;
        let history = &self.messages.holes.texts.literals.history;
        let strings = history.strings();
        let last_miss = history.archive_place(archive, &strings, self.messages.last_miss[0])?;
        self.messages.last_miss.put(0, last_miss);
        self.messages.keys.archive(archive)?;
        self.messages.choices.archive(archive, &self.streams())?;

        let labels = self.labels();
        let plain: Vec<_> = labels.iter().map(|&key| Candidate { key, context: 0 }).collect();
        archive_categories(archive, &mut self.messages.holes.integers.categories, &plain)?;
        let mut texts = core::mem::replace(
            &mut self.messages.holes.texts,
            crate::text::Texts::new(&Budget::new(&self.config)),
        );
        let result = texts.archive(archive, &plain, |texts| {
            // Of the strings only those under these labels are in the archive so far.
            let senders = self.senders(texts, Some(&labels));
            senders_of(&labels, senders.iter().map(|&sender| hash(sender, 1)), false)
        });
        self.messages.holes.texts = texts;
        result?;

        let senders = self.senders(&self.messages.holes.texts, None);
        let candidates = senders_of(&labels, senders.iter().copied(), true);
        archive_references(archive, &mut self.messages.holes.integers.references, &candidates)?;
        archive_grids(archive, &mut self.messages.holes.grids, &candidates)?;
        self.contexts.archive(archive)
    }

    /// Writes or reads a packet that waits to be learned: the packet as if it were coded under the present model, then
    /// how its own training trace (the record of decisions from which the model learns) differs from the trace of that
    /// coding.
    pub(crate) fn archive_packet<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        epoch: PacketNumber,
        number: PacketNumber,
        batch: &Batch,
        trace: &Trace,
    ) -> Result<(Batch, Trace)> {
        let mut done = Batch::default();
        let mut guess = Trace::default();
        let distance = number.since(epoch).wrapping_sub(1);
        let given = Datagram { epoch, distance, learns: true, batch };
        self.record(Some(epoch.next()));
        let result = self.code_datagram(archive.coder, given, &mut guess, &mut done);
        self.undo(epoch);
        self.record(None);
        if result != Ok((number, true)) {
            return Err(SnapshotError::Malformed);
        }
        let trace = trace.archive(archive, &done, &guess)?;
        Ok((done, trace))
    }

    /// The keys in the table of choices: hashes of channel and sender.
    fn streams(&self) -> Vec<Candidate> {
        let known = self.messages.fields.known().into_iter();
        known
            .map(|(channel, sender)| Candidate { key: channel_hash(channel, sender), context: 0 })
            .collect()
    }

    /// The labels under which the values of holes are remembered.
    fn labels(&self) -> Vec<u32> {
        let mut labels = Vec::new();
        for hole in self.messages.templates.holes() {
            labels.push(hole.label);
            let Shape { grid, .. } = hole.shape;
            match hole.kind {
                HoleKind::Field | HoleKind::Varint => {
                    labels.push(hash(hole.label, hole.shape.form()))
                }
                HoleKind::Scalar(_) => labels.push(hash(hole.label, u32::from(grid.max(1)))),
                _ => {}
            }
        }
        each_once(&labels)
    }

    /// The hashes of all senders, alone and combined with each value that a key hole can have. These are the `sender`s
    /// of all series. If `archived` is not `None`, the strings of other labels are left out: a reader does not have them
    /// yet.
    fn senders(&self, texts: &crate::text::Texts, archived: Option<&[u32]>) -> Vec<u32> {
        let mut first: Vec<u32> = self
            .messages
            .fields
            .known()
            .into_iter()
            .map(|(_, sender)| sender_hash(sender))
            .collect();
        sort(&mut first);
        first.dedup();
        let mut senders = first.clone();
        for key in self.messages.keys.labels() {
            let mut identities = match archived {
                Some(labels) if !labels.contains(&key) => Vec::new(),
                _ => texts.identities(key),
            };
            for hole in self.messages.templates.holes().filter(|hole| hole.label == key) {
                for label in [
                    key,
                    hash(key, hole.shape.form()),
                    hash(key, u32::from(hole.shape.grid.max(1))),
                ] {
                    let category = self.messages.holes.integers.categories.find(label);
                    identities
                        .extend(category.into_iter().flat_map(|category| category.identities()));
                }
            }
            for &sender in &first {
                senders
                    .extend(identities.iter().map(|&identity| hash(hash(sender, key), identity)));
            }
        }
        each_once(&senders)
    }
}

/// The values in order, without repetition: each stands where it occurs first.
fn each_once(values: &[u32]) -> Vec<u32> {
    // Sorted by value, then by place. A set would make the WebAssembly module larger.
    let places = values.iter().zip(0u64..).map(|(&value, place)| u64::from(value) << 32 | place);
    let mut places: Vec<u64> = places.collect();
    sort(&mut places);
    places.dedup_by_key(|value| *value >> 32);
    places.iter_mut().for_each(|place| *place = place.rotate_left(32));
    sort(&mut places);
    places.into_iter().map(|value| value as u32).collect()
}

/// The keys of the series of these senders in these holes; with `all` also those for all senders together.
fn senders_of(
    labels: &[u32],
    senders: impl Iterator<Item = u32> + Clone,
    all: bool,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for &label in labels {
        if all {
            candidates.push(Candidate { key: label, context: 0 });
        }
        candidates.extend(senders.clone().enumerate().map(|(index, sender)| Candidate {
            key: hash(label, sender),
            context: 1 + index as u32,
        }));
    }
    candidates
}

fn archive_categories<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    categories: &mut Cache<crate::category::Category>,
    labels: &[Candidate],
) -> Result<()> {
    let mut progress = categories.archive(archive, CATEGORIES)?;
    categories.archive_some(archive, &mut progress, labels, |archive, _, category| {
        category.archive(archive)
    })?;
    categories.archive_rest(archive, progress, |archive, category| category.archive(archive))
}

fn archive_references<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    references: &mut Cache<Reference>,
    candidates: &[Candidate],
) -> Result<()> {
    let mut progress = references.archive(archive, REFERENCES)?;
    let mut last = Reference::default();
    references.archive_some(
        archive,
        &mut progress,
        candidates,
        |archive, candidate, reference| {
            if candidate.context == 0 {
                last = Reference::default();
            }
            reference.archive(archive, &last)?;
            last = *reference;
            Ok(())
        },
    )?;
    references.archive_rest(archive, progress, |archive, reference| {
        reference.archive(archive, &last)?;
        last = *reference;
        Ok(())
    })
}

fn archive_grids<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    grids: &mut Cache<Grid>,
    candidates: &[Candidate],
) -> Result<()> {
    let mut progress = grids.archive(archive, GRIDS)?;
    let mut last = Grid::default();
    grids.archive_some(archive, &mut progress, candidates, |archive, _, grid| {
        grid.archive(archive, &last)?;
        last = *grid;
        Ok(())
    })?;
    grids.archive_rest(archive, progress, |archive, grid| {
        grid.archive(archive, &last)?;
        last = *grid;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_stands_once_where_it_stood_first() {
        assert_eq!(each_once(&[7, 3, u32::MAX, 7, 0, 3]), [7, 3, u32::MAX, 0]);
        assert_eq!(each_once(&[]), []);
    }
}
