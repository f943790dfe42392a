//! A template: an earlier message (the example) with holes, the places where other messages of its
//! type differ.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ops::Range;

use crate::binary::shape::Shape;
use crate::binary::varint::varint_end;
use crate::hash::{hash, hash_bytes};
pub(crate) use crate::hole_kind::HoleKind;
use crate::nested;
use crate::token::{self, find_either};

/// A hole: a part of the example that differs from message to message.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    pub(crate) kind: HoleKind,
    start: u16,
    end: u16,
    /// The shape: how the values of a binary hole are stored, as learned from the values.
    pub(crate) shape: Shape,
    /// The label: names the hole. Templates that have the same text before a hole have the same
    /// label for it.
    pub(crate) label: u32,
}

impl Hole {
    pub(crate) fn new(kind: HoleKind, range: Range<usize>) -> Self {
        Self::named(kind, range, 0)
    }

    /// A hole with this label; 0 makes [`Template::new`] choose a label.
    pub(crate) fn named(kind: HoleKind, range: Range<usize>, label: u32) -> Self {
        let mut hole = Self { kind, start: 0, end: 0, shape: Shape::INTEGER, label };
        hole.set_range(range);
        hole
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start.into()..self.end.into()
    }

    /// Sets the range of the hole in the example. It must end within [`Template::EXAMPLE_MAX`].
    pub(crate) fn set_range(&mut self, range: Range<usize>) {
        debug_assert!(range.end <= Template::EXAMPLE_MAX);
        self.start = range.start as u16;
        self.end = range.end as u16;
    }

    /// Whether the values of the hole vary in length.
    pub(crate) fn varies(&self) -> bool {
        !matches!(self.kind, HoleKind::Field | HoleKind::Opaque)
    }

    /// The end of the value that starts at `at`. `None` if the end is not visible in the value
    /// itself. The value of nested messages depends on `example`, the value in the template.
    pub(crate) fn own_end(&self, example: &[u8], message: &[u8], at: usize) -> Option<usize> {
        match self.kind {
            HoleKind::Number => token::number_end(message, at),
            HoleKind::Field | HoleKind::Opaque => Some(at + self.range().len()),
            HoleKind::String(prefix) => prefix.string(message, at).map(|string| string.end),
            HoleKind::Varint => varint_end(message, at),
            HoleKind::Scalar(format) => format.item_end(message, at),
            HoleKind::Length(prefix) => prefix.read(message, at).map(|(_, end)| end),
            HoleKind::Text | HoleKind::Bytes | HoleKind::Rest => None,
            kind => nested::end(kind, example, message, at),
        }
    }
}

// Both ends must have the same number of templates in the memory, so the size must be the same on
// all machines.
const _: () = assert!(size_of::<Hole>() == 16);

/// The number of a template in its stream, below [`TemplateId::COUNT`]. When a template is dropped,
/// its number is given to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TemplateId(u8);

impl TemplateId {
    /// The most templates of a stream: more of them would make encoding slow, and one value of a
    /// byte is needed to say "no template".
    pub(crate) const COUNT: usize = 255;

    /// The number of the template at this index of the list of templates.
    pub(crate) fn at(index: usize) -> Self {
        debug_assert!(index < Self::COUNT, "a stream has no more templates");
        Self(index as u8)
    }

    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// A message type: its fixed parts, and the holes between them.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    example: Box<[u8]>,
    holes: Box<[Hole]>,
    fixed: u32,
    has_text: bool,
    is_nesting: bool,
}

/// The bytes of the fixed part after a text hole by which the end of the hole is found: enough to
/// be rarely wrong, and few enough to bound the work.
const ANCHOR: usize = 16;

impl Template {
    /// The largest example, in bytes. A larger message is not one of many small similar ones.
    pub(crate) const EXAMPLE_MAX: usize = 16 << 10;

    /// A template of `example` with these holes, which must be in order and must not overlap. After
    /// a text hole must come a fixed part or the end of the example.
    pub(crate) fn new(example: &[u8], mut holes: Vec<Hole>) -> Self {
        debug_assert!(
            holes.windows(2).all(|pair| pair[0].range().end <= pair[1].range().start),
            "holes are in order and do not overlap"
        );
        debug_assert!(holes.last().is_none_or(|hole| hole.range().end <= example.len()));
        label(example, &mut holes);
        let open: usize = holes.iter().map(|hole| hole.range().len()).sum();
        Self {
            example: example.into(),
            fixed: (example.len() - open) as u32,
            is_nesting: holes.iter().any(|hole| hole.kind.is_nested()),
            has_text: holes.iter().any(|hole| match hole.kind {
                HoleKind::Text | HoleKind::Bytes | HoleKind::String(_) | HoleKind::Rest => true,
                HoleKind::Scalar(format) => format.is_string(&example[hole.range()]),
                _ => false,
            }),
            holes: holes.into(),
        }
    }

    pub(crate) fn example(&self) -> &[u8] {
        &self.example
    }

    pub(crate) fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// The index of the hole with this label.
    pub(crate) fn find(&self, label: u32) -> Option<usize> {
        self.holes.iter().position(|hole| hole.label == label)
    }

    /// Gives a hole another shape.
    pub(crate) fn reshape(&mut self, index: usize, shape: Shape) {
        self.holes[index].shape = shape;
    }

    /// Gives the holes these labels, in order.
    pub(crate) fn rename(&mut self, labels: &[u32]) {
        for (hole, &label) in self.holes.iter_mut().zip(labels) {
            hole.label = label;
        }
    }

    /// The number of bytes outside of holes, which need not be coded in messages that fit the
    /// template.
    pub(crate) fn fixed(&self) -> usize {
        self.fixed as usize
    }

    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// The memory on the heap, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.example.len() + self.holes.len() * size_of::<Hole>()
    }

    /// The fixed part before the hole with this index, or before the end if there is no such hole.
    pub(crate) fn fixed_before(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.holes[index - 1].range().end };
        let end = self.holes.get(index).map_or(self.example.len(), |hole| hole.range().start);
        &self.example[start..end]
    }

    /// A quick test that most messages fail which do not fit the template: of the length, and of
    /// the fixed parts at both ends.
    #[cfg_attr(feature = "fast", inline)]
    pub(crate) fn can_match(&self, message: &[u8]) -> bool {
        // In a message of another type another byte is at the end of the first fixed part, as a
        // rule.
        if cfg!(feature = "fast") {
            let first = self.holes.first().map_or(self.example.len(), |hole| hole.start.into());
            let last = first.wrapping_sub(1);
            if message.get(last) != self.example[..first].get(last) {
                return false;
            }
        }
        self.has_ends(message)
    }

    fn has_ends(&self, message: &[u8]) -> bool {
        message.len() >= self.fixed()
            && message.starts_with(self.fixed_before(0))
            && message.ends_with(self.fixed_before(self.holes.len()))
    }

    /// Whether `message` fits the template. If so, `spans` is filled with the ranges of the values
    /// in the message.
    pub(crate) fn matches(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> bool {
        spans.clear();
        self.match_from_left(message, spans) == Some(message.len())
    }

    /// Whether matching finds the holes of the template's own example where they are.
    pub(crate) fn matches_itself(&self, spans: &mut Vec<Range<usize>>) -> bool {
        self.matches(&self.example, spans)
            && spans.iter().cloned().eq(self.holes.iter().map(Hole::range))
    }

    /// How many bytes of `message` fit the template, counted from the left: a measure of likeness.
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
        let mut before = 0;
        for (index, hole) in self.holes.iter().enumerate() {
            let range = hole.range();
            let fixed = &self.example[before..range.start];
            before = range.end;
            if !message[at..].starts_with(fixed) {
                return None;
            }
            at += fixed.len();
            let end = match hole.kind {
                HoleKind::Text => self.text_end(message, at, index)?,
                HoleKind::Bytes | HoleKind::Rest => {
                    let behind = self.example.len() - hole.range().end;
                    let end = message.len().checked_sub(behind).filter(|&end| end >= at)?;
                    let first = self.example.get(hole.range().start);
                    if hole.kind == HoleKind::Rest && !begins_alike(message[at..end].first(), first)
                    {
                        return None;
                    }
                    end
                }
                HoleKind::Length(prefix) => {
                    let (length, end) = prefix.read(message, at)?;
                    let counted = self.counted(index, message.len().checked_sub(end)?);
                    (counted == Some(length)).then_some(end)?
                }
                _ => hole.own_end(&self.example[hole.range()], message, at)?,
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

    /// The value of the length in hole `index`, if `rest` bytes follow it in the message.
    pub(crate) fn counted(&self, index: usize, rest: usize) -> Option<usize> {
        let range = self.holes[index].range();
        let HoleKind::Length(prefix) = self.holes[index].kind else { return None };
        let (length, _) = prefix.read(&self.example, range.start)?;
        let behind = self.example.len() - range.end;
        // In the example `behind` bytes follow.
        rest.checked_add(length)?.checked_sub(behind)
    }

    /// Whether the template has a hole with a nested message.
    pub(crate) fn is_nesting(&self) -> bool {
        self.is_nesting
    }

    /// The end of the text of hole `index`, which starts at `at`. If a punctuation mark follows the
    /// hole, the text ends before the next such mark in the message, so that a text hole never
    /// contains structure such as a closing quote. If none follows, the text ends at the first
    /// occurrence of the fixed part after the hole; that of the last hole ends where the fixed part
    /// at the end of the message begins.
    fn text_end(&self, message: &[u8], at: usize, index: usize) -> Option<usize> {
        let fixed = self.fixed_before(index + 1);
        let spaces = fixed.iter().take_while(|&&byte| byte == b' ').count();
        if let Some(&mark) = fixed.get(spaces).filter(|mark| mark.is_ascii_punctuation()) {
            let escape = if matches!(mark, b'"' | b'\'') { b'\\' } else { mark };
            let mut end = at;
            loop {
                end += find_either(message.get(end..)?, mark, escape)?;
                if message[end] == mark {
                    break;
                }
                end += 2;
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

/// Labels each hole by the word before it, as in `"x":` or `<x> `, so that templates share what is
/// known about equal holes. Holes of a known binary format have labels already. Other binary holes
/// are labelled by their place: its offset in messages of this length, or its distance from the
/// last hole of varying length.
fn label(example: &[u8], holes: &mut [Hole]) {
    let mut names: Vec<u32> = Vec::with_capacity(holes.len());
    let mut before = 0;
    let varying: usize =
        holes.iter().filter(|hole| hole.varies()).map(|hole| hole.range().len()).sum();
    let mut origin = (hash(1, (example.len() - varying) as u32), 0);
    for hole in holes {
        let range = hole.range();
        let fixed = &example[before..range.start];
        let place = |at: usize| hash(origin.0, (at - origin.1) as u32);
        let name = match hole.kind {
            _ if hole.label != 0 => hole.label,
            // A big-endian number that turns out to be wider than was thought starts earlier, but
            // its end stays.
            HoleKind::Field if !hole.shape.is_little_endian() => place(range.end),
            HoleKind::Field => hash(place(range.start), 2),
            HoleKind::Bytes => hash(3, range.start as u32),
            HoleKind::Number => word_name(4, fixed, &names),
            HoleKind::Text => word_name(5, fixed, &names),
            HoleKind::Base64 | HoleKind::Escaped => word_name(8, fixed, &names),
            HoleKind::Opaque | HoleKind::String(_) => hash(place(range.start), 6),
            HoleKind::Varint | HoleKind::Scalar(_) => hash(place(range.start), 7),
            _ => hash(place(range.start), 9),
        };
        // If a label occurs again, as in a list of objects, it is combined with a count.
        let earlier = names.iter().filter(|&&known| known == name).count();
        names.push(name);
        hole.label = if earlier == 0 { name } else { hash(name, earlier as u32) };
        before = range.end;
        if hole.varies() {
            origin = (hole.label, before);
        }
    }
}

fn word_name(kind: u32, fixed: &[u8], names: &[u32]) -> u32 {
    match last_word(fixed) {
        Some(word) => hash_bytes(kind, word),
        None => hash_bytes(hash(names.last().copied().unwrap_or(0), kind), fixed),
    }
}

/// The last word of `fixed`, and the bytes after that word.
fn last_word(fixed: &[u8]) -> Option<&[u8]> {
    let end = fixed.iter().rposition(u8::is_ascii_alphanumeric)?;
    let before = fixed[..end].iter().rposition(|byte| !byte.is_ascii_alphanumeric());
    Some(&fixed[before.map_or(0, |before| before + 1)..])
}

/// Whether two nested messages begin alike: with the same byte, or with heads of maps of any size
/// in the same format.
fn begins_alike(a: Option<&u8>, b: Option<&u8>) -> bool {
    let kind = |first: &u8| if *first < 0x80 { *first } else { first >> 5 };
    a.map(kind) == b.map(kind)
}
