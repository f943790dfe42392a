//! What experiments tell while they run.

/// What there is to tell.
#[derive(Debug)]
#[non_exhaustive]
pub enum Update<R> {
    /// So many runs are over, of about so many.
    Progress {
        /// Runs that are over.
        done: usize,
        /// All runs.
        total: usize,
        /// What was begun last.
        what: String,
    },
    /// A row is there.
    Row(Box<R>),
    /// Something could not run.
    Skipped {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
}
