//! JSON whose coordinates are floating point numbers, as applications with a zoomed canvas send
//! them.

use super::Event;
use super::fields::{Coordinates, Fields};
use super::json::write;

pub(super) fn message(event: &Event) -> Vec<u8> {
    write(&Fields::new(event, Coordinates::Canvas))
}
