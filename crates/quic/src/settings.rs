//! Windows, timeouts and other numbers of a connection.

use std::time::Duration;

use quinn_proto::RandomConnectionIdGenerator;
use wtransport::quinn::{AckFrequencyConfig, EndpointConfig, IdleTimeout, TransportConfig, VarInt};

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

/// Bytes that may come on all streams besides the session's one.
const CONTROL_WINDOW: usize = 64 << 10;

/// Bytes of the headers around each packet on the stream and of what the next one may begin with.
const SLACK: usize = 1 << 10;

/// Bytes of datagrams that QUIC holds while the path takes none: two that fill a packet, or about twenty small ones
/// (the library counts 32 bytes for each besides its own).
pub(crate) const DATAGRAMS_OUT: usize = 2400;

/// Bytes of datagrams that have come and are not taken yet. When more come, the oldest go.
const DATAGRAMS_IN: usize = 64 << 10;

/// How rarely an end acknowledges (draft-ietf-quic-ack-frequency).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFrequency {
    /// Packets that may come without an acknowledgement going at once.
    pub threshold: u32,
    /// How long one waits for a packet that goes anyway. The library asks for less where a round trip takes less, down to
    /// 25 ms.
    pub max_delay: Duration,
    /// An acknowledgement goes at once if it tells that a packet is missing and so many later ones came.
    pub reordering: u32,
}

/// T21: what ends ask of each other's acknowledgements. They wait a little longer than a tick (40 ms), so that most ride on
/// the packets of the next one; those that go alone are the largest cost of a thin path. Ends that do not know the
/// extension, such as browsers, acknowledge every second packet, after 25 ms at most.
pub const RARE_ACKS: AckFrequency =
    AckFrequency { threshold: 4, max_delay: Duration::from_millis(45), reordering: 2 };

/// T22: bytes of the connection id in each packet towards `end`. A client knows the one connection of its socket by the
/// address; a server tells billions apart by four.
pub const fn connection_id(end: End) -> usize {
    match end {
        End::Client => 0,
        // The library counts the ids of four bytes that are left, in a `usize`.
        End::Server if usize::BITS > 32 => 4,
        End::Server => 5,
    }
}

/// How a socket's connections are told apart. A client's socket has one.
pub fn endpoint_settings(end: End) -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(move || Box::new(RandomConnectionIdGenerator::new(connection_id(end))));
    config
}

/// QUIC for one session, whose packets are at most `max_packet` bytes. A peer that is silent for `idle` is given up;
/// the shorter time of both ends counts.
///
/// Congestion control is the library's Cubic. An awareness channel stays below the smallest window there is (two packets
/// a round trip, 9 KB/s at 250 ms), so that it hardly matters; what BBR would gain on lossy paths is for bulk, and the
/// library calls its own experimental.
pub fn settings(end: End, max_packet: usize, idle: Duration) -> TransportConfig {
    let window = |bytes: usize| VarInt::from_u32(u32::try_from(bytes).unwrap_or(u32::MAX));
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
    config.ack_frequency_config(Some(ack_frequency()));
    config.max_idle_timeout(IdleTimeout::try_from(idle).ok());
    // The session sends a sign of life by itself.
    config.keep_alive_interval(None);
    config
}

fn ack_frequency() -> AckFrequencyConfig {
    let mut config = AckFrequencyConfig::default();
    config
        .ack_eliciting_threshold(VarInt::from_u32(RARE_ACKS.threshold))
        .max_ack_delay(Some(RARE_ACKS.max_delay))
        .reordering_threshold(VarInt::from_u32(RARE_ACKS.reordering));
    config
}
