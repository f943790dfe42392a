//! Reading JSON as JavaScript's `JSON.parse` does, without recursion.

use alloc::vec::Vec;

use super::Json;
use crate::text::{Text, TextBuilder};

/// A text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no JSON, at byte {at}")]
pub struct JsonError {
    /// Where the first wrong byte is.
    pub at: usize,
}

/// An array or object that is not complete.
enum Frame {
    Array(Vec<Json>),
    /// The members, and the name of the one whose value comes next.
    Object(Vec<(Text, Json)>, Text),
}

/// The kinds of arrays and objects whose contents are too deep to be kept: true for objects. They
/// take a byte for each level.
type Skipped = Vec<bool>;

pub(super) fn parse(bytes: &[u8]) -> Result<Json, JsonError> {
    let mut reader = Reader { bytes, at: 0 };
    let mut frames: Vec<Frame> = Vec::new();
    let mut skipped = Skipped::new();
    loop {
        // A value begins here.
        reader.spaces();
        let mut value = match reader.next()? {
            b'[' if !reader.takes(b']') => {
                open(Frame::Array(Vec::new()), false, &mut frames, &mut skipped);
                continue;
            }
            b'[' if frames.len() < Json::DEEPEST => Json::Array(Default::default()),
            b'{' if !reader.takes(b'}') => {
                let name = reader.name()?;
                open(Frame::Object(Vec::new(), name), true, &mut frames, &mut skipped);
                continue;
            }
            b'{' if frames.len() < Json::DEEPEST => Json::Object(Default::default()),
            b'[' | b'{' => Json::TooDeep,
            b'"' => Json::Text(reader.text()?),
            b't' => reader.word(b"rue", Json::Bool(true))?,
            b'f' => reader.word(b"alse", Json::Bool(false))?,
            b'n' => reader.word(b"ull", Json::Null)?,
            b'-' | b'0'..=b'9' => reader.number()?,
            _ => return Err(reader.wrong_before()),
        };
        // A value ends here, and with it perhaps those around it.
        loop {
            reader.spaces();
            if let Some(&is_object) = skipped.last() {
                match (reader.next()?, is_object) {
                    (b',', false) => {}
                    (b',', true) => drop(reader.name()?),
                    (b']', false) | (b'}', true) => {
                        skipped.pop();
                        value = Json::TooDeep;
                        continue;
                    }
                    _ => return Err(reader.wrong_before()),
                }
                break;
            }
            let Some(frame) = frames.last_mut() else {
                return if reader.at == bytes.len() { Ok(value) } else { Err(reader.wrong()) };
            };
            let next = reader.next()?;
            match (frame, next) {
                (Frame::Array(items), b',') => items.push(value),
                (Frame::Array(items), b']') => {
                    items.push(value);
                    value = core::mem::take(items).into();
                    frames.pop();
                    continue;
                }
                (Frame::Object(members, name), b',') => {
                    members.push((core::mem::replace(name, reader.name()?), value));
                }
                (Frame::Object(members, name), b'}') => {
                    members.push((name.clone(), value));
                    value = Json::Object(
                        core::mem::take(members).into_iter().collect::<super::Object>().into(),
                    );
                    frames.pop();
                    continue;
                }
                _ => return Err(reader.wrong_before()),
            }
            break;
        }
    }
}

/// An array or object begins that is not empty.
fn open(frame: Frame, is_object: bool, frames: &mut Vec<Frame>, skipped: &mut Skipped) {
    if frames.len() < Json::DEEPEST {
        frames.push(frame);
    } else {
        skipped.push(is_object);
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, JsonError> {
        let byte = self.peek().ok_or(self.wrong())?;
        self.at += 1;
        Ok(byte)
    }

    fn spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes this byte, behind spaces, if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        self.spaces();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, rest: &[u8], value: Json) -> Result<Json, JsonError> {
        if !self.bytes.get(self.at..).is_some_and(|bytes| bytes.starts_with(rest)) {
            return Err(self.wrong());
        }
        self.at += rest.len();
        Ok(value)
    }

    /// The name of a member, and the colon behind it.
    fn name(&mut self) -> Result<Text, JsonError> {
        self.spaces();
        if self.next()? != b'"' {
            return Err(self.wrong_before());
        }
        let name = self.text()?;
        if self.takes(b':') { Ok(name) } else { Err(self.wrong()) }
    }

    /// The rest of a text, behind its first quotation mark.
    fn text(&mut self) -> Result<Text, JsonError> {
        let mut text = TextBuilder::default();
        loop {
            let from = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            text.push(self.bytes.get(from..self.at).unwrap_or_default());
            match self.next()? {
                b'"' => return Ok(text.finish()),
                b'\\' => text.push_unit(self.escape()?),
                _ => return Err(self.wrong_before()),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, JsonError> {
        Ok(match self.next()? {
            byte @ (b'"' | b'\\' | b'/') => byte.into(),
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let mut unit = 0;
                for _ in 0..4 {
                    let digit = char::from(self.next()?).to_digit(16).ok_or(self.wrong_before())?;
                    unit = unit << 4 | digit as u16;
                }
                unit
            }
            _ => return Err(self.wrong_before()),
        })
    }

    /// A number, whose first character was taken.
    fn number(&mut self) -> Result<Json, JsonError> {
        self.at -= 1;
        let from = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let text = self.bytes.get(from..self.at).and_then(|bytes| core::str::from_utf8(bytes).ok());
        // Too great numbers become infinity, as in JavaScript.
        text.and_then(|text| text.parse().ok()).map(Json::Number).ok_or(JsonError { at: from })
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > from { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> JsonError {
        JsonError { at: self.at }
    }

    /// The byte that was taken last is wrong.
    fn wrong_before(&self) -> JsonError {
        JsonError { at: self.at.saturating_sub(1) }
    }
}
