//! The one error of all functions.

use groupwire_ffi::{Error, Fault};

/// An error, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Failure {
    /// The kind of the error.
    pub code: Code,
    /// The number of the code, which is also that of the wire format if it is below 100.
    pub number: u32,
    /// The word of the code for programs and logs, such as `too-large`.
    pub word: String,
    /// The side that has to change something.
    pub fault: Fault,
    /// A sentence that says what is wrong and what to do.
    pub text: String,
}

/// What a function of a session throws.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum SessionError {
    /// The function did nothing, or not all that was asked.
    #[error("{} ({})", failure.text, failure.word)]
    Failed {
        /// The error, for programs and for people.
        failure: Failure,
    },
}

/// The side that has to change something, so that an error does not happen again.
#[uniffi::remote(Enum)]
pub enum Fault {
    /// The other end broke the protocol.
    Peer,
    /// The two ends are of versions that do not fit.
    Incompatible,
    /// A limit was reached.
    Limit,
    /// The server refused.
    Refused,
    /// This program.
    Own,
}

/// Declares the codes once, and the way from those of `groupwire_ffi`.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The kind of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl From<groupwire_ffi::Code> for Code {
            fn from(code: groupwire_ffi::Code) -> Code {
                match code {
                    $(groupwire_ffi::Code::$name => Code::$name,)*
                    _ => Code::Unknown,
                }
            }
        }
    };
}

codes! {
    /// The two ends have no protocol version in common.
    Version,
    /// Bytes break a rule of the wire format.
    Malformed,
    /// A frame of a type that this end does not know.
    Unsupported,
    /// Something is larger than its limit.
    TooLarge,
    /// There is more of something than its limit.
    TooMany,
    /// Bytes that must be text are not UTF-8.
    InvalidText,
    /// The channel was not opened.
    UnknownChannel,
    /// The participant has no right to do this.
    NotAllowed,
    /// The server refused.
    Refused,
    /// The values of a QoS contradict each other.
    InvalidQos,
    /// Compressed bytes do not decode.
    Compression,
    /// Nothing came from the other end for too long.
    Silent,
    /// The other end does not read what it is sent.
    Stalled,
    /// The session goes on over another connection.
    Replaced,
    /// There is no such compression.
    InvalidCompress,
    /// The server did not change a QoS as asked.
    NotChanged,
    /// The room cannot do this at present.
    NotNow,
    /// The server does not take a part of the snapshot.
    PartRefused,
    /// The token has expired.
    Expired,
    /// The token was revoked.
    Revoked,
    /// The user is banned.
    Banned,
    /// The participant sends far more than its quota.
    OverQuota,
    /// An argument is wrong; the text names it and says what is right.
    InvalidArgument,
    /// The server cannot be reached; the client keeps trying.
    Unreachable,
    /// The room was left, or has ended.
    Closed,
    /// The room belongs to the process that forked this one.
    Forked,
    /// Two threads call a function that only one may call at a time.
    Busy,
    /// A fault of this library.
    Internal,
    /// A name of shared data is empty or too long.
    BadName,
    /// A key of shared data is empty or too long.
    BadKey,
    /// A text is no JSON.
    NotJson,
    /// A value does not suit the shared data.
    BadArgument,
    /// A change of shared data was not sent, and nothing has changed.
    NotSent,
    /// The other end reported an error that this version does not know.
    Unknown,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure {
            code: error.code.into(),
            number: error.code as u32,
            word: error.code.word().to_owned(),
            fault: error.fault,
            text: error.text,
        }
    }
}

impl From<Error> for SessionError {
    fn from(error: Error) -> SessionError {
        SessionError::Failed { failure: error.into() }
    }
}
