//! Upgrading in place: a new process takes over the listening sockets of the server that uses the folder of stored rooms, so that
//! no connection attempt is refused while one ends and the other begins.
//!
//! The new process asks over the socket in the folder (`admin.sock`), which only the server's user may open:
//!
//! 1. new: [`Request::Upgrade`](crate::admin::Request::Upgrade). Old: one octet with the descriptors of its sockets, then
//!    [`Reply::Sockets`](crate::admin::Reply::Sockets), which says what they are. Both processes have the sockets now, and the
//!    old one goes on serving. If the new one cannot start, it ends, and nothing has happened.
//! 2. new, once it is ready but for the store: [`Request::TakeOver`](crate::admin::Request::TakeOver). Old:
//!    [`Reply::TakenOver`](crate::admin::Reply::TakenOver). From now on the old one accepts nothing: it says goodbye to its clients,
//!    closes its connections, and ends. What connects meanwhile waits in the sockets.
//! 3. The new one waits for the lock of the folder, which the old one has until its end. It opens the store and serves. It reads
//!    no packet of WebTransport before that: they could be of the old one's connections.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod give;
mod sockets;
#[cfg(unix)]
mod take;

#[cfg(not(unix))]
pub(crate) use absent::Predecessor;
#[cfg(unix)]
pub(crate) use give::give;
pub(crate) use sockets::{Handover, Sockets};
pub use sockets::{Purpose, SocketLine};
#[cfg(unix)]
pub(crate) use take::Predecessor;
