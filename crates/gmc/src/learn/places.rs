//! Finds where two binary messages in an unknown format differ: in strings that follow their
//! length, in variable-length integers, and at fixed places in integers, floats and bytes that are
//! neither.
//!
//! One of the two is the message that is learned, the other the example of a known template, the
//! base. A template is an example message with holes, the places where other messages of its type
//! differ. A field is a hole of fixed length.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::grammar::is_plain;
use super::lengths::Lengths;
use crate::binary::fixed::{self, extend};
use crate::binary::float::{self, Width};
use crate::binary::prefix::Prefix;
use crate::binary::shape::Shape;
use crate::binary::varint::varint_end;
use crate::integer::size;
use crate::nested;
use crate::template::{Hole, HoleKind, Template};

/// The widest number, in bytes.
const WIDTH_MAX: usize = 8;
/// How far before a difference the search for a string's length begins, in bytes.
const STRING_SEARCH: usize = 72;
/// The most bytes that the search for strings reads, for each byte of the message.
const SEARCH_PER_BYTE: usize = 64;
/// How far before a difference the search for a variable-length integer begins, in bytes, if the
/// messages differ in length.
const VARINT_SEARCH: usize = 3;

/// A stretch: a part of both messages, between holes of varying length, in which fields have the
/// same places.
struct Stretch<'a> {
    example: &'a [u8],
    message: &'a [u8],
    /// The offset of the stretch in the message.
    start: usize,
    /// The known fields of the stretch, in order. Their ranges count from its start.
    known: Vec<Hole>,
}

/// The most bytes that may differ between messages of a known type without being in a hole so far.
/// If there are more, the message is taken to be of another type.
const NEW_MAX: usize = 6;
/// The largest message, in bytes outside of strings, that may differ from the base nearly
/// everywhere. In a larger one finding the fields would take long and save little.
const SMALL: usize = 512;
/// The most bytes that differ without being in a hole so far, if the new template is to replace the
/// base.
const NEW_SMALL: usize = 3;

/// The holes of a template that fits both messages, and whether that template replaces the base.
/// `None` if the messages have too little in common. `envelope` has the nested messages in the
/// message and the lengths that count them.
pub(crate) fn holes(
    base: &Template,
    message: &[u8],
    envelope: &[Hole],
) -> Option<(Vec<Hole>, bool)> {
    let mut found = Vec::new();
    let mut stretches = Vec::new();
    let pairs = pair(base, message, envelope)?;
    // A protocol that writes lengths as variable-length integers writes other numbers in the same
    // way.
    let has_varints = pairs.iter().any(|(_, hole)| hole.kind == HoleKind::Record(Prefix::Varint));
    let mut from = (0, 0);
    let mut budget = message.len().max(SMALL) * SEARCH_PER_BYTE;
    for (known, hole) in pairs.iter() {
        let to = (known.start, hole.range().start);
        Alignment { base, message, from, to, has_varints }.walk(
            &mut budget,
            &mut found,
            &mut stretches,
        )?;
        found.push(hole.clone());
        from = (known.end, hole.range().end);
    }
    let to = (base.example().len(), message.len());
    Alignment { base, message, from, to, has_varints }.walk(
        &mut budget,
        &mut found,
        &mut stretches,
    )?;
    let is_new = base.holes().iter().all(|hole| hole.kind.is_envelope());
    let is_varying = |hole: &&Hole| hole.kind != HoleKind::Field && !hole.kind.is_envelope();
    let varying = base.holes().iter().filter(is_varying).count();
    // In an envelope a number that becomes longer, such as a counter, does not make another type.
    let strings = if pairs.is_empty() { found.len() - varying } else { 0 };
    let fixed: usize = stretches.iter().map(|stretch| stretch.message.len()).sum();
    let differing: usize = stretches.iter().map(Stretch::differing).sum();
    let unknown: usize = stretches.iter().map(Stretch::unknown).sum();
    // The first byte of a message is often its type. A difference there is evidence of another
    // type.
    let is_type = stretches.first().is_some_and(Stretch::begins_anew);
    if !is_new && unknown > NEW_MAX && (is_type || unknown > fixed / 2) {
        return None;
    }
    if fixed > SMALL && differing * 4 > fixed * 3 {
        return None;
    }
    let [big, little] = [false, true].map(|little| {
        let mut holes = Vec::new();
        let cost: u32 = stretches.iter().map(|stretch| stretch.fields(little, &mut holes)).sum();
        (cost, holes)
    });
    let (cost, fields) = if little.0 < big.0 { little } else { big };
    let most = if is_type { fixed / 2 } else { fixed * 3 / 4 };
    // Envelopes of nested messages are not judged, because they have little else in common.
    if pairs.is_empty() && differing > most && cost as usize > most * 8 {
        return None;
    }
    Some((merge(found, fields), is_new || unknown <= NEW_SMALL && strings == 0))
}

/// Merges two lists of holes, each in the order of the message.
fn merge(a: Vec<Hole>, b: Vec<Hole>) -> Vec<Hole> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut a = a.into_iter().peekable();
    for hole in b {
        while let Some(earlier) = a.next_if(|a| a.range().start < hole.range().start) {
            merged.push(earlier);
        }
        merged.push(hole);
    }
    merged.extend(a);
    merged
}

/// Pairs the nested messages of the base, and the numbers that give their lengths, with those of
/// the message. Returns for each pair the range in the base's example and the hole in the message.
/// `None` if base and message have different numbers of nested messages, or if no kind of hole fits
/// both of a pair.
fn pair(base: &Template, message: &[u8], envelope: &[Hole]) -> Option<Vec<(Range<usize>, Hole)>> {
    let nested = |holes: &[Hole]| holes.iter().filter(|hole| hole.kind.is_nested()).count();
    if nested(base.holes()) != nested(envelope) {
        return None;
    }
    let mut pairs = Vec::new();
    let mut given = envelope.iter().peekable();
    for known in base.holes().iter().filter(|hole| hole.kind.is_envelope()) {
        let value = |hole: &Hole| (hole.kind, hole.range().start);
        if !known.kind.is_nested() {
            // A number that is a length in only one of the two messages was a length by chance.
            let same = given.clone().take_while(|hole| !hole.kind.is_nested());
            let same = same.filter(|hole| value(hole) == value(known)).count();
            if same == 1 {
                while given.next_if(|hole| value(hole) != value(known)).is_some() {}
                pairs.push((known.range(), given.next()?.clone()));
            }
            continue;
        }
        while given.next_if(|hole| !hole.kind.is_nested()).is_some() {}
        let hole = given.next()?;
        let bytes = &message[hole.range()];
        let kind = common_kind(known.kind, &base.example()[known.range()], hole.kind, bytes)?;
        pairs.push((known.range(), Hole::new(kind, hole.range())));
    }
    Some(pairs)
}

/// The kind of hole that both values can fill.
fn common_kind(known: HoleKind, a: &[u8], given: HoleKind, b: &[u8]) -> Option<HoleKind> {
    if known == given {
        return Some(given);
    }
    // A short length may be a byte or a variable-length integer.
    [known, given].into_iter().find(|&kind| {
        let fits = |value: &[u8]| nested::end(kind, &[], value, 0) == Some(value.len());
        matches!(kind, HoleKind::Record(_)) && fits(a) && fits(b)
    })
}

/// A part of both messages: of the base's example and of the message, from two positions up to two
/// others.
struct Alignment<'a> {
    base: &'a Template,
    message: &'a [u8],
    from: (usize, usize),
    to: (usize, usize),
    /// Whether numbers are variable-length integers.
    has_varints: bool,
}

impl<'a> Alignment<'a> {
    /// Walks both parts from the left. Fills `found` with the holes of varying length, and
    /// `stretches` with what lies between them. `budget` is the work that is left for the search
    /// for strings.
    fn walk(
        &self,
        budget: &mut usize,
        found: &mut Vec<Hole>,
        stretches: &mut Vec<Stretch<'a>>,
    ) -> Option<()> {
        let base = self.base;
        let (example, message) = (&base.example()[..self.to.0], &self.message[..self.to.1]);
        let mut from = self.from;
        let (mut i, mut j) = from;
        let mut old = base
            .holes()
            .iter()
            .filter(|hole| !hole.kind.is_envelope() && hole.range().start >= self.from.0)
            .take_while(|hole| hole.range().end <= example.len())
            .peekable();
        let mut known: Vec<Hole> = Vec::new();
        let mut lengths = Lengths::new(message);
        let mut end_stretch = |known: &mut Vec<Hole>, from: (usize, usize), to: (usize, usize)| {
            stretches.push(Stretch {
                example: &example[from.0..to.0],
                message: &message[from.1..to.1],
                start: from.1,
                known: core::mem::take(known),
            });
        };
        while i < example.len() || j < message.len() {
            if let Some(hole) = old.next_if(|hole| hole.range().start == i) {
                let length = hole.range().len();
                match hole.kind {
                    HoleKind::Field => {
                        let mut hole = hole.clone();
                        hole.set_range(i - from.0..i - from.0 + length);
                        known.push(hole);
                        (i, j) = (i + length, j + length);
                    }
                    _ => {
                        let end = hole.own_end(&example[hole.range()], message, j)?;
                        let mut hole = hole.clone();
                        hole.set_range(j..end);
                        found.push(hole);
                        end_stretch(&mut known, from, (i, j));
                        (i, j) = (i + length, end);
                        from = (i, j);
                    }
                }
                if j > message.len() {
                    return None;
                }
                continue;
            }
            if i == example.len() || j == message.len() {
                return None;
            }
            if example[i] == message[j] {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            let before = known.last().map_or(0, |hole| hole.range().end);
            let free = (i - from.0).saturating_sub(before);
            let next = old.peek().map_or(example.len(), |hole| hole.range().start);
            let more = (message.len() - j) as isize - (example.len() - i) as isize;
            let place = Difference { example: &example[..next], message, i, j, free, more };
            let number = if self.has_varints { place.whole_varint() } else { None };
            let variable =
                number.or_else(|| place.string(&mut lengths, budget)).or_else(|| place.varint());
            if let Some((back, kind, ends)) = variable {
                end_stretch(&mut known, from, (i - back, j - back));
                found.push(Hole::new(kind, j - back..ends.1));
                (i, j) = ends;
                from = ends;
            } else {
                (i, j) = (i + 1, j + 1);
            }
        }
        end_stretch(&mut known, from, (i, j));
        Some(())
    }
}

/// A value of varying length: how many bytes before the difference it begins, its kind, and the
/// positions of its end in the example and in the message.
type Variable = (usize, HoleKind, (usize, usize));

/// A place where two messages differ: `i` in the example and `j` in the message.
struct Difference<'a> {
    /// The example of the base, up to its next hole.
    example: &'a [u8],
    message: &'a [u8],
    i: usize,
    j: usize,
    /// The number of bytes before the place that are in no hole.
    free: usize,
    /// How many bytes more the message has after the place than the whole example; may be negative.
    more: isize,
}

impl<'a> Difference<'a> {
    /// The string at this place, with its length before it, if the messages differ in such a
    /// string.
    fn string(&self, lengths: &mut Lengths<'a>, budget: &mut usize) -> Option<Variable> {
        let &Self { example, message, i, j, more, .. } = self;
        lengths.compare_with(example, j.wrapping_sub(i), more != 0);
        let mut likely = None;
        for back in 0..=self.free.min(STRING_SEARCH) {
            let possible = lengths.at(i - back);
            if possible == 0 {
                let Some(rest) = budget.checked_sub(Prefix::ALL.len()) else {
                    *budget = 0;
                    return None;
                };
                *budget = rest;
                continue;
            }
            for (index, prefix) in Prefix::ALL.into_iter().enumerate() {
                *budget = budget.checked_sub(1)?;
                if possible & 1 << index == 0 {
                    continue;
                }
                let (Some(a), Some(b)) =
                    (prefix.string(example, i - back), prefix.string(message, j - back))
                else {
                    continue;
                };
                let (known, given) = (a.len(), b.len());
                let differs = if known == given { a.contains(&i) } else { i < a.start };
                if !differs {
                    continue;
                }
                *budget = budget.checked_sub(known + given)?;
                if is_plain(&example[a.clone()]) && is_plain(&message[b.clone()]) {
                    let found = (back, HoleKind::String(prefix), (a.end, b.end));
                    if known == given || given as isize - known as isize == more {
                        return Some(found);
                    }
                    likely = likely.or(Some(found));
                }
            }
        }
        likely
    }

    /// The variable-length integer at this place.
    fn whole_varint(&self) -> Option<Variable> {
        let &Self { example, message, i, j, .. } = self;
        let is_inside =
            |back: usize| example[i - back - 1] >= 0x80 && message[j - back - 1] >= 0x80;
        let back = (0..self.free).take_while(|&back| is_inside(back)).count();
        let (a, b) = (varint_end(example, i - back)?, varint_end(message, j - back)?);
        (a > i && b > j).then_some((back, HoleKind::Varint, (a, b)))
    }

    /// The variable-length integer at this place, if it is longer in one of the messages than in
    /// the other.
    fn varint(&self) -> Option<Variable> {
        let &Self { example, message, i, j, more, .. } = self;
        for back in 0..=self.free.min(VARINT_SEARCH) {
            let (Some(a), Some(b)) = (varint_end(example, i - back), varint_end(message, j - back))
            else {
                continue;
            };
            if a > i && b > j && more != 0 && (b - j) as isize - (a - i) as isize == more {
                return Some((back, HoleKind::Varint, (a, b)));
            }
        }
        None
    }
}

/// The estimated cost of coding a field, in bits, in addition to the bits of the difference from
/// its last value.
const FIELD: u32 = 8;
/// The additional cost of a width that is no power of two, in bits: integers are seldom three or
/// five bytes wide.
const ODD: u32 = 3;
/// What a zero high byte saves, in bits: it shows that a field is wider than the bytes that have
/// changed so far.
const ZEROS: u32 = 2;
/// What a field that is already known saves, in bits.
const KNOWN: u32 = 2;
/// The cost of bytes that are not a number, in bits, in addition to the bytes themselves.
const OPAQUE: u32 = 12;
/// The same for more bytes than a number has. Random bytes must cost less than several numbers. The
/// difference between two random numbers may be small by chance. But until the model has learned to
/// expect large differences, a random number takes twice its bits.
const OPAQUE_WIDE: u32 = 4;
/// Widths of binary identifiers.
const OPAQUE_WIDTHS: [usize; 6] = [4, 8, 12, 16, 20, 32];

/// The first part (a field, or a byte outside of fields) in the cheapest division of the end of a
/// stretch into parts.
#[derive(Clone, Copy)]
struct Step {
    cost: u32,
    width: u8,
    kind: Option<HoleKind>,
    float: bool,
}

impl Stretch<'_> {
    fn differing(&self) -> usize {
        self.example.iter().zip(self.message).filter(|(a, b)| a != b).count()
    }

    /// Whether the first byte of the stretch differs and is in no known field.
    fn begins_anew(&self) -> bool {
        let known = self.known.first().is_some_and(|hole| hole.range().start == 0);
        self.example.first() != self.message.first() && !known
    }

    /// The number of bytes that differ and are in no known field.
    fn unknown(&self) -> usize {
        let known = self.known.iter().map(|hole| {
            let range = hole.range();
            self.example[range.clone()]
                .iter()
                .zip(&self.message[range])
                .filter(|(a, b)| a != b)
                .count()
        });
        self.differing() - known.sum::<usize>()
    }

    /// Finds the fields that explain the differences at the lowest cost, by dynamic programming
    /// from the right, and appends them to `holes`. Returns the cost in bits.
    fn fields(&self, little_endian: bool, holes: &mut Vec<Hole>) -> u32 {
        let length = self.message.len();
        let mut changes: Vec<bool> =
            self.example.iter().zip(self.message).map(|(a, b)| a != b).collect();
        for hole in &self.known {
            changes[hole.range()].fill(true);
        }
        let mut steps = vec![Step { cost: 0, width: 1, kind: None, float: false }; length + 1];
        let mut next_change = length;
        for at in (0..length).rev() {
            if changes[at] {
                next_change = at;
            }
            let skip = Step { width: 1, kind: None, float: false, ..steps[at + 1] };
            let skip = if changes[at] { Step { cost: u32::MAX / 2, ..skip } } else { skip };
            let mut best = skip;
            for width in 1..=WIDTH_MAX.min(length - at) {
                if at + width <= next_change {
                    continue;
                }
                let (cost, float) = self.number(at..at + width, little_endian);
                let cost = cost.saturating_add(steps[at + width].cost);
                // Of several fields with equal cost the widest is taken.
                if cost <= best.cost {
                    best = Step { cost, width: width as u8, kind: Some(HoleKind::Field), float };
                }
            }
            if next_change == at {
                for width in OPAQUE_WIDTHS {
                    if at + width > length {
                        break;
                    }
                    let more = if width > WIDTH_MAX { OPAQUE_WIDE } else { OPAQUE };
                    let cost = more + 8 * width as u32;
                    let cost = cost.saturating_add(steps[at + width].cost);
                    if cost < best.cost {
                        let kind = Some(HoleKind::Opaque);
                        best = Step { cost, width: width as u8, kind, float: false };
                    }
                }
            }
            steps[at] = best;
        }
        self.collect(&steps, little_endian, holes);
        steps[0].cost
    }

    /// The cost of a number at this range, in bits, and whether it is taken as a float.
    fn number(&self, range: Range<usize>, little_endian: bool) -> (u32, bool) {
        let width = range.len();
        let read = |bytes: &[u8]| {
            let bytes = &bytes[range.clone()];
            if little_endian {
                fixed::from_little_endian(bytes)
            } else {
                fixed::from_big_endian(bytes)
            }
        };
        let (a, b) = (read(self.example), read(self.message));
        let mut cost = FIELD + size(extend(a, width).wrapping_sub(extend(b, width)));
        if !width.is_power_of_two() {
            cost += ODD;
        } else if width > 1 && (a | b) >> (8 * width - 8) == 0 {
            cost -= ZEROS;
        }
        let float = Width::of_bytes(width).filter(|&width| width != Width::Half);
        let float = float.and_then(|width| float::distance(a, b, width)).filter(|_| a != b);
        let is_float = float.is_some_and(|bits| bits + FIELD <= cost);
        if is_float && let Some(bits) = float {
            cost = FIELD - ZEROS + bits;
        }
        let known = self.saving(&range, |hole| hole.shape.is_little_endian() == little_endian);
        (cost.saturating_sub(known), is_float)
    }

    fn known_at(&self, range: &Range<usize>) -> Option<&Hole> {
        let found = self.known.binary_search_by_key(&range.start, |hole| hole.range().start);
        self.known.get(found.ok()?).filter(|hole| hole.range() == *range)
    }

    /// What is saved, in bits, if this range is a known field for which `is_same` is true.
    fn saving(&self, range: &Range<usize>, is_same: impl Fn(&Hole) -> bool) -> u32 {
        if self.known_at(range).is_some_and(is_same) { KNOWN } else { 0 }
    }

    fn collect(&self, steps: &[Step], little_endian: bool, holes: &mut Vec<Hole>) {
        let mut at = 0;
        while at < self.message.len() {
            let step = steps[at];
            let end = at + usize::from(step.width);
            if let Some(kind) = step.kind {
                let mut hole = Hole::new(kind, self.start + at..self.start + end);
                let known = self.known_at(&(at..end)).filter(|hole| {
                    kind == HoleKind::Field && hole.shape.is_little_endian() == little_endian
                });
                hole.shape = match known {
                    Some(known) => known.shape,
                    None => Shape::new(little_endian, step.float),
                };
                holes.push(hole);
            }
            at = end;
        }
    }
}
