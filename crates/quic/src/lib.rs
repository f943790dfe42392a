//! What Groupwire asks of QUIC, alike at both ends of a WebTransport connection: bounded windows, a short queue of
//! datagrams, a stream that takes no more than is about to leave, rare acknowledgements and short headers. Rules such as *T6* stand in
//! `docs/transports.md`.
//!
//! QUIC libraries are made for throughput and take in megabytes before they say that a path is slow. What waits there
//! is stale when it leaves; in a session it would have been replaced by something newer.

mod datagrams;
mod settings;
mod stream;

pub use datagrams::{Datagrams, Direct, Lost, MAX_AGE};
pub use settings::{AckFrequency, End, RARE_ACKS, connection_id, endpoint_settings, settings};
pub use stream::{make_room, write_all};
pub use wtransport;
