//! Structs: the items of a document in the order in which their client made them, and placeholders
//! for items that are gone.

use alloc::vec::Vec;

use crate::content::{self, BINARY, Content, DELETED, EMBED, FORMAT, TEXT};
use crate::error::Error;
use crate::ranges::Ranges;
use crate::reader::{Id, MAX_NUMBER, Reader};
use crate::writer;

const GARBAGE: u8 = 0;
const SKIP: u8 = 10;
const KIND: u8 = 0x1f;
const HAS_ORIGIN: u8 = 0x80;
const HAS_RIGHT_ORIGIN: u8 = 0x40;
const HAS_PARENT_SUB: u8 = 0x20;

/// Cutting an item in two costs up to this many bytes: a byte, its origin and its right origin, and
/// the length.
const MIN_CUT: u64 = 32;

/// The text that Yjs, too, writes for half of a character.
const BROKEN: &str = "\u{fffd}";

/// A struct.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Struct<'a> {
    pub(crate) id: Id,
    pub(crate) length: u64,
    pub(crate) body: Body<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Body<'a> {
    /// Items that were deleted and whose content is gone.
    Garbage,
    /// Items that are not in the update.
    Skip,
    Item(Item<'a>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    info: u8,
    /// The unit that the item was inserted behind.
    origin: Option<Id>,
    /// The unit that the item was inserted before.
    right_origin: Option<Id>,
    /// Where the item is if it has no neighbour.
    parent: Option<Parent>,
    /// Everything before the content; empty for the rest of an item that was cut.
    head: &'a [u8],
    content: Content<'a>,
}

/// The shared type that contains an item.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parent {
    /// A shared type of the document itself, which has a name.
    Root,
    /// A shared type that is the content of this item.
    Item(Id),
}

impl<'a> Struct<'a> {
    /// Reads the struct of this id.
    pub(crate) fn read(reader: &mut Reader<'a>, id: Id) -> Result<Self, Error> {
        let at = reader.at();
        let info = reader.byte()?;
        let (length, body) = match info {
            GARBAGE => (reader.number()?, Body::Garbage),
            SKIP => (reader.number()?, Body::Skip),
            _ => {
                let item = Item::read(reader, info, id, at)?;
                (item.content.length(), Body::Item(item))
            }
        };
        // Each unit has a clock, and the clock after the last unit must be a valid number, too.
        if length == 0 || id.clock.checked_add(length).is_none_or(|end| end > MAX_NUMBER) {
            return Err(Error::Malformed { what: "the length of a struct", at });
        }
        Ok(Struct { id, length, body })
    }

    /// The clock after the struct's last unit.
    pub(crate) fn end(&self) -> u64 {
        self.id.clock + self.length
    }

    /// Writes the struct from the clock `from` on, which is one of its own.
    pub(crate) fn write(&self, out: &mut Vec<u8>, from: u64) {
        let skipped = from - self.id.clock;
        match self.body {
            Body::Garbage => write_run(out, GARBAGE, self.length - skipped),
            Body::Skip => write_run(out, SKIP, self.length - skipped),
            Body::Item(item) => {
                self.write_head(&item, out, from);
                item.content.write(out, skipped);
            }
        }
    }

    /// Splits the struct into parts. Long deleted parts lose their content, as in Yjs' garbage
    /// collection. Shared types and subdocuments keep theirs, because other structs refer to them.
    /// `kept` is a buffer.
    pub(crate) fn parts(
        &self,
        deleted: &Ranges,
        kept: &mut Vec<(u64, u64)>,
        mut each: impl FnMut(Struct<'a>),
    ) {
        let Body::Item(item) = self.body else { return each(*self) };
        kept.clear();
        deleted.missing(self.id, self.end(), kept);
        self.keep_short(kept);
        if kept[..] == [(self.id.clock, self.end())] {
            return each(*self);
        }
        match item.content {
            Content::Text(text) => match self.cut_text(&item, text, kept) {
                Some(parts) => parts.into_iter().for_each(each),
                None => each(*self),
            },
            Content::Values { .. } if kept.is_empty() => each(self.emptied(&item)),
            Content::Single(_)
                if kept.is_empty() && [BINARY, EMBED, FORMAT].contains(&(item.info & KIND)) =>
            {
                each(self.emptied(&item));
            }
            _ => each(*self),
        }
    }

    /// Also keeps stretches of deleted units that are shorter than the cost of cutting them out,
    /// unless all units were deleted.
    fn keep_short(&self, kept: &mut Vec<(u64, u64)>) {
        if let Some((first, _)) = kept.first_mut()
            && *first - self.id.clock < MIN_CUT
        {
            *first = self.id.clock;
        }
        if let Some((_, last)) = kept.last_mut()
            && self.end() - *last < MIN_CUT
        {
            *last = self.end();
        }
        kept.dedup_by(|next, before| {
            let is_short = next.0 - before.1 < MIN_CUT;
            if is_short {
                before.1 = next.1;
            }
            is_short
        });
    }

    /// The parts of a text, of which only these ranges are kept. `None` if one of them ends within
    /// a character.
    fn cut_text(
        &self,
        item: &Item<'a>,
        text: &'a str,
        kept: &[(u64, u64)],
    ) -> Option<Vec<Struct<'a>>> {
        let mut parts = Vec::new();
        let mut at = self.id.clock;
        let mut rest = text;
        for &(start, end) in kept.iter().chain([&(self.end(), self.end())]) {
            if start > at {
                (_, rest) = cut(rest, start - at)?;
                parts.push(self.part(item, at, Content::Deleted(start - at)));
            }
            if end > start {
                let (here, after) = cut(rest, end - start)?;
                parts.push(self.part(item, start, Content::Text(here)));
                rest = after;
            }
            at = end;
        }
        Some(parts)
    }

    fn emptied(&self, item: &Item<'a>) -> Struct<'a> {
        self.part(item, self.id.clock, Content::Deleted(self.length))
    }

    /// A part of an item that begins at this clock and has this content.
    fn part(&self, item: &Item<'a>, clock: u64, content: Content<'a>) -> Struct<'a> {
        let kind = if matches!(content, Content::Deleted(_)) { DELETED } else { TEXT };
        let info = item.info & !KIND | kind;
        let part = match clock == self.id.clock {
            true => Item { info, content, ..*item },
            false => {
                let origin = Some(Id { clock: clock - 1, ..self.id });
                let info = info & !HAS_PARENT_SUB | HAS_ORIGIN;
                Item { info, origin, head: &[], content, ..*item }
            }
        };
        let id = Id { clock, ..self.id };
        Struct { id, length: content.length(), body: Body::Item(part) }
    }

    /// Writes a text from this clock on, with the texts that follow it.
    pub(crate) fn write_joined(&self, out: &mut Vec<u8>, from: u64, texts: &[&str]) {
        let Body::Item(item) = self.body else { return };
        let Content::Text(text) = item.content else { return };
        self.write_head(&item, out, from);
        let (broken, first) = split(text, from - self.id.clock);
        let first = [if broken { BROKEN } else { "" }, first];
        let texts = || first.iter().chain(texts);
        writer::number(out, texts().map(|text| text.len() as u64).sum());
        for text in texts() {
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// Writes everything before the content.
    fn write_head(&self, item: &Item<'a>, out: &mut Vec<u8>, from: u64) {
        if from == self.id.clock && !item.head.is_empty() {
            out.push(item.info);
            out.extend_from_slice(item.head.get(1..).unwrap_or_default());
            return;
        }
        // The origin of the rest is the last unit that was cut off.
        out.push(item.info & !HAS_PARENT_SUB | HAS_ORIGIN);
        writer::id(out, Id { clock: from - 1, ..self.id });
        if let Some(right) = item.right_origin {
            writer::id(out, right);
        }
    }

    /// Writes units that were deleted from this clock on, up to `end`.
    pub(crate) fn write_deleted(&self, out: &mut Vec<u8>, from: u64, end: u64) {
        let Body::Item(item) = self.body else { return };
        self.write_head(&item, out, from);
        writer::number(out, end - from);
    }

    /// The content of this struct from a clock on, if it continues `before` without a gap and with
    /// content of the same kind, text or deleted units, so that both can be one struct.
    pub(crate) fn continues(&self, before: &Struct<'a>, from: u64) -> Option<Content<'a>> {
        let (Body::Item(item), Body::Item(earlier)) = (self.body, before.body) else { return None };
        // A struct that is cut gets this origin.
        let is_cut = from > self.id.clock;
        let is_behind =
            is_cut || item.origin == Some(Id { clock: from.checked_sub(1)?, ..self.id });
        let is_alike =
            is_behind && before.end() == from && item.right_origin == earlier.right_origin;
        if !is_alike {
            return None;
        }
        match (item.content, earlier.content) {
            (Content::Text(text), Content::Text(_)) => {
                let (broken, rest) = split(text, from - self.id.clock);
                (!broken).then_some(Content::Text(rest))
            }
            (Content::Deleted(_), Content::Deleted(_)) => Some(Content::Deleted(self.end() - from)),
            _ => None,
        }
    }
}

pub(crate) fn write_skip(out: &mut Vec<u8>, length: u64) {
    write_run(out, SKIP, length);
}

fn write_run(out: &mut Vec<u8>, kind: u8, length: u64) {
    out.push(kind);
    writer::number(out, length);
}

impl<'a> Item<'a> {
    /// The items whose parent this item has, too: its neighbours when it was made.
    pub(crate) fn neighbours(&self) -> [Option<Id>; 2] {
        [self.origin, self.right_origin]
    }

    /// The shared type that contains the item; `None` if it is that of its neighbours.
    pub(crate) fn parent(&self) -> Option<Parent> {
        self.parent
    }

    fn read(reader: &mut Reader<'a>, info: u8, id: Id, at: usize) -> Result<Self, Error> {
        // If an item is before its own origin, Yjs throws an error, and so does every later reader
        // of the document.
        let reference = |reader: &mut Reader<'a>| {
            let at = reader.at();
            let found = reader.id()?;
            let is_later = found.client == id.client && found.clock >= id.clock;
            if is_later { Err(Error::Malformed { what: "a reference", at }) } else { Ok(found) }
        };
        let origin = (info & HAS_ORIGIN != 0).then(|| reference(reader)).transpose()?;
        let right_origin = (info & HAS_RIGHT_ORIGIN != 0).then(|| reference(reader)).transpose()?;
        let mut parent = None;
        // An item with a neighbour has the parent of that neighbour.
        if origin.is_none() && right_origin.is_none() {
            let at = reader.at();
            parent = Some(match reader.number()? {
                0 => Parent::Item(reference(reader)?),
                1 => {
                    reader.text()?;
                    Parent::Root
                }
                _ => return Err(Error::Malformed { what: "a parent", at }),
            });
            if info & HAS_PARENT_SUB != 0 {
                reader.text()?;
            }
        }
        // With a neighbour, this flag has no meaning, and only some encodings of an item have it.
        let info =
            if info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) == 0 { info } else { info & !HAS_PARENT_SUB };
        let head = reader.since(at);
        let content = Content::read(reader, info & KIND)?;
        Ok(Item { info, origin, right_origin, parent, head, content })
    }
}

impl Content<'_> {
    /// Writes the content without its first units.
    fn write(&self, out: &mut Vec<u8>, skipped: u64) {
        match *self {
            Content::Deleted(length) => writer::number(out, length - skipped),
            Content::Text(text) => {
                let (broken, rest) = split(text, skipped);
                let broken = if broken { BROKEN } else { "" };
                writer::number(out, (broken.len() + rest.len()) as u64);
                out.extend_from_slice(broken.as_bytes());
                out.extend_from_slice(rest.as_bytes());
            }
            Content::Values { count, are_json, bytes } => {
                let mut reader = Reader::new(bytes, 0);
                for _ in 0..skipped {
                    // This cannot fail: the values were read before.
                    if content::value(&mut reader, are_json).is_err() {
                        break;
                    }
                }
                writer::number(out, count - skipped);
                out.extend_from_slice(bytes.get(reader.at()..).unwrap_or_default());
            }
            Content::Single(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// Splits a text after this number of UTF-16 code units. `None` if the split is within a character.
fn cut(text: &str, units: u64) -> Option<(&str, &str)> {
    let (is_broken, rest) = split(text, units);
    if is_broken { None } else { text.split_at_checked(text.len() - rest.len()) }
}

/// Splits a text after this number of UTF-16 code units. Returns whether the split is within a
/// character, and the text after that character.
fn split(text: &str, units: u64) -> (bool, &str) {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen >= units {
            return (seen > units, text.get(at..).unwrap_or_default());
        }
        seen += character.len_utf16() as u64;
    }
    (seen > units, "")
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    /// What is left of a text of 200 letters when these clocks were deleted: for each part, its
    /// clock, and its length or its text.
    fn parts(deleted: &[(u64, u64)]) -> Vec<(u64, Result<u64, String>)> {
        let text: String = ('a'..='z').cycle().take(200).collect();
        let mut bytes = Vec::from([4, 1, 1, b't']);
        writer::blob(&mut bytes, text.as_bytes());
        let id = Id { client: 7, clock: 0 };
        let one = Struct::read(&mut Reader::new(&bytes, 0), id).unwrap();
        let mut ranges = Ranges::default();
        deleted.iter().for_each(|&(clock, end)| ranges.insert(Id { clock, ..id }, end));
        let mut parts = Vec::new();
        one.parts(&ranges, &mut Vec::new(), |part| {
            let Body::Item(item) = part.body else { panic!("an item") };
            assert_eq!(item.origin.map(|origin| origin.clock), part.id.clock.checked_sub(1));
            parts.push((
                part.id.clock,
                match item.content {
                    Content::Text(text) => Err(text.into()),
                    _ => Ok(part.length),
                },
            ));
        });
        parts
    }

    #[test]
    fn long_stretches_that_were_deleted_are_cut_out() {
        let text = |from: usize, to: usize| {
            Err(('a'..='z').cycle().skip(from).take(to - from).collect::<String>())
        };
        assert_eq!(parts(&[]), [(0, text(0, 200))]);
        assert_eq!(parts(&[(0, 200)]), [(0, Ok(200))]);
        assert_eq!(parts(&[(0, 100)]), [(0, Ok(100)), (100, text(100, 200))]);
        assert_eq!(parts(&[(100, 200)]), [(0, text(0, 100)), (100, Ok(100))]);
        let middle = [(0, text(0, 50)), (50, Ok(50)), (100, text(100, 200))];
        assert_eq!(parts(&[(50, 100)]), middle);
        assert_eq!(parts(&[(0, 5), (50, 100), (120, 125), (199, 200)]), middle);
    }
}
