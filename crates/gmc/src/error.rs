//! What can go wrong, and whose fault it is.

/// Why messages were not encoded. The fault is the caller's; the encoder is as it was.
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
/// After any of these the decoder's model is no longer known to be the encoder's, so that every
/// later packet is answered with [`DecodeError::Poisoned`]. Start anew, at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The peer, or the link, sent bytes that no encoder makes here: damaged, truncated, out of
    /// order, or made under another configuration.
    #[error("peer sent a packet that no encoder makes at this point of the stream")]
    Malformed,
    /// The peer sent a packet that decodes to more than the configured limits allow.
    #[error("peer sent a packet that decodes to more than the configured limits")]
    TooLarge,
    /// The packet decodes, but not to what the peer encoded: a packet was lost, repeated or
    /// damaged. Only with [`Config::check`](crate::Config::check).
    #[error("the packet's check does not match: an earlier packet was lost, or this one damaged")]
    CheckFailed,
    /// The packet holds another number of messages than one, and
    /// [`Decoder::decode`](crate::Decoder::decode) was called for it. The fault is the caller's or
    /// the peer's.
    #[error("the packet does not hold exactly one message")]
    NotOneMessage,
    /// An earlier packet failed; the stream cannot continue.
    #[error("an earlier packet of this stream could not be decoded")]
    Poisoned,
}
