//! Compares policies in simulated time: what codecs make of real blocks and what they take is
//! measured once, the link and the processors are as fast as one likes.

mod clock;
mod conditions;
mod oracle;
mod table;
mod transfer;

pub(super) use clock::cpu;
pub(super) use conditions::{Conditions, Course, Until};
pub(super) use oracle::{Oracle, bound};
pub(super) use table::{File, Table, Trace};
pub(super) use transfer::{Outcome, transfer};
