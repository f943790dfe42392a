//! Finds the key of each template: the hole that tells to which sender or object the other values
//! belong. A template is an earlier message, and its holes are the places where other messages of
//! its type differ. A label is a number that names a hole.
//!
//! The pointers of four people each move on from the same person's last place. No declaration says
//! which part of a message names the person. Suppose that the numbers of a message are nearer to
//! those of the last message with the same value in some hole than to the numbers that predict them
//! now: then that hole is the better *key*. Every template has a key in use, or none, and tries
//! another one for some messages at a time.

use crate::cache::Cache;
use crate::hash::hash;
use crate::integer::size;
use crate::table::{Table, Versioned};
use crate::template::TemplateId;

mod snapshot;

/// The keys of templates, and the earlier numbers with which other keys are tried.
#[derive(Clone)]
pub(crate) struct Keys {
    keys: Cache<Key>,
    /// The label of the key that was found last. A new template starts with this key.
    latest: Table<u32>,
    /// The last number in each hole, for each value of the key in use and of the key on trial.
    probes: Cache<Probe>,
}

/// The value of a hole in the message that was coded, as far as the search for keys needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) label: u32,
    /// A hash that stands for the value.
    pub(crate) identity: u32,
    /// Whether the hole has one of a few values as a rule, and not always the same, so that it can
    /// be a key.
    pub(crate) is_key: bool,
    /// The value as a number. `None` if the hole has one of a few values as a rule.
    pub(crate) number: Option<i64>,
}

/// The key of a template in use (`label`) and the one on trial: labels of holes, or [`NONE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    label: u32,
    trial: u32,
    /// The number of messages in the trial so far.
    age: u8,
    /// The number of trials in a row that have failed.
    failures: u8,
    /// The number of messages to wait before the next trial.
    wait: u8,
    /// The sum, in bits, of the differences of this trial's numbers from the numbers that the key
    /// in use selects.
    cost: u16,
    trial_cost: u16,
}

#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    number: i64,
}

const _: () = assert!(Cache::<Key>::ENTRY == 24 && Cache::<Probe>::ENTRY == 16);

/// Bytes for the keys of ten templates, and for the last numbers of four people under two keys.
pub(crate) const MEMORY_MIN: usize = 1024;

/// The label that stands for "no hole": the template has no key.
const NONE: u32 = 0;

/// The number of messages in a trial: enough for an advantage of a few bits to show.
const TRIAL: u8 = 24;
/// The number of messages at the start of a trial that do not count, since the last numbers under
/// the new key are not known yet.
const WARM_UP: u8 = 8;
/// The number of failed trials in a row after which the pause between trials grows no longer.
const FAILURES_MAX: u8 = 7;

impl Keys {
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            keys: Cache::new(memory / 4),
            latest: Table::new(NONE, 1),
            probes: Cache::new(memory / 4 * 3),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.keys.memory() + self.probes.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.keys.visit(visit);
        visit(&mut self.latest);
        self.probes.visit(visit);
    }

    /// The label of a template's key.
    pub(crate) fn label(&self, template: TemplateId) -> Option<u32> {
        let key = self.keys.find(template.index() as u32);
        let label = key.map_or(self.latest[0], |key| key.label);
        (label != NONE).then_some(label)
    }

    /// Forgets the key of a template when its number is given to a new template.
    pub(crate) fn start(&mut self, template: TemplateId) {
        let label = self.latest[0];
        *self.keys.entry(template.index() as u32) = Key { label, ..Key::default() };
    }

    /// Learns from the values of a message that fits `template`.
    pub(crate) fn learn(&mut self, template: TemplateId, seen: &[Seen]) {
        let latest = self.latest[0];
        let name = template.index() as u32;
        let at = self.keys.index(name);
        let at = Some(self.keys.touch(name, at));
        let entry = self.keys.touched_at(name, at);
        if entry.wait > 0 {
            entry.wait -= 1;
            return;
        }
        if *entry == Key::default() {
            entry.label = latest;
        }
        let mut key = *entry;
        if key.age > 0 || choose(&mut key, seen) {
            self.compare(&mut key, seen);
        }
        if key.age == TRIAL {
            let is_better = u32::from(key.trial_cost) * 9 / 8 < u32::from(key.cost);
            if is_better {
                key.label = key.trial;
                *self.latest.change(0) = key.label;
            }
            key.failures = if is_better { 0 } else { (key.failures + 1).min(FAILURES_MAX) };
            key.wait = ((1 << key.failures) - 1) * 2;
            (key.age, key.cost, key.trial_cost) = (0, 0, 0);
        }
        *self.keys.touched_at(name, at) = key;
    }

    /// Compares the key on trial with the one in use: which of them selects last numbers that are
    /// nearer to this message's numbers?
    fn compare(&mut self, key: &mut Key, seen: &[Seen]) {
        let counts = key.age >= WARM_UP;
        key.age += 1;
        // A new template starts with the key that was found last, which may not be one of its
        // holes.
        let used = identity(key.label, seen).unwrap_or(NONE);
        let Some(tried) = identity(key.trial, seen) else { return };
        for hole in seen {
            let Some(number) = hole.number else { continue };
            if hole.label == key.trial || hole.label == key.label {
                continue;
            }
            let used = self.probe(hash(hole.label, used), number);
            let tried = self.probe(hash(hole.label, tried), number);
            if let (true, Some(used), Some(tried)) = (counts, used, tried) {
                key.cost = key.cost.saturating_add(u16::from(used));
                key.trial_cost = key.trial_cost.saturating_add(u16::from(tried));
            }
        }
    }

    /// Returns the bits of the difference between `number` and the last number at this place of the
    /// table, which it replaces.
    fn probe(&mut self, place: u32, number: i64) -> Option<u8> {
        let at = self.probes.index(place);
        let before = at.map(|at| size(number.wrapping_sub(self.probes.at(at).number)) as u8);
        self.probes.entry_at(place, at).number = number;
        before
    }
}

/// A hash that stands for a key and its value in a message. `None` if the message does not have
/// that hole.
fn identity(key: u32, seen: &[Seen]) -> Option<u32> {
    if key == NONE {
        return Some(NONE);
    }
    seen.iter().find(|hole| hole.label == key).map(|hole| hash(key, hole.identity))
}

/// Puts the next possible key on trial. Returns `false` if there is none.
fn choose(key: &mut Key, seen: &[Seen]) -> bool {
    let (label, trial) = (key.label, key.trial);
    let is_other = |hole: &&Seen| hole.is_key && hole.label != label;
    let after = seen.iter().position(|hole| hole.label == trial).map_or(0, |at| at + 1);
    let next = match seen[after..].iter().find(is_other) {
        Some(hole) => Some(hole.label),
        None if label != NONE && trial != NONE => Some(NONE),
        None => seen.iter().find(is_other).map(|hole| hole.label),
    };
    key.trial = next.unwrap_or(NONE);
    next.is_some()
}
