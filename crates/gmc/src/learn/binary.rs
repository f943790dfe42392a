//! Makes templates of binary messages, in self-describing formats and in others. A template is an
//! earlier message with holes, the places where other messages of its type differ.

use alloc::vec::Vec;
use core::ops::Range;

use super::HOLES_MAX;
use super::envelope;
use super::grammar::{self, Grammar};
use super::places;
use super::scratch::{Learned, Scratch};
use crate::binary::shape::Shape;
use crate::template::{Hole, HoleKind, Template};
use crate::token;

/// Makes a template of `message`, given `base`, the known template that is most like the message.
/// `None` if the message is text.
pub(crate) fn learn(
    base: Option<&Template>,
    message: &[u8],
    scratch: &mut Scratch,
) -> Option<Learned> {
    let Scratch { spans, binary_tokens: tokens, binary_base: base_tokens, .. } = scratch;
    let is_binary = token::is_binary(message);
    if !is_binary && message.first().is_none_or(|&first| first < 0x80) {
        return None;
    }
    if let Some(grammar) = Grammar::of(message, tokens)
        && (is_binary || grammar.is_self_describing())
    {
        let holes = grammar::holes(grammar, base, message, tokens, base_tokens);
        return Some(Learned { template: Template::new(message, holes), replaces_base: false });
    }
    if !is_binary {
        return None;
    }
    let envelope = envelope::in_binary(message, tokens);
    if envelope::is_in_text(message, &envelope) {
        return None;
    }
    if let Some(base) = base
        && base.holes().iter().all(|hole| is_place(hole.kind))
    {
        if let Some((holes, replaces_base)) = places::holes(base, message, &envelope) {
            return Some(Learned { template: Template::new(message, holes), replaces_base });
        }
        if base.example().len() != message.len()
            && base.holes().iter().all(|hole| !hole.varies())
            && envelope.is_empty()
            && let Some(holes) = middle(base, message, spans)
        {
            return Some(Learned { template: Template::new(message, holes), replaces_base: false });
        }
    }
    Some(Learned { template: Template::new(message, envelope), replaces_base: false })
}

/// Searches again for the fields (numbers at fixed places) of a template, given another message
/// that fits it. `None` if they have not changed, or if the template with the new ones could not be
/// kept.
pub(crate) fn revise(template: &Template, message: &[u8]) -> Option<Template> {
    let holes = template.holes();
    if holes.is_empty() || !holes.iter().all(|hole| is_place(hole.kind)) {
        return None;
    }
    let mut spans = Vec::new();
    if !template.matches(message, &mut spans) {
        return None;
    }
    let envelope = holes.iter().zip(spans).filter(|(hole, _)| hole.kind.is_envelope());
    let envelope = envelope.map(|(hole, span)| Hole::new(hole.kind, span)).collect::<Vec<_>>();
    let (revised, _) = places::holes(template, message, &envelope)?;
    let is_same = |(a, b): (&Hole, &Hole)| {
        let is_placed = a.varies() || a.range().len() == b.range().len();
        a.kind == b.kind && is_placed && a.shape.has_form_of(&b.shape)
    };
    if revised.len() == holes.len() && revised.iter().zip(holes).all(is_same) {
        return None;
    }
    let revised = Template::new(message, revised);
    (revised.holes().len() <= HOLES_MAX && revised.matches_itself(&mut Vec::new()))
        .then_some(revised)
}

fn is_place(kind: HoleKind) -> bool {
    matches!(kind, HoleKind::Field | HoleKind::Opaque | HoleKind::String(_) | HoleKind::Varint)
        || kind.is_envelope()
}

/// The holes of a message that starts and ends like the example of `base` but is longer or shorter.
fn middle(base: &Template, message: &[u8], spans: &mut Vec<Range<usize>>) -> Option<Vec<Hole>> {
    let example = base.example();
    let left = base.likeness(message, spans).min(example.len());
    let space = message.len().min(example.len()).saturating_sub(left);
    let mut right = 0;
    let mut holes_right = Vec::new();
    let mut hidden = base.holes().iter().rev().peekable();
    while right < space {
        let at = example.len() - 1 - right;
        if let Some(hole) = hidden.next_if(|hole| hole.range().end == at + 1) {
            if right + hole.range().len() > space {
                break;
            }
            right += hole.range().len();
            holes_right.push(Hole::new(
                hole.kind,
                message.len() - right..message.len() - right + hole.range().len(),
            ));
        } else if example[at] == message[message.len() - 1 - right] {
            right += 1;
        } else {
            break;
        }
    }
    let end = message.len() - right;
    let gap = end - left;
    if gap * 3 > message.len()
        || (example.len() + gap).saturating_sub(message.len()) * 3 > example.len()
    {
        return None;
    }
    let place = |hole: &Hole, range: Range<usize>| {
        let mut hole = Hole::new(hole.kind, range);
        hole.shape = Shape::new(hole.shape.is_little_endian(), hole.shape.is_float());
        hole
    };
    let mut holes: Vec<_> = base
        .holes()
        .iter()
        .zip(spans.iter())
        .map(|(hole, span)| place(hole, span.clone()))
        .collect();
    holes.push(Hole::new(HoleKind::Bytes, left..end));
    holes.extend(holes_right.into_iter().rev());
    Some(holes)
}
