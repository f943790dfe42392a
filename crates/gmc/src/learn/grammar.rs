//! Splits messages in known formats into tokens, and finds where two messages differ. A template is
//! a message in which the values that differ are marked as holes.
//!
//! A message is taken to be in a format if it can be read to its end in that format. Only values
//! can be holes, the places where messages of a type may differ. Everything else, such as the keys
//! of maps, is structure, which is the same in all messages of a type.

use alloc::vec::Vec;
use core::ops::Range;

use super::document;
use super::document::NESTED_MAX;
use crate::binary::fixed::from_little_endian;
use crate::binary::float::{self, Width};
use crate::binary::format::Format;
use crate::binary::part::{Item, Part};
use crate::binary::prefix::Prefix;
use crate::binary::shape::Shape;
use crate::binary::varint::{read_varint, varint_end};
use crate::hash::{hash, hash_bytes};
use crate::nested;
use crate::template::{Hole, HoleKind, Template};

/// A known format, in which the values of a message can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    SelfDescribing(Format),
    /// Protocol Buffers, whose tags tell how long the values after them are.
    ProtocolBuffers,
}

/// A part of a message: a value, or a piece of structure.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    kind: Kind,
    range: Range<usize>,
    /// The name of the place: a hash of the map keys and indices that lead to it.
    name: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Structure,
    /// A value that is likely to differ from message to message. It is always a hole.
    Number(HoleKind),
    /// A value that becomes a hole when it differs between two messages.
    Value(HoleKind),
}

/// The most tokens of a message that is learned. One with more is not one of many small similar
/// messages.
const TOKENS_MAX: usize = 4096;
/// The deepest nesting of arrays and maps. A message with deeper nesting is treated as one in an
/// unknown format.
const DEPTH_MAX: usize = 32;
/// The deepest nesting of messages in Protocol Buffers. Each level reads the bytes again to find
/// out whether they are a message.
const MESSAGE_DEPTH_MAX: usize = 6;
/// The largest field number of Protocol Buffers that is accepted. Larger ones are rare, and bytes
/// that look like one are mostly something else.
const FIELD_MAX: u64 = 2047;
/// The shortest message that is taken for Protocol Buffers. Fewer bytes may be in the format by
/// chance.
const PROOF: usize = 4;

impl Grammar {
    /// Finds the known format that a message is in, if there is one, and fills `tokens` with the
    /// message's parts.
    pub(crate) fn of(message: &[u8], tokens: &mut Vec<Token>) -> Option<Self> {
        let [first, ..] = message else { return None };
        let self_describing = [Format::MessagePack, Format::Cbor].map(Self::SelfDescribing);
        // The head of an array or a map is 0x80 or more, which no ASCII text starts with.
        let candidates = if *first >= 0x80 { &self_describing[..] } else { &[] };
        let candidates = candidates.iter().chain([&Self::ProtocolBuffers]);
        candidates.copied().find(|grammar| grammar.split(message, tokens))
    }

    /// The self-describing format in which bytes are a map, whose parts fill `tokens`.
    pub(crate) fn of_map(bytes: &[u8], tokens: &mut Vec<Token>) -> Option<Self> {
        let formats = [Format::MessagePack, Format::Cbor];
        let is_map = |format: &Format| matches!(format.read(bytes, 0), Some(Part::Map(1.., _)));
        let grammars = formats.into_iter().filter(is_map).map(Self::SelfDescribing);
        grammars.into_iter().find(|grammar| grammar.split(bytes, tokens))
    }

    /// Splits a message that is in this format. Returns `false` if it is not.
    fn split(self, message: &[u8], tokens: &mut Vec<Token>) -> bool {
        tokens.clear();
        match self {
            Self::SelfDescribing(format) => split_value(format, message, tokens).is_some(),
            Self::ProtocolBuffers => {
                let range = 0..message.len();
                range.len() >= PROOF && split_fields(message, range, 0, 0, tokens) == Some(true)
            }
        }
    }

    pub(crate) fn is_self_describing(self) -> bool {
        matches!(self, Self::SelfDescribing(_))
    }
}

/// The holes of a message, given `base`, a template of similar messages.
pub(crate) fn holes(
    grammar: Grammar,
    base: Option<&Template>,
    message: &[u8],
    tokens: &[Token],
    base_tokens: &mut Vec<Token>,
) -> Vec<Hole> {
    // More nested messages than this would take long to code.
    if tokens.iter().filter(|token| token.is_nested()).count() > NESTED_MAX {
        return Vec::new();
    }
    if let Some(base) = base
        && grammar.split(base.example(), base_tokens)
        && let Some(holes) = align(base, base_tokens, message, tokens)
    {
        return holes;
    }
    let numbers = tokens.iter().filter_map(|token| match token.kind {
        Kind::Number(kind) => Some(token.hole(kind, message)),
        _ => None,
    });
    numbers.collect()
}

/// The holes of a template that fits both messages. `None` if the two have different structures.
fn align(
    base: &Template,
    base_tokens: &[Token],
    message: &[u8],
    tokens: &[Token],
) -> Option<Vec<Hole>> {
    if base_tokens.len() != tokens.len() {
        return None;
    }
    let mut holes = Vec::new();
    let mut old = base.holes().iter().peekable();
    for (before, token) in base_tokens.iter().zip(tokens) {
        while old.next_if(|hole| hole.range().start < before.range.start).is_some() {}
        let known = old.peek().filter(|hole| hole.range() == before.range);
        let equal = base.example()[before.range.clone()] == message[token.range.clone()];
        match (before.kind, token.kind) {
            (Kind::Structure, Kind::Structure) if equal => {}
            (Kind::Structure, _) | (_, Kind::Structure) => return None,
            (_, Kind::Number(kind) | Kind::Value(kind)) => {
                let always = matches!(token.kind, Kind::Number(_));
                if always || !equal || known.is_some() {
                    let mut hole = token.hole(kind, message);
                    if let Some(known) = known {
                        if known.kind != kind {
                            return None;
                        }
                        hole.shape = known.shape;
                    }
                    holes.push(hole);
                }
            }
        }
    }
    Some(holes)
}

impl Token {
    fn is_nested(&self) -> bool {
        matches!(self.kind, Kind::Number(kind) if kind.is_nested())
    }

    fn hole(&self, kind: HoleKind, message: &[u8]) -> Hole {
        let mut hole = Hole::named(kind, self.range.clone(), self.name);
        // In the name of a number the lowest bit tells the byte order: odd for little-endian, as in
        // Protocol Buffers, and even for big-endian.
        if kind == HoleKind::Field
            && let Some(width) = Width::of_bytes(self.range.len())
        {
            let bits = from_little_endian(&message[self.range.clone()]);
            let little = self.name & 1 == 1;
            hole.shape = Shape::new(little, little && float::is_likely(bits, width));
        }
        hole
    }
}

/// An array or a map whose values are being read.
struct Level {
    /// The number of values that are still to come, or `None` if a break byte ends them.
    left: Option<usize>,
    map: bool,
    /// In a map, whether the next value is a key.
    key: bool,
    name: u32,
    /// The name of the place of the next value.
    next: u32,
}

fn split_value(format: Format, message: &[u8], tokens: &mut Vec<Token>) -> Option<()> {
    let mut splitter = Splitter { format, message, tokens, levels: Vec::new(), at: 0 };
    while splitter.split_part()? {}
    (splitter.at == message.len()).then_some(())
}

/// Splits a value of a self-describing format into tokens.
struct Splitter<'a> {
    format: Format,
    message: &'a [u8],
    tokens: &'a mut Vec<Token>,
    /// The arrays and maps around the next part, the outermost one first.
    levels: Vec<Level>,
    /// Where the next part begins.
    at: usize,
}

impl Splitter<'_> {
    /// Splits the next part. Returns false after the last part of the outermost value; `None` if
    /// the message is not in the format.
    fn split_part(&mut self) -> Option<bool> {
        if self.tokens.len() >= TOKENS_MAX {
            return None;
        }
        let is_root = self.tokens.is_empty();
        let (is_key, name) = self.levels.last().map_or((false, 0), |level| (level.key, level.next));
        match self.format.read(self.message, self.at)? {
            Part::Item(..) if is_root => return None,
            Part::Item(Item::String { start, .. }, end)
                if !is_key && document::is_nested(&self.message[start..end]) =>
            {
                self.split_document(start, end, name)?;
            }
            Part::Item(item, end) => self.split_item(item, end, is_key, name),
            Part::Bytes { start, width } if !is_key && !is_root => {
                self.split_bytes(start, width, name)?;
            }
            Part::Array(count, end) if !is_key => {
                // Arrays of different lengths seldom hold the same kinds of values, so the length
                // is part of the name.
                let inner = hash(name, count as u32);
                self.push(Kind::Structure, end, name);
                if self.open(Some(count), false, inner)? {
                    return Some(true);
                }
            }
            Part::Map(count, end) if !is_key => {
                let left = count.checked_mul(2)?;
                self.push(Kind::Structure, end, name);
                if self.open(Some(left), true, name)? {
                    return Some(true);
                }
            }
            Part::Open { map, after } if !is_key => {
                self.push(Kind::Structure, after, name);
                self.open(None, map, name)?;
                return Some(true);
            }
            Part::Tag(end) => {
                self.push(Kind::Structure, end, name);
                return Some(true);
            }
            Part::Break(end) => {
                let level = self.levels.pop()?;
                if level.left.is_some() || level.map && !level.key {
                    return None;
                }
                self.push(Kind::Structure, end, name);
            }
            _ => return None,
        }
        close(&mut self.levels);
        Some(!self.levels.is_empty())
    }

    /// Adds a token that ends at `end`, where the next one begins.
    fn push(&mut self, kind: Kind, end: usize, name: u32) {
        self.tokens.push(Token { kind, range: self.at..end, name });
        self.at = end;
    }

    /// Splits a string that is a document itself, whose text begins at `start`.
    fn split_document(&mut self, start: usize, end: usize, name: u32) -> Option<()> {
        let value = &self.message[self.at..end];
        let mut kind = HoleKind::Document(self.format);
        if nested::end(kind, value, value, 0).is_none() {
            // Its length is longer than it would have to be: the type in front of the length is
            // structure.
            kind = HoleKind::Record(match start - self.at {
                2 => Prefix::Byte,
                3 => Prefix::Big16,
                5 => Prefix::Big32,
                _ => return None,
            });
            self.push(Kind::Structure, self.at + 1, name);
        }
        self.push(Kind::Number(kind), end, name);
        Some(())
    }

    /// Splits a scalar. A key of a map names the value after it.
    fn split_item(&mut self, item: Item, end: usize, is_key: bool, name: u32) {
        let hole = HoleKind::Scalar(self.format);
        let kind = match item {
            _ if is_key => Kind::Structure,
            Item::Number(_) => Kind::Number(hole),
            _ => Kind::Value(hole),
        };
        if is_key && let Some(level) = self.levels.last_mut() {
            level.next = hash_bytes(hash(level.name, 1), &self.message[self.at..end]);
        }
        self.push(kind, end, name);
    }

    /// Splits a byte string of `width` bytes, which begin at `start`.
    fn split_bytes(&mut self, start: usize, width: usize, name: u32) -> Option<()> {
        self.push(Kind::Structure, start, name);
        let end = start.checked_add(width).filter(|&end| end <= self.message.len())?;
        let kind = match width {
            0 => Kind::Structure,
            1..=8 => Kind::Number(HoleKind::Field),
            _ => Kind::Value(HoleKind::Opaque),
        };
        // An even name: the number is big-endian.
        self.push(kind, end, name & !1);
        Some(())
    }

    /// Opens an array or a map with this number of values and keys, or one that a break byte ends.
    /// Returns false if it is empty.
    fn open(&mut self, left: Option<usize>, map: bool, name: u32) -> Option<bool> {
        if self.levels.len() == DEPTH_MAX {
            return None;
        }
        let is_empty = left == Some(0);
        if !is_empty {
            self.levels.push(Level { left, map, key: map, name, next: hash(name, 0) });
        }
        Some(!is_empty)
    }
}

/// Counts a value as read in its array or map. Closes each array and map of which it was the last
/// value.
fn close(levels: &mut Vec<Level>) {
    while let Some(level) = levels.last_mut() {
        if level.map {
            level.key = !level.key;
        } else {
            level.next = level.next.wrapping_add(0x9e37_79b1);
        }
        match &mut level.left {
            None => return,
            Some(left) => {
                *left -= 1;
                if *left > 0 {
                    return;
                }
            }
        }
        levels.pop();
    }
}

/// Splits the fields of Protocol Buffers, and the messages inside them. `None` if the bytes are not
/// fields; `Some(true)` if there are several fields.
fn split_fields(
    message: &[u8],
    range: Range<usize>,
    name: u32,
    depth: usize,
    tokens: &mut Vec<Token>,
) -> Option<bool> {
    let bytes = &message[..range.end];
    let mut at = range.start;
    let mut last = 0;
    let mut count = 0;
    while at < range.end {
        if tokens.len() >= TOKENS_MAX {
            return None;
        }
        let value = varint_end(bytes, at)?;
        let tag = read_varint(&bytes[at..value]);
        let field = tag >> 3;
        // Writers keep the order of the field numbers.
        if field == 0 || field > FIELD_MAX || field < last {
            return None;
        }
        last = field;
        count += 1;
        let name = hash(hash(name, tag as u32), depth as u32);
        tokens.push(Token { kind: Kind::Structure, range: at..value, name });
        let (kind, end) = match tag & 7 {
            0 => (Kind::Number(HoleKind::Varint), varint_end(bytes, value)?),
            // An odd name: the number is little-endian.
            1 => (Kind::Number(HoleKind::Field), value + 8),
            5 => (Kind::Number(HoleKind::Field), value + 4),
            2 => {
                let string = Prefix::Varint.string(bytes, value)?;
                let end = string.end;
                let mut is_nested = document::is_nested(&bytes[string.clone()]);
                if depth < MESSAGE_DEPTH_MAX && !is_plain(&bytes[string.clone()]) {
                    let known = tokens.len();
                    let kind = Kind::Number(HoleKind::Varint);
                    tokens.push(Token { kind, range: value..string.start, name });
                    if split_fields(message, string, name, depth + 1, tokens).is_some() {
                        // A message around another one is a nested message itself.
                        is_nested = tokens[known..].iter().any(Token::is_nested);
                        if !is_nested {
                            at = end;
                            continue;
                        }
                    }
                    tokens.truncate(known);
                }
                if is_nested {
                    (Kind::Number(HoleKind::Record(Prefix::Varint)), end)
                } else {
                    (Kind::Value(HoleKind::String(Prefix::Varint)), end)
                }
            }
            _ => return None,
        };
        if end > range.end {
            return None;
        }
        tokens.push(Token { kind, range: value..end, name: name | 1 });
        at = end;
    }
    Some(count > 1)
}

/// Whether bytes look like text. An empty slice does.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= 0x20 && byte != 0x7f)
}
