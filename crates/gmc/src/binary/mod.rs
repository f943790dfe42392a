//! Binary values: floats, integers of fixed and of variable length, strings, and the values of
//! self-describing formats.

mod cbor;
pub(crate) mod fixed;
pub(crate) mod float;
pub(crate) mod format;
mod message_pack;
pub(crate) mod part;
pub(crate) mod prefix;
pub(crate) mod shape;
pub(crate) mod varint;
