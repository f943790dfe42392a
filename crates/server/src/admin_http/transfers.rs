//! The exports and imports of a server, of which one is carried out at a time.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;

/// The folder of the files of transfers, and the place for one of them, because each takes as much
/// disk as the rooms.
pub(crate) struct Transfers {
    /// The store's folder. `None` if the server has none: rooms that it stores in memory are
    /// transferred by the system's folder of temporary files.
    pub(super) folder: Option<PathBuf>,
    pub(super) place: Arc<Semaphore>,
}

impl Transfers {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Transfers { folder, place: Arc::new(Semaphore::new(1)) }
    }
}
