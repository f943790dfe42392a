//! Errors, and whose fault they are. A stream consists of frames, each a header with a payload. A
//! history is the last bytes of a direction, which codecs may use as their dictionary.

use groupwire_codecs::CodecError;

/// Why a stream cannot continue. The fault is the other end's or the network's. Bytes that were
/// read before are correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The first bytes are not a hello (the message that opens a stream) of this version: the other
    /// end speaks another protocol or version.
    #[error("the other end does not speak this protocol; is it a groupwire tunnel?")]
    NoPeer,
    /// A frame of an unknown kind, or of a kind that is not allowed at this place.
    #[error("the other end sent a frame that is not allowed: its first byte is {tag:#04x}")]
    Frame {
        /// The first byte of the frame.
        tag: u8,
    },
    /// The other end announced a frame whose payload is longer than allowed.
    #[error("the other end announced {length} bytes where at most {limit} are allowed")]
    TooLong {
        /// The announced length.
        length: usize,
        /// The largest length that is allowed.
        limit: usize,
    },
    /// A block that cannot be decompressed.
    #[error("the other end sent a block that cannot be decompressed: {0}")]
    Block(#[from] CodecError),
    /// An acknowledgement of blocks that were never sent.
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
    /// A block size outside of 1 KiB to 1 MiB.
    #[error("a block has 1,024 to 1,048,576 bytes, not {0}")]
    Block(usize),
    /// A history of more than 1 MiB.
    #[error("the history has at most 1,048,576 bytes, not {0}")]
    History(usize),
    /// A candidate (a codec with its level) that this build does not have.
    #[error("this build cannot compress with {0}")]
    Candidate(crate::Candidate),
}
