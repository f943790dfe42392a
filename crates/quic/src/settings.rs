//! Windows, timeouts and other numbers of a connection.

use std::time::Duration;

use wtransport::quinn::{IdleTimeout, TransportConfig, VarInt};

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The one that connects. Nobody opens bidirectional streams towards it.
    Client,
    /// The one that is connected to.
    Server,
}

/// Bidirectional streams that a client may open: the request for the session, the session's one stream, and two for
/// whatever else a browser says over HTTP/3.
const STREAMS: u32 = 4;

/// Unidirectional streams: HTTP/3's control stream, two for header compression, and some that a peer opens only to see
/// that it may (RFC 9114, section 6.2.3).
const CONTROL_STREAMS: u32 = 8;

/// Octets that may come on all streams besides the session's one.
const CONTROL_WINDOW: usize = 64 << 10;

/// Octets of the headers around each packet on the stream and of what the next one may begin with.
const SLACK: usize = 1 << 10;

/// Octets of datagrams that QUIC holds while the path takes none: two that fill a packet, or about twenty small ones
/// (the library counts 32 octets for each besides its own).
pub(crate) const DATAGRAMS_OUT: usize = 2400;

/// Octets of datagrams that have come and are not taken yet. When more come, the oldest go.
const DATAGRAMS_IN: usize = 64 << 10;

/// QUIC for one session, whose packets are at most `max_packet` octets. A peer that is silent for `idle` is given up;
/// the shorter time of both ends counts.
///
/// Congestion control is the library's Cubic. An awareness channel stays below the smallest window there is (two packets
/// a round trip, 9 KB/s at 250 ms), so that it hardly matters; what BBR would gain on lossy paths is for bulk, and the
/// library calls its own experimental.
pub fn settings(end: End, max_packet: usize, idle: Duration) -> TransportConfig {
    let window = |octets: usize| VarInt::from_u32(u32::try_from(octets).unwrap_or(u32::MAX));
    let mut config = TransportConfig::default();
    config.max_concurrent_bidi_streams(match end {
        End::Client => VarInt::from_u32(0),
        End::Server => VarInt::from_u32(STREAMS),
    });
    config.max_concurrent_uni_streams(VarInt::from_u32(CONTROL_STREAMS));
    // One packet that is being taken in, and one that arrives meanwhile.
    let stream = max_packet.saturating_mul(2).saturating_add(SLACK);
    config.stream_receive_window(window(stream));
    config.receive_window(window(stream.saturating_add(CONTROL_WINDOW)));
    config.datagram_send_buffer_size(DATAGRAMS_OUT);
    config.datagram_receive_buffer_size(Some(DATAGRAMS_IN));
    config.max_idle_timeout(IdleTimeout::try_from(idle).ok());
    // The session sends a sign of life by itself.
    config.keep_alive_interval(None);
    config
}
