//! The configuration of stored rooms.

use std::path::PathBuf;

use groupwire_store::{Forget, Options};

use super::modes::Modes;

/// Where rooms are stored, and which.
#[derive(Debug, Clone)]
pub struct DurableConfig {
    /// The folder of the store. It is made if it is missing. Only one server can use it at a time.
    /// `None`: rooms are stored in memory, for tests of applications, and end with the server.
    pub folder: Option<PathBuf>,
    /// Which rooms are stored.
    pub modes: Modes,
    /// The store's quotas and times. The server sets `gather` itself: half a tick, and 20 ms at
    /// most; and `outbox`, for its webhook.
    pub options: Options,
    /// Which rooms are deleted when nobody has written to them for a time.
    pub forget: Vec<Forget>,
}

impl DurableConfig {
    /// All rooms are stored in this folder, within the default quotas.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        DurableConfig { folder: Some(folder.into()), ..DurableConfig::in_memory() }
    }

    /// All rooms are stored in memory, within the default quotas.
    pub fn in_memory() -> Self {
        DurableConfig {
            folder: None,
            modes: Modes::default(),
            options: Options::default(),
            forget: Vec::new(),
        }
    }
}
