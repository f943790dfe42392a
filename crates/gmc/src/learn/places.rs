//! Finds where two binary messages in an unknown format differ, and in what: strings with a length
//! before them, variable-length integers, and at fixed places integers, floats and what is neither.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::grammar::is_plain;
use crate::binary::fixed::{self, extend};
use crate::binary::float::{self, Width};
use crate::binary::prefix::Prefix;
use crate::binary::shape::Shape;
use crate::binary::varint::varint_end;
use crate::integer::size;
use crate::template::{Hole, HoleKind, Template};

/// The widest number.
const WIDTH_MAX: usize = 8;
/// How far before a difference a string may have begun.
const STRING_SEARCH: usize = 72;
/// Shorter strings prove nothing about the bytes before them.
const STRING_MIN: usize = 3;
/// Bytes looked at in search of strings, for each byte of the message.
const SEARCH_PER_BYTE: usize = 64;
/// How far before a difference in length a variable-length integer may have begun.
const VARINT_SEARCH: usize = 3;

/// A part of both messages with fields at the same places.
struct Stretch<'a> {
    example: &'a [u8],
    message: &'a [u8],
    /// Where it is in the message.
    start: usize,
    /// The known fields in it, in order, by their places in the stretch.
    known: Vec<Hole>,
}

/// So many bytes may begin to differ at once in messages of a known type; more are another type.
const NEW_MAX: usize = 6;
/// In larger messages that differ nearly everywhere, finding the fields would take long and save
/// little.
const SMALL: usize = 512;
/// After so many the old template is no longer of use.
const NEW_SMALL: usize = 3;

/// The holes of a template that fits both, if they have enough in common, and whether it stands for
/// the same type as the known one.
pub(crate) fn holes(base: &Template, message: &[u8]) -> Option<(Vec<Hole>, bool)> {
    let mut found = Vec::new();
    let mut stretches = Vec::new();
    align(base, message, &mut found, &mut stretches)?;
    let is_new = base.holes().is_empty();
    let strings =
        found.len() - base.holes().iter().filter(|hole| hole.kind != HoleKind::Field).count();
    let fixed: usize = stretches.iter().map(|stretch| stretch.message.len()).sum();
    let differing: usize = stretches.iter().map(Stretch::differing).sum();
    let unknown: usize = stretches.iter().map(Stretch::unknown).sum();
    // A first byte that differs is often the type of the message.
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
    if differing > most && cost as usize > most * 8 {
        return None;
    }
    Some((merge(found, fields), is_new || unknown <= NEW_SMALL && strings == 0))
}

/// All holes of two lists, each in the order of the message.
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

/// Walks both messages from the left. Finds what differs in length, and the stretches between.
fn align<'a>(
    base: &'a Template,
    message: &'a [u8],
    found: &mut Vec<Hole>,
    stretches: &mut Vec<Stretch<'a>>,
) -> Option<()> {
    let example = base.example();
    let mut old = base.holes().iter().peekable();
    let (mut i, mut j) = (0, 0);
    let mut from = (0, 0);
    let mut known: Vec<Hole> = Vec::new();
    let mut budget = message.len().max(SMALL) * SEARCH_PER_BYTE;
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
                    let end = hole.own_end(message, j)?;
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
        let room = (i - from.0).saturating_sub(before);
        let next = old.peek().map_or(example.len(), |hole| hole.range().start);
        let more = (message.len() - j) as isize - (example.len() - i) as isize;
        let place = Place { example: &example[..next], message, i, j, room, more };
        let variable = place.string(&mut budget).or_else(|| place.varint());
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

/// How far back something begins, what it is, and where it ends in both messages.
type Variable = (usize, HoleKind, (usize, usize));

/// Where two messages differ.
struct Place<'a> {
    /// Up to the next known hole.
    example: &'a [u8],
    message: &'a [u8],
    i: usize,
    j: usize,
    /// Bytes before that are in no known hole.
    room: usize,
    /// How many bytes longer the rest of the message is than that of the example.
    more: isize,
}

impl Place<'_> {
    /// A string with its length before it, if the messages differ in one here.
    fn string(&self, budget: &mut usize) -> Option<Variable> {
        let &Self { example, message, i, j, more, .. } = self;
        let mut likely = None;
        for back in 0..=self.room.min(STRING_SEARCH) {
            for prefix in Prefix::ALL {
                *budget = budget.checked_sub(1)?;
                let (Some(a), Some(b)) =
                    (prefix.string(example, i - back), prefix.string(message, j - back))
                else {
                    continue;
                };
                let (known, given) = (a.len(), b.len());
                let differs =
                    if known == given { a.contains(&i) } else { more != 0 && i < a.start };
                if !differs || known.max(given) < STRING_MIN {
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

    /// A variable-length integer that is longer in one of the messages than in the other.
    fn varint(&self) -> Option<Variable> {
        let &Self { example, message, i, j, more, .. } = self;
        for back in 0..=self.room.min(VARINT_SEARCH) {
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

/// What a field takes beside its bits, in bits.
const FIELD: u32 = 8;
/// Integers are seldom three or five bytes wide.
const ODD: u32 = 3;
/// Zeros show that a field is wider than what has changed of it.
const ZEROS: u32 = 2;
/// Fields stay what they were.
const KNOWN: u32 = 2;
/// What an unpredictable string of bytes takes beside its bytes.
const OPAQUE: u32 = 12;
/// Identifiers of binary kinds.
const OPAQUE_WIDTHS: [usize; 6] = [4, 8, 12, 16, 20, 32];

/// What begins at a place, in the cheapest way to take the rest of a stretch.
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

    /// Whether the first byte differs for the first time.
    fn begins_anew(&self) -> bool {
        let known = self.known.first().is_some_and(|hole| hole.range().start == 0);
        self.example.first() != self.message.first() && !known
    }

    /// Bytes that differ outside of known fields.
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

    /// Finds the fields that explain the differences in the fewest bits. Returns the bits.
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
                // Of equal ones the widest.
                if cost <= best.cost {
                    best = Step { cost, width: width as u8, kind: Some(HoleKind::Field), float };
                }
            }
            if next_change == at {
                for width in OPAQUE_WIDTHS {
                    if at + width > length {
                        break;
                    }
                    let cost = OPAQUE + 8 * width as u32;
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

    /// What a number takes, and whether it is a float.
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

    /// What is saved by a known field.
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
