//! A template: a message of the past with holes where other messages differ.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ops::Range;

use crate::hash::{hash, hash_bytes};
use crate::token;

/// What fills a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoleKind {
    /// Digits of a number, as [`token`] defines it.
    Number,
    /// Any bytes up to what is behind the hole: see [`Template::text_end`].
    Text,
    /// Any bytes, as many as the message is longer than the rest of the template.
    Bytes,
    /// As many bytes as in the example, a big-endian number.
    BigEndian,
    /// As many bytes as in the example, a little-endian number.
    LittleEndian,
}

/// A part of the example that differs from message to message.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    pub(crate) kind: HoleKind,
    /// Names the hole: equal in all templates that have the same text before it.
    pub(crate) label: u32,
    start: u32,
    end: u32,
}

impl Hole {
    pub(crate) fn new(kind: HoleKind, range: Range<usize>) -> Self {
        Self { kind, label: 0, start: range.start as u32, end: range.end as u32 }
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

// What fits into the memory must be the same on all machines.
const _: () = assert!(size_of::<Hole>() == 16);

/// The fixed parts of a message type and the holes between them.
#[derive(Debug)]
pub(crate) struct Template {
    example: Box<[u8]>,
    holes: Box<[Hole]>,
    fixed: usize,
    has_text: bool,
}

/// A text hole's end is looked for by so many bytes of the fixed part behind it: enough to be
/// rarely wrong, few enough to bound the work.
const ANCHOR: usize = 16;

impl Template {
    /// The largest example: a larger message is not one of many small ones.
    pub(crate) const EXAMPLE_MAX: usize = 16 << 10;

    /// A template of `example` with these holes, which must be in order and must not overlap.
    /// Behind a text hole there must be a fixed part or the end.
    pub(crate) fn new(example: &[u8], mut holes: Vec<Hole>) -> Self {
        label(example, &mut holes);
        let open: usize = holes.iter().map(|hole| hole.range().len()).sum();
        Self {
            example: example.into(),
            fixed: example.len() - open,
            has_text: holes
                .iter()
                .any(|hole| matches!(hole.kind, HoleKind::Text | HoleKind::Bytes)),
            holes: holes.into(),
        }
    }

    pub(crate) fn example(&self) -> &[u8] {
        &self.example
    }

    pub(crate) fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// The hole of this name.
    pub(crate) fn find(&self, label: u32) -> Option<usize> {
        self.holes.iter().position(|hole| hole.label == label)
    }

    /// Bytes outside of holes: what a message that fits the template need not say.
    pub(crate) fn fixed(&self) -> usize {
        self.fixed
    }

    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.example.len() + self.holes.len() * size_of::<Hole>()
    }

    /// The fixed part before hole `index`, or before the end if there is no such hole.
    pub(crate) fn fixed_before(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.holes[index - 1].end as usize };
        let end = self.holes.get(index).map_or(self.example.len(), |hole| hole.start as usize);
        &self.example[start..end]
    }

    /// Whether `message` fits. If so, `spans` is filled with what fills the holes.
    pub(crate) fn matches(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> bool {
        spans.clear();
        self.match_from_left(message, spans) == Some(message.len())
    }

    /// How many bytes from the left fit: a measure of likeness.
    pub(crate) fn likeness(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> usize {
        spans.clear();
        if let Some(end) = self.match_from_left(message, spans) {
            return end;
        }
        let left = spans.last().map_or(0, |span| span.end);
        let rest = self.fixed_before(spans.len());
        left + rest.iter().zip(&message[left..]).take_while(|(a, b)| a == b).count()
    }

    fn match_from_left(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> Option<usize> {
        let mut at = 0;
        for (index, hole) in self.holes.iter().enumerate() {
            let fixed = self.fixed_before(index);
            if !message[at..].starts_with(fixed) {
                return None;
            }
            at += fixed.len();
            let end = match hole.kind {
                HoleKind::Number => token::number_end(message, at)?,
                HoleKind::Text => self.text_end(message, at, index)?,
                HoleKind::Bytes => {
                    let behind = self.example.len() - hole.range().end;
                    message.len().checked_sub(behind).filter(|&end| end >= at)?
                }
                HoleKind::BigEndian | HoleKind::LittleEndian => at + hole.range().len(),
            };
            if end > message.len() {
                return None;
            }
            spans.push(at..end);
            at = end;
        }
        let fixed = self.fixed_before(self.holes.len());
        message[at..].starts_with(fixed).then_some(at + fixed.len())
    }

    /// Where the text that starts at `at` ends: before the first punctuation mark that is the first
    /// one behind the hole, so that text never swallows what has structure of its own. If there is
    /// no mark behind the hole, text ends with the message, or where the fixed part begins.
    fn text_end(&self, message: &[u8], at: usize, index: usize) -> Option<usize> {
        let fixed = self.fixed_before(index + 1);
        let spaces = fixed.iter().take_while(|&&byte| byte == b' ').count();
        if let Some(&mark) = fixed.get(spaces).filter(|mark| mark.is_ascii_punctuation()) {
            let mut end = at;
            while *message.get(end)? != mark {
                let escapes = message[end] == b'\\' && matches!(mark, b'"' | b'\'');
                end += if escapes { 2 } else { 1 };
            }
            return end.checked_sub(spaces).filter(|&end| end >= at);
        }
        if index + 1 == self.holes.len() {
            return message.len().checked_sub(fixed.len()).filter(|&end| end >= at);
        }
        let anchor = &fixed[..fixed.len().min(ANCHOR)];
        message[at..]
            .windows(anchor.len().max(1))
            .position(|window| window == anchor)
            .map(|end| at + end)
    }
}

/// Names each hole after the word before it, as in `"x":` or `<x> `, so that templates share what
/// is known about equal holes. Binary holes are named by their place in a message of this length.
fn label(example: &[u8], holes: &mut [Hole]) {
    let mut names: Vec<u32> = Vec::with_capacity(holes.len());
    let mut before = 0;
    for hole in holes {
        let fixed = &example[before..hole.start as usize];
        let name = match hole.kind {
            HoleKind::BigEndian => hash(hash(1, example.len() as u32), hole.end),
            HoleKind::LittleEndian => hash(hash(2, example.len() as u32), hole.start),
            HoleKind::Bytes => hash(3, hole.start),
            HoleKind::Number | HoleKind::Text => {
                let kind = hole.kind as u32 + 4;
                match last_word(fixed) {
                    Some(word) => hash_bytes(kind, word),
                    None => hash_bytes(hash(names.last().copied().unwrap_or(0), kind), fixed),
                }
            }
        };
        // A name that occurs again, as in a list of objects, is another hole.
        let earlier = names.iter().filter(|&&known| known == name).count();
        names.push(name);
        hole.label = if earlier == 0 { name } else { hash(name, earlier as u32) };
        before = hole.end as usize;
    }
}

/// The last word of `fixed` and what is behind it.
fn last_word(fixed: &[u8]) -> Option<&[u8]> {
    let end = fixed.iter().rposition(u8::is_ascii_alphanumeric)?;
    let before = fixed[..end].iter().rposition(|byte| !byte.is_ascii_alphanumeric());
    Some(&fixed[before.map_or(0, |before| before + 1)..])
}
