//! The errors of this module. Each says whose fault it is.

/// Why a message was not encoded. The caller is at fault; the encoder is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A message is larger than [`Config::max_message`](super::Config::max_message).
    #[error("a message is larger than the configured maximum")]
    MessageTooLarge,
}

/// Why announcements or a packet were not decoded.
///
/// Packets do not depend on each other: after an error the next packet can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The peer, or the link, sent bytes that no encoder makes.
    #[error("peer sent bytes that no encoder makes")]
    Malformed,
    /// A packet needs something that was not announced: a template (an earlier message with which
    /// it was compressed), an entry of the template's dictionary, or its Huffman code set; or the
    /// template has been replaced since. Either the link has lost or reordered announcements, or
    /// the peer is at fault.
    #[error("peer sent a packet whose announcements have not arrived or are outdated")]
    NotAnnounced,
    /// The peer sent a packet that decodes to more than
    /// [`Config::max_message`](super::Config::max_message).
    #[error("peer sent a message larger than the configured maximum")]
    MessageTooLarge,
    /// The peer announced more templates than
    /// [`Config::max_templates`](super::Config::max_templates), or a larger one than
    /// [`Config::max_template_bytes`](super::Config::max_template_bytes).
    #[error("peer announced more templates, or larger ones, than configured")]
    TooManyTemplates,
    /// The packet holds several messages, but [`Decoder::decode`](super::Decoder::decode) was
    /// called for it. The caller or the peer is at fault.
    #[error("the packet does not hold exactly one message")]
    NotOneMessage,
}
