//! Templates in a snapshot, and what compaction keeps of them. A template is an earlier message
//! (the example) with holes, the places where other messages of its type differ.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::{OVERHEAD, PLACE, REVISIONS, Templates};
use crate::archive::{Archive, Result};
use crate::binary::format::Format;
use crate::binary::prefix::Prefix;
use crate::binary::shape::Shape;
use crate::error::SnapshotError;
use crate::hash::hash;
use crate::learn::HOLES_MAX;
use crate::learn::document::NESTED_MAX;
use crate::learn::envelope::LENGTHS_MAX;
use crate::range_coder::Coder;
use crate::template::{Hole, HoleKind, Template};
use crate::token::{self, Kind};

// Contexts: each selects the archive's statistics for one kind of value.
const RESERVED: u32 = 0x700;
const PRESENT: u32 = 0x701;
const USES: u32 = 0x702;
const FITS: u32 = 0x703;
const EXAMPLE: u32 = 0x704;
const COMMON: u32 = 0x705;
const MORE: u32 = 0x706;
const SAME: u32 = 0x707;
const TOKEN: u32 = 0x708;
const KIND: u32 = 0x709;
const GAP: u32 = 0x70a;
const LENGTH: u32 = 0x70b;
const LABEL: u32 = 0x70c;
const NAME: u32 = 0x70d;

/// The number that says that another number follows, for kinds that do not fit into four bits.
const LONG: usize = 15;
/// The kinds of holes by number. `KINDS[LONG]` only fills its place: `Rest` is written as the
/// number before it.
const KINDS: [HoleKind; 33] = [
    HoleKind::Number,
    HoleKind::Text,
    HoleKind::Bytes,
    HoleKind::Field,
    HoleKind::Opaque,
    HoleKind::Varint,
    HoleKind::Scalar(Format::MessagePack),
    HoleKind::Scalar(Format::Cbor),
    HoleKind::String(Prefix::ALL[0]),
    HoleKind::String(Prefix::ALL[1]),
    HoleKind::String(Prefix::ALL[2]),
    HoleKind::String(Prefix::ALL[3]),
    HoleKind::String(Prefix::ALL[4]),
    HoleKind::String(Prefix::ALL[5]),
    HoleKind::Rest,
    HoleKind::Rest,
    HoleKind::Record(Prefix::ALL[0]),
    HoleKind::Record(Prefix::ALL[1]),
    HoleKind::Record(Prefix::ALL[2]),
    HoleKind::Record(Prefix::ALL[3]),
    HoleKind::Record(Prefix::ALL[4]),
    HoleKind::Record(Prefix::ALL[5]),
    HoleKind::Length(Prefix::ALL[0]),
    HoleKind::Length(Prefix::ALL[1]),
    HoleKind::Length(Prefix::ALL[2]),
    HoleKind::Length(Prefix::ALL[3]),
    HoleKind::Length(Prefix::ALL[4]),
    HoleKind::Length(Prefix::ALL[5]),
    HoleKind::Length(Prefix::Decimal),
    HoleKind::Base64,
    HoleKind::Escaped,
    HoleKind::Document(Format::MessagePack),
    HoleKind::Document(Format::Cbor),
];

impl Templates {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        let count = self.slots.len();
        if archive.up_to(RESERVED, count - 1, 0)? != 0 {
            return Err(SnapshotError::Malformed);
        }
        let mut last: Option<Arc<Template>> = None;
        let mut memory = count * PLACE;
        for number in 0..count {
            let given = self.slots[number].clone();
            if !archive.flag(PRESENT, given.is_some()) {
                continue;
            }
            let uses = archive.number(USES, self.uses[number].into());
            self.uses.put(number, u32::try_from(uses).map_err(|_| SnapshotError::Malformed)?);
            let fits = archive.up_to(FITS, usize::from(u16::MAX), self.fits[number].into())?;
            self.fits.put(number, fits as u16);
            let template = archive_template(archive, last.as_deref(), given.as_deref())?;
            archive.check()?;
            let template = Arc::new(template);
            memory += template.memory() + OVERHEAD;
            if memory > self.budget {
                return Err(SnapshotError::Malformed);
            }
            if archive.decodes() {
                self.top = number + 1;
                *self.slots.change(number) = Some(Arc::clone(&template));
            }
            last = Some(template);
        }
        self.memory.put(0, memory);
        Ok(())
    }

    /// Keeps the `most` templates that save the most bytes, and rounds their counts of uses.
    pub(crate) fn compact(&mut self, most: usize) {
        while self.count() > most.max(1) {
            self.evict();
        }
        for number in 0..self.slots.len() {
            let uses = self.uses[number];
            let is_present = self.slots[number].is_some();
            // The highest bit is enough to find out which template saves the fewest bytes.
            let rounded = uses.checked_ilog2().filter(|_| is_present).map_or(0, |log| 1 << log);
            self.uses.put(number, rounded);
            let fits = self.fits[number];
            let passed = REVISIONS.iter().rev().find(|&&revision| revision <= fits);
            self.fits.put(number, passed.copied().filter(|_| is_present).unwrap_or(0));
        }
    }

    /// The holes of all templates.
    pub(crate) fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.all().flat_map(|(_, template)| template.holes())
    }
}

fn archive_template<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    last: Option<&Template>,
    given: Option<&Template>,
) -> Result<Template> {
    let given_example = given.map_or(&[][..], Template::example);
    let example = archive_example(archive, last, given_example)?;
    let mut holes = Vec::new();
    let mut place = OpenRange { example: &example, end: 0 };
    loop {
        let given = given.and_then(|given| given.holes().get(holes.len()));
        if !archive.flag(MORE, given.is_some()) {
            break;
        }
        if holes.len() == HOLES_MAX {
            return Err(SnapshotError::Malformed);
        }
        let like = last.and_then(|last| last.holes().get(holes.len()));
        let (kind, range) = place.archive(archive, like, given)?;
        let mut hole = Hole::new(kind, range);
        let guess = like.map_or(Shape::INTEGER, |like| like.shape);
        hole.shape = Shape::archive(archive, guess, given.map_or(guess, |given| given.shape))?;
        holes.push(hole);
        archive.check()?;
    }
    let nested = holes.iter().filter(|hole| hole.kind.is_nested()).count();
    let lengths = holes.iter().filter(|hole| matches!(hole.kind, HoleKind::Length(_))).count();
    if nested > NESTED_MAX || lengths > LENGTHS_MAX {
        return Err(SnapshotError::Malformed);
    }
    let mut template = Template::new(&example, holes);
    let mut labels = Vec::new();
    for index in 0..template.holes().len() {
        let usual = template.holes()[index].label;
        let given =
            given.and_then(|given| given.holes().get(index)).map_or(usual, |hole| hole.label);
        let label =
            if archive.flag(LABEL, given == usual) { usual } else { archive.name(NAME, given)? };
        labels.push(label);
    }
    template.rename(&labels);
    if template.matches_itself(&mut Vec::new()) {
        Ok(template)
    } else {
        Err(SnapshotError::Malformed)
    }
}

/// Writes or reads an example: how many of its first bytes it shares with the last example, and the
/// rest.
fn archive_example<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    last: Option<&Template>,
    given: &[u8],
) -> Result<Vec<u8>> {
    let last = last.map_or(&[][..], Template::example);
    let common = last.iter().zip(given).take_while(|(a, b)| a == b).count();
    let common = archive.up_to(COMMON, last.len(), common)?;
    let mut example = last[..common].to_vec();
    let rest = given.get(common..).unwrap_or_default();
    example.extend(archive.string(EXAMPLE, Template::EXAMPLE_MAX - common, rest)?);
    Ok(example)
}

/// The part of an example in which the next hole can be.
struct OpenRange<'a> {
    example: &'a [u8],
    /// The end of the last hole in the example.
    end: usize,
}

impl OpenRange<'_> {
    /// Writes or reads a hole's kind and range. Most likely the hole is the next number of a text,
    /// or is like the hole with the same index in the last template.
    fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        like: Option<&Hole>,
        given: Option<&Hole>,
    ) -> Result<(HoleKind, Range<usize>)> {
        let given = given.map_or((HoleKind::Number, 0..0), |hole| (hole.kind, hole.range()));
        let token = self.next_number().map(|range| (HoleKind::Number, range));
        let like = like.map(|like| (like.kind, like.range()));
        let like = like.filter(|like| Some(like) != token.as_ref() && self.allows(&like.1));
        for (context, guess) in [(TOKEN, token), (SAME, like)] {
            let Some(guess) = guess else { continue };
            if archive.flag(context, guess == given) {
                self.end = guess.1.end;
                return Ok(guess);
            }
        }
        let given_kind = KINDS.iter().position(|&kind| kind == given.0).unwrap_or(0);
        let mut kind = usize::from(archive.nibble(KIND, given_kind.min(LONG) as u8));
        if kind == LONG {
            let most = KINDS.len() - 1 - LONG;
            kind += archive.up_to(hash(KIND, 1), most, given_kind.saturating_sub(LONG))?;
        }
        let &kind_of_hole = KINDS.get(kind).ok_or(SnapshotError::Malformed)?;
        let space = self.example.len() - self.end;
        let kind = kind as u32;
        let gap = given.1.start.saturating_sub(self.end);
        let gap = archive.up_to(hash(GAP, kind), space, gap)?;
        let length = archive.up_to(hash(LENGTH, kind), space - gap, given.1.len())?;
        let start = self.end + gap;
        let is_number = kind_of_hole != HoleKind::Field || (1..=8).contains(&length);
        if !is_number {
            return Err(SnapshotError::Malformed);
        }
        self.end = start + length;
        Ok((kind_of_hole, start..self.end))
    }

    fn allows(&self, range: &Range<usize>) -> bool {
        range.start >= self.end && range.end <= self.example.len()
    }

    /// The range of the next number in the example after the last hole.
    fn next_number(&self) -> Option<Range<usize>> {
        let mut at = self.end;
        while at < self.example.len() {
            let token = token::token_at(self.example, at);
            if token.kind == Kind::Number {
                return Some(token.range);
            }
            at = token.range.end;
        }
        None
    }
}
