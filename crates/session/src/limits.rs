//! Limits for everything that a peer can make grow (law 3 in docs/laws.md). Sizes are in bytes.

use core::time::Duration;

/// Octets of a room name, at most (W11).
pub const MAX_ROOM_NAME: usize = 256;
/// Octets of a channel name, at most.
pub const MAX_CHANNEL_NAME: usize = 128;
/// Octets of a token, at most (W11): a JSON web token with room to spare.
pub const MAX_TOKEN: usize = 4096;
/// Octets of one participant's presence, at most (W11).
pub const MAX_PRESENCE: usize = 4096;
/// Octets of a key, at most (W26).
pub const MAX_KEY: usize = 256;
/// Octets of a record's extensions, at most (W26).
pub const MAX_EXTENSIONS: usize = 1024;
/// Records in a body, at most (W26).
pub const MAX_RECORDS: usize = 4096;
/// Octets that the packed messages of a body stand for, at most (W48): so a small packet cannot make much work.
pub const MAX_UNPACKED: usize = 262_144;
/// Octets that a packed chunk of a snapshot, or a packed body, stands for, at most (W53, W54).
pub const MAX_BLOCK: usize = 65_536;
/// Octets of a model's snapshot, at most (W61).
pub const MAX_MODEL: usize = 65_536;
/// Octets of the snapshot of a model for datagrams, at most (W71): twice what one is made of.
pub const MAX_DATAGRAM_MODEL: usize = 262_144;
/// Octets of an error's or a goodbye's text, at most.
pub const MAX_DETAIL: usize = 1024;
/// Octets of a packet before the other end has stated its own limit (W7).
pub const DEFAULT_MAX_PACKET: usize = 65_536;
/// Octets of a datagram, at most, whatever a transport could carry: a path's packets, and few enough that the packed
/// messages of a datagram never stand for more than [`MAX_UNPACKED`].
pub const MAX_DATAGRAM: usize = 1500;
/// What a record and a packet may need besides the octets of a message.
pub(crate) const RECORD_OVERHEAD: usize = MAX_KEY + MAX_EXTENSIONS + 64;

/// What a record in a datagram of its own may need besides the octets of its message and key: six numbers of 32 bits,
/// lengths, the frame's tag, gmc's header and check.
pub(crate) const RECORD_OVERHEAD_IN_DATAGRAMS: usize = 64;

/// What one end accepts and keeps. The defaults suit a room of some hundred people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest packet this end takes.
    pub max_packet: usize,
    /// The largest message this end takes; leaves room for key and headers in a packet.
    pub max_message: usize,
    /// The largest snapshot a room keeps.
    pub max_snapshot: usize,
    /// Participants of a room.
    pub max_participants: usize,
    /// Channels of a room, and of one client.
    pub max_channels: usize,
    /// Keys that one participant may hold on all conflated channels together; the oldest goes first.
    pub max_keys: usize,
    /// Bytes of awareness a room or client keeps for whoever has not been sent it yet.
    pub max_awareness_bytes: usize,
    /// Transactions a client holds until they are ordered; then `send` says *not now*.
    pub max_pending: usize,
    /// Bytes of such transactions.
    pub max_pending_bytes: usize,
    /// The room asks for a snapshot when the log since the last one holds so many transactions ...
    pub snapshot_after: usize,
    /// ... or so many bytes.
    pub snapshot_after_bytes: usize,
    /// Bytes of log a room keeps at most. Then the oldest go, and late joiners are told of the gap.
    pub max_log_bytes: usize,
    /// Sessions that a room remembers after their participants left, so that they can still resume.
    pub max_former: usize,
}

impl Limits {
    /// The smallest packet that carries a message of `max_message` octets, key and headers included.
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
            max_participants: 2048,
            max_channels: 64,
            max_keys: 1024,
            max_awareness_bytes: 1 << 20,
            max_pending: 4096,
            max_pending_bytes: 4 << 20,
            snapshot_after: 2000,
            snapshot_after_bytes: 256 << 10,
            max_log_bytes: 16 << 20,
            max_former: 1024,
        }
    }
}

/// The times of keep-alive and resuming (W35, W36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How long mailboxes collect messages before they are sent; zero sends at once.
    pub tick: Duration,
    /// How often a silent connection is asked for a sign of life.
    pub ping: Duration,
    /// After how long without one a connection is closed.
    pub dead: Duration,
    /// How long a participant whose connection broke is *away* before it has *left*.
    pub away: Duration,
}

impl Default for Timing {
    /// 40 ms is what a pointer at 25 updates per second gives; 2 s and 5 s notice a dead peer within 6 s.
    fn default() -> Self {
        Timing {
            tick: Duration::from_millis(40),
            ping: Duration::from_secs(2),
            dead: Duration::from_secs(5),
            away: Duration::from_secs(10),
        }
    }
}
