//! Finds nested messages in a message of unknown type, and the lengths that count them: JSON after
//! its length, or at the end of the message; text in base64, or with escaped quotes, in a JSON
//! string; a number that says how many bytes follow.
//!
//! A false find costs little: other messages of the type do not fit the template, and one without
//! the find is made.

use alloc::vec::Vec;
use core::ops::Range;

use super::document::{NESTED_MAX, NESTED_MIN, document_end, is_document, is_text, string_end};
use super::grammar::{Grammar, Token};
use crate::binary::prefix::Prefix;
use crate::nested;
use crate::template::{Hole, HoleKind};
use crate::token;

/// The most lengths in a template.
pub(crate) const LENGTHS_MAX: usize = 8;
/// The shortest base64, in digits: shorter text is rather a name or a number.
const BASE64_MIN: usize = 16;
/// How far from the start of a message lengths are looked for, in bytes.
const HEAD: usize = 192;
/// The smallest length that is recognized by its value alone.
const LENGTH_MIN: usize = 8;
/// The most bytes that follow a length as text without being counted by it, such as two line
/// breaks.
const AROUND: usize = 4;
/// The most fixed bytes after a nested message without a length of its own.
const TAIL: usize = 4;
/// The shortest text without brackets around it that is taken for a message, in bytes.
const TEXT_MIN: usize = 24;
/// A text without brackets is taken for a message if at least one of [`MARKS`] bytes is
/// punctuation. Prose has less.
const MARKS: usize = 16;
/// How many bytes are read in the search for the ends of documents, for each byte of the message.
const SEARCH: usize = 4;

/// The formats of the length before a nested message, the likeliest first. Variable-length integers
/// come before bytes, since most of today's formats have them.
const LENGTHS: [Prefix; 6] = [
    Prefix::Big32,
    Prefix::Little32,
    Prefix::Big16,
    Prefix::Little16,
    Prefix::Varint,
    Prefix::Byte,
];

/// The holes of a binary message: nested messages, and lengths that count them.
pub(super) fn in_binary(message: &[u8], tokens: &mut Vec<Token>) -> Vec<Hole> {
    let mut found = Vec::new();
    let mut documents = documents(message);
    if documents.is_empty() {
        documents.extend(map(message, tokens).or_else(|| counted_text(message)));
    }
    let mut before = 0;
    for document in documents {
        if found.len() == NESTED_MAX {
            break;
        }
        let length = LENGTHS.into_iter().find_map(|prefix| {
            let widths = if prefix == Prefix::Varint { 1..=3 } else { 1..=4 };
            widths.rev().find_map(|width| {
                let start = document.start.checked_sub(width).filter(|&start| start >= before)?;
                let counted = prefix.string(message, start)?;
                (counted == document).then_some((prefix, start))
            })
        });
        let is_last = message.len() - document.end <= TAIL;
        let hole = match length {
            Some((prefix, start)) => Hole::new(HoleKind::Record(prefix), start..document.end),
            None if is_last => Hole::new(HoleKind::Rest, document.clone()),
            None => continue,
        };
        before = document.end;
        found.push(hole);
    }
    let Some(first) = found.first() else { return found };
    let mut holes = lengths(message, first);
    holes.extend(found);
    holes
}

/// The lengths before the first nested message.
fn lengths(message: &[u8], first: &Hole) -> Vec<Hole> {
    let mut holes = Vec::new();
    let range = first.range();
    let end = range.start.min(HEAD);
    let mut at = 0;
    while at < end {
        let is_number = at == 0 || !message[at - 1].is_ascii_digit();
        if holes.len() == LENGTHS_MAX {
            break;
        }
        let found = LENGTHS.into_iter().chain([Prefix::Decimal]).find_map(|prefix| {
            let (length, after) = prefix.read(message, at)?;
            let is_wide = after - at > 1;
            let rest = message.len() - after;
            let counts = length == rest
                || is_wide && length == message.len()
                || first.kind == HoleKind::Rest && length == range.len();
            let is_length = after <= end
                && length >= LENGTH_MIN
                && counts
                && (prefix != Prefix::Decimal || is_number);
            is_length.then(|| Hole::new(HoleKind::Length(prefix), at..after))
        });
        at = found.as_ref().map_or(at + 1, |hole| hole.range().end);
        holes.extend(found);
    }
    holes
}

/// The holes of a text: strings with nested messages, and a number at the start that counts what
/// follows.
pub(super) fn in_text(message: &[u8], tokens: &mut Vec<Token>) -> Vec<Hole> {
    let mut holes = Vec::new();
    let head = message.iter().take(HEAD).position(|byte| b"{[<\"".contains(byte)).unwrap_or(0);
    let mut at = 0;
    while at < head {
        let number = Prefix::Decimal.read(message, at);
        let is_start = at == 0 || !message[at - 1].is_ascii_alphanumeric();
        if let Some((length, end)) = number.filter(|_| is_start) {
            let rest = message.len() - end;
            let is_length = length >= LENGTH_MIN && (length..=length + AROUND).contains(&rest);
            if is_length && !message[end].is_ascii_alphanumeric() {
                holes.push(Hole::new(HoleKind::Length(Prefix::Decimal), at..end));
                break;
            }
            at = end;
        }
        at += 1;
    }
    let mut nested = Vec::new();
    let mut quote = head;
    while let Some(start) = find(message, quote, b'"').map(|start| start + 1) {
        let Some(end) = string_end(message, start) else { break };
        quote = end + 1;
        let string = &message[start..end];
        let kind = if string.contains(&b'\\') { HoleKind::Escaped } else { HoleKind::Base64 };
        let is_long = string.len() >= BASE64_MIN;
        if is_long && nested::end(kind, &[], message, start) == Some(end) {
            nested.clear();
            nested::open(kind, string, &mut nested);
            let mut is_envelope =
                || token::is_binary(&nested) && !in_binary(&nested, tokens).is_empty();
            if is_document(&nested) || is_envelope() {
                holes.push(Hole::new(kind, start..end));
                if holes.len() == NESTED_MAX {
                    break;
                }
            }
        }
    }
    holes
}

/// Whether a binary message has a single nested message, which is at its end, and only text before
/// it. A few bytes may follow the nested message.
pub(super) fn is_in_text(message: &[u8], envelope: &[Hole]) -> bool {
    let nested = envelope.iter().filter(|hole| hole.kind.is_nested()).count();
    let last = envelope.last().filter(|hole| hole.kind == HoleKind::Rest && nested == 1);
    last.is_some_and(|last| !token::is_binary(&message[..last.range().start]))
}

/// The JSON documents in a binary message.
fn documents(message: &[u8]) -> Vec<Range<usize>> {
    let mut documents = Vec::new();
    let mut budget = message.len() * SEARCH;
    let mut at = 0;
    while at < message.len() {
        if !matches!(message[at], b'{' | b'[') {
            at += 1;
            continue;
        }
        let end = document_end(message, at);
        let read = end.unwrap_or(message.len()) - at;
        let Some(rest) = budget.checked_sub(read) else { break };
        budget = rest;
        match end {
            Some(end) if end - at >= NESTED_MIN && is_text(&message[at..end]) => {
                documents.push(at..end);
                at = end;
            }
            _ => at += 1,
        }
    }
    documents
}

/// A map of a self-describing format that reaches to the end of the message.
fn map(message: &[u8], tokens: &mut Vec<Token>) -> Option<Range<usize>> {
    let starts = 1..message.len().saturating_sub(NESTED_MIN).min(HEAD / 4);
    starts.map(|start| start..message.len()).find(|range| {
        let map = &message[range.clone()];
        Grammar::of_map(map, tokens).is_some()
    })
}

/// A text at the end of the message that follows its length and has numbers and punctuation, as
/// messages have.
fn counted_text(message: &[u8]) -> Option<Range<usize>> {
    let binary = message.iter().rposition(|&byte| !is_text(&[byte]));
    let first = binary.map_or(0, |at| at + 1);
    let text = &message[first..];
    let marks = text.iter().filter(|byte| byte.is_ascii_punctuation()).count();
    let is_message = text.len() >= TEXT_MIN && marks * MARKS >= text.len();
    if !is_message || !text.iter().any(u8::is_ascii_digit) {
        return None;
    }
    // The last byte of the length may look like text.
    let starts = [first, first + 1].map(|start| start..message.len());
    starts.into_iter().find(|text| {
        let length = |prefix: Prefix, width| {
            let start = text.start.checked_sub(width)?;
            prefix.string(message, start)
        };
        let widths = (1..=4).rev();
        let mut ends = widths.flat_map(|width| LENGTHS.map(|prefix| length(prefix, width)));
        ends.any(|counted| counted.as_ref() == Some(text))
    })
}

fn find(message: &[u8], from: usize, byte: u8) -> Option<usize> {
    let found = message.get(from..)?.iter().position(|&other| other == byte)?;
    Some(from + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(message: &[u8]) -> Vec<(HoleKind, Range<usize>)> {
        let holes = if crate::token::is_binary(message) {
            in_binary(message, &mut Vec::new())
        } else {
            in_text(message, &mut Vec::new())
        };
        holes.iter().map(|hole| (hole.kind, hole.range())).collect()
    }

    #[test]
    fn envelopes_are_found() {
        let json = r#"{"x":1,"y":[2]}"#;
        let awareness = [&[1, 23, 1, 0x85, 0x99, 0x33, 7, 15][..], json.as_bytes()].concat();
        let awareness = &[&awareness[..1], &[21], &awareness[2..]].concat();
        assert_eq!(
            kinds(awareness),
            [(HoleKind::Length(Prefix::Varint), 1..2), (HoleKind::Record(Prefix::Varint), 7..23)]
        );
        let counted = [&[0, 0, 0, 15, 0, 0, 1, 2][..], json.as_bytes()].concat();
        assert_eq!(
            kinds(&counted),
            [(HoleKind::Length(Prefix::Big32), 0..4), (HoleKind::Rest, 8..23)]
        );
        let ended = [b"SEND\n\n", json.as_bytes(), b"\0"].concat();
        assert_eq!(kinds(&ended), [(HoleKind::Rest, 6..21)]);
        let netstring = alloc::format!("15:{json},");
        assert_eq!(kinds(netstring.as_bytes()), [(HoleKind::Length(Prefix::Decimal), 0..2)]);
        let escaped = br#"{"data":"{\"x\":1,\"y\":[2]}"}"#;
        assert_eq!(kinds(escaped), [(HoleKind::Escaped, 9..28)]);
        let base64 = br#"{"data":"eyJ4IjoxLCJ5IjpbMl19"}"#;
        assert_eq!(kinds(base64), [(HoleKind::Base64, 9..29)]);
    }

    #[test]
    fn values_are_no_envelopes() {
        assert_eq!(kinds(br#"{"x":15,"y":"b81d6e04","s":"{\"a\"}"}"#), []);
        assert_eq!(kinds(b"\x01\x02{\x03abcdefgh}"), []);
        assert_eq!(kinds(b"at 12 o'clock"), []);
    }
}
