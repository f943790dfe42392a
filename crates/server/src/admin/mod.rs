//! Commands for the store of a running server, over a Unix socket in its folder: `groupwire store
//! list`, `delete` and `import`. Each connection carries one [`Request`] and one [`Reply`], a line
//! of JSON each.
//!
//! Who may use the socket is decided by the file system: only the user of the server may open it
//! (mode 0600).

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod ask;
mod commands;
pub(crate) mod context;
pub(crate) mod handover;
#[cfg(unix)]
mod listen;
#[cfg_attr(not(unix), allow(dead_code, reason = "only the ends of a socket use all of it"))]
pub(crate) mod protocol;

pub use crate::lifecycle::sockets::{Purpose, SocketLine};
#[cfg(not(unix))]
pub(crate) use absent::AdminSocket;
#[cfg(not(unix))]
pub use absent::ask;
#[cfg(unix)]
pub use ask::ask;
pub use commands::carry_out;
#[cfg(unix)]
pub(crate) use listen::AdminSocket;
pub use protocol::{Reply, Request, RoomLine};
