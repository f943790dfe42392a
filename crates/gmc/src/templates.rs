//! The templates of a stream, in bounded memory. A template is an earlier message, and its holes
//! are the places where other messages of its type differ; a text hole can have any text.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ops::Range;

use crate::binary::shape::Shape;
use crate::learn;
use crate::learn::scratch::Scratch;
use crate::table::{Table, Versioned};
use crate::template::{Template, TemplateId};

mod snapshot;

/// The templates of a stream. When one is dropped, its number is given to a new one.
#[derive(Clone)]
pub(crate) struct Templates {
    slots: Table<Option<Arc<Template>>>,
    /// A measure of the uses of each template: it grows with each use, and fades each time that a
    /// template is dropped.
    uses: Table<u32>,
    budget: usize,
    /// Slots from this index on have no template. It does not fall when templates are dropped.
    top: usize,
    /// The number of messages that have fitted each template.
    fits: Table<u16>,
    memory: Table<usize>,
}

/// Bytes that a template takes besides its parts on the heap. The number is fixed, so that the same
/// templates fit into the memory on all machines.
const OVERHEAD: usize = 64;
const PLACE: usize = 16;
// An `Arc` adds two counters to the template.
const _: () = assert!(size_of::<Template>() + 2 * size_of::<usize>() <= OVERHEAD);
const _: () = assert!(size_of::<Option<Arc<Template>>>() + size_of::<(u32, u16)>() <= PLACE);

/// The numbers of fitting messages after which the fields (numbers at fixed places) of a binary
/// template are searched again: a wide field, or one that changes rarely, is recognized only after
/// many messages. Searches are rare, since for fields that move all knowledge is lost.
const REVISIONS: [u16; 4] = [4, 16, 64, 512];

/// The amount by which one use raises a template's measure of uses. It is more than 1, so that
/// fading is finer than one use.
const USE: u32 = 16;

impl Templates {
    pub(crate) fn new(budget: usize) -> Self {
        let count = (budget / 64).clamp(4, TemplateId::COUNT);
        Self {
            slots: Table::new(None, count),
            uses: Table::new(0, count),
            fits: Table::new(0, count),
            budget,
            top: 0,
            memory: Table::new(count * PLACE, 1),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.memory[0]
    }

    /// The bytes of memory that remain for more templates.
    pub(crate) fn remaining(&self) -> usize {
        self.budget.saturating_sub(self.memory())
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.slots);
        visit(&mut self.uses);
        visit(&mut self.fits);
        visit(&mut self.memory);
    }

    /// The template with this number, if there is one. The number may come from the network and be
    /// any.
    pub(crate) fn get(&self, id: TemplateId) -> Option<&Template> {
        let index = id.index();
        (index < self.slots.len()).then(|| self.slots[index].as_deref())?
    }

    /// The same as [`Templates::get`], for use while the templates change.
    pub(crate) fn share(&self, id: TemplateId) -> Option<Arc<Template>> {
        let index = id.index();
        (index < self.slots.len()).then(|| self.slots[index].clone())?
    }

    /// All templates with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (TemplateId, &Template)> {
        let slots = self.slots.slice(0..self.top).iter().enumerate();
        slots.filter_map(|(index, slot)| Some((TemplateId::at(index), slot.as_deref()?)))
    }

    /// A lower bound of the number of messages that have fitted a template.
    #[cfg(feature = "describe")]
    pub(crate) fn fits(&self, id: TemplateId) -> u32 {
        self.fits[id.index()].into()
    }

    /// The template to code `message` with: the first one of `likely` that fits and has no text
    /// holes. If there is none, it is the one with the longest fixed parts of all that fit. `spans`
    /// is filled with the ranges of the holes in the message.
    pub(crate) fn best(
        &self,
        message: &[u8],
        likely: &[Option<TemplateId>],
        spans: &mut Vec<Range<usize>>,
    ) -> Option<TemplateId> {
        // A template with text holes fits nearly any message, so another one may take fewer bytes.
        let likely = || likely.iter().flatten().filter_map(|&id| Some((id, self.get(id)?)));
        for (id, template) in likely() {
            if !template.has_text() && template.matches(message, spans) {
                return Some(id);
            }
        }
        // The search starts from a likely template that fits, so that most others are out of the
        // question without being matched. Of templates with fixed parts of equal length it finds
        // the one with the lowest number.
        let mut search = Search { best: None, rank: 0, is_matched: false };
        for (id, template) in likely().filter(|(_, template)| template.has_text()) {
            search.consider(id, template, message, spans);
        }
        for (id, template) in self.all() {
            search.consider(id, template, message, spans);
        }
        let (id, template) = search.best?;
        if !search.is_matched {
            template.matches(message, spans);
        }
        Some(id)
    }

    /// Notes that a message fitted template `id`.
    pub(crate) fn touch(&mut self, id: TemplateId, message: &[u8]) {
        let index = id.index();
        let uses = self.uses[index].saturating_add(USE);
        *self.uses.change(index) = uses;
        let fits = self.fits[index].saturating_add(1);
        *self.fits.change(index) = fits;
        if REVISIONS.contains(&fits)
            && let Some(before) = self.get(id)
            && let Some(template) = learn::binary::revise(before, message)
        {
            let memory = self.memory() - before.memory() + template.memory();
            if memory <= self.budget {
                *self.slots.change(index) = Some(Arc::new(template));
                *self.memory.change(0) = memory;
            }
        }
    }

    /// Changes the shape of a hole: how its values are stored. A template of a nested message may
    /// have replaced the one with this number in the meantime; if it has no such hole, nothing is
    /// changed.
    pub(crate) fn reshape(&mut self, id: TemplateId, hole: usize, shape: Shape) {
        if let Some(template) = self.slots.change(id.index())
            && hole < template.holes().len()
        {
            Arc::make_mut(template).reshape(hole, shape);
        }
    }

    /// Learns from a message that fitted no template. Returns the number of the new template, if
    /// one was made.
    pub(crate) fn learn(&mut self, message: &[u8], scratch: &mut Scratch) -> Option<TemplateId> {
        if message.len() > Template::EXAMPLE_MAX.min(self.budget / 3) {
            return None;
        }
        let alike = self.most_alike(message, &mut scratch.spans);
        let base = alike.and_then(|id| self.get(id));
        let learned = learn::learn(base, message, scratch)?;
        // Matching may find the holes of the template's own example elsewhere: a text hole ends at
        // the first place that looks like its end. Then no message of the type would fit, or its
        // values would be mixed up.
        if !learned.template.matches_itself(&mut scratch.spans) {
            return None;
        }
        if learned.replaces_base
            && let Some(id) = alike
        {
            self.remove(id.index());
        }
        self.insert(learned.template)
    }

    /// The template that agrees with the most bytes of the message, counted from the left.
    fn most_alike(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> Option<TemplateId> {
        let mut best = None;
        let mut most = 0;
        for (id, template) in self.all() {
            let likeness = template.likeness(message, spans) * 4
                + usize::from(template.example().len() == message.len());
            if likeness > most {
                most = likeness;
                best = Some(id);
            }
        }
        best
    }

    fn insert(&mut self, template: Template) -> Option<TemplateId> {
        let size = template.memory() + OVERHEAD;
        if size > self.budget / 2 {
            return None;
        }
        let free = loop {
            let free = self.slots.iter().position(Option::is_none);
            match free {
                Some(free) if self.memory() + size <= self.budget => break free,
                _ => self.evict(),
            }
        };
        *self.memory.change(0) += size;
        self.top = self.top.max(free + 1);
        *self.slots.change(free) = Some(Arc::new(template));
        *self.uses.change(free) = USE;
        *self.fits.change(free) = 0;
        Some(TemplateId::at(free))
    }

    /// The number of templates.
    #[cfg(feature = "snapshots")]
    fn count(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Drops the template that saves the fewest bytes, and makes the measures of use of all others
    /// fade.
    fn evict(&mut self) {
        let mut least: Option<(u64, usize)> = None;
        for index in 0..self.slots.len() {
            if let Some(template) = &self.slots[index] {
                let fixed = template.fixed();
                let uses = self.uses.change(index);
                *uses -= uses.div_ceil(16);
                let saves = u64::from(*uses) * (fixed as u64 + 1);
                if least.is_none_or(|(smallest, _)| saves < smallest) {
                    least = Some((saves, index));
                }
            }
        }
        if let Some((_, index)) = least {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: usize) {
        if let Some(template) = self.slots.change(index).take() {
            *self.memory.change(0) -= template.memory() + OVERHEAD;
        }
    }
}

/// A search for the template with the longest fixed parts, of several the one with the lowest
/// number.
struct Search<'a> {
    best: Option<(TemplateId, &'a Template)>,
    /// The rank of the best one so far. A better one has a higher rank.
    rank: usize,
    /// Whether the template that was matched last is the best one.
    is_matched: bool,
}

impl<'a> Search<'a> {
    #[cfg_attr(feature = "fast", inline(always))]
    fn consider(
        &mut self,
        id: TemplateId,
        template: &'a Template,
        message: &[u8],
        spans: &mut Vec<Range<usize>>,
    ) {
        let rank = template.fixed() * (TemplateId::COUNT + 1) + TemplateId::COUNT - id.index();
        if rank > self.rank && template.can_match(message) {
            self.is_matched = template.matches(message, spans);
            if self.is_matched {
                self.best = Some((id, template));
                self.rank = rank;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::HOLES_MAX;
    use alloc::string::String;
    use alloc::vec;
    use proptest::prelude::*;

    /// A binary message in which 8 bytes of each 11 are the same as `byte` says.
    fn fields(byte: impl Fn(usize) -> u8) -> Vec<u8> {
        let parts = (0..280).flat_map(|at| (0..11).map(move |within| (at, within)));
        let parts = parts.map(|(at, within)| if within < 8 { byte(at * 8 + within) } else { 0 });
        [1, 0, 0, 0].into_iter().chain(parts).collect()
    }

    /// Fields that are found anew can be more than before. A snapshot would not be read with more
    /// holes than [`HOLES_MAX`].
    #[test]
    fn a_revised_template_has_no_more_holes_than_others() {
        let random = |seed: usize| {
            move |at: usize| ((at + seed) as u32).wrapping_mul(0x9e37_79b1).to_le_bytes()[3]
        };
        let first = fields(random(0));
        let mut templates = Templates::new(1 << 20);
        let mut scratch = Scratch::default();
        templates.learn(&first, &mut scratch);
        let id = templates.learn(&fields(random(777)), &mut scratch).expect("it is like the first");
        let holes = |templates: &Templates| templates.get(id).map(|it| it.holes().len());
        let before = holes(&templates);
        assert!(before > Some(100), "{before:?}");
        // The lowest and the highest bytes of the fields differ a little, so that three fields in
        // the place of each would take fewer bits.
        let close = fields(|at| random(777)(at) ^ u8::from(matches!(at % 8, 0 | 7)));
        for _ in 0..4 {
            assert_eq!(templates.best(&close, &[], &mut vec![]), Some(id));
            templates.touch(id, &close);
        }
        assert!(holes(&templates) <= Some(HOLES_MAX), "{before:?} {:?}", holes(&templates));
    }

    proptest! {
        /// Likely templates that have text holes shorten the search and do not change its result.
        #[test]
        fn the_best_template_is_found_from_any_start(
            messages in proptest::collection::vec("[a-c]{1,2}:'[a-d]{0,3}',[0-9]{1,2};[a-c]?", 1..30),
            likely in proptest::collection::vec(0usize..16, 0..4),
        ) {
            let mut templates = Templates::new(4096);
            let mut scratch = Scratch::default();
            for message in &messages {
                templates.learn(message.as_bytes(), &mut scratch);
            }
            let text = |id: &TemplateId| templates.get(*id).is_some_and(Template::has_text);
            let likely: Vec<_> =
                likely.into_iter().map(TemplateId::at).filter(text).map(Some).collect();
            for message in &messages {
                let message = String::as_bytes(message);
                let (mut spans, mut expected_spans) = (Vec::new(), Vec::new());
                let found = templates.best(message, &likely, &mut spans);
                let fits = |(_, template): &(TemplateId, &Template)| {
                    template.matches(message, &mut Vec::new())
                };
                // Of equally good ones `max_by_key` takes the last.
                let all = templates.all().filter(fits).collect::<Vec<_>>().into_iter().rev();
                let expected = all.max_by_key(|(_, template)| template.fixed());
                prop_assert_eq!(found, expected.map(|(id, _)| id));
                if let Some((_, template)) = expected {
                    template.matches(message, &mut expected_spans);
                    prop_assert_eq!(spans, expected_spans);
                }
            }
        }
    }
}
