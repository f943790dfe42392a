//! The input of people: pointer movements and typing, from recordings if there are any, else
//! generated.

use std::path::Path;

use serde::Deserialize;

use crate::Result;
use crate::drawing::motion::{EventLoop, Pointer, Style};
use crate::drawing::random::Random;
use crate::drawing::typing::{self, Key};
use crate::recordings::files;
use crate::sim::random::derive;
use crate::trace::{Trace, read_file};

/// Places of a generated pointer; some ten minutes.
const PLACES: usize = 20_000;
/// Keys that are generated, or read of a recording.
const KEYS: usize = 4_000;
/// A change of more characters than this was pasted, not typed.
const TYPED: usize = 3;

/// A place of a pointer, with its time in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PointerSample {
    pub(super) at: f64,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The input to replay.
#[derive(Debug, Clone)]
pub(super) struct Hands {
    motions: Vec<Vec<PointerSample>>,
    texts: Vec<Vec<Key>>,
}

impl Hands {
    /// Generated input, the same for the same seed.
    pub(super) fn generated(seed: u64) -> Self {
        let motion = |number| {
            let mut random = Random::new(derive(seed, number));
            let mut pointer = Pointer::new(&mut random);
            let how = (&EventLoop::FAST, Style::Pointing);
            let places = pointer.sends(&mut random, how, &mut 0.0, PLACES);
            let place = |(at, place): (f64, crate::drawing::Point)| PointerSample {
                at,
                x: place.x.into(),
                y: place.y.into(),
            };
            places.into_iter().map(place).collect()
        };
        let text = |number| {
            let keys = typing::keys(&mut Random::new(derive(seed, number)), KEYS);
            keys.into_iter().map(|(_, key)| key).collect()
        };
        Hands { motions: (0..4).map(motion).collect(), texts: (4..6).map(text).collect() }
    }

    /// Recordings in the directories `mouse` (`*.csv`, see [`crate::trace`]) and `editing`
    /// (`*.json`, as in josephg/editing-traces), packed or not.
    ///
    /// # Errors
    /// A recording cannot be read, or no recording of pointers or none of typing is long enough.
    pub(super) fn recorded(directory: &Path) -> Result<Self> {
        let mut motions = Vec::new();
        for file in files(&directory.join("mouse"), ".csv")? {
            motions.push(places(&Trace::read(&file)?));
        }
        let mut texts = Vec::new();
        for file in files(&directory.join("editing"), ".json")? {
            texts.push(keys(&file)?);
        }
        motions.retain(|one| one.len() > 100);
        texts.retain(|one| one.len() > 100);
        match motions.is_empty() || texts.is_empty() {
            true => Err(format!(
                "no recordings of pointers and of typing in {}, in the directories mouse and editing",
                directory.display()
            )
            .into()),
            false => Ok(Hands { motions, texts }),
        }
    }

    /// The pointer movement of a participant; each participant has another one.
    pub(super) fn motion(&self, seed: u64, participant: usize) -> &[PointerSample] {
        &self.motions[(seed as usize % self.motions.len() + participant) % self.motions.len()]
    }

    /// The keystrokes of a participant.
    pub(super) fn text(&self, seed: u64, participant: usize) -> &[Key] {
        &self.texts[(seed as usize % self.texts.len() + participant) % self.texts.len()]
    }
}

fn places(trace: &Trace) -> Vec<PointerSample> {
    #[derive(Deserialize)]
    struct Event {
        x: f64,
        y: f64,
    }
    let place = |message: &crate::TraceMessage| {
        let Event { x, y } = serde_json::from_slice(&message.bytes).ok()?;
        Some(PointerSample { at: message.at.as_secs_f64() * 1e3, x, y })
    };
    trace.messages.iter().filter_map(place).collect()
}

fn keys(path: &Path) -> Result<Vec<Key>> {
    #[derive(Deserialize)]
    struct Recording {
        txns: Vec<Transaction>,
    }
    #[derive(Deserialize)]
    struct Transaction {
        patches: Vec<(usize, usize, String)>,
    }
    let recording: Recording = serde_json::from_slice(&read_file(path)?)
        .map_err(|error| format!("{} is no editing trace: {error}", path.display()))?;
    let patches = recording.txns.into_iter().flat_map(|one| one.patches);
    let typed = patches.filter(|(_, deleted, inserted)| deleted + inserted.len() <= TYPED);
    let keys = typed.flat_map(|(_, deleted, inserted)| {
        let inserted: Vec<char> = inserted.chars().collect();
        let deletes = std::iter::repeat_n(Key::Delete, deleted);
        deletes.chain(inserted.into_iter().map(Key::Character))
    });
    Ok(keys.take(KEYS).collect())
}
