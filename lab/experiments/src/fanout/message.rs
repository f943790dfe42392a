//! The messages that clients send: a pointer as an application would write it, always 90 bytes, so
//! that it can be found and compared within whatever a server wraps it in.

use std::io::Write;

use crate::drawing::{Point, places};

/// The size of a message in bytes.
pub(super) const SIZE: usize = 90;

/// The beginning of each message. Two digits that name its sender follow.
const START: &[u8] = br#"{"type":"pointer","id":"u"#;
const SENDER: usize = START.len();
/// The offset of the number, which has seven digits.
const NUMBER: usize = 64;
/// The first number. JSON has no leading zeros, so numbers begin with a 1.
const FIRST: u32 = 1_000_000;
/// Senders that two digits can name.
pub(super) const MAX_SENDERS: usize = 100;

/// The places of a pointer's path, which then begins anew.
const PLACES: usize = 2048;

/// A sender's pointer.
pub(crate) struct Pointer {
    sender: usize,
    places: Vec<Point>,
    next: u32,
}

/// The fields of a message that differ between messages: the sender, the place, the number and the
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Content {
    pub(super) sender: u8,
    pub(super) x: u16,
    pub(super) y: u16,
    /// The number as it is written: counted from 1,000,000.
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

/// The sender and the number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) sender: usize,
    /// The number among the sender's messages, from 0.
    pub(super) number: u32,
}

impl Pointer {
    pub(crate) fn new(sender: usize, seed: u64) -> Self {
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
            // There are at most 100 senders.
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

/// The complete messages within some bytes.
pub(super) fn find(mut bytes: &[u8]) -> impl Iterator<Item = (Name, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let at = bytes.iter().position(|&byte| byte == b'{')?;
            bytes = &bytes[at..];
            match bytes.split_at_checked(SIZE) {
                Some((message, rest)) if message.starts_with(START) => {
                    bytes = rest;
                    if let Some(name) = name(message) {
                        return Some((name, message));
                    }
                }
                Some(_) => bytes = &bytes[1..],
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

/// A hash to compare messages; it does not withstand an attacker.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |sum, chunk| {
        let word = chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        // Knuth's multiplier of MMIX; the rotation lets high bits count.
        (sum ^ word).wrapping_mul(6_364_136_223_846_793_005).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_json_of_90_bytes_that_says_which_it_is() {
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
        fn nothing_is_found_in_noise(bytes: Vec<u8>) {
            prop_assert_eq!(find(&bytes).next(), None);
        }
    }
}
