//! What is sent: a pointer as an application would write it, always 90 octets, so that it can be found and compared
//! within whatever a server wraps it in.

use std::io::Write;

use crate::drawing::{Point, places};

/// Octets of a message.
pub(super) const SIZE: usize = 90;

/// How each begins; two digits that name its sender follow.
const START: &[u8] = br#"{"type":"pointer","id":"u"#;
const SENDER: usize = START.len();
/// Where its number is, of seven digits.
const NUMBER: usize = 64;
/// What numbers begin with, since JSON has no leading zeros.
const FIRST: u32 = 1_000_000;
/// Senders that two digits can name.
pub(super) const MAX_SENDERS: usize = 100;

/// Where a hand goes; after that it begins anew.
const PLACES: usize = 2048;

/// Somebody's pointer.
pub(super) struct Pointer {
    sender: usize,
    places: Vec<Point>,
    next: u32,
}

/// What a message says that others do not: all say who, where, which and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Content {
    pub(super) sender: u8,
    pub(super) x: u16,
    pub(super) y: u16,
    /// As it is written: counted from 1,000,000.
    pub(super) n: u32,
    pub(super) unix_ms: u64,
}

impl Content {
    /// Appends the message.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let Content { sender, x, y, n, unix_ms } = self;
        // Writing to memory cannot fail.
        let _ = write!(
            out,
            r#"{{"type":"pointer","id":"u{sender:02}","tool":"pen","x":{x},"y":{y},"n":{n},"t":{unix_ms}}}"#,
        );
    }
}

/// Which message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) sender: usize,
    /// Counted from 0.
    pub(super) number: u32,
}

impl Pointer {
    pub(super) fn new(sender: usize, seed: u64) -> Self {
        let seed = seed.wrapping_mul(1000).wrapping_add(sender as u64);
        Pointer { sender, places: places(seed, PLACES), next: 0 }
    }

    /// The next message, written at `unix_ms`.
    pub(super) fn next(&mut self, unix_ms: u64) -> (Name, Vec<u8>) {
        let name = Name { sender: self.sender, number: self.next };
        let place = self.places[self.next as usize % self.places.len()];
        self.next += 1;
        let mut out = Vec::with_capacity(SIZE);
        let content = Content {
            // There are at most 100 of them.
            sender: self.sender as u8,
            // A board is larger than a screen, so that coordinates have four digits.
            x: 1000 + place.x,
            y: 1000 + place.y,
            n: FIRST + name.number,
            unix_ms,
        };
        content.write(&mut out);
        (name, out)
    }
}

/// The messages within some octets, each whole.
pub(super) fn find(mut octets: &[u8]) -> impl Iterator<Item = (Name, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let at = octets.iter().position(|&octet| octet == b'{')?;
            octets = &octets[at..];
            match octets.split_at_checked(SIZE) {
                Some((message, rest)) if message.starts_with(START) => {
                    octets = rest;
                    if let Some(name) = name(message) {
                        return Some((name, message));
                    }
                }
                Some(_) => octets = &octets[1..],
                None => return None,
            }
        }
    })
}

fn name(message: &[u8]) -> Option<Name> {
    let digits = |at: usize, count: usize| {
        message.get(at..at + count)?.iter().try_fold(0u32, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0'))
        })
    };
    let number = digits(NUMBER, 7)?.checked_sub(FIRST)?;
    Some(Name { sender: digits(SENDER, 2)? as usize, number })
}

/// Tells whether two messages are the same; not made to withstand anybody.
pub(super) fn hash(octets: &[u8]) -> u64 {
    octets.chunks(8).fold(octets.len() as u64, |sum, chunk| {
        let word = chunk.iter().fold(0, |word, &octet| word << 8 | u64::from(octet));
        // Knuth's multiplier of MMIX; the rotation lets high bits count.
        (sum ^ word).wrapping_mul(6_364_136_223_846_793_005).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_json_of_90_octets_that_says_which_it_is() {
        let mut pointer = Pointer::new(7, 1);
        for number in 0..3000 {
            let (name, message) = pointer.next(1_764_012_345_678);
            assert_eq!(name, Name { sender: 7, number });
            assert_eq!(message.len(), SIZE, "{}", String::from_utf8_lossy(&message));
            let value: serde_json::Value = serde_json::from_slice(&message).unwrap();
            assert_eq!(value["n"], FIRST + number);
        }
    }

    #[test]
    fn messages_are_found_in_what_servers_wrap_them_in() {
        let (mut one, mut two) = (Pointer::new(0, 1), Pointer::new(42, 1));
        let (a, first) = one.next(1_764_012_345_678);
        let (b, second) = two.next(1_764_012_345_679);
        let mut wrapped = br#"42["pointers",["#.to_vec();
        wrapped.extend(&first);
        wrapped.extend(b",{\"type\":1}");
        wrapped.extend(&second);
        wrapped.extend(b"]]");
        assert_eq!(find(&wrapped).collect::<Vec<_>>(), [(a, &first[..]), (b, &second[..])]);
        assert_eq!(find(&first[..SIZE - 1]).next(), None);
        assert_ne!(hash(&first), hash(&second));
        assert_eq!(hash(&first), hash(&first.clone()));
    }

    proptest! {
        #[test]
        fn nothing_is_found_in_noise(octets: Vec<u8>) {
            prop_assert_eq!(find(&octets).next(), None);
        }
    }
}
