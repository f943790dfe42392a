//! Makes a template of a message. A template is a message with holes, the places where other
//! messages of its type differ: here, where the message differs from the most similar known
//! template, the base.

mod align;
pub(crate) mod binary;
pub(crate) mod document;
pub(crate) mod envelope;
mod grammar;
mod lengths;
mod parts;
mod places;
pub(crate) mod scratch;

use alloc::vec::Vec;

use scratch::{Learned, Scratch};

use crate::template::{Hole, HoleKind, Template};
use crate::token;
use parts::{Kind, Token};

/// The most tokens (numbers, words and other bytes) of a message that is learned. One with more is
/// not one of many small similar messages, and learning from it would take long.
const TOKENS_MAX: usize = 4096;
/// The most holes of a template. A template with more costs more memory than it saves bytes.
pub(crate) const HOLES_MAX: usize = 512;

/// Makes a template of `message`, given `base`, the known template that is most like it. `None` if
/// the message is not suitable.
pub(crate) fn learn(
    base: Option<&Template>,
    message: &[u8],
    scratch: &mut Scratch,
) -> Option<Learned> {
    let learned = match binary::learn(base, message, scratch) {
        Some(learned) => learned,
        None => Learned { template: learn_text(base, message, scratch)?, replaces_base: false },
    };
    (learned.template.holes().len() <= HOLES_MAX).then_some(learned)
}

/// Makes a template of a message by its words and numbers.
fn learn_text(base: Option<&Template>, message: &[u8], scratch: &mut Scratch) -> Option<Template> {
    let envelope = if token::is_binary(message) {
        envelope::in_binary(message, &mut scratch.binary_tokens)
    } else {
        envelope::in_text(message, &mut scratch.binary_tokens)
    };
    parts::split(message, &envelope, TOKENS_MAX, &mut scratch.tokens)?;
    let holes = base
        .and_then(|base| align::align(base, message, &scratch.tokens, &mut scratch.base))
        .unwrap_or_else(|| likely_holes(message, &scratch.tokens));
    Some(Template::new(message, holes))
}

/// The holes of a message without a similar template: its numbers and identifiers, which are most
/// likely to differ.
fn likely_holes(message: &[u8], tokens: &[Token]) -> Vec<Hole> {
    let holes = tokens.iter().enumerate().filter_map(|(index, token)| {
        let kind = match token.kind {
            Kind::Number => HoleKind::Number,
            Kind::Word if is_identifier(&message[token.range.clone()]) => {
                // A text hole needs a punctuation mark after it, which shows where the text ends.
                let behind = tokens.get(index + 1)?;
                let mark = message[behind.range.start];
                (behind.kind == Kind::Other && mark.is_ascii_punctuation())
                    .then_some(HoleKind::Text)?
            }
            Kind::Envelope(kind) => kind,
            _ => return None,
        };
        Some(Hole::new(kind, token.range.clone()))
    });
    holes.collect()
}

/// The shortest identifier. Shorter words with digits are names of fields, such as `x1`.
const IDENTIFIER_MIN: usize = 6;

/// Whether a word looks like an identifier, such as hexadecimal digits, a UUID or a colour.
fn is_identifier(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    word.len() >= IDENTIFIER_MIN && digits * 4 >= word.len()
}
