//! Messages inside of messages: how the bytes of a hole and the message inside of it are turned
//! into each other. A hole is a place of a message where the value differs from message to message;
//! here it holds a message of its own.

mod base64;
mod escape;

use alloc::vec::Vec;

use crate::binary::format::Format;
use crate::binary::part::{Item, Part};
use crate::binary::prefix::insert;
use crate::error::DecodeError;
use crate::hole_kind::HoleKind;

/// The end of the value of a hole with a nested message, which starts at `at`. `None` if there is
/// no such value, or if it would not be written back in the same form. `example` is the value of
/// the template.
pub(crate) fn end(kind: HoleKind, example: &[u8], message: &[u8], at: usize) -> Option<usize> {
    match kind {
        HoleKind::Record(prefix) => prefix.string(message, at).map(|string| string.end),
        HoleKind::Base64 => base64::end(message, at),
        HoleKind::Escaped => escape::end(message, at),
        HoleKind::Document(format) => {
            let (text, start, end) = string(format, message, at)?;
            let (first, width) = format.string(text, end - start);
            let (as_text, ..) = string(format, example, 0)?;
            let is_shortest = message[at] == first && start == at + 1 + width;
            (is_shortest && text == as_text).then_some(end)
        }
        _ => None,
    }
}

/// Appends the message inside of a hole's value to `out`.
pub(crate) fn open(kind: HoleKind, value: &[u8], out: &mut Vec<u8>) {
    match kind {
        HoleKind::Record(prefix) => {
            out.extend_from_slice(prefix.string(value, 0).map_or(&[], |range| &value[range]));
        }
        HoleKind::Base64 => base64::decode(value, out),
        HoleKind::Escaped => escape::unescape(value, out),
        HoleKind::Document(format) => {
            let content = string(format, value, 0).map_or(0..0, |(_, start, end)| start..end);
            out.extend_from_slice(&value[content]);
        }
        _ => out.extend_from_slice(value),
    }
}

/// Turns the message at the end of `out`, from `start` on, into the value of a hole. `buffer` is
/// overwritten.
pub(crate) fn close(
    kind: HoleKind,
    example: &[u8],
    out: &mut Vec<u8>,
    start: usize,
    buffer: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let length = out.len() - start;
    match kind {
        HoleKind::Record(prefix) if length > prefix.limit() => return Err(DecodeError::TooLarge),
        HoleKind::Record(prefix) => prefix.insert(out, start),
        HoleKind::Base64 | HoleKind::Escaped => {
            buffer.clear();
            buffer.extend(out.drain(start..));
            match kind {
                HoleKind::Base64 => base64::encode(buffer, out),
                _ => escape::escape(buffer, out),
            }
        }
        HoleKind::Document(format) => {
            let text = string(format, example, 0).is_some_and(|(text, ..)| text);
            let (first, width) = format.string(text, length);
            insert(out, start, &[&[first], &(length as u64).to_be_bytes()[8 - width..]]);
        }
        _ => {}
    }
    Ok(())
}

/// Whether the string at `at` is text, and where its content begins and ends.
fn string(format: Format, bytes: &[u8], at: usize) -> Option<(bool, usize, usize)> {
    match format.read(bytes, at)? {
        Part::Item(Item::String { text, start }, end) => Some((text, start, end)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::prefix::Prefix;
    use proptest::prelude::*;

    fn kinds() -> impl Strategy<Value = HoleKind> {
        let records = Prefix::ALL.map(HoleKind::Record);
        let documents = [Format::MessagePack, Format::Cbor].map(HoleKind::Document);
        let others = [HoleKind::Base64, HoleKind::Escaped];
        proptest::sample::select([&records[..], &documents, &others].concat())
    }

    /// A string of text, for the formats whose values have an example.
    fn example(kind: HoleKind) -> &'static [u8] {
        if kind == HoleKind::Document(Format::MessagePack) { b"\xa1x" } else { b"\x61x" }
    }

    proptest! {
        #[test]
        fn what_is_closed_is_opened(
            kind in kinds(),
            content in proptest::collection::vec(any::<u8>(), 0..255),
            rest in "[\"\\-]",
        ) {
            // Control characters have no escape of their own.
            prop_assume!(kind != HoleKind::Escaped || content.iter().all(|&byte| byte >= 0x20));
            let mut value = content.clone();
            close(kind, example(kind), &mut value, 0, &mut Vec::new()).unwrap();
            let length = value.len();
            value.extend_from_slice(if kind == HoleKind::Escaped { b"\"" } else { rest.as_bytes() });
            prop_assert_eq!(end(kind, example(kind), &value, 0), Some(length));
            let mut opened = Vec::new();
            open(kind, &value[..length], &mut opened);
            prop_assert_eq!(opened, content);
        }

        #[test]
        fn a_value_with_an_end_is_written_back(
            kind in kinds(),
            value in proptest::collection::vec(
                prop_oneof![any::<u8>(), proptest::sample::select(&b"AQgw0/+=\\\"n"[..])], 0..40),
        ) {
            if let Some(end) = end(kind, example(kind), &value, 0) {
                prop_assert!(end <= value.len());
                let mut again = Vec::new();
                open(kind, &value[..end], &mut again);
                close(kind, example(kind), &mut again, 0, &mut Vec::new()).unwrap();
                prop_assert_eq!(&again, &value[..end]);
            }
        }
    }
}
