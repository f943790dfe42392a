//! What a room needs from outside of the program: connections, time and tasks. Rooms usually take
//! them from the operating system and from tokio. A simulation offers its own, in which time passes
//! as it decides.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::DialError;

/// A future in a box.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A surrounding in which rooms run by
/// [`Room::connect_within`](crate::Room::connect_within), without sockets and without a runtime.
pub trait World: Send + Sync {
    /// The time since the world began. It must not wait for a lock that is held while tasks run.
    fn now(&self) -> Duration;

    /// Completes at this time.
    fn sleep_until(&self, at: Duration) -> BoxFuture<()>;

    /// A random number.
    fn random(&self) -> u64;

    /// Runs a task until it ends.
    fn spawn(&self, task: BoxFuture<()>);

    /// Opens a connection to the server.
    fn dial(&self) -> BoxFuture<Result<Box<dyn Link>, DialError>>;
}

/// A connection to a server. Dropping it closes it.
pub trait Link: Send {
    /// Most bytes of a datagram; 0 if the connection has none.
    fn max_datagram(&self) -> usize;

    /// Sends a packet, which arrives after those before it.
    fn send(&mut self, packet: Vec<u8>);

    /// Sends a datagram, which may be lost.
    fn send_datagram(&mut self, packet: Vec<u8>);

    /// The next event. Without `read`, packets and datagrams that have arrived wait: the
    /// application has too many events to read.
    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<LinkEvent>;
}

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// A packet arrived.
    Packet(Vec<u8>),
    /// A datagram arrived.
    Datagram(Vec<u8>),
    /// A packet of [`Link::send`] has left.
    Sent,
    /// A datagram of [`Link::send_datagram`] has left.
    DatagramSent,
    /// The connection is closed.
    Closed,
}
