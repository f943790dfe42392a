//! Joins several messages into one string of bytes, for codecs that have no messages.

use super::technique::{Decoded, Failure, Message};

/// The way in which messages are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// A packet has one message.
    Single,
    /// Each message is preceded by its length.
    Several,
}

impl Framing {
    /// Appends the messages to `out`.
    pub(super) fn join(self, messages: &[Message<'_>], out: &mut Vec<u8>) {
        messages.iter().for_each(|message| self.append(message.bytes, out));
    }

    /// Appends a message to `out`.
    pub(super) fn append(self, message: &[u8], out: &mut Vec<u8>) {
        if self == Framing::Several {
            write_number(message.len(), out);
        }
        out.extend_from_slice(message);
    }

    /// Splits bytes that [`Framing::join`] or [`Framing::append`] wrote.
    pub(super) fn split(self, mut bytes: &[u8], out: &mut Decoded) -> Result<(), Failure> {
        if self == Framing::Single {
            out.push(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            let length = read_number(&mut bytes)?;
            let (message, rest) = bytes.split_at_checked(length).ok_or("a message is cut off")?;
            out.push(message);
            bytes = rest;
        }
        Ok(())
    }
}

/// Appends a number, the lowest seven bits first.
pub(super) fn write_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Splits off a number.
pub(super) fn read_number(bytes: &mut &[u8]) -> Result<usize, Failure> {
    let mut number = 0;
    // Five groups of seven bits hold any u32.
    for shift in 0..5 {
        let (&byte, rest) = bytes.split_first().ok_or("a number is cut off")?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << (7 * shift);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number is too long".into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_joined_is_split(messages: Vec<Vec<u8>>, single: Vec<u8>) {
            check(Framing::Several, &messages);
            check(Framing::Single, &[single]);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Framing::Several.split(&bytes, &mut Decoded::default());
        }
    }

    fn check(framing: Framing, messages: &[Vec<u8>]) {
        let given: Vec<_> = messages
            .iter()
            .map(|bytes| Message { bytes, kind: 0, sender: 0, event: None })
            .collect();
        let (mut joined, mut decoded) = (Vec::new(), Decoded::default());
        framing.join(&given, &mut joined);
        framing.split(&joined, &mut decoded).unwrap();
        assert!(decoded.iter().eq(messages.iter().map(Vec::as_slice)));
    }
}
