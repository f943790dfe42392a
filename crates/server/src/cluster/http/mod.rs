//! HTTP requests between the servers of a cluster: a server passes a request on to the server that
//! can answer it, and its answer back. Bodies stream both ways, over one connection per pair of
//! servers and direction.

mod ask;
mod forward;
mod limits;
mod peer;
mod serve;

pub(crate) use super::routes::Node;
pub(crate) use ask::Answers;
pub(super) use forward::mark;
pub(crate) use forward::{Forward, Mark, Owner};
pub(crate) use peer::NotForwarded;
pub(super) use serve::serve;
