//! An emulated bad network, which the ends of a connection pass their packets through.
//!
//! Datagrams are dropped and delayed. Bytes of a reliable transport cannot be dropped here without
//! breaking it, so the effect of a lost segment on a stream is modelled: the segment arrives one
//! retransmission later, and all bytes behind it wait. The model is described in
//! `docs/operations/administration.md`.

mod ends;
pub(crate) mod model;
pub(crate) mod path;
pub(crate) mod switch;

#[cfg(test)]
mod tests;
