//! Small tools that know nothing of the server.

pub(crate) mod fetch;
pub(crate) mod open_table;
pub(crate) mod outbox;
pub(crate) mod pattern;
pub(crate) mod private_files;
#[cfg(unix)]
pub(crate) mod private_socket;
#[cfg(not(unix))]
#[path = "no_private_socket.rs"]
pub(crate) mod private_socket;
pub(crate) mod secret;
pub(crate) mod wall;
