//! The integration tests of this crate, in one program: every further program would have to be
//! linked.

mod flow;
mod hostile;
mod pair;
#[cfg(feature = "all")]
mod recording;
mod stream;
