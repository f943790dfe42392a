//! Documents: JSON and XML, by their brackets. What is between the brackets is not checked.

/// The shortest nested message, in bytes. What an envelope saves on a shorter one is not worth a
/// template of its own.
pub(super) const NESTED_MIN: usize = 8;

/// The most nested messages in a template, which bounds the work of coding them.
pub(crate) const NESTED_MAX: usize = 8;

/// Whether bytes are a message of their own: JSON or XML.
pub(super) fn is_document(bytes: &[u8]) -> bool {
    bytes.len() >= NESTED_MIN
        && is_text(bytes)
        && (document_end(bytes, 0) == Some(bytes.len())
            || bytes.starts_with(b"<") && bytes.ends_with(b">"))
}

pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// The end of the JSON object or array that starts at `at`, found by its brackets. The content is
/// not checked.
pub(super) fn document_end(message: &[u8], at: usize) -> Option<usize> {
    if !matches!(message.get(at)?, b'{' | b'[') {
        return None;
    }
    // A document starts with a string, a number, a bracket, a word such as `true`, or white space.
    let next = *message.get(at + 1)?;
    let is_inside = next.is_ascii_alphanumeric() || b"\"{}[]- \n\t\r".contains(&next);
    if !is_inside {
        return None;
    }
    let mut depth = 0usize;
    let mut place = at;
    loop {
        match *message.get(place)? {
            b'"' => place = string_end(message, place + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
        place += 1;
    }
}

/// The closing quote of a string whose content starts at `at`.
pub(super) fn string_end(message: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while *message.get(end)? != b'"' {
        end += if message[end] == b'\\' { 2 } else { 1 };
    }
    Some(end)
}

/// Whether a string of a known format is a message of its own.
pub(super) fn is_nested(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= 0x20 && byte != 0x7f) && is_document(bytes)
}
