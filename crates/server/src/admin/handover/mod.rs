//! Upgrading in place: a new process takes over the listening sockets of the server that uses the
//! folder of stored rooms, so that no connection attempt is refused while the old process ends and
//! the new one begins.
//!
//! The new process asks over the socket in the folder (`admin.sock`), which only the server's user
//! may open:
//!
//! 1. The new process sends [`Request::Upgrade`](crate::admin::Request::Upgrade). The old one
//!    answers one byte with the descriptors of its sockets, then
//!    [`Reply::Sockets`](crate::admin::Reply::Sockets), which says what they are. Both processes
//!    have the sockets now, and the old one goes on serving. If the new one cannot start, it ends,
//!    and the old one is not affected.
//! 2. Once everything but the store is ready, the new process sends
//!    [`Request::TakeOver`](crate::admin::Request::TakeOver), and the old one answers
//!    [`Reply::TakenOver`](crate::admin::Reply::TakenOver). From now on the old one accepts
//!    nothing: it says goodbye to its clients, closes its connections, and ends. New connections
//!    wait in the sockets.
//! 3. The new process waits for the lock of the folder, which the old one holds until its end. It
//!    then opens the store and serves. Before that it reads no packet of WebTransport: the packet
//!    could belong to one of the old process's connections.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod give;
#[cfg(unix)]
mod take;

#[cfg(not(unix))]
pub(crate) use absent::Predecessor;
#[cfg(unix)]
pub(crate) use give::give;
#[cfg(unix)]
pub(crate) use take::Predecessor;
