//! The integration tests of this crate, in one program: every further program would have to be
//! linked.

mod auto;
mod codecs;
mod compress;
mod hostile;
mod lzop;
mod programs;
mod reference;
