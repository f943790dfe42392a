//! How far a user has read, as it tells it with its next request: a position, or a cursor that an
//! answer gave it.

use std::fmt::{Display, Formatter};

use groupwire_session::room::Place;
use groupwire_session::{Order, Position};

use super::refusal::Refusal;
use crate::rooms::task::Driver;

/// The place after what an answer has, in this form, which no client takes apart:
///
/// ```text
/// position-order-people-incarnation-load        the last two in hexadecimal
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) place: Place,
    /// The version of the participants.
    pub(super) people: u64,
    incarnation: u64,
    load: u64,
}

/// What a request says that its user has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The transactions up to this position.
    Position(u64),
    Cursor(Cursor),
}

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// `None`: with what is newest.
    pub(super) place: Option<Place>,
    pub(super) people: u64,
    /// True if the room was lost since the user read it: the place is of another room of this name.
    pub(super) is_anew: bool,
}

impl Cursor {
    /// The cursor of a room.
    pub(super) fn new(driver: &Driver, place: Place, people: u64) -> Self {
        let (incarnation, load) = (driver.room.incarnation(), driver.room.load_number());
        Cursor { place, people, incarnation, load }
    }
}

impl Display for Cursor {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Cursor { place: Place { position, order }, people, incarnation, load } = self;
        write!(f, "{position}-{order}-{people}-{incarnation:x}-{load:x}")
    }
}

impl After {
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        read(text).ok_or_else(|| {
            Refusal::bad("after, Last-Event-ID: write a position, or the cursor or id of an answer")
        })
    }

    /// The place where reading begins in this room.
    pub(super) fn start(after: Option<After>, driver: &Driver) -> Start {
        let head = driver.room.newest_place().position;
        let anew = Start { place: Some(Place::default()), people: 0, is_anew: true };
        match after {
            None => Start { place: None, people: 0, is_anew: false },
            Some(After::Position(position)) if position > head.get() => anew,
            Some(After::Position(position)) => {
                let place = Place { position: Position(position), order: Order(0) };
                Start { place: Some(place), people: 0, is_anew: false }
            }
            Some(After::Cursor(cursor)) => {
                let Cursor { place, people, incarnation, load } = cursor;
                if incarnation != driver.room.incarnation() || place.position > head {
                    return anew;
                }
                // Orders and versions begin again when a room is loaded.
                match load == driver.room.load_number() {
                    true => Start { place: Some(place), people, is_anew: false },
                    false => {
                        let place = Place { order: Order(0), ..place };
                        Start { place: Some(place), people: 0, is_anew: false }
                    }
                }
            }
        }
    }
}

fn read(text: &str) -> Option<After> {
    // Longer texts than the longest cursor are not looked through.
    if text.len() > 100 || !text.is_ascii() {
        return None;
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    let decimal = |text: &str| is_number(text).then(|| text.parse().ok()).flatten();
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_hexdigit());
    let hex = |text: &str| is_hex(text).then(|| u64::from_str_radix(text, 16).ok()).flatten();
    let parts: Vec<&str> = text.split('-').collect();
    match parts[..] {
        [position] => decimal(position).map(After::Position),
        [position, order, people, incarnation, load] => {
            let place =
                Place { position: Position(decimal(position)?), order: Order(decimal(order)?) };
            let (incarnation, load) = (hex(incarnation)?, hex(load)?);
            Some(After::Cursor(Cursor { place, people: decimal(people)?, incarnation, load }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(
            position: u64, order: u64, people: u64, incarnation: u64, load: u64,
        ) {
            let place = Place { position: Position(position), order: Order(order) };
            let cursor = Cursor { place, people, incarnation, load };
            prop_assert_eq!(read(&cursor.to_string()), Some(After::Cursor(cursor)));
            prop_assert_eq!(read(&position.to_string()), Some(After::Position(position)));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = read(&text);
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for wrong in ["", "-", "+1", "-1", "1-2", "1-2-3-4", "1-2-3-4-5-6", "1-2-3-g-5", "1.5", "١"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read(&"1".repeat(101)), None);
        assert_eq!(read("99999999999999999999"), None);
    }
}
