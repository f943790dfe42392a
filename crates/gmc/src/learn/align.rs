//! Finds where two texts of the same type differ: the message that is learned, and the example of a
//! known template, the base. A template is an example message with holes, the places where other
//! messages of the type differ.
//!
//! Numbers may differ anywhere. Other differences become text holes if they look like values: what
//! is between quotes, or what has no structure of its own. Messages that differ in structure are of
//! different types and get a template each.

use alloc::vec::Vec;
use core::ops::Range;

use crate::template::{Hole, HoleKind, Template};
use crate::token;

use super::parts::{Kind, Token};

/// A part of the base template: a token (number, word or other byte) of its example, or a text
/// hole.
pub(crate) struct Item {
    kind: ItemKind,
    range: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Number,
    Fixed,
    Text,
    /// A nested message, or a length that counts it.
    Envelope(HoleKind),
}

/// The most differences between two messages of one type.
const GAPS_MAX: usize = 16;
/// The most tokens of a difference that is not between quotes, in both texts together.
const GAP_TOKENS: usize = 24;
/// Bytes that are part of a message's structure and not of its values.
const STRUCTURE: &[u8] = b"<>{}[]()=:\"";
/// The least number of equal bytes in messages of one type.
const EQUAL_MIN: usize = 8;

/// The holes of a template that fits both `base` and `message`, as ranges of `message`. `None` if
/// the two are of different types. `items` is a buffer.
pub(crate) fn align(
    base: &Template,
    message: &[u8],
    tokens: &[Token],
    items: &mut Vec<Item>,
) -> Option<Vec<Hole>> {
    split(base, items);
    let texts = Texts { example: base.example(), items, message, tokens };
    let mut holes = Vec::new();
    let (mut item, mut token) = (0, 0);
    let (mut equal, mut gaps, mut unquoted) = (0, 0, 0);
    while item < items.len() || token < tokens.len() {
        if texts.same(item, token) {
            let range = tokens[token].range.clone();
            match tokens[token].kind {
                Kind::Number => holes.push(Hole::new(HoleKind::Number, range)),
                // A number that is a length in one of the messages only was a length by chance.
                Kind::Envelope(_) if items[item].kind == ItemKind::Number => {
                    holes.push(Hole::new(HoleKind::Number, range));
                }
                Kind::Envelope(kind) => holes.push(Hole::new(kind, range)),
                _ => equal += range.len(),
            }
            item += 1;
            token += 1;
            continue;
        }
        let start = texts.start(token);
        let quoted = texts.quoted_gap(item, token);
        (item, token) = quoted.or_else(|| texts.plain_gap(item, token))?;
        let gap = start..texts.start(token);
        gaps += 1;
        if quoted.is_none() {
            unquoted += gap.len();
        }
        holes.push(Hole::new(HoleKind::Text, gap));
    }
    (gaps <= GAPS_MAX && equal >= EQUAL_MIN && equal >= unquoted * 2).then_some(holes)
}

/// Splits the example of the base template into items.
fn split(base: &Template, items: &mut Vec<Item>) {
    items.clear();
    let example = base.example();
    let is_item = |hole: &&Hole| hole.kind == HoleKind::Text || hole.kind.is_envelope();
    let mut holes = base.holes().iter().filter(is_item).peekable();
    let mut at = 0;
    while at < example.len() || holes.peek().is_some() {
        let end = example.len()..example.len();
        let (hole, kind) =
            holes.peek().map_or((end, HoleKind::Text), |hole| (hole.range(), hole.kind));
        if hole.start == at && holes.next().is_some() {
            let kind =
                if kind == HoleKind::Text { ItemKind::Text } else { ItemKind::Envelope(kind) };
            items.push(Item { kind, range: hole.clone() });
            at = hole.end;
            continue;
        }
        let token = token::token_at(example, at);
        let end = token.range.end.min(hole.start);
        let kind =
            if token.kind == token::Kind::Number { ItemKind::Number } else { ItemKind::Fixed };
        items.push(Item { kind, range: at..end });
        at = end;
    }
}

struct Texts<'a> {
    example: &'a [u8],
    items: &'a [Item],
    message: &'a [u8],
    tokens: &'a [Token],
}

impl Texts<'_> {
    fn same(&self, item: usize, token: usize) -> bool {
        let (Some(item), Some(token)) = (self.items.get(item), self.tokens.get(token)) else {
            return false;
        };
        match (item.kind, token.kind) {
            (ItemKind::Number, Kind::Number)
            | (ItemKind::Number, Kind::Envelope(HoleKind::Length(_)))
            | (ItemKind::Envelope(HoleKind::Length(_)), Kind::Number) => true,
            (ItemKind::Envelope(known), Kind::Envelope(given)) => known == given,
            (ItemKind::Fixed, Kind::Word | Kind::Other) => {
                self.example[item.range.clone()] == self.message[token.range.clone()]
            }
            _ => false,
        }
    }

    fn start(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(self.message.len(), |token| token.range.start)
    }

    /// The item and the token of the closing quotes, if the texts differ between quotes from here
    /// on.
    fn quoted_gap(&self, item: usize, token: usize) -> Option<(usize, usize)> {
        let before = self.start(token).checked_sub(1)?;
        let quote = self.message[before];
        if quote != b'"' && quote != b'\'' {
            return None;
        }
        let closes = |bytes: &[u8], range: &Range<usize>| {
            bytes[range.clone()] == [quote] && (range.start == 0 || bytes[range.start - 1] != b'\\')
        };
        let item_end = self.items[item.min(self.items.len())..]
            .iter()
            .position(|item| item.kind == ItemKind::Fixed && closes(self.example, &item.range))?;
        let token_end = self.tokens[token.min(self.tokens.len())..]
            .iter()
            .position(|token| closes(self.message, &token.range))?;
        Some((item + item_end, token + token_end))
    }

    /// The item and the token where both texts agree again, if what lies between has no structure.
    fn plain_gap(&self, item: usize, token: usize) -> Option<(usize, usize)> {
        for distance in 1..=GAP_TOKENS {
            for items in 0..=distance {
                let (next_item, next_token) = (item + items, token + distance - items);
                if self.agree(next_item, next_token) {
                    let plain =
                        self.items[item..next_item].iter().all(|item| {
                            !matches!(item.kind, ItemKind::Number | ItemKind::Fixed)
                                || is_plain(&self.example[item.range.clone()])
                        }) && is_plain(&self.message[self.start(token)..self.start(next_token)]);
                    return plain.then_some((next_item, next_token));
                }
            }
        }
        None
    }

    /// Whether both texts agree from here on: for two tokens, or up to the end.
    fn agree(&self, item: usize, token: usize) -> bool {
        if item >= self.items.len() || token >= self.tokens.len() {
            return item == self.items.len() && token == self.tokens.len();
        }
        self.tokens[token].kind != Kind::Number
            && self.same(item, token)
            && (self.same(item + 1, token + 1)
                || item + 1 == self.items.len() && token + 1 == self.tokens.len())
    }
}

fn is_plain(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| STRUCTURE.contains(byte))
}
