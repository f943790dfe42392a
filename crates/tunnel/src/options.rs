//! What both ends of a tunnel are started with.

use std::time::Duration;

use crate::Codecs;

/// Up to so many connections may have [`Sizes::LARGE`].
const FEW: usize = 64;

/// What both ends are started with; they need not agree.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// How codecs are chosen for what this end sends.
    pub codecs: Codecs,
    /// Connections at the same time; further ones are reset. `None`: 4,096, or as many as the system allows.
    pub max_connections: Option<usize>,
    /// When the tunnel is to end: how long it waits for connections to end by themselves.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { codecs: Codecs::default(), max_connections: None, drain: Duration::from_secs(10) }
    }
}

/// How much memory a connection may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// The most bytes of a block that is sent.
    pub block: usize,
    /// Bytes of history, of each direction.
    pub history: usize,
}

impl Sizes {
    /// For up to 64 connections: what compresses well.
    pub const LARGE: Sizes = Sizes { block: 64 << 10, history: 128 << 10 };
    /// For more: blocks as in the paper, and none has a history.
    pub const SMALL: Sizes = Sizes { block: 32 << 10, history: 0 };

    /// For a new connection, when there are so many with it.
    pub fn among(connections: usize) -> Self {
        if connections <= FEW { Self::LARGE } else { Self::SMALL }
    }
}
