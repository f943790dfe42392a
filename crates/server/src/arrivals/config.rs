//! The configuration of the rate at which a server lets clients join.

use std::time::Duration;

/// How fast a server admits clients. When more connect than it can serve, such as all of them after
/// a restart, the ones that it can serve within a second wait, and it tells the others when to come
/// back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalLimits {
    /// The most clients that join in a second; 0: as many as the server can serve.
    pub joins_per_second: u32,
    /// The server takes fewer clients in when rooms run due work, such as a tick, later than this;
    /// 0: lateness has no effect.
    pub lag: Duration,
}

impl Default for ArrivalLimits {
    /// No fixed rate, and a lag of 20 ms: people do not notice it beside a tick of 40 ms.
    fn default() -> Self {
        ArrivalLimits { joins_per_second: 0, lag: Duration::from_millis(20) }
    }
}
