//! Groupwire's settings and use of QUIC, the same at both ends of a WebTransport connection:
//! bounded windows, a short queue of datagrams, a stream that buffers little, congestion control,
//! rare acknowledgements and short headers. Rules such as *T6* are those of `docs/transports.md`.
//!
//! QUIC libraries are built for throughput and buffer megabytes before they report that a path is
//! slow. Messages in such a buffer are out of date when they are sent; in the session a newer value
//! would have replaced them.

mod congestion;
mod controller;
mod datagrams;
mod moves;
mod settings;
mod stream;

pub use congestion::{Congestion, FLOOR_MOST};
/// The old name of [`DatagramSink`].
#[doc(hidden)]
pub use datagrams::DatagramSink as Direct;
pub use datagrams::{ConnectionClosed, DatagramSink, Datagrams, Fate, MAX_AGE};
pub use moves::show_address;
pub use settings::{AckFrequency, End, RARE_ACKS, connection_id, endpoint_settings, settings};
pub use stream::{limit_send_buffer, write_all};
pub use wtransport;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
