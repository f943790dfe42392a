//! Composite templates: a whole message structure under one key (section 6.4 of the paper).
//!
//! A template is an earlier message, and a part is a substring of it that messages share. Where the
//! compressor sees the same sequence of parts again, with other values between them, the whole
//! sequence gets one key. A message is then coded as that key and the values, which fill the holes
//! between the parts.

use alloc::vec::Vec;

use super::announcement::Shape;
use super::code::{HOLE_NUMBER, MAX_HOLE};
use super::number::Number;
use super::suffix::Span;

/// The parts of a message that are in the template, with holes between them and perhaps before and
/// after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Composite {
    pub(super) parts: Vec<Span>,
    pub(super) shape: Shape,
}

/// A part of a message that was found in the template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup {
    /// The offset of the part in the message.
    pub(super) at: usize,
    pub(super) part: Span,
}

/// The shortest part in bytes. Shorter matches are mostly values that match by chance, and belong
/// into holes.
const MIN_PART: u16 = 3;

/// The most parts of a composite template. A message with more is hardly one structure.
const MAX_PARTS: usize = 64;

impl Composite {
    /// The structure of a message of `message` bytes, given the parts found in it. `None` if it has
    /// fewer than two or too many parts.
    pub(super) fn of(lookups: &[Lookup], message: usize) -> Option<Self> {
        let long = || lookups.iter().filter(|lookup| lookup.part.length >= MIN_PART);
        let (first, last) = (long().next()?, long().next_back()?);
        let parts: Vec<Span> = long().map(|lookup| lookup.part).collect();
        let shape = Shape {
            hole_before: first.at > 0,
            hole_after: last.at + usize::from(last.part.length) < message,
        };
        (2..=MAX_PARTS).contains(&parts.len()).then_some(Self { parts, shape })
    }

    /// Appends the contents of the holes, if `message` has this structure. Returns the number of
    /// bytes of the message that are in holes.
    ///
    /// Returns `None` if the message has another structure; `out` may then have grown.
    pub(super) fn fill(&self, template: &[u8], message: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let mut rest = message;
        let mut filled = 0;
        for (index, part) in self.parts.iter().enumerate() {
            let part = &template[usize::from(part.offset)..][..usize::from(part.length)];
            let has_hole = index > 0 || self.shape.hole_before;
            let hole = match (has_hole, index + 1 == self.parts.len() && !self.shape.hole_after) {
                (false, _) => rest.starts_with(part).then_some(0)?,
                (true, false) => rest.windows(part.len()).position(|window| window == part)?,
                // The message must end with the last part.
                (true, true) => {
                    rest.ends_with(part).then(|| rest.len().checked_sub(part.len())).flatten()?
                }
            };
            if has_hole {
                write_hole(&rest[..hole], out)?;
                filled += hole;
            }
            rest = &rest[hole + part.len()..];
        }
        if self.shape.hole_after {
            write_hole(rest, out)?;
            filled += rest.len();
            rest = &[];
        }
        rest.is_empty().then_some(filled)
    }
}

fn write_hole(content: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if let Some(number) = Number::parse(content) {
        out.push(HOLE_NUMBER + number.bytes() as u8);
        number.write(out);
    } else {
        out.push(u8::try_from(content.len()).ok().filter(|&length| length <= MAX_HOLE)?);
        out.extend_from_slice(content);
    }
    Some(())
}

/// The structures of recent messages that were seen only once.
#[derive(Debug, Default)]
pub(super) struct Structures {
    seen: Vec<Composite>,
}

/// The number of structures that are remembered: enough for the message types that share a
/// template.
const MAX_SEEN: usize = 16;

impl Structures {
    /// Returns the structure if it was seen before, to become a composite template. Otherwise
    /// remembers it.
    pub(super) fn repeats(&mut self, structure: Composite) -> Option<Composite> {
        if let Some(index) = self.seen.iter().position(|seen| *seen == structure) {
            return Some(self.seen.swap_remove(index));
        }
        if self.seen.len() == MAX_SEEN {
            self.seen.remove(0);
        }
        self.seen.push(structure);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &[u8] = b"(x: 1 y: 2)";

    fn part(text: &[u8]) -> Span {
        let offset = TEMPLATE.windows(text.len()).position(|part| part == text).unwrap();
        Span { offset: offset as u16, length: text.len() as u16 }
    }

    #[test]
    fn holes_take_numbers_in_binary_and_other_bytes_as_they_are() {
        let lookups =
            [Lookup { at: 0, part: part(b"(x: ") }, Lookup { at: 7, part: part(b" y: ") }];
        let composite = Composite::of(&lookups, 13).unwrap();
        assert_eq!(composite.shape, Shape { hole_before: false, hole_after: true });
        let mut holes = Vec::new();
        assert_eq!(composite.fill(TEMPLATE, b"(x: 700 y: a)", &mut holes), Some(5));
        assert_eq!(holes, [HOLE_NUMBER + 2, 2, 188, 2, b'a', b')']);
        assert_eq!(composite.fill(TEMPLATE, b"[x: 700 y: a)", &mut holes), None);
    }

    #[test]
    fn a_structure_is_new_once() {
        let lookups =
            [Lookup { at: 0, part: part(b"(x: ") }, Lookup { at: 7, part: part(b" y: ") }];
        let structure = Composite::of(&lookups, 11).unwrap();
        assert!(!structure.shape.hole_after);
        let mut structures = Structures::default();
        assert_eq!(structures.repeats(structure.clone()), None);
        assert_eq!(structures.repeats(structure.clone()), Some(structure));
    }

    #[test]
    fn short_matches_are_no_structure() {
        let lookups = [Lookup { at: 0, part: part(b"x:") }, Lookup { at: 7, part: part(b" y: ") }];
        assert_eq!(Composite::of(&lookups, 13), None);
    }
}
