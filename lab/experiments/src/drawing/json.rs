//! JSON as web applications send it, without spaces.

use super::Event;
use super::fields::{Coordinates, Fields};

pub(super) fn message(event: &Event) -> Vec<u8> {
    write(&Fields::new(event, Coordinates::Screen))
}

pub(super) fn write(fields: &Fields) -> Vec<u8> {
    serde_json::to_vec(fields).expect("names are texts and numbers are finite")
}
