//! Bytes as text in base64 (RFC 4648, section 4): four digits for three bytes, `=` for digits that
//! are missing at the end.

use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn digit(byte: u8) -> Option<u32> {
    Some(
        match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }
        .into(),
    )
}

/// The end of the base64 that starts at `at`. `None` if it is not what an encoder writes: the
/// digits and `=` must be a multiple of four, and the bits that stand for no byte must be zero.
pub(super) fn end(message: &[u8], at: usize) -> Option<usize> {
    let rest = message.get(at..)?;
    let digits = rest.iter().take_while(|&&byte| digit(byte).is_some()).count();
    let missing = (4 - digits % 4) % 4;
    let padding = rest[digits..].iter().take_while(|&&byte| byte == b'=').count();
    if missing == 3 || padding != missing {
        return None;
    }
    let last = rest[..digits].last().and_then(|&byte| digit(byte)).unwrap_or(0);
    let unused = (1 << (2 * missing)) - 1;
    (last & unused == 0).then_some(at + digits + missing)
}

/// Appends the bytes that `text` stands for.
pub(super) fn decode(text: &[u8], out: &mut Vec<u8>) {
    for group in text.chunks(4) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 6 | digit(byte).unwrap_or(0));
        let missing = group.iter().filter(|&&byte| byte == b'=').count();
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - missing.min(2)]);
    }
}

/// Appends the text that stands for `bytes`.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut bits = [0; 4];
        bits[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(bits);
        for place in 0..4 {
            let is_digit = place <= group.len();
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if is_digit { digit } else { b'=' });
        }
    }
}
