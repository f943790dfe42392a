//! The errors of experiments.

/// The reason why an experiment cannot run, in words for the user.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result, or the reason why an experiment cannot run.
pub(crate) type Result<T> = std::result::Result<T, Error>;
