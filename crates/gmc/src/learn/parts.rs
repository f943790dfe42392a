//! The parts of a message in text: tokens, and the holes of its envelope.

use alloc::vec::Vec;
use core::ops::Range;

use crate::template::{Hole, HoleKind};
use crate::token;

/// A part of a message, with its kind and range.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Word,
    Other,
    /// A nested message, or a length that counts it.
    Envelope(HoleKind),
}

/// Splits a message into its parts. `envelope` has its nested messages and lengths. `None` if there
/// are more parts than `most`.
pub(super) fn split(
    message: &[u8],
    envelope: &[Hole],
    most: usize,
    tokens: &mut Vec<Token>,
) -> Option<()> {
    tokens.clear();
    let mut holes = envelope.iter().peekable();
    let mut at = 0;
    while at < message.len() {
        if tokens.len() == most {
            return None;
        }
        let next = holes.peek().map_or(message.len(), |hole| hole.range().start);
        let token = if at == next
            && let Some(hole) = holes.next()
        {
            Token { kind: Kind::Envelope(hole.kind), range: hole.range() }
        } else {
            let token::Token { kind, range } = token::token_at(message, at);
            let kind = match kind {
                token::Kind::Number => Kind::Number,
                token::Kind::Word => Kind::Word,
                token::Kind::Other => Kind::Other,
            };
            Token { kind, range: at..range.end.min(next) }
        };
        at = token.range.end;
        tokens.push(token);
    }
    Some(())
}
