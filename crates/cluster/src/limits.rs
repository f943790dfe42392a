//! Limits that keep memory and records small.

/// Bytes of a node's name: a label of the domain name system has 63.
pub const MAX_NAME: usize = 64;

/// Bytes of a node's address: some URLs and a hash of a certificate.
pub const MAX_ADDRESS: usize = 1024;

/// Payloads above this become a blob with a reference in the log: NATS takes messages of 1 MiB, and
/// one large message would delay those of the other shards.
pub const MAX_INLINE: usize = 512 << 10;

/// Bytes of the largest record: an inline payload and a header.
pub const MAX_RECORD: usize = MAX_INLINE + (4 << 10);

/// Bytes of the largest payload of one proposal, and of the largest base: no engine takes a larger
/// blob.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// Bytes of a blob's name.
pub(crate) const MAX_BLOB_NAME: usize = 128;

/// Proposals of a shard that wait behind the append in flight. A caller that collects changes into
/// batches needs one; more wait only where it does not.
pub const MAX_QUEUED: usize = 64;

/// Bytes of payloads of a shard that wait, unless there is only one.
pub const MAX_QUEUED_BYTES: usize = 8 << 20;

/// Records of a shard that the driver was told to apply and has not: beyond, nothing is read or
/// appended.
pub(crate) const MAX_UNAPPLIED: usize = 256;

/// Bytes of payloads of a shard that the driver has not applied, unless there is only one record.
pub(crate) const MAX_UNAPPLIED_BYTES: usize = 8 << 20;

/// Bytes that a read asks for: a large record and some small ones.
pub(crate) const READ_BYTES: usize = 1 << 20;

/// Shards of a deployment.
pub const MAX_SHARDS: u16 = 1024;

/// Nodes whose beats are read. A cluster has some ten nodes, and names of nodes that were replaced.
pub(crate) const MAX_NODES: usize = 256;

/// Bytes of a beat: address, and 12 bytes for each shard that the node cannot serve.
pub(crate) const MAX_BEAT: usize = 16 << 10;
