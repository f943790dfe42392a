//! MessagePack: a map with JSON's names and values.

use super::Event;
use super::fields::{Coordinates, Fields};

pub(super) fn message(event: &Event) -> Vec<u8> {
    let fields = Fields::new(event, Coordinates::Screen);
    rmp_serde::to_vec(&fields).expect("writing to memory, of known lengths, cannot fail")
}
