//! The errors of this crate. Each says whose fault it is. The model, below, is all that an end has
//! learned from messages. An epoch is a version of the model under which packets are coded, and
//! which both ends are known to have. A room is a link with many decoders. A snapshot is the model
//! as bytes, for a decoder that joins late.

/// Why messages were not encoded. The caller is at fault; the encoder is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A message is larger than [`Config::max_message`](crate::Config::max_message).
    #[error("a message is larger than the configured maximum")]
    MessageTooLarge,
    /// There are more messages than
    /// [`Config::max_messages_per_packet`](crate::Config::max_messages_per_packet).
    #[error("more messages than the configured maximum for one packet")]
    TooManyMessages,
    /// All messages together are larger than [`Config::max_packet`](crate::Config::max_packet).
    #[error("the messages of the packet together are larger than the configured maximum")]
    PacketTooLarge,
    /// A message does not carry exactly [`Config::fields`](crate::Config::fields) fields.
    #[error("a message carries another number of fields than configured")]
    WrongFields,
}

/// Why a packet was not decoded.
///
/// On an ordered link the models of both ends may differ after any of these errors, so that every
/// later packet is answered with [`DecodeError::Poisoned`]: start anew, at both ends. On other
/// links only this packet is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The peer, or the link, sent bytes that no encoder makes at this point: damaged, truncated,
    /// out of order, or made under another configuration.
    #[error("peer sent a packet that no encoder makes at this point of the stream")]
    Malformed,
    /// The peer sent a packet that decodes to more than the configured limits allow.
    #[error("peer sent a packet that decodes to more than the configured limits")]
    TooLarge,
    /// The packet decodes, but not to the messages that the peer encoded: a packet was lost,
    /// repeated or damaged. Only with [`Config::check`](crate::Config::check).
    #[error("the packet's check does not match: an earlier packet was lost, or this one damaged")]
    CheckFailed,
    /// The packet does not hold exactly one message, but
    /// [`Decoder::decode`](crate::Decoder::decode) was called for it. The caller or the peer is at
    /// fault.
    #[error("the packet does not hold exactly one message")]
    NotOneMessage,
    /// The packet was coded under an epoch that this decoder does not have or no longer has: the
    /// packet was too late, or one of the ends has started with a new model. Send the next
    /// acknowledgement soon: it tells the encoder which epoch to use. Nobody is at fault. Does not
    /// occur on ordered links.
    #[error("the packet was coded under an epoch that this decoder does not have")]
    UnknownEpoch,
    /// The packet arrived before, or is too old to tell. The link repeated or delayed it. Does not
    /// occur on ordered links.
    #[error("the packet was received before, or is too old to tell")]
    Duplicate,
    /// An earlier packet failed, so the stream cannot continue.
    #[error("an earlier packet of this stream could not be decoded")]
    Poisoned,
}

/// Why an acknowledgement was not used. The encoder is as it was, except after
/// [`AckError::Diverged`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AckError {
    /// The peer, or the link, sent bytes that are no acknowledgement.
    #[error("peer sent bytes that are no acknowledgement")]
    Malformed,
    /// The peer acknowledges a packet that was never sent.
    #[error("peer acknowledges a packet that was never sent to it")]
    NeverSent,
    /// The acknowledgement contradicts an earlier one, or it leaves out packets in a room, where no
    /// packet may be left out.
    #[error("peer contradicts an earlier acknowledgement")]
    Contradictory,
    /// The peer has learned something else than was sent: a packet was damaged on the way, or one
    /// of the ends has a bug. The encoder has started with a new, empty model.
    #[error("peer learned something else than was sent; starting anew")]
    Diverged,
    /// The link is ordered, where nothing is acknowledged. The caller is at fault.
    #[error("an encoder for an ordered link takes no acknowledgements")]
    OrderedLink,
}

/// Why no decoder was made from a snapshot. Ask the encoder's side for another snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The peer sent a snapshot in another version of the format.
    #[error("peer sent a snapshot of another version")]
    OtherVersion,
    /// The peer's [`Config`](crate::Config) differs, though both ends must use the same. Either end
    /// may be at fault.
    #[error("peer made the snapshot under other settings")]
    OtherConfig,
    /// The snapshot was damaged or cut short on the way.
    #[error("the snapshot was damaged on the way")]
    Damaged,
    /// The peer sent a snapshot that no encoder makes.
    #[error("peer sent a snapshot that no encoder makes")]
    Malformed,
}
