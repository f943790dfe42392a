//! What can go wrong, and who has to change something (wire.md W8, W37).

use alloc::string::String;

/// Who has to change something for an error to go away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The other end broke the protocol.
    Peer,
    /// The other end speaks another version or lacks something needed.
    Incompatible,
    /// A stated limit was reached.
    Limit,
    /// Whoever decides about rights said no.
    Refused,
    /// This end failed, or its caller asked for something impossible.
    Own,
}

/// The code of [`Error::NotChanged`], whose subject is a channel's number (W77).
pub(crate) const NOT_CHANGED: u32 = 16;

/// Every error of the session protocol.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No common protocol version.
    #[error(
        "the other end speaks protocol version {theirs}, this end version {ours}: update the older one"
    )]
    Version {
        /// The version the other end named.
        theirs: u8,
        /// The version this end speaks.
        ours: u8,
    },
    /// Octets that no rule of the wire format allows.
    #[error("malformed {what}")]
    Malformed {
        /// What was being read.
        what: &'static str,
    },
    /// A frame type that this end does not know and may not skip.
    #[error("unsupported frame type {frame:#04x}")]
    Unsupported {
        /// The type without its flag bits.
        frame: u8,
    },
    /// Something is larger than its stated limit.
    #[error("{what} of {size} bytes is over the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// More of something than its stated limit.
    #[error("too many {what}: the limit is {limit}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// Text was due and the octets are not UTF-8.
    #[error("{what} is not valid UTF-8")]
    InvalidText {
        /// What was to be text.
        what: &'static str,
    },
    /// A channel that was never opened.
    #[error("channel {channel} was not opened: call `channel` with its name and QoS first")]
    UnknownChannel {
        /// The number that was named.
        channel: u32,
    },
    /// Something that this participant has no right to.
    #[error("not allowed: {what}")]
    NotAllowed {
        /// What was tried.
        what: &'static str,
    },
    /// The server's authorisation hook said no.
    #[error("refused: {why}")]
    Refused {
        /// The hook's reason.
        why: String,
    },
    /// A QoS that contradicts itself.
    #[error("this QoS cannot be: {why}")]
    InvalidQos {
        /// What contradicts.
        why: &'static str,
    },
    /// Something compressed, a body or a message, that does not decode.
    #[error("what was compressed does not decode: {why}")]
    Compression {
        /// The compressor's reason.
        why: String,
    },
    /// Nothing was heard from the other end for too long.
    #[error("nothing was heard from the other end for {ms} ms")]
    Silent {
        /// For how long, in milliseconds.
        ms: u64,
    },
    /// The other end does not read what it is sent.
    #[error("the other end does not read what it is sent")]
    Stalled,
    /// The same session came back over another transport.
    #[error("this session continues on another connection")]
    Replaced,
    /// A compression that does not exist.
    #[error("there is no such compression: {why}")]
    InvalidCompress {
        /// What there is instead.
        why: String,
    },
    /// The server left a channel's QoS as it is.
    #[error("this QoS was not taken: {why}")]
    NotChanged {
        /// Its reason.
        why: String,
    },
    /// What the other end reported.
    #[error("the other end reports: {detail}")]
    Remote {
        /// Its code.
        code: u32,
        /// Who it says is at fault, seen from here.
        fault: Fault,
        /// Its words.
        detail: String,
    },
}

impl Error {
    /// Who has to change something.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Version { .. } | Error::Unsupported { .. } => Fault::Incompatible,
            Error::Malformed { .. }
            | Error::InvalidText { .. }
            | Error::UnknownChannel { .. }
            | Error::NotAllowed { .. }
            | Error::Compression { .. }
            | Error::Silent { .. }
            | Error::Stalled => Fault::Peer,
            Error::TooLarge { .. } | Error::TooMany { .. } => Fault::Limit,
            Error::Refused { .. } | Error::NotChanged { .. } => Fault::Refused,
            Error::InvalidQos { .. } | Error::InvalidCompress { .. } | Error::Replaced => {
                Fault::Own
            }
            Error::Remote { fault, .. } => *fault,
        }
    }

    /// The error's number on the wire. Numbers are never used again for something else.
    pub fn code(&self) -> u32 {
        match self {
            Error::Version { .. } => 1,
            Error::Malformed { .. } => 2,
            Error::Unsupported { .. } => 3,
            Error::TooLarge { .. } => 4,
            Error::TooMany { .. } => 5,
            Error::InvalidText { .. } => 6,
            Error::UnknownChannel { .. } => 7,
            Error::NotAllowed { .. } => 8,
            Error::Refused { .. } => 9,
            Error::InvalidQos { .. } => 10,
            Error::Compression { .. } => 11,
            Error::Silent { .. } => 12,
            Error::Stalled => 13,
            Error::Replaced => 14,
            Error::InvalidCompress { .. } => 15,
            Error::NotChanged { .. } => NOT_CHANGED,
            Error::Remote { code, .. } => *code,
        }
    }

    /// A short name for programs and logs, such as `too-large`.
    pub fn name(&self) -> &'static str {
        name_of(self.code())
    }

    pub(crate) fn malformed(what: &'static str) -> Self {
        Error::Malformed { what }
    }
}

/// The short name of a code that came over the wire.
pub fn name_of(code: u32) -> &'static str {
    match code {
        1 => "version",
        2 => "malformed",
        3 => "unsupported",
        4 => "too-large",
        5 => "too-many",
        6 => "invalid-text",
        7 => "unknown-channel",
        8 => "not-allowed",
        9 => "refused",
        10 => "invalid-qos",
        11 => "compression",
        12 => "silent",
        13 => "stalled",
        14 => "replaced",
        15 => "invalid-compress",
        NOT_CHANGED => "not-changed",
        _ => "unknown",
    }
}

impl Fault {
    /// The number on the wire, seen from the end that writes it.
    pub(crate) fn to_wire(self) -> u8 {
        match self {
            Fault::Peer => 0,
            Fault::Incompatible => 1,
            Fault::Limit => 2,
            Fault::Refused => 3,
            Fault::Own => 4,
        }
    }

    /// Reads the other end's judgement and turns it round: its "peer" is this end.
    pub(crate) fn from_wire(value: u8) -> Self {
        match value {
            0 => Fault::Own,
            1 => Fault::Incompatible,
            2 => Fault::Limit,
            3 => Fault::Refused,
            _ => Fault::Peer,
        }
    }
}
