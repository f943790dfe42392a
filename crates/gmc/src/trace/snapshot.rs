//! Training traces in a snapshot. A training trace is the record of the decisions that coding a
//! packet took. Only the differences from another trace are stored: that of coding the same
//! messages under the present model.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. The context of a decision is a hash of what is known before it.

use alloc::vec::Vec;

use super::{Contexts, Errors, NEXT, PREDICTORS, Trace};
use crate::archive::{Archive, Result};
use crate::batch::Batch;
use crate::error::SnapshotError;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const EMPTY: u32 = 0x1500;
const SAME: u32 = 0x1501;
const COUNT: u32 = 0x1502;
const AHEAD: u32 = 0x1503;
const DECISIONS: u32 = 0x150a;
const GENERAL: u32 = 0x150b;
const SINGLE: u32 = 0x150c;
const CONTEXT: u32 = 0x1504;
const DECISION: u32 = 0x1505;
const DECISION_BITS: u32 = 0x1506;
const ERRORS: u32 = 0x1507;
const LABEL: u32 = 0x1508;
const BITS: u32 = 0x1509;

/// The most decisions for each byte of the messages, and the bytes for which a field or a message
/// counts. Coding takes fewer.
const DECISIONS_MAX: usize = 64;
const BYTES: usize = 4;
/// The fewest decisions that groups have in the mean. In coding they have more.
const GROUP_MIN: usize = 4;

impl Trace {
    /// Writes or reads the trace of these messages. `guess` is a trace that is expected to be
    /// similar. One that takes more than `limit` bytes is an error when reading.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &self,
        archive: &mut Archive<'_, C>,
        batch: &Batch,
        guess: &Self,
        limit: usize,
    ) -> Result<Self> {
        let most =
            (batch.bytes.len() + BYTES * (batch.len() + batch.fields.len() + 1)) * DECISIONS_MAX;
        let most = most.max(2 * guess.decisions.len());
        let mut read = Self::default();
        if archive.flag(EMPTY, self.decisions.is_empty() && self.errors.is_empty()) {
            return Ok(read);
        }
        let (given, like) = (self.groups(), guess.groups());
        let most_groups = (most / GROUP_MIN).max(2 * like.len());
        let count = archive_count(archive, most_groups, like.len(), given.len())?;
        // A context that only one of the two traces has shifts all later ones.
        let mut at = 0;
        for index in 0..count {
            let given = given.get(index).copied().unwrap_or_default();
            let (contexts, expected) = archive_contexts(archive, &like, &mut at, given.0)?;
            let expected = expected.unwrap_or_default();
            read.contexts.push(contexts);
            let same = archive.flag(DECISIONS, given.1 == expected);
            let decisions = if same {
                expected.to_vec()
            } else {
                archive_decisions(archive, most, expected, given.1)?
            };
            // A group without decisions would take memory for nothing.
            let is_empty = decisions.is_empty();
            read.decisions.extend(decisions);
            if is_empty || read.decisions.len() > most || read.memory() > limit {
                return Err(SnapshotError::Malformed);
            }
            archive.check()?;
        }
        // An integer takes at least a byte.
        let most = batch.bytes.len();
        let count = archive_count(archive, most, guess.errors.len(), self.errors.len())?;
        for index in 0..count {
            let given = self
                .errors
                .get(index)
                .copied()
                .unwrap_or(Errors { label: 0, bits: [0; PREDICTORS] });
            let expected = guess.errors.get(index).map_or(0, |errors| errors.label);
            let label = if archive.flag(LABEL, given.label == expected) {
                expected
            } else {
                archive.name(ERRORS, given.label)?
            };
            let mut bits = given.bits;
            for (predictor, bits) in bits.iter_mut().enumerate() {
                let guess = guess.errors.get(index).map_or(0, |errors| errors.bits[predictor]);
                *bits = archive.number_like(BITS, guess.into(), (*bits).into()) as u8 & 0x7f;
            }
            read.errors.push(Errors { label, bits });
            archive.check()?;
        }
        Ok(read)
    }
}

/// A group: two contexts, and the decisions with these contexts.
type Group<'a> = (Contexts, &'a [u8]);

impl Trace {
    fn groups(&self) -> Vec<Group<'_>> {
        let mut contexts = self.contexts.iter();
        let groups = self.decisions.chunk_by(|_, next| next & NEXT == 0);
        groups.map(|group| (contexts.next().copied().unwrap_or_default(), group)).collect()
    }
}

/// Writes or reads the contexts of the next group. They are likely to be those of the other trace
/// at `at` or soon after. Returns the contexts, and the decisions with these contexts in the other
/// trace, if there are any.
fn archive_contexts<'a, C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    like: &[Group<'a>],
    at: &mut usize,
    given: Contexts,
) -> Result<(Contexts, Option<&'a [u8]>)> {
    let next = like.get(*at);
    if archive.flag(SAME, next.is_some_and(|next| next.0 == given))
        && let Some(&(contexts, decisions)) = next
    {
        *at += 1;
        return Ok((contexts, Some(decisions)));
    }
    let ahead = like.iter().skip(*at).position(|group| group.0 == given);
    let ahead = archive.up_to(AHEAD, like.len(), ahead.map_or(0, |ahead| ahead + 1))?;
    if ahead > 0 {
        let &(contexts, decisions) = like.get(*at + ahead - 1).ok_or(SnapshotError::Malformed)?;
        *at += ahead;
        return Ok((contexts, Some(decisions)));
    }
    // Often only the special context differs.
    let general = next.map_or(0, |next| next.0[0]);
    let is_near = archive.flag(GENERAL, general == given[0]);
    let general = if is_near { general } else { archive.name(CONTEXT, given[0])? };
    let special = if archive.flag(SINGLE, given[1] == general) {
        general
    } else {
        archive.name(CONTEXT, given[1])?
    };
    let decisions = next.filter(|_| is_near).map(|next| next.1);
    *at += usize::from(is_near);
    Ok(([general, special], decisions))
}

/// Writes or reads the decisions of a group. `like` are decisions that may be similar.
fn archive_decisions<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    most: usize,
    like: &[u8],
    given: &[u8],
) -> Result<Vec<u8>> {
    let count = archive_count(archive, most, like.len(), given.len())?;
    let mut decisions = Vec::new();
    for index in 0..count {
        let given = given.get(index).copied().unwrap_or_default() & !NEXT;
        let like = like.get(index).map_or(0, |like| like & !NEXT);
        let decision = if archive.flag(DECISION, given == like) {
            like
        } else {
            archive.byte(DECISION_BITS, given)?
        };
        // A context has fifteen decisions.
        if decision >> 1 >= 15 {
            return Err(SnapshotError::Malformed);
        }
        decisions.push(if index == 0 { decision | NEXT } else { decision });
        archive.check()?;
    }
    Ok(decisions)
}

fn archive_count<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    most: usize,
    guess: usize,
    given: usize,
) -> Result<usize> {
    let count = archive.number_like(COUNT, guess as i64, given as i64);
    usize::try_from(count).ok().filter(|&count| count <= most).ok_or(SnapshotError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::range_coder::{RangeDecoder, RangeEncoder};
    use crate::{Message, trace};
    use alloc::vec;

    fn batch(bytes: usize) -> Batch {
        let mut batch = Batch::default();
        let message = Message { fields: &[], bytes: &vec![b'x'; bytes] };
        batch.add(message, &Config::default()).expect("it is small");
        batch
    }

    /// What `write` writes.
    fn written(write: impl FnOnce(&mut Archive<'_, RangeEncoder<'_>>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut coder = RangeEncoder::new(&mut bytes);
        write(&mut Archive::new(&mut coder));
        coder.finish();
        bytes
    }

    fn read(bytes: &[u8], batch: &Batch, limit: usize) -> Result<Trace> {
        let mut coder = RangeDecoder::new(bytes);
        let trace = Trace::default();
        trace.archive(&mut Archive::new(&mut coder), batch, &Trace::default(), limit)
    }

    /// A snapshot may come from a hostile peer, so the size of its traces must be bounded by its
    /// messages.
    #[test]
    fn a_trace_takes_no_more_than_its_messages_allow() {
        let trace = |groups: u32, errors: usize| {
            let mut trace = Trace::default();
            (0..groups).for_each(|group| trace.note([7, group % 2], 3, true));
            (0..errors).for_each(|_| trace.note_errors(5, [1; trace::PREDICTORS]));
            let all = batch(4000);
            written(|archive| {
                let written = trace.archive(archive, &all, &Trace::default(), usize::MAX);
                written.expect("4,000 bytes permit a trace of this size");
            })
        };
        let memory = |trace: Result<Trace>| trace.map(|trace| trace.memory());
        let groups = 16 * (10 + 4 * 2);
        let fits = trace(groups, 10);
        let bytes = groups as usize * 9 + 10 * 12;
        assert_eq!(memory(read(&fits, &batch(10), bytes)), Ok(bytes));
        assert_eq!(memory(read(&trace(200, 0), &batch(10), 1799)), Err(SnapshotError::Malformed));
        for (groups, errors) in [(groups + 1, 0), (1, 11)] {
            let large = trace(groups, errors);
            let read = memory(read(&large, &batch(10), usize::MAX));
            assert_eq!(read, Err(SnapshotError::Malformed), "{groups} {errors}");
        }
    }

    #[test]
    fn a_group_has_decisions() {
        for (decisions, is_read) in [(&[2][..], true), (&[], false)] {
            let bytes = written(|archive| {
                archive.flag(EMPTY, false);
                archive_count(archive, 1, 0, 1).expect("one is not above one");
                archive_contexts(archive, &[], &mut 0, [3, 4])
                    .expect("any contexts can be written");
                archive.flag(DECISIONS, false);
                archive_decisions(archive, 1, &[], decisions).expect("at most one can be written");
                archive_count(archive, 0, 0, 0).expect("there are no errors");
            });
            assert_eq!(read(&bytes, &batch(1), usize::MAX).is_ok(), is_read, "{decisions:?}");
        }
    }
}
