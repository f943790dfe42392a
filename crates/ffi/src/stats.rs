//! Counts of a room and of its channels.

use groupwire_client as client;

/// Totals since the room was made. "Before" counts the bytes of messages, "after" whole packets.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Bytes of these messages.
    pub bytes_out_before: u64,
    /// Bytes of the packets that carried them.
    pub bytes_out_after: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Packets that were sent as datagrams.
    pub datagrams_out: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Bytes of these messages.
    pub bytes_in_before: u64,
    /// Bytes of the packets that carried them.
    pub bytes_in_after: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets that came as datagrams.
    pub datagrams_in: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
    /// How often the session was resumed after its transport was lost.
    pub reconnects: u64,
    /// The smoothed round-trip time in milliseconds; 0 before the first measurement.
    pub round_trip_ms: f64,
}

/// The traffic of one channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Messages to the server.
    pub sent: Traffic,
    /// Messages from the server.
    pub received: Traffic,
}

/// The traffic of one channel in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages that were packed alone, or not compressed.
    pub messages: u64,
    /// Their bytes before compression.
    pub bytes_before: u64,
    /// Their bytes after compression.
    pub bytes_after: u64,
    /// Messages that were coded together with others of their packet.
    pub coded_messages: u64,
    /// Their bytes before compression.
    pub coded_bytes: u64,
    /// The codec of the last message that was packed alone; `None` if there was none.
    pub codec: Option<String>,
}

impl Stats {
    pub(crate) fn of(room: &client::Room) -> Stats {
        let (stats, framing) = (room.stats(), room.framing());
        Stats {
            messages_out: stats.messages_out,
            bytes_out_before: stats.bytes_out_before,
            bytes_out_after: stats.bytes_out_after,
            packets_out: stats.packets_out,
            datagrams_out: framing.datagrams_out,
            messages_in: stats.messages_in,
            bytes_in_before: stats.bytes_in_before,
            bytes_in_after: stats.bytes_in_after,
            packets_in: stats.packets_in,
            datagrams_in: framing.datagrams_in,
            conflated: stats.conflated,
            reconnects: stats.reconnects,
            round_trip_ms: room.round_trip().map_or(0.0, |time| time.as_secs_f64() * 1000.0),
        }
    }
}

impl From<client::Traffic> for Traffic {
    fn from(traffic: client::Traffic) -> Traffic {
        Traffic {
            messages: traffic.messages,
            bytes_before: traffic.bytes_before,
            bytes_after: traffic.bytes_after,
            coded_messages: traffic.coded_messages,
            coded_bytes: traffic.coded_bytes,
            codec: traffic.codec.map(|choice| client::Compress::Named(choice).to_string()),
        }
    }
}

impl From<client::ChannelStats> for ChannelStats {
    fn from(stats: client::ChannelStats) -> ChannelStats {
        ChannelStats { sent: stats.sent.into(), received: stats.received.into() }
    }
}
