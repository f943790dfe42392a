//! Keys (for each template, the hole that tells to which sender or object the other values belong)
//! in a snapshot, and what compaction keeps of them.
//!
//! A template is an earlier message, and its holes are the places where other messages differ; a
//! label names a hole. A snapshot is the model as bytes, for a decoder that joins late; the archive
//! writes and reads it. Compaction makes a model small by rounding and forgetting.

use super::{FAILURES_MAX, Key, Keys, TRIAL};
use crate::archive::{Archive, Result};
use crate::cache::snapshot::Candidate;
use crate::error::SnapshotError;
use crate::hash::hash;
use crate::range_coder::Coder;
use crate::sort::sort;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const KEYS: u32 = 0x1200;
const PROBES: u32 = 0x1201;
const LABEL: u32 = 0x1202;
const TRIAL_LABEL: u32 = 0x1203;
const FAILURES: u32 = 0x1204;
const WAIT: u32 = 0x1205;
const AGE: u32 = 0x1206;
const COST: u32 = 0x1207;
const NUMBER: u32 = 0x1208;

impl Keys {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        let latest = archive.name(LABEL, self.latest[0])?;
        self.latest.put(0, latest);
        let candidates = (0..=255).map(|key| Candidate { key, context: 0 });
        let candidates: alloc::vec::Vec<_> = candidates.collect();
        let mut progress = self.keys.archive(archive, KEYS)?;
        self.keys.archive_some(archive, &mut progress, &candidates, |archive, _, key| {
            key.archive(archive)
        })?;
        let mut before = 0;
        let progress = self.probes.archive(archive, PROBES)?;
        self.probes.archive_rest(archive, progress, |archive, probe| {
            probe.number = archive.number_like(NUMBER, before, probe.number);
            before = probe.number;
            Ok(())
        })
    }

    /// Keeps the keys of the `most` templates used last. Ends all trials of other keys if
    /// `ends_trials` is set.
    pub(crate) fn compact(&mut self, most: usize, ends_trials: bool) {
        self.keys.compact(most, |_| true);
        if !ends_trials {
            return;
        }
        self.keys.change_all(|key| (key.age, key.cost, key.trial_cost) = (0, 0, 0));
        self.probes.compact(0, |_| false);
    }

    /// The labels of the holes that are keys, each once.
    pub(crate) fn labels(&self) -> alloc::vec::Vec<u32> {
        let mut labels = alloc::vec![self.latest[0]];
        self.keys.each(|key| labels.push(key.label));
        sort(&mut labels);
        labels.dedup();
        labels
    }
}

impl Key {
    fn archive<C: Coder + ?Sized>(&mut self, archive: &mut Archive<'_, C>) -> Result<()> {
        self.label = archive.name(LABEL, self.label)?;
        self.trial = archive.name(TRIAL_LABEL, self.trial)?;
        self.failures = archive.up_to(FAILURES, FAILURES_MAX.into(), self.failures.into())? as u8;
        let most = ((1usize << self.failures) - 1) * 2;
        self.wait = archive.up_to(hash(WAIT, self.failures.into()), most, self.wait.into())? as u8;
        self.age = archive.up_to(AGE, usize::from(TRIAL) - 1, self.age.into())? as u8;
        if self.age > 0 {
            for cost in [&mut self.cost, &mut self.trial_cost] {
                let coded = archive.number(COST, (*cost).into());
                *cost = u16::try_from(coded).map_err(|_| SnapshotError::Malformed)?;
            }
        }
        Ok(())
    }
}
