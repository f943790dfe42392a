//! Why an experiment cannot run.

/// What is in the way, in words for the user.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of what may fail so.
pub(crate) type Result<T> = std::result::Result<T, Error>;
