//! Text as the content of a string in JSON (RFC 8259, section 7), where quotes, backslashes and
//! line breaks are escaped.

use alloc::vec::Vec;

/// Bytes, and the letters that stand for them after a backslash.
const ESCAPES: [(u8, u8); 5] =
    [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't')];

/// The closing quote of the string that starts at `at`. `None` if the string has an escape that
/// [`escape`] does not write.
pub(super) fn end(message: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        match *message.get(end)? {
            b'"' => return Some(end),
            b'\\' => {
                let letter = message.get(end + 1)?;
                ESCAPES.iter().find(|(_, known)| known == letter)?;
                end += 2;
            }
            ..0x20 => return None,
            _ => end += 1,
        }
    }
}

/// Appends the text whose escaped form is `string`.
pub(super) fn unescape(string: &[u8], out: &mut Vec<u8>) {
    let mut bytes = string.iter();
    while let Some(&byte) = bytes.next() {
        let escaped = if byte == b'\\' { bytes.next() } else { None };
        let known = ESCAPES.iter().find(|(_, letter)| Some(letter) == escaped);
        out.push(known.map_or(byte, |&(byte, _)| byte));
    }
}

/// Appends the escaped form of `text`.
pub(super) fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match ESCAPES.iter().find(|(known, _)| *known == byte) {
            Some(&(_, letter)) => out.extend_from_slice(&[b'\\', letter]),
            None => out.push(byte),
        }
    }
}
