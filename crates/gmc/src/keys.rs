//! Finds out which hole of a template tells whose the other values are: the sender, the object.
//!
//! Of four people's pointers, each moves on from where the same person's was. Nobody says which part
//! of a message names the person; but if the numbers of a message are nearer to those of the last
//! message with the same value in some hole than to what they are compared with now, then that hole
//! is the better *key*. Every template has a key in use, or none, and tries another for some
//! messages at a time.

use crate::cache::Cache;
use crate::hash::hash;
use crate::integer::size;
use crate::table::{Table, Versioned};
use crate::template::TemplateId;

mod snapshot;

/// The keys of templates, and what is needed to try others.
#[derive(Clone)]
pub(crate) struct Keys {
    keys: Cache<Key>,
    /// The key that was found last: a new template's first guess.
    latest: Table<u32>,
    /// The last number in a hole with a certain value of the key on trial.
    probes: Cache<Probe>,
}

/// What filled a hole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) label: u32,
    /// Stands for the value.
    pub(crate) identity: u32,
    /// Whether the hole holds one of a few values, and not always the same.
    pub(crate) is_key: bool,
    /// The number, if it is none of a few.
    pub(crate) number: Option<i64>,
}

/// The key of a template and the one on trial: labels of holes, or [`NONE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    label: u32,
    trial: u32,
    /// How many messages the trial has lasted.
    age: u8,
    /// How many trials in a row have failed.
    failures: u8,
    /// How many messages to let pass before the next trial.
    wait: u8,
    /// Bits of the differences under the key in use, and under the one on trial.
    cost: u16,
    trial_cost: u16,
}

#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    number: i64,
}

const _: () = assert!(Cache::<Key>::ENTRY == 24 && Cache::<Probe>::ENTRY == 16);

/// Room for the keys of ten templates, and for the numbers of four people under two keys.
pub(crate) const MEMORY_MIN: usize = 1024;

/// No hole: the values are everybody's.
const NONE: u32 = 0;

/// A trial lasts so many messages: enough for a difference of a few bits to show.
const TRIAL: u8 = 24;
/// Only after so many messages of them does a trial count: at first its values are unknown.
const WARM_UP: u8 = 8;
/// After so many failed trials in a row they become no rarer.
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

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.keys.visit(visit);
        visit(&mut self.latest);
        self.probes.visit(visit);
    }

    /// The label of the hole that is a template's key.
    pub(crate) fn label(&self, template: TemplateId) -> Option<u32> {
        let key = self.keys.find(template.index() as u32);
        let label = key.map_or(self.latest[0], |key| key.label);
        (label != NONE).then_some(label)
    }

    /// Forgets what was known of a template whose number is used again.
    pub(crate) fn start(&mut self, template: TemplateId) {
        let label = self.latest[0];
        *self.keys.entry(template.index() as u32) = Key { label, ..Key::default() };
    }

    /// Learns from what filled the holes of a message.
    pub(crate) fn learn(&mut self, template: TemplateId, seen: &[Seen]) {
        let latest = self.latest[0];
        let entry = self.keys.entry(template.index() as u32);
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
        *self.keys.entry(template.index() as u32) = key;
    }

    /// Compares the key on trial with the one in use, on this message: which lets expect numbers
    /// nearer to those that came?
    fn compare(&mut self, key: &mut Key, seen: &[Seen]) {
        let counts = key.age >= WARM_UP;
        key.age += 1;
        let (Some(used), Some(tried)) = (identity(key.label, seen), identity(key.trial, seen))
        else {
            return;
        };
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

    /// How many bits a number differs from the last one in this place, which it replaces.
    fn probe(&mut self, place: u32, number: i64) -> Option<u8> {
        let before =
            self.probes.find(place).map(|before| size(number.wrapping_sub(before.number)) as u8);
        self.probes.entry(place).number = number;
        before
    }
}

/// Stands for a key and its value in a message, if it has that hole.
fn identity(key: u32, seen: &[Seen]) -> Option<u32> {
    if key == NONE {
        return Some(NONE);
    }
    seen.iter().find(|hole| hole.label == key).map(|hole| hash(key, hole.identity))
}

/// Puts the next possible key on trial.
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
