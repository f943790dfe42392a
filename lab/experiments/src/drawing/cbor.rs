//! CBOR (RFC 8949): a map with JSON's names and values.

use super::Event;
use super::fields::{Coordinates, Fields};

pub(super) fn message(event: &Event) -> Vec<u8> {
    let fields = Fields::new(event, Coordinates::Screen);
    let mut bytes = Vec::with_capacity(128);
    ciborium::into_writer(&fields, &mut bytes).expect("writing to memory cannot fail");
    bytes
}
