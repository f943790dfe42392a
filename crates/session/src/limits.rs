//! Limits for everything that a peer can make grow (law 3 in docs/laws.md), and the times of
//! keep-alive and resuming. Sizes are in bytes.

use core::time::Duration;

/// The largest name of a room (wire W11).
pub const MAX_ROOM_NAME: usize = 256;
/// The largest name of a channel (wire W16).
pub const MAX_CHANNEL_NAME: usize = 128;
/// The largest name of a part of a room's snapshot (wire W95).
pub const MAX_PART_NAME: usize = 128;
/// The most parts that a participant offers on a transport, and that it is being sent at a time
/// (wire W95).
pub const MAX_PARTS: usize = 64;
/// The largest part of a snapshot in a stored room, and that a client accepts unless it is
/// configured otherwise.
pub const MAX_STORED_PART: usize = 64 << 20;
/// The largest token (wire W11). It leaves room for a JSON web token with many claims.
pub const MAX_TOKEN: usize = 4096;
/// The longest address of the server that has a room, in bytes (wire W117).
pub const MAX_OWNER_ADDRESS: usize = 256;
/// The longest name of a verified user, in bytes (wire W100): the other participants see it beside
/// the presence.
pub const MAX_USER: usize = 256;
/// The largest presence of one participant (wire W11).
pub const MAX_PRESENCE: usize = 4096;
/// The largest key of a message (wire W26).
pub const MAX_KEY: usize = 256;
/// The largest extensions of a record, together (wire W26).
pub const MAX_EXTENSIONS: usize = 1024;
/// The most records in the payload of a packet (wire W26).
pub const MAX_RECORDS: usize = 4096;
/// The largest size, after unpacking, of all packed messages of one payload together (wire W48). It
/// bounds the work that a small packet can cause.
pub const MAX_UNPACKED: usize = 262_144;
/// The largest size, after unpacking, of a packed chunk of a snapshot or of a packed payload (wire
/// W53, W54).
pub const MAX_BLOCK: usize = 65_536;
/// The largest snapshot of the compression model of a fan-out group on the stream (wire W61).
pub const MAX_MODEL: usize = 65_536;
/// The largest snapshot of the compression model of a fan-out group on datagrams (wire W71): twice
/// the 128 KiB of memory that the model may have (wire W70).
pub const MAX_DATAGRAM_MODEL: usize = 262_144;
/// The largest text of an ERROR frame (wire W37).
pub const MAX_DETAIL: usize = 1024;
/// The largest packet that may be sent before the other end has stated its own limit (wire W7).
pub const DEFAULT_MAX_PACKET: usize = 65_536;
/// The largest datagram, also where a transport carries larger ones. 1,500 is the packet size of
/// Ethernet, and it is small enough that the packed messages of one datagram never unpack to more
/// than [`MAX_UNPACKED`].
pub const MAX_DATAGRAM: usize = 1500;
/// The largest transaction, which travels in pieces (wire W97).
pub const MAX_TRANSACTION: usize = 16 << 20;
/// The most pieces of a transaction (wire W97).
pub const MAX_PIECES: usize = 4096;
/// The most bytes that a record and its packet need besides the message: key, extensions, and 64
/// for numbers and headers.
pub(crate) const RECORD_OVERHEAD: usize = MAX_KEY + MAX_EXTENSIONS + 64;

/// The most bytes that a record, alone in a datagram, needs besides its message and key: six
/// numbers of 32 bits, lengths, the tag of the frame, gmc's header and check byte (wire W43).
pub(crate) const RECORD_OVERHEAD_IN_DATAGRAMS: usize = 64;

/// What one end of the protocol accepts and keeps, at most. The defaults suit a room of some
/// hundred people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest packet that this end accepts.
    pub max_packet: usize,
    /// The largest message that this end accepts. The default is less than `max_packet`, because
    /// key and headers must fit, too.
    pub max_message: usize,
    /// The largest part of a snapshot that this end accepts.
    pub max_snapshot: usize,
    /// The most participants of a room.
    pub max_participants: usize,
    /// The most channels of a room, and of one client.
    pub max_channels: usize,
    /// The most keys of one participant on all channels that conflate, together. Beyond that, the
    /// oldest key is dropped.
    pub max_keys: usize,
    /// The most bytes of awareness messages that a room or client keeps until they have been sent.
    pub max_awareness_bytes: usize,
    /// The most transactions that a client keeps until they are ordered. While that many wait,
    /// sending another one is refused.
    pub max_pending: usize,
    /// The most bytes of these waiting transactions. A transaction of [`MAX_TRANSACTION`] has to
    /// fit into half of them.
    pub max_pending_bytes: usize,
    /// When this many transactions came on the channels of a part of the snapshot since the last
    /// one, the room asks a participant for a new one.
    pub snapshot_after: usize,
    /// When this many bytes of transactions came on the channels of a part since the last one, the
    /// room asks for a new one, too.
    pub snapshot_after_bytes: usize,
    /// The most bytes of transactions in a room's log. Beyond that, the oldest are dropped, and a
    /// participant that lacks them gets a *gap* event. A stored room drops none: while there are
    /// more that no part of the snapshot covers, it takes no further ones. There the limit holds
    /// for the channels that are in parts, and for the others together.
    pub max_log_bytes: usize,
    /// The most bytes of transactions of one channel in a stored room that is in no part of the
    /// snapshot. Beyond that, the room takes none on this channel.
    pub max_partless_bytes: usize,
    /// In a stored room, the most bytes of transactions that wait to become durable, and also the
    /// most bytes of incomplete transactions in pieces. Beyond that, the room takes no
    /// transactions.
    pub max_volatile_bytes: usize,
    /// The most sessions that a room remembers after their participants left. These sessions can
    /// still be resumed.
    pub max_former: usize,
}

impl Limits {
    /// A packet size with which a message of `max_message` bytes always fits, with key and headers.
    pub(crate) const fn packet_for(max_message: usize) -> usize {
        max_message.saturating_add(RECORD_OVERHEAD + 64)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_packet: DEFAULT_MAX_PACKET,
            max_message: 60_000,
            max_snapshot: 4 << 20,
            max_participants: 10_000,
            max_channels: 64,
            max_keys: 1024,
            max_awareness_bytes: 1 << 20,
            max_pending: 4096,
            max_pending_bytes: 32 << 20,
            snapshot_after: 2000,
            snapshot_after_bytes: 256 << 10,
            max_log_bytes: 16 << 20,
            max_partless_bytes: 8 << 20,
            max_volatile_bytes: 32 << 20,
            max_former: 1024,
        }
    }
}

/// The times of sending, keep-alive and resuming (wire W35, W36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The time between two ticks, at which a room sends the messages that it collected. With zero,
    /// each message is sent at once. In a room of at most 16 participants a tick comes up to a
    /// quarter earlier, if datagrams are repeated then.
    pub tick: Duration,
    /// A client sends a PING this often. A server sends one when nothing came from the client for
    /// this time.
    pub ping: Duration,
    /// When nothing came from the other end for this time, the connection is closed.
    pub dead: Duration,
    /// For this time, a participant whose connection broke is *away*; then it has *left*.
    pub away: Duration,
}

impl Default for Timing {
    /// A tick is 40 ms, the interval of a pointer with 25 updates per second. With a ping every 2 s
    /// and a limit of 5 s of silence, a dead peer is noticed within 6 s (wire W35).
    fn default() -> Self {
        Timing {
            tick: Duration::from_millis(40),
            ping: Duration::from_secs(2),
            dead: Duration::from_secs(5),
            away: Duration::from_secs(10),
        }
    }
}
