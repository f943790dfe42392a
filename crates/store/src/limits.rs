//! The limits of requests.

/// The longest name of a room or a part, in bytes (wire W11).
pub const MAX_NAME: usize = 256;
/// The largest content of a record: 16 MiB.
pub const MAX_RECORD: usize = 16 << 20;
/// The largest event: a record as text, with what else is told of it.
pub const MAX_EVENT: usize = 32 << 20;
/// The largest part of a snapshot: 64 MiB of the application's, and 1 MiB for what the room adds.
pub const MAX_PART: usize = 65 << 20;
/// The most channels of a part.
pub const MAX_CHANNELS: usize = 4096;
/// The largest meta data of a room: enough for 10,000 counters of participants and some thousand
/// channels.
pub const MAX_META: usize = 1 << 20;
/// The largest position and the largest number of a room: SQLite's integers have a sign.
pub const MAX_POSITION: u64 = i64::MAX as u64;
/// The largest number of a shard, so that events of all shards have places in one table.
pub const MAX_SHARD: u16 = 32_000;
