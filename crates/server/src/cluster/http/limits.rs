//! Limits of the connections that carry HTTP requests between servers.

use std::time::Duration;

/// Most requests at a time from one server to another one. A transport made of HTTP requests has
/// two.
pub(super) const MAX_REQUESTS: u32 = 8192;

/// Bytes of one body that a server sends before the other one has taken them.
pub(super) const STREAM_WINDOW: u32 = 64 << 10;

/// The same of all bodies together: a body that nobody reads does not hold up others. They bound
/// the memory of a connection.
pub(super) const CONNECTION_WINDOW: u32 = MAX_REQUESTS * STREAM_WINDOW;

/// Bytes of a body that wait to be written.
pub(super) const SEND_BUFFER: usize = 64 << 10;

/// A server is asked for a sign of life in this interval, and has died if none comes in time.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
pub(super) const SILENCE: Duration = Duration::from_secs(3);
