//! Splits the text of a message into tokens: numbers, words and single other bytes.

use core::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An optional sign, digits, and perhaps a point and more digits.
    Number,
    /// Letters, digits, `_`, `#`, bytes outside ASCII, and `-` between these; also digits that are
    /// not a number.
    Word,
    /// One byte of anything else.
    Other,
}

/// A part of a message, with its kind and range.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

/// The most digits of a number before the point: any 18 digits with a sign fit into 64 bits.
pub(crate) const DIGITS_MAX: usize = 18;
/// The most digits of a number after the point: the shortest exact form of a double has at most 17
/// significant digits, and some printers add a few.
pub(crate) const FRACTION_MAX: usize = 24;
/// The longest unit of measurement in letters, as in `12px` or `100ms`.
const UNIT_MAX: usize = 3;
/// How many bytes after a digit are searched for a letter, which would make the digits part of a
/// word. A longer run of digits and hyphens counts as numbers. Without this limit such a run would
/// be searched again from each of its numbers.
const WORD_SEARCH: usize = 64;

/// The token that starts at `at`, which must be inside `bytes` and not inside another token.
pub(crate) fn token_at(bytes: &[u8], at: usize) -> Token {
    let (kind, end) = if let Some(end) = number_end(bytes, at) {
        (Kind::Number, end)
    } else if is_word(bytes[at]) {
        (Kind::Word, word_end(bytes, at))
    } else {
        (Kind::Other, at + 1)
    };
    Token { kind, range: at..end }
}

/// The end of the number that starts at `at`, if one does.
///
/// The end depends only on the byte before `at` and on the bytes from `at` on. So a template (an
/// earlier message with gaps for the values) finds the same numbers in a message as [`token_at`]
/// does.
pub(crate) fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let signed =
        bytes.get(at) == Some(&b'-') && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
    let start = at + usize::from(signed);
    let integer = start + digits(&bytes[start.min(bytes.len())..]);
    if integer == start || integer - start > DIGITS_MAX {
        return None;
    }
    if is_part_of_word(&bytes[integer..bytes.len().min(integer + WORD_SEARCH)]) {
        return None;
    }
    if bytes.get(integer) == Some(&b'.') {
        let fraction = digits(&bytes[integer + 1..]);
        if (1..=FRACTION_MAX).contains(&fraction) {
            return Some(integer + 1 + fraction);
        }
    }
    Some(integer)
}

/// Whether the digits before `rest` belong to a word, as in `3f9c-72aa`. In `100ms` they do not.
fn is_part_of_word(rest: &[u8]) -> bool {
    // The usual end of a number: a space or a punctuation mark.
    if rest.first().is_none_or(|&byte| !is_word(byte) && byte != b'-') {
        return false;
    }
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let run = rest.iter().take_while(|&&byte| is_word(byte) || byte == b'-');
    run.clone().any(|byte| !b"0123456789-".contains(byte))
        && !((1..=UNIT_MAX).contains(&letters) && run.count() == letters)
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        let inner_hyphen =
            bytes[end] == b'-' && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !is_word(bytes[end]) && !inner_hyphen {
            break;
        }
        end += 1;
    }
    end
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'#' || byte >= 0x80
}

/// The index of the first byte that is `a` or `b`.
pub(crate) fn find_either(bytes: &[u8], a: u8, b: u8) -> Option<usize> {
    let mut start = 0;
    if cfg!(feature = "fast") {
        for chunk in bytes.as_chunks().0 {
            let word = u64::from_le_bytes(*chunk);
            if has_byte(word, a) || has_byte(word, b) {
                break;
            }
            start += chunk.len();
        }
    }
    bytes[start..].iter().position(|&byte| byte == a || byte == b).map(|at| start + at)
}

/// Whether one of eight bytes is this one: then its difference is zero, and subtracting one borrows
/// from its highest bit.
fn has_byte(word: u64, byte: u8) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & (ONES << 7) != 0
}

/// Whether a message is binary: it has control characters other than white space.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().any(|&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<(Kind, String)> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let token = token_at(text.as_bytes(), at);
            at = token.range.end;
            tokens
                .push((token.kind, String::from_utf8_lossy(&text.as_bytes()[token.range]).into()));
        }
        tokens
    }

    proptest! {
        #[test]
        fn the_first_of_two_bytes_is_found(
            bytes in proptest::collection::vec(prop_oneof![0u8..4, 0x7fu8..0x84, any::<u8>()], 0..40),
            a in prop_oneof![0u8..4, 0x7fu8..0x84],
            b in prop_oneof![0u8..4, 0x7fu8..0x84],
        ) {
            let expected = bytes.iter().position(|&byte| byte == a || byte == b);
            prop_assert_eq!(find_either(&bytes, a, b), expected);
        }
    }

    fn numbers(text: &str) -> Vec<String> {
        split(text)
            .into_iter()
            .filter(|(kind, _)| *kind == Kind::Number)
            .map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn numbers_keep_sign_and_fraction() {
        assert_eq!(numbers("x: -12.50, y:007 z=-0 [1,2]"), ["-12.50", "007", "-0", "1", "2"]);
        assert_eq!(numbers("2024-05-01"), ["2024", "05", "01"]);
        assert_eq!(numbers("412.6666641235 0078.0"), ["412.6666641235", "0078.0"]);
        assert_eq!(numbers("999999999999999999 1000000000000000000"), ["999999999999999999"]);
    }

    #[test]
    fn units_are_not_part_of_numbers() {
        assert_eq!(
            numbers("100ms 12px 3.5em 10:05:33.123Z"),
            ["100", "12", "3.5", "10", "05", "33.123"]
        );
        assert_eq!(numbers("12abcd"), [] as [&str; 0]);
    }

    #[test]
    fn identifiers_are_words() {
        for word in ["b81d6e04-72aa-4c19-8f3d-1c5e9a7042d6", "#ff8800", "x1", "3f9c", "_a", "é"] {
            assert_eq!(split(word), [(Kind::Word, word.into())]);
        }
        assert_eq!(numbers("a1 b-2 1e5 0x1f"), [] as [&str; 0]);
    }

    #[test]
    fn every_byte_is_in_one_token() {
        let text = "{\"a\":-1.5e3,--2..3.x-}";
        let joined: String = split(text).into_iter().map(|(_, text)| text).collect();
        assert_eq!(joined, text);
    }
}
