//! A part of the room's snapshot that the application makes, as the session keeps it (wire W95).

use alloc::string::String;
use alloc::vec::Vec;

/// A part of the snapshot that the application can make.
#[derive(Debug)]
pub(super) struct Provided {
    pub(super) name: String,
    /// The places of its channels among the session's channels. Without any the application no
    /// longer makes the part.
    pub(super) channels: Vec<usize>,
    /// True if the part was offered to the server of the transport in use.
    pub(super) is_offered: bool,
}
