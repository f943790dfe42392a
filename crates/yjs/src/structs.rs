//! Structs: the items of a document in the order in which their client made them, and what stands for items that are gone.

use alloc::vec::Vec;

use crate::content::{self, Content};
use crate::error::Error;
use crate::reader::{Id, MAX_NUMBER, Reader};
use crate::writer;

const GARBAGE: u8 = 0;
const SKIP: u8 = 10;
const KIND: u8 = 0x1f;
const HAS_ORIGIN: u8 = 0x80;
const HAS_RIGHT_ORIGIN: u8 = 0x40;
const HAS_PARENT_SUB: u8 = 0x20;

/// What Yjs, too, writes for half of a character.
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
    /// What it was inserted behind.
    origin: Option<Id>,
    /// What it was inserted before.
    right_origin: Option<Id>,
    /// Everything before the content.
    head: &'a [u8],
    content: Content<'a>,
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
        // Each unit has a clock, and the clock after the last one is a number, too.
        if length == 0 || id.clock.checked_add(length).is_none_or(|end| end > MAX_NUMBER) {
            return Err(Error::Malformed { what: "the length of a struct", at });
        }
        Ok(Struct { id, length, body })
    }

    /// The clock after its last one.
    pub(crate) fn end(&self) -> u64 {
        self.id.clock + self.length
    }

    /// Writes it from this clock on, which is one of its own.
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
        if from == self.id.clock {
            out.push(item.info);
            out.extend_from_slice(item.head.get(1..).unwrap_or_default());
            return;
        }
        // What is left of it stands behind what is cut off.
        out.push(item.info & !HAS_PARENT_SUB | HAS_ORIGIN);
        writer::id(out, Id { clock: from - 1, ..self.id });
        if let Some(right) = item.right_origin {
            writer::id(out, right);
        }
    }

    /// The text of it from this clock on, if it is a text that goes on at once where `before` ends, so that both may be one struct.
    pub(crate) fn continues(&self, before: &Struct<'a>, from: u64) -> Option<&'a str> {
        let (Body::Item(item), Body::Item(earlier)) = (self.body, before.body) else { return None };
        let (Content::Text(text), Content::Text(_)) = (item.content, earlier.content) else {
            return None;
        };
        // A struct that is cut gets this origin.
        let is_cut = from > self.id.clock;
        let is_behind =
            is_cut || item.origin == Some(Id { clock: from.checked_sub(1)?, ..self.id });
        let is_alike =
            is_behind && before.end() == from && item.right_origin == earlier.right_origin;
        let (broken, rest) = split(text, from - self.id.clock);
        (is_alike && !broken).then_some(rest)
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
    fn read(reader: &mut Reader<'a>, info: u8, id: Id, at: usize) -> Result<Self, Error> {
        // Yjs gets into an error that every reader of the document repeats if an item is before its own origin.
        let reference = |reader: &mut Reader<'a>| {
            let at = reader.at();
            let found = reader.id()?;
            let is_later = found.client == id.client && found.clock >= id.clock;
            if is_later { Err(Error::Malformed { what: "a reference", at }) } else { Ok(found) }
        };
        let origin = (info & HAS_ORIGIN != 0).then(|| reference(reader)).transpose()?;
        let right_origin = (info & HAS_RIGHT_ORIGIN != 0).then(|| reference(reader)).transpose()?;
        // With a neighbour, the parent is the neighbour's.
        if origin.is_none() && right_origin.is_none() {
            let at = reader.at();
            match reader.number()? {
                0 => drop(reference(reader)?),
                1 => drop(reader.text()?),
                _ => return Err(Error::Malformed { what: "a parent", at }),
            }
            if info & HAS_PARENT_SUB != 0 {
                reader.text()?;
            }
        }
        // With a neighbour, this has no meaning, and only some versions of an item have it.
        let info =
            if info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) == 0 { info } else { info & !HAS_PARENT_SUB };
        let head = reader.since(at);
        let content = Content::read(reader, info & KIND)?;
        Ok(Item { info, origin, right_origin, head, content })
    }
}

impl Content<'_> {
    /// Writes it without its first units.
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
                    // They were read before.
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

/// Splits a text behind so many units of UTF-16. Returns whether that is within a character, and the text behind that character.
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
