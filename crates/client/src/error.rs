//! What can go wrong, and what to do about it.

/// Every error of the native client.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address cannot be one of a Groupwire server.
    #[error("{url:?} is no address of a server: {why}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it and how it should look.
        why: &'static str,
    },
    /// No transport could be opened. The room keeps trying.
    #[error("{url} cannot be reached ({why}): is `groupwire serve` running there?")]
    Unreachable {
        /// Where the server should be.
        url: String,
        /// What the operating system or the HTTP server said.
        why: String,
    },
    /// The protocol, the server or its limits said no.
    #[error(transparent)]
    Session(#[from] groupwire_session::Error),
    /// The session was left, or ended with the last [`Room`](crate::Room).
    #[error("the session is over: connect again")]
    Over,
}
