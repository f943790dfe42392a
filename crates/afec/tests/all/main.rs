//! The integration tests of this crate, in one program: every further program would have to be
//! linked.

mod choice;
mod coded;
mod hostile;
mod pair;
mod rate;
mod recorded;
mod shares;
mod support;
