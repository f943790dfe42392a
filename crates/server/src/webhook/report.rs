//! What `GET /status` tells of the webhook.

use crate::figures::figure::figures;

figures! {
    /// Figures of the webhook.
    struct WebhookFigures {
        /// Events that the receiver was told and has acknowledged.
        Counter delivered as "delivered": u64;
        /// Requests to the receiver.
        Counter requests as "requests": u64;
        /// Requests that were not answered with 2xx.
        Counter failed as "failed": u64;
        /// Requests that repeated one that had failed.
        Counter retried as "retried": u64;
        /// Events that are told as a gap: too old, too many, of deleted rooms, too large for the
        /// receiver, or while the store took nothing.
        Counter dropped as "dropped": u64;
        /// Events that wait for the receiver.
        Gauge waiting as "waiting": u64;
        /// Bytes of the events that wait.
        Gauge waiting_bytes as "waiting_bytes": u64;
        /// Age of the oldest event that waits.
        Gauge lag_seconds as "lag_seconds": f64;
    }
}
