//! What can be wrong, and whose fault it is.

use groupwire_codecs::CodecError;

/// Why a stream cannot go on. The fault is the other end's, or the network's. What was delivered before is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The first octets are not those of such a stream: the other end is something else, or a newer version.
    #[error("the other end does not speak this protocol; is it a groupwire tunnel?")]
    NoPeer,
    /// A frame of a kind that does not exist or that may not come here.
    #[error("the other end sent a frame that is not allowed: its first octet is {tag:#04x}")]
    Frame {
        /// The frame's first octet.
        tag: u8,
    },
    /// A length beyond what was agreed.
    #[error("the other end announced {length} octets where at most {limit} are allowed")]
    TooLong {
        /// What was announced.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A block that cannot be unpacked.
    #[error("the other end sent a block that cannot be unpacked: {0}")]
    Block(#[from] CodecError),
    /// It speaks of blocks that were never sent.
    #[error("the other end acknowledged more than was sent")]
    Acknowledgement,
    /// The transport ended before the stream did.
    #[error("the connection ended in the middle of the stream")]
    Truncated,
}

/// Why a stream cannot be made. The fault is the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Blocks are from 1 KiB to 1 MiB.
    #[error("a block has 1,024 to 1,048,576 octets, not {0}")]
    Block(usize),
    /// History is at most 1 MiB.
    #[error("the history has at most 1,048,576 octets, not {0}")]
    History(usize),
    /// A candidate that this build cannot pack.
    #[error("this build cannot pack by {0}")]
    Candidate(crate::Candidate),
}
