//! The errors of shared data.

use alloc::string::String;

/// Why a change was refused. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// Shared data cannot have this name.
    #[error("shared data cannot be named {name:?}: take 1 to 64 characters without a slash")]
    Name {
        /// The name.
        name: String,
    },
    /// A key is too long.
    #[error(
        "a key is a text of at most 128 characters, without halves of characters: take another one"
    )]
    Key,
    /// A value is not one that JSON carries: it has a number that is not finite, or half of a
    /// character.
    #[error(
        "a value for {name:?} has a number that is not finite, or half of a character: leave it out"
    )]
    NotJson {
        /// The name of the data.
        name: String,
    },
    /// A value is nested too deeply.
    #[error("a value for {name:?} has more than {limit} levels: make it flatter")]
    TooDeep {
        /// The name of the data.
        name: String,
        /// The greatest number of levels, those of the operation included.
        limit: usize,
    },
    /// Fields that were to be set or shown are not an object.
    #[error("fields for {name:?} have to be an object")]
    Fields {
        /// The name of the data.
        name: String,
    },
    /// A counter counts by whole numbers between -2^53 and 2^53.
    #[error("a difference is a whole number between -2^53 and 2^53: count in the smallest unit")]
    Difference,
    /// A value does not fit the schema of this program.
    #[error("{name:?} does not fit its schema: {why}")]
    Schema {
        /// The name of the data.
        name: String,
        /// What the schema says.
        why: String,
    },
    /// The operation could not be sent, for example because this participant may not publish.
    #[error(transparent)]
    Send(E),
}

impl<E> Error<E> {
    /// A name for the error that stays the same: that of the TypeScript package.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Name { .. } => "bad-name",
            Error::Key => "bad-key",
            Error::NotJson { .. } => "not-json",
            Error::TooDeep { .. } | Error::Fields { .. } | Error::Difference => "bad-argument",
            Error::Schema { .. } => "invalid",
            Error::Send(_) => "not-sent",
        }
    }
}
