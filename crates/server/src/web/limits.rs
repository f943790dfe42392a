//! Limits of HTTP requests.

use std::time::Duration;

/// Limits of HTTP requests, and of transports that consist of HTTP requests (docs/transports.md,
/// T11 to T18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// How long an HTTP connection may be idle between requests, and how long a request's header
    /// may take.
    pub idle: Duration,
    /// How long the body of a request may take.
    pub request: Duration,
    /// How long a request for packets is held (long polling) before it is answered without a
    /// packet.
    pub held: Duration,
    /// How long a streamed response lasts, unless its client renews it before.
    pub stream: Duration,
    /// The server ends a streamed response after this many bytes of packets.
    pub stream_bytes: usize,
    /// How long a client may have no request for packets open before its transport is closed.
    pub alone: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            idle: Duration::from_secs(30),
            request: Duration::from_secs(10),
            held: Duration::from_secs(20),
            stream: Duration::from_secs(30),
            stream_bytes: 4 << 20,
            alone: Duration::from_secs(5),
        }
    }
}
