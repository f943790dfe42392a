//! The file of bans, in the folder of stored rooms.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rule::Ban;
use crate::tools::private_files::write_private;

/// The name of the file in the folder.
const NAME: &str = "bans.json";

/// The number of the file's format.
const FORMAT: u32 = 1;

/// The file of bans. The store's lock on the folder keeps other servers from it.
#[derive(Debug)]
pub(super) struct BanFile(PathBuf);

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: u32,
    /// The number of the next ban.
    next: u64,
    bans: Vec<Ban>,
}

impl BanFile {
    pub(super) fn of(folder: &Path) -> Self {
        BanFile(folder.join(NAME))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the number of the next ban, and all bans. Without a file, the number is 1 and there
    /// are no bans.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub(super) fn load(&self) -> Result<(u64, Vec<Ban>), String> {
        let bytes = match std::fs::read(&self.0) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((1, Vec::new())),
            Err(error) => return Err(error.to_string()),
        };
        let Content { format, next, bans } =
            serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match format == FORMAT {
            true => Ok((next, bans)),
            false => Err(format!("its format is {format}, and this version knows {FORMAT}")),
        }
    }

    /// Replaces the file.
    pub(super) fn save(&self, next: u64, bans: Vec<Ban>) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(&Content { format: FORMAT, next, bans })?;
        write_private(&self.0, &content)
    }
}
