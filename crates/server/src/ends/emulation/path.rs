//! Emulated network paths: of rooms, of single participants, and the one that a connection goes
//! over.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::model::Settings;

/// Most rooms with an emulated network; each takes about a hundred bytes.
const MAX_ROOMS: usize = 256;

/// An emulated network path, whose settings connections read for each packet, so that a change
/// takes effect at once.
#[derive(Default)]
pub(crate) struct Path(Mutex<Settings>);

impl Path {
    pub(crate) fn settings(&self) -> Settings {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }
}

/// The emulated paths of all rooms that have one.
pub(crate) struct Emulations {
    are_allowed: bool,
    paths: Mutex<HashMap<String, Arc<Path>>>,
    seeds: AtomicU64,
}

impl Emulations {
    pub(crate) fn new(are_allowed: bool) -> Self {
        Emulations { are_allowed, paths: Mutex::default(), seeds: AtomicU64::new(0) }
    }

    pub(crate) fn are_allowed(&self) -> bool {
        self.are_allowed
    }

    /// A seed for each emulated direction of each connection; the same sequence after each start of
    /// the server.
    pub(crate) fn seed(&self) -> u64 {
        // SplitMix64 adds a constant to its state for each number, so seeds that are few such steps
        // apart share numbers. Multiples of another constant are many steps apart.
        self.seeds.fetch_add(1, Ordering::Relaxed).wrapping_mul(0xD134_2543_DE82_EF95)
    }

    /// The path of a room, created if there is none; `None` if all paths are in use.
    pub(crate) fn path(&self, room: &str) -> Option<Arc<Path>> {
        let mut paths = self.paths();
        if let Some(path) = paths.get(room) {
            return Some(Arc::clone(path));
        }
        if paths.len() >= MAX_ROOMS {
            paths.retain(|_, path| Arc::strong_count(path) > 1);
        }
        if paths.len() >= MAX_ROOMS {
            return None;
        }
        let path = Arc::new(Path::default());
        paths.insert(room.to_owned(), Arc::clone(&path));
        Some(path)
    }

    pub(crate) fn settings(&self, room: &str) -> Settings {
        self.paths().get(room).map(|path| path.settings()).unwrap_or_default()
    }

    fn paths(&self) -> MutexGuard<'_, HashMap<String, Arc<Path>>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The emulated path of a connection, shared by its sending and receiving ends: the path of its
/// room, or of its participant alone. Until a path is set, the slot is empty and nothing is
/// emulated.
#[derive(Clone, Default)]
pub(crate) struct PathSlot(Arc<OnceLock<Mutex<Arc<Path>>>>);

impl PathSlot {
    /// Sets the path, which takes effect with the next packet.
    pub(crate) fn set(&self, path: &Arc<Path>) {
        let place = self.0.get_or_init(|| Mutex::new(Arc::clone(path)));
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(path);
    }

    /// True if a path is set.
    pub(crate) fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    pub(crate) fn settings(&self) -> Settings {
        let path = self.0.get().map(|place| place.lock().unwrap_or_else(PoisonError::into_inner));
        path.map(|path| path.settings()).unwrap_or_default()
    }
}
