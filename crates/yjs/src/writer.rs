//! Writes lib0's encoding.

use alloc::vec::Vec;

use crate::reader::Id;

pub(crate) fn number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn id(out: &mut Vec<u8>, Id { client, clock }: Id) {
    number(out, client);
    number(out, clock);
}

/// Bytes, with their number before them.
pub(crate) fn blob(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
