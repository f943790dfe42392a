//! The model in a snapshot, part by part. The model is all that was learned from messages; a
//! snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads it.
//!
//! A label is a number that names a hole, which is a place of messages where values differ. A
//! series is the values of one sender in one hole.

use alloc::vec::Vec;

use super::message::{channel_hash, sender_hash};
use super::{Datagram, StreamModel};
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

/// The most keys that a list of possible keys of a table holds. There is one for each label and
/// each sender, and a hostile snapshot could have far more of both than its bytes. Keys that are
/// not in the list are written in full.
const CANDIDATES_MAX: usize = 1 << 17;

impl StreamModel {
    /// A copy of the model without the logs of its changes.
    pub(crate) fn copy(&self) -> Self {
        let mut copy = Self {
            config: self.config.clone(),
            contexts: self.contexts.clone(),
            messages: self.messages.copy(),
            usual: self.usual.clone(),
            recorded: self.recorded,
            unused: Batch::default(),
            #[cfg(feature = "describe")]
            costs: None,
        };
        copy.record(None);
        copy
    }

    /// Writes or reads the model. When reading, it must be empty before.
    ///
    /// Most keys of the tables are hashes: of labels, which follow from the templates, and of
    /// values, which follow from other tables. Templates and these tables come first, so that such
    /// keys need not be stored.
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
            let senders: Vec<_> = senders.iter().map(|&sender| hash(sender, 1)).collect();
            senders_of(&labels, &senders, false)
        });
        self.messages.holes.texts = texts;
        result?;

        let senders = self.senders(&self.messages.holes.texts, None);
        let candidates = senders_of(&labels, &senders, true);
        archive_references(archive, &mut self.messages.holes.integers.references, &candidates)?;
        archive_grids(archive, &mut self.messages.holes.grids, &candidates)?;
        self.contexts.archive(archive)
    }

    /// Writes or reads a packet that waits to be learned: the packet as if it were coded under the
    /// present model, then how its own training trace (the record of decisions from which the model
    /// learns) differs from the trace of that coding. A trace of more than `limit` bytes is an
    /// error when reading.
    pub(crate) fn archive_packet<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        epoch: PacketNumber,
        number: PacketNumber,
        batch: &Batch,
        trace: &Trace,
        limit: usize,
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
        let trace = trace.archive(archive, &done, &guess, limit)?;
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

    /// The hashes of all senders, alone and combined with each value that a key hole can have.
    /// These are the `sender`s of all series. If `archived` is not `None`, the strings of other
    /// labels are left out: a reader does not have them yet.
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
            let identities = each_once(&identities);
            for &sender in &first {
                let left = CANDIDATES_MAX.saturating_sub(senders.len());
                let identities = identities.iter().take(left);
                senders.extend(identities.map(|&identity| hash(hash(sender, key), identity)));
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

/// The keys of the series of these senders in these holes, up to [`CANDIDATES_MAX`]; with `all`
/// also those for all senders together.
fn senders_of(labels: &[u32], senders: &[u32], all: bool) -> Vec<Candidate> {
    let keys = labels.iter().flat_map(|&label| {
        let all = all.then_some(Candidate { key: label, context: 0 });
        let series = move |(&sender, context)| Candidate { key: hash(label, sender), context };
        all.into_iter().chain(senders.iter().zip(1..).map(series))
    });
    keys.take(CANDIDATES_MAX).collect()
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
    use crate::Config;
    use crate::range_coder::{RangeDecoder, RangeEncoder, shared};
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn each_value_stands_once_where_it_stood_first() {
        assert_eq!(each_once(&[7, 3, u32::MAX, 7, 0, 3]), [7, 3, u32::MAX, 0]);
        assert_eq!(each_once(&[]), []);
    }

    /// Codes a message on an ordered link. Returns the packet.
    fn say(stream: &mut StreamModel, channel: u32, message: &str) -> Vec<u8> {
        let config = stream.config().clone();
        let (mut batch, mut packet) = (Batch::default(), Vec::new());
        let message = crate::Message { fields: &[channel, channel], bytes: message.as_bytes() };
        batch.add(message, &config).expect("it is small");
        let mut coder = RangeEncoder::new(&mut packet);
        let said = stream.code_ordered(shared(&mut coder), &batch, &mut Batch::default());
        said.expect("messages within the limits are coded");
        coder.finish();
        packet
    }

    #[test]
    fn lists_of_candidates_are_bounded() {
        let config = Config { fields: 2, memory: 4 << 20, ..Config::default() };
        let mut stream = StreamModel::new(config.clone());
        let message = |kind: u32, nth: u32| {
            let who = [0, 2, 1, 2, 2, 1, 0, 2, 1][nth as usize % 9];
            let name = |at: u32| [kind, at].map(|digit| char::from(b'a' + digit as u8));
            let numbers = (0..26).flat_map(|a| (0..5).map(move |b| (a, b))).map(|(a, b)| {
                let name = [name(a), name(b)].concat().into_iter().collect::<String>();
                format!(r#","{name}":{}"#, 20_000 * who + nth * (a + 2))
            });
            let who = ["ann", "bob", "carl"][who as usize];
            format!(r#"{{"who":"{who}"{}}}"#, numbers.collect::<String>())
        };
        for nth in 0..120 {
            say(&mut stream, nth % 16, &message(0, nth));
        }
        for kind in 0..26 {
            for nth in 0..4 {
                say(&mut stream, nth, &message(kind, nth));
            }
        }
        let (labels, senders) =
            (stream.labels(), stream.senders(&stream.messages.holes.texts, None));
        let all = labels.len() * senders.len();
        assert!(all > CANDIDATES_MAX, "{} labels, {} senders", labels.len(), senders.len());
        let candidates = senders_of(&labels, &senders, true);
        assert_eq!(candidates.len(), CANDIDATES_MAX);
        // What the list leaves out is in the archive all the same.
        let mut bytes = Vec::new();
        let mut coder = RangeEncoder::new(&mut bytes);
        let written = stream.archive(&mut Archive::new(shared(&mut coder)));
        coder.finish();
        let mut newcomer = StreamModel::new(config);
        let mut coder = RangeDecoder::new(&bytes);
        let read = newcomer.archive(&mut Archive::new(shared(&mut coder)));
        assert_eq!((written, read), (Ok(()), Ok(())));
        for kind in 0..26 {
            let message = message(kind, kind);
            assert_eq!(say(&mut newcomer, 1, &message), say(&mut stream, 1, &message));
        }
    }
}
