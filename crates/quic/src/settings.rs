//! Windows, timeouts and other settings of a connection. Rules such as *T21* are those of
//! docs/transports.md.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::RandomConnectionIdGenerator;
use wtransport::quinn::{AckFrequencyConfig, EndpointConfig, IdleTimeout, TransportConfig, VarInt};

use crate::controller::ConversationFactory;

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end that connects; the server opens no bidirectional streams towards it.
    Client,
    /// The end that accepts the connection.
    Server,
}

/// Most bidirectional streams that a client may open: the request for the session, the session's
/// one stream, and two for other requests of a browser over HTTP/3.
const STREAMS: u32 = 4;

/// Most unidirectional streams: HTTP/3's control stream, two for header compression, and some of
/// reserved types that a peer may open (RFC 9114, section 6.2.3).
const CONTROL_STREAMS: u32 = 8;

/// Receive window of all streams besides the session's one, in bytes.
const CONTROL_WINDOW: usize = 64 << 10;

/// Bytes of a window besides packets: the headers of packets, and the beginning of the next packet.
const SLACK: usize = 1 << 10;

/// Bytes of datagrams that QUIC buffers while the path takes none: two that fill a packet. Small
/// datagrams come to a blocked path one or two at a time
/// ([`Datagrams::send`](crate::Datagrams::send)). The library counts 32 bytes for each besides its
/// own.
pub(crate) const DATAGRAMS_OUT: usize = 2400;

/// Bytes of received datagrams that may wait to be read. When more come, the oldest are dropped.
const DATAGRAMS_IN: usize = 64 << 10;

/// How rarely an end acknowledges (draft-ietf-quic-ack-frequency).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFrequency {
    /// Packets that may be received without an immediate acknowledgement.
    pub threshold: u32,
    /// How long an acknowledgement may wait for a packet to piggyback on. The library asks for
    /// less, down to 25 ms, where the round trip is shorter.
    pub max_delay: Duration,
    /// An acknowledgement is sent at once if a packet is missing and this number of later ones
    /// arrived; 0: a missing packet hurries none.
    pub reordering: u32,
}

/// The acknowledgements that both ends ask of each other (T21). They wait a little longer than 40
/// ms, the interval at which a server sends collected messages, so that most travel in packets with
/// messages: packets of their own would be the largest cost on a link of low bandwidth. For the
/// same reason a missing packet hurries none: what has a deadline is repeated in datagrams before
/// QUIC would learn of the loss. Ends without the QUIC extension for such requests, such as
/// browsers, acknowledge every second packet, after 25 ms at most.
pub const RARE_ACKS: AckFrequency =
    AckFrequency { threshold: 4, max_delay: Duration::from_millis(45), reordering: 0 };

/// Bytes of the connection id in each packet towards `end` (T22). A client has one connection per
/// socket, which the address identifies; four bytes let a server distinguish billions.
pub const fn connection_id(end: End) -> usize {
    match end {
        End::Client => 0,
        // The library counts the unused ids of four bytes in a `usize`, which overflows on 32-bit
        // machines.
        End::Server if usize::BITS > 32 => 4,
        End::Server => 5,
    }
}

/// Settings of an endpoint: the connection ids that tell the connections of its socket apart.
pub fn endpoint_settings(end: End) -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(move || Box::new(RandomConnectionIdGenerator::new(connection_id(end))));
    config
}

/// Settings of a connection with one session, whose packets have at most `max_packet` bytes. A peer
/// that is silent for `idle` is given up; the shorter time of both ends counts.
///
/// Congestion control is that of [`Congestion`](crate::Congestion) (T24). No packet is larger than
/// what every path carries (T27).
pub fn settings(end: End, max_packet: usize, idle: Duration) -> TransportConfig {
    let mut config = TransportConfig::default();
    config.max_concurrent_bidi_streams(match end {
        End::Client => VarInt::from_u32(0),
        End::Server => VarInt::from_u32(STREAMS),
    });
    config.max_concurrent_uni_streams(VarInt::from_u32(CONTROL_STREAMS));
    config.stream_receive_window(window(stream_window(max_packet)));
    config.receive_window(window(receive_window(max_packet)));
    config.datagram_send_buffer_size(DATAGRAMS_OUT);
    config.datagram_receive_buffer_size(Some(DATAGRAMS_IN));
    config.congestion_controller_factory(Arc::new(ConversationFactory));
    config.ack_frequency_config(Some(ack_frequency()));
    config.max_idle_timeout(IdleTimeout::try_from(idle).ok());
    // Every path carries packets of 1,200 bytes, and the search for a larger size would send
    // padding (T27).
    config.mtu_discovery_config(None);
    // The session has its own keep-alive.
    config.keep_alive_interval(None);
    config
}

/// Bytes of the receive window of a connection with packets of at most `max_packet` bytes.
pub(crate) fn receive_window(max_packet: usize) -> usize {
    stream_window(max_packet).saturating_add(CONTROL_WINDOW)
}

/// Bytes of the receive window of the session's stream: space for a packet that is being read and
/// one that arrives meanwhile.
fn stream_window(max_packet: usize) -> usize {
    max_packet.saturating_mul(2).saturating_add(SLACK)
}

pub(crate) fn window(bytes: usize) -> VarInt {
    VarInt::from_u32(u32::try_from(bytes).unwrap_or(u32::MAX))
}

fn ack_frequency() -> AckFrequencyConfig {
    let mut config = AckFrequencyConfig::default();
    config
        .ack_eliciting_threshold(VarInt::from_u32(RARE_ACKS.threshold))
        .max_ack_delay(Some(RARE_ACKS.max_delay))
        .reordering_threshold(VarInt::from_u32(RARE_ACKS.reordering));
    config
}
