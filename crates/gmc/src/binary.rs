//! Finds where two binary messages of the same type differ: at the same places if they have one
//! length, else somewhere between a common start and a common end.

use alloc::vec::Vec;
use core::ops::Range;

use crate::learn::Learned;
use crate::template::{Hole, HoleKind, Template};

/// The widest number.
pub(crate) const WIDTH_MAX: usize = 8;

/// Makes a template of `message`, given the known template that is most like it.
pub(crate) fn learn(
    base: Option<&Template>,
    message: &[u8],
    spans: &mut Vec<Range<usize>>,
) -> Learned {
    if let Some(base) = base
        && base.holes().iter().all(|hole| is_binary(hole.kind))
    {
        if base.example().len() == message.len() {
            if let Some(holes) = differences(base, message) {
                return Learned { template: Template::new(message, holes), replaces_base: true };
            }
        } else if let Some(holes) = middle(base, message, spans) {
            return Learned { template: Template::new(message, holes), replaces_base: false };
        }
    }
    Learned { template: Template::new(message, Vec::new()), replaces_base: false }
}

fn is_binary(kind: HoleKind) -> bool {
    matches!(kind, HoleKind::BigEndian | HoleKind::LittleEndian)
}

/// Holes where two messages of one length differ, or `None` if they have too little in common.
fn differences(base: &Template, message: &[u8]) -> Option<Vec<Hole>> {
    let example = base.example();
    let mut holes: Vec<Hole> = Vec::new();
    let mut old = base.holes().iter().peekable();
    let mut differing = 0;
    let mut at = 0;
    while at < message.len() {
        if let Some(hole) = old.next_if(|hole| hole.range().start <= at) {
            if hole.range().start == at {
                at = hole.range().end;
                holes.push(Hole::new(hole.kind, hole.range()));
            }
            continue;
        }
        if example[at] == message[at] {
            at += 1;
            continue;
        }
        let free_end = old.peek().map_or(message.len(), |hole| hole.range().start);
        let limit = free_end.min(at + WIDTH_MAX);
        let run = at..at + (at..limit).take_while(|&at| example[at] != message[at]).count();
        differing += run.len();
        let free_start = holes.last().map_or(0, |hole| hole.range().end);
        // A number grows at its high end: to the left of a big-endian hole, to the right of the
        // other.
        if let Some(next) = old.next_if(|next| {
            next.kind == HoleKind::BigEndian
                && next.range().start == run.end
                && next.range().end - run.start <= WIDTH_MAX
        }) {
            at = next.range().end;
            holes.push(Hole::new(HoleKind::BigEndian, run.start..at));
            continue;
        }
        if let Some(last) = holes.last_mut()
            && last.kind == HoleKind::LittleEndian
            && last.range().end == run.start
            && run.end - last.range().start <= WIDTH_MAX
        {
            *last = Hole::new(HoleKind::LittleEndian, last.range().start..run.end);
            at = run.end;
            continue;
        }
        let hole = field(message, run, free_start..free_end);
        at = hole.range().end;
        holes.push(hole);
    }
    (differing * 4 <= message.len() * 3).then_some(holes)
}

/// The number of which the bytes in `run` have changed: wider where zeros show that it is.
fn field(message: &[u8], run: Range<usize>, free: Range<usize>) -> Hole {
    for width in [4, 8, 2] {
        if width >= run.len() && run.end >= free.start + width && message[run.end - width] == 0 {
            return Hole::new(HoleKind::BigEndian, run.end - width..run.end);
        }
    }
    for width in [4, 8, 2] {
        if width >= run.len()
            && run.start + width <= free.end
            && message[run.start + width - 1] == 0
        {
            return Hole::new(HoleKind::LittleEndian, run.start..run.start + width);
        }
    }
    Hole::new(HoleKind::BigEndian, run)
}

/// Holes of a message that starts and ends like `base` but is longer or shorter.
fn middle(base: &Template, message: &[u8], spans: &mut Vec<Range<usize>>) -> Option<Vec<Hole>> {
    let example = base.example();
    let left = base.likeness(message, spans).min(example.len());
    let room = message.len().min(example.len()).saturating_sub(left);
    let mut right = 0;
    let mut holes_right = Vec::new();
    let mut hidden = base.holes().iter().rev().peekable();
    while right < room {
        let at = example.len() - 1 - right;
        if let Some(hole) = hidden.next_if(|hole| hole.range().end == at + 1) {
            if right + hole.range().len() > room {
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
    let kinds = base.holes().iter().map(|hole| hole.kind);
    let mut holes: Vec<_> =
        kinds.zip(spans.iter()).map(|(kind, span)| Hole::new(kind, span.clone())).collect();
    holes.push(Hole::new(HoleKind::Bytes, left..end));
    holes.extend(holes_right.into_iter().rev());
    Some(holes)
}
