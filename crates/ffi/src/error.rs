//! The one error type of all languages: a number and a word for programs, a sentence for people.

use groupwire_client::{Error as ClientError, Fault as ClientFault};

/// Declares the codes with their numbers and words in one place.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal $word:literal,)*) => {
        /// The kind of an error. Numbers below 100 are those of the session protocol
        /// (docs/wire/session.md); numbers from 100 on are of this library alone. No number is ever
        /// used again for another error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum Code {
            $($(#[$doc])* $name = $number,)*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The word for programs and logs, such as `too-large`.
            pub fn word(self) -> &'static str {
                match self { $(Code::$name => $word,)* }
            }
        }
    };
}

codes! {
    /// The client and the server have no protocol version in common.
    Version = 1 "version",
    /// Bytes break a rule of the wire format.
    Malformed = 2 "malformed",
    /// A frame has a type that its receiver does not know.
    Unsupported = 3 "unsupported",
    /// A value has more bytes than its limit allows, for example a message or a name.
    TooLarge = 4 "too-large",
    /// There are more items than a limit allows, for example too many channels.
    TooMany = 5 "too-many",
    /// Bytes that must be text are not UTF-8.
    InvalidText = 6 "invalid-text",
    /// The channel was not opened.
    UnknownChannel = 7 "unknown-channel",
    /// The participant has no right to do this.
    NotAllowed = 8 "not-allowed",
    /// The server refused.
    Refused = 9 "refused",
    /// The values of a QoS contradict each other.
    InvalidQos = 10 "invalid-qos",
    /// Compressed bytes do not decode.
    Compression = 11 "compression",
    /// The other end has sent nothing for too long.
    Silent = 12 "silent",
    /// The other end does not read the packets that it is sent.
    Stalled = 13 "stalled",
    /// Another connection has taken over the session.
    Replaced = 14 "replaced",
    /// There is no such compression.
    InvalidCompress = 15 "invalid-compress",
    /// The server did not make a requested change of a QoS.
    NotChanged = 16 "not-changed",
    /// The room cannot do this at present.
    NotNow = 17 "not-now",
    /// The server refused a part of the snapshot.
    PartRefused = 18 "part-refused",
    /// The token has expired.
    Expired = 19 "expired",
    /// The token was revoked.
    Revoked = 20 "revoked",
    /// The user is banned.
    Banned = 21 "banned",
    /// The participant sends far more than its quota.
    OverQuota = 22 "over-quota",
    /// An argument is wrong; the text names it and says what is right.
    InvalidArgument = 100 "invalid-argument",
    /// The server cannot be reached; the client keeps trying.
    Unreachable = 101 "unreachable",
    /// The room was left, or has ended.
    Closed = 102 "closed",
    /// The room belongs to the process that forked this one.
    Forked = 103 "forked",
    /// A batch of shared data is open, or another thread is calling a function that only one thread
    /// may call at a time.
    Busy = 104 "busy",
    /// This library has failed.
    Internal = 105 "internal",
    /// A name of shared data does not have 1 to 64 characters, or has a slash.
    BadName = 106 "bad-name",
    /// A key of shared data has more than 128 characters, or an unpaired surrogate.
    BadKey = 107 "bad-key",
    /// A text is not JSON, or a value has a number that is not finite or an unpaired surrogate,
    /// which JSON cannot carry.
    NotJson = 108 "not-json",
    /// An argument of a change of shared data is wrong: a value is nested too deeply, fields are
    /// not an object, or a difference is not a whole number between -2^53 and 2^53.
    BadArgument = 109 "bad-argument",
    /// A change of shared data cannot be sent, for example because this participant may not
    /// publish.
    NotSent = 110 "not-sent",
    /// The other end reported an error that this version does not know.
    Unknown = 199 "unknown",
}

/// The side that has to change something to avoid the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Fault {
    /// The other end broke the protocol.
    Peer = 0,
    /// The client and the server have versions that do not work together.
    Incompatible = 1,
    /// A limit was reached.
    Limit = 2,
    /// The server refused.
    Refused = 3,
    /// This program made the mistake.
    Own = 4,
}

/// An error: its text says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} ({})", code.word())]
pub struct Error {
    /// The kind of the error.
    pub code: Code,
    /// The side that has to change something.
    pub fault: Fault,
    /// A sentence for people.
    pub text: String,
}

impl Code {
    /// The code with this number; [`Code::Unknown`] if there is none.
    pub fn from_number(number: u32) -> Code {
        let known = Code::ALL.iter().find(|code| **code as u32 == number);
        known.copied().unwrap_or(Code::Unknown)
    }
}

impl Fault {
    /// The word for programs and logs.
    pub fn word(self) -> &'static str {
        match self {
            Fault::Peer => "peer",
            Fault::Incompatible => "incompatible",
            Fault::Limit => "limit",
            Fault::Refused => "refused",
            Fault::Own => "own",
        }
    }
}

impl Error {
    /// An error of [`Fault::Own`].
    pub fn own(code: Code, text: impl Into<String>) -> Error {
        Error { code, fault: Fault::Own, text: text.into() }
    }

    /// The error for a wrong argument. `expected` completes the sentence "`name` must be", and may
    /// say which value came instead.
    pub fn argument(name: &str, expected: impl AsRef<str>) -> Error {
        Error::own(Code::InvalidArgument, format!("{name} must be {}", expected.as_ref()))
    }

    pub(crate) fn closed() -> Error {
        Error::own(Code::Closed, "the session is over: connect again")
    }
}

impl From<groupwire_client::SessionError> for Error {
    fn from(error: groupwire_client::SessionError) -> Error {
        let code = Code::from_number(error.code());
        Error { code, fault: error.fault().into(), text: error.to_string() }
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Error {
        match error {
            ClientError::Session(error) => error.into(),
            ClientError::Address { .. } => Error::own(Code::InvalidArgument, error.to_string()),
            ClientError::Unreachable { .. } => {
                Error { code: Code::Unreachable, fault: Fault::Peer, text: error.to_string() }
            }
            ClientError::Over => Error::closed(),
            other => Error::own(Code::Internal, other.to_string()),
        }
    }
}

/// The codes are those of `groupwire_client::data::Error::code`.
impl From<groupwire_client::data::Error<ClientError>> for Error {
    fn from(error: groupwire_client::data::Error<ClientError>) -> Error {
        let known = Code::ALL.iter().find(|code| code.word() == error.code());
        Error::own(known.copied().unwrap_or(Code::Internal), error.to_string())
    }
}

impl From<ClientFault> for Fault {
    fn from(fault: ClientFault) -> Fault {
        match fault {
            ClientFault::Peer => Fault::Peer,
            ClientFault::Incompatible => Fault::Incompatible,
            ClientFault::Limit => Fault::Limit,
            ClientFault::Refused => Fault::Refused,
            ClientFault::Own => Fault::Own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_are_those_of_the_session_protocol() {
        for code in Code::ALL.iter().filter(|code| (**code as u32) < 100) {
            assert_eq!(groupwire_client::name_of(*code as u32), code.word());
            assert_eq!(Code::from_number(*code as u32), *code);
        }
        // The first number that the protocol does not have yet: a new one needs a code here.
        assert_eq!(groupwire_client::name_of(23), "unknown");
        assert_eq!(Code::from_number(23), Code::Unknown);
    }

    #[test]
    fn errors_of_shared_data_keep_their_codes() {
        use groupwire_client::data::Error as DataError;
        let name = String::from("x");
        let errors = [
            (DataError::Name { name: name.clone() }, Code::BadName),
            (DataError::Key, Code::BadKey),
            (DataError::NotJson { name: name.clone() }, Code::NotJson),
            (DataError::TooDeep { name: name.clone(), limit: 1 }, Code::BadArgument),
            (DataError::Fields { name }, Code::BadArgument),
            (DataError::Difference, Code::BadArgument),
            (DataError::Send(ClientError::Over), Code::NotSent),
        ];
        for (error, code) in errors {
            let text = error.to_string();
            assert_eq!(Error::from(error), Error::own(code, text));
        }
    }
}
