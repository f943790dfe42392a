//! The end of a server: its shutdown, and the sockets that it hands over to the next process.

pub(crate) mod bind;
pub(crate) mod drain;
pub(crate) mod sockets;
