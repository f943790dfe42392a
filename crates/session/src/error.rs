//! The errors of the session protocol, and who is at fault (wire W8, W37).

use alloc::string::String;

/// The party that has to change something, so that an error does not happen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The other end broke the protocol.
    Peer,
    /// The other end speaks another version of the protocol, or lacks a feature that is needed.
    Incompatible,
    /// A limit was reached, one of [`Limits`](crate::Limits) for example.
    Limit,
    /// The server's [`Authority`](crate::Authority) refused.
    Refused,
    /// This end failed, or the program that called it asked for something impossible.
    Own,
}

/// The code of [`Error::Replaced`] (wire W44).
pub(crate) const REPLACED: u32 = 14;

/// The code of [`Error::NotChanged`]. In an ERROR frame with this code, `subject` is the number of
/// the channel (wire W77).
pub(crate) const NOT_CHANGED: u32 = 16;

/// The code of [`Error::NotNow`]. In an ERROR frame with this code that is not fatal, `subject` is
/// the number of the channel (wire W93).
pub(crate) const NOT_NOW: u32 = 17;

/// The code of [`Error::PartRefused`]. In an ERROR frame with this code, `subject` is the number of
/// the part (wire W95).
pub(crate) const PART_REFUSED: u32 = 18;

/// The code of [`Error::Expired`]: the client needs another token before it dials again (wire W98).
pub(crate) const EXPIRED: u32 = 19;

/// The code of [`Error::Revoked`]: the client needs another token before it dials again (wire W98).
pub(crate) const REVOKED: u32 = 20;

/// The code of [`Error::Banned`] (wire W98).
pub(crate) const BANNED: u32 = 21;

/// The code of [`Error::OverQuota`] (wire W99).
pub(crate) const OVER_QUOTA: u32 = 22;

/// Every error of the session protocol.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The two ends have no protocol version in common.
    #[error(
        "the other end speaks protocol version {theirs}, this end version {ours}: update the older one"
    )]
    Version {
        /// The version that the other end speaks.
        theirs: u8,
        /// The version that this end speaks.
        ours: u8,
    },
    /// The received bytes break a rule of the wire format.
    #[error("malformed {what}")]
    Malformed {
        /// The item that was being read.
        what: &'static str,
    },
    /// A frame was received whose type this end does not know and may not skip.
    #[error("unsupported frame type {frame:#04x}")]
    Unsupported {
        /// The type of the frame, without the flag bits of its tag.
        frame: u8,
    },
    /// Something is larger than its stated limit.
    #[error("{what} of {size} bytes is over the limit of {limit}")]
    TooLarge {
        /// The item that is too large.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// There is more of something than its stated limit.
    #[error("too many {what}: the limit is {limit}")]
    TooMany {
        /// The items, in the plural.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// Bytes that must be text are not UTF-8.
    #[error("{what} is not valid UTF-8")]
    InvalidText {
        /// What must be text.
        what: &'static str,
    },
    /// The channel is not open.
    #[error("channel {channel} was not opened: call `channel` with its name and QoS first")]
    UnknownChannel {
        /// The number of the channel.
        channel: u32,
    },
    /// The participant tried something that it has no right to do.
    #[error("not allowed: {what}")]
    NotAllowed {
        /// The action that the participant tried.
        what: &'static str,
    },
    /// The server's [`Authority`](crate::Authority) refused a request.
    #[error("refused: {why}")]
    Refused {
        /// The reason that it gave.
        why: String,
    },
    /// The values of a QoS contradict each other.
    #[error("this QoS cannot be: {why}")]
    InvalidQos {
        /// The contradiction.
        why: &'static str,
    },
    /// A compressed payload or message cannot be decoded.
    #[error("what was compressed does not decode: {why}")]
    Compression {
        /// The reason that the decompressor gave.
        why: String,
    },
    /// Nothing came from the other end for too long.
    #[error("nothing was heard from the other end for {ms} ms")]
    Silent {
        /// For how long nothing came, in milliseconds.
        ms: u64,
    },
    /// The other end does not read the bytes that it is sent.
    #[error("the other end does not read what it is sent")]
    Stalled,
    /// The session goes on over another transport, and this one is closed (wire W44).
    #[error("this session continues on another connection")]
    Replaced,
    /// The application named a compression that does not exist.
    #[error("there is no such compression: {why}")]
    InvalidCompress {
        /// The name, and the compressions that exist.
        why: String,
    },
    /// The server did not change the QoS of a channel as asked.
    #[error("this QoS was not taken: {why}")]
    NotChanged {
        /// The reason that the server gave.
        why: String,
    },
    /// The server does not take a part of the snapshot from this participant.
    #[error("this part of the snapshot is not taken: {why}")]
    PartRefused {
        /// The reason that the server gave.
        why: String,
    },
    /// The room cannot do this at present, but later it can.
    #[error("not now: {what}")]
    NotNow {
        /// The reason.
        what: &'static str,
    },
    /// The participant's token has expired. The participant can return with another token (wire
    /// W98).
    #[error("the token has expired: give the client another one")]
    Expired,
    /// The participant's token was revoked before its end. The participant can return with a token
    /// that was issued later (wire W98).
    #[error("the token was revoked: give the client another one")]
    Revoked,
    /// The user may not be in the room: another token of the same user does not help (wire W98).
    #[error("this user is banned {why}")]
    Banned {
        /// For how long, and the reason that the administrator gave.
        why: String,
    },
    /// The participant sends far more than its quota, although the room asked it to hold
    /// transactions back (wire W99). The client sends later what the room has not accepted.
    #[error(
        "over quota by more than {seconds} s: send less, and hold transactions back when the server asks for it"
    )]
    OverQuota {
        /// The participant has to send nothing for more than this many seconds until it is within
        /// its quota.
        seconds: u64,
    },
    /// The other end reported an error.
    #[error("the other end reports: {detail}")]
    Remote {
        /// The code of the error on the wire (see [`name_of`]).
        code: u32,
        /// Who is at fault, as the other end says, but seen from this end.
        fault: Fault,
        /// The other end's description of the error.
        detail: String,
    },
}

impl Error {
    /// The party that has to change something, so that the error does not happen again.
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
            Error::TooLarge { .. }
            | Error::TooMany { .. }
            | Error::NotNow { .. }
            | Error::OverQuota { .. } => Fault::Limit,
            Error::Refused { .. }
            | Error::NotChanged { .. }
            | Error::PartRefused { .. }
            | Error::Expired
            | Error::Revoked
            | Error::Banned { .. } => Fault::Refused,
            Error::InvalidQos { .. } | Error::InvalidCompress { .. } | Error::Replaced => {
                Fault::Own
            }
            Error::Remote { fault, .. } => *fault,
        }
    }

    /// The number of the error on the wire. A number is never used again for another error.
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
            Error::Replaced => REPLACED,
            Error::InvalidCompress { .. } => 15,
            Error::NotChanged { .. } => NOT_CHANGED,
            Error::NotNow { .. } => NOT_NOW,
            Error::PartRefused { .. } => PART_REFUSED,
            Error::Expired => EXPIRED,
            Error::Revoked => REVOKED,
            Error::Banned { .. } => BANNED,
            Error::OverQuota { .. } => OVER_QUOTA,
            Error::Remote { code, .. } => *code,
        }
    }

    /// A short name of the error for programs and logs, such as `too-large`.
    pub fn name(&self) -> &'static str {
        name_of(self.code())
    }

    pub(crate) fn malformed(what: &'static str) -> Self {
        Error::Malformed { what }
    }
}

/// The short name of an error by its number on the wire.
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
        REPLACED => "replaced",
        15 => "invalid-compress",
        NOT_CHANGED => "not-changed",
        17 => "not-now",
        PART_REFUSED => "part-refused",
        EXPIRED => "expired",
        REVOKED => "revoked",
        BANNED => "banned",
        OVER_QUOTA => "over-quota",
        _ => "unknown",
    }
}

impl Fault {
    /// The number on the wire. [`Fault::Peer`] means the end that reads it.
    pub(crate) fn to_wire(self) -> u8 {
        match self {
            Fault::Peer => 0,
            Fault::Incompatible => 1,
            Fault::Limit => 2,
            Fault::Refused => 3,
            Fault::Own => 4,
        }
    }

    /// Reads the number that the other end wrote. Its "peer" is this end, so that peer and own are
    /// exchanged.
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
