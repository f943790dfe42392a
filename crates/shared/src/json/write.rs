//! Writing JSON as JavaScript's `JSON.stringify` does.

use core::fmt;

use ryu_js::Buffer;

use super::Json;
use crate::text::Text;

pub(super) fn write(value: &Json, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Json::Null | Json::TooDeep => out.write_str("null"),
        Json::Bool(value) => write!(out, "{value}"),
        // JSON lacks the others.
        Json::Number(number) if !number.is_finite() => out.write_str("null"),
        Json::Number(number) => out.write_str(Buffer::new().format_finite(*number)),
        Json::Text(text) => write_text(text, out),
        Json::Array(items) => {
            out.write_str("[")?;
            for (at, item) in items.iter().enumerate() {
                out.write_str(if at > 0 { "," } else { "" })?;
                write(item, out)?;
            }
            out.write_str("]")
        }
        Json::Object(members) => {
            out.write_str("{")?;
            for (at, (name, value)) in members.iter().enumerate() {
                out.write_str(if at > 0 { "," } else { "" })?;
                write_text(name, out)?;
                out.write_str(":")?;
                write(value, out)?;
            }
            out.write_str("}")
        }
    }
}

fn write_text(text: &Text, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str("\"")?;
    match text.as_str() {
        Some(text) => {
            // Most texts have nothing to escape.
            let mut rest = text;
            while let Some(at) = rest.find(|c| c < ' ' || c == '"' || c == '\\') {
                let (plain, from) = rest.split_at(at);
                out.write_str(plain)?;
                let mut characters = from.chars();
                characters.next().map_or(Ok(()), |character| write_char(character, out))?;
                rest = characters.as_str();
            }
            out.write_str(rest)?;
        }
        None => {
            for unit in char::decode_utf16(text.units()) {
                match unit {
                    Ok(character) => write_char(character, out)?,
                    Err(half) => write!(out, "\\u{:04x}", half.unpaired_surrogate())?,
                }
            }
        }
    }
    out.write_str("\"")
}

fn write_char(character: char, out: &mut impl fmt::Write) -> fmt::Result {
    match character {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\u{8}' => out.write_str("\\b"),
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\u{c}' => out.write_str("\\f"),
        '\r' => out.write_str("\\r"),
        '\0'..' ' => write!(out, "\\u{:04x}", u32::from(character)),
        _ => out.write_char(character),
    }
}
