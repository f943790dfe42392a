//! The access of participants to the server: its address, the certificate that they trust, and
//! their tokens.

use std::fs;
use std::path::{Path, PathBuf};

use groupwire_client::{Events, Options, Room, Trust};

use crate::Result;

/// See the [module](self).
#[derive(Debug, Clone)]
pub(super) struct Door {
    /// The certificate of the server; `None` if it has no TLS.
    root: Option<PathBuf>,
    /// The tokens, which participants use in turns. If there are none, participants send none.
    tokens: Vec<String>,
}

impl Door {
    /// Reads the tokens from a file with a token per line.
    pub(super) fn new(root: Option<&Path>, tokens: Option<&Path>) -> Result<Self> {
        let tokens = match tokens {
            Some(file) => fs::read_to_string(file)
                .map_err(|error| format!("{}: {error}", file.display()))?
                .lines()
                .map(str::to_owned)
                .collect(),
            None => Vec::new(),
        };
        Ok(Door { root: root.map(Path::to_owned), tokens })
    }

    /// Lets a participant with this number join a room. `None` if the options are wrong.
    pub(super) fn enter(&self, port: u16, room: &str, number: u32) -> Option<(Room, Events)> {
        let options = self.options(room, number);
        match &self.root {
            Some(root) => {
                let trust = Trust::File(root.clone());
                Room::connect_trusting(&format!("wss://127.0.0.1:{port}"), trust, options).ok()
            }
            None => Room::connect(&format!("ws://127.0.0.1:{port}"), options).ok(),
        }
    }

    /// What the participant with this number joins a room with.
    pub(super) fn options(&self, room: &str, number: u32) -> Options {
        let mut options = Options::new(room);
        if let Some(token) = self.tokens.get(number as usize % self.tokens.len().max(1)) {
            options.token = token.clone().into_bytes();
        }
        options
    }

    /// Whether the server has TLS, and asks for tokens.
    pub(super) fn is_guarded(&self) -> (bool, bool) {
        (self.root.is_some(), !self.tokens.is_empty())
    }
}
