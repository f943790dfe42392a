//! Options that both ends of a tunnel have.

use std::time::Duration;

use crate::Codecs;

/// With at most this many connections a new one has [`Sizes::LARGE`]. They take at most 2.8 MB
/// each, 180 MB together.
const FEW: usize = 64;

/// Options of one end of a tunnel. The two ends need not have the same.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// How codecs are chosen for the bytes that this end sends.
    pub codecs: Codecs,
    /// The limit of simultaneous connections; further ones are reset. `None`: 4,096, or as many as
    /// the system allows.
    pub max_connections: Option<usize>,
    /// How long a tunnel that is stopped waits for open connections to end.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { codecs: Codecs::default(), max_connections: None, drain: Duration::from_secs(10) }
    }
}

/// Sizes that determine the memory of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// The largest block that is sent, in bytes.
    pub block: usize,
    /// The history of each direction, in bytes: the last bytes, which codecs may use as their
    /// dictionary.
    pub history: usize,
}

impl Sizes {
    /// For up to 64 connections: blocks and history that compress well.
    pub const LARGE: Sizes = Sizes { block: 64 << 10, history: 128 << 10 };
    /// For more connections: the block size of the paper "Adaptive On-the-Fly Compression" (section
    /// 3), and no history.
    pub const SMALL: Sizes = Sizes { block: 32 << 10, history: 0 };

    /// The sizes of a new connection, if `connections` are open including the new one.
    pub fn among(connections: usize) -> Self {
        if connections <= FEW { Self::LARGE } else { Self::SMALL }
    }
}
