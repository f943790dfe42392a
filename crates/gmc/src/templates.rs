//! The templates of a stream, in bounded memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ops::Range;

use crate::binary;
use crate::learn;
use crate::template::Template;

/// Templates by number. Numbers are reused.
pub(crate) struct Templates {
    slots: Vec<Option<Box<Slot>>>,
    budget: usize,
    memory: usize,
}

struct Slot {
    template: Template,
    /// Grows with each use, fades with each eviction.
    uses: u32,
    /// How many messages have fitted.
    fits: u16,
}

impl Slot {
    fn memory(&self) -> usize {
        self.template.memory() + OVERHEAD
    }
}

/// More templates than this would make finding one slow.
pub(crate) const COUNT_MAX: usize = 255;

/// Bytes for a template beside its parts on the heap, and for its place in the table. Fixed, so
/// that what fits into the memory is the same on all machines.
const OVERHEAD: usize = 56;
const PLACE: usize = 8;
const _: () = assert!(size_of::<Slot>() <= OVERHEAD && size_of::<Option<Box<Slot>>>() <= PLACE);

/// After so many messages that fitted, it is looked at again where the fields of a binary message
/// are: what is wide or rarely changes shows late. Seldom, since what is known about a field that
/// moves is lost.
const REVISIONS: [u16; 4] = [4, 16, 64, 512];

/// A use counts so much, so that fading is finer than one use.
const USE: u32 = 16;

impl Templates {
    pub(crate) fn new(budget: usize) -> Self {
        let count = (budget / 64).clamp(4, COUNT_MAX);
        let slots: Vec<_> = (0..count).map(|_| None).collect();
        Self { memory: slots.len() * PLACE, slots, budget }
    }

    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Template> {
        self.slots.get(number)?.as_ref().map(|slot| &slot.template)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Template> {
        self.slots.get_mut(number)?.as_mut().map(|slot| &mut slot.template)
    }

    /// The template to code `message` with. `likely` ones are tried first.
    pub(crate) fn find(
        &self,
        message: &[u8],
        likely: &[usize],
        spans: &mut Vec<Range<usize>>,
    ) -> Option<usize> {
        // A text hole takes nearly anything; another template may say the same in fewer bytes.
        for &number in likely {
            if let Some(template) = self.get(number)
                && !template.has_text()
                && template.matches(message, spans)
            {
                return Some(number);
            }
        }
        let mut best = None;
        let mut fixed = 0;
        for (number, slot) in self.slots.iter().enumerate() {
            if let Some(template) = slot.as_ref().map(|slot| &slot.template)
                && (best.is_none() || template.fixed() > fixed)
                && template.matches(message, spans)
            {
                best = Some(number);
                fixed = template.fixed();
            }
        }
        let found = self.get(best?)?;
        found.matches(message, spans);
        best
    }

    /// Notes that a message fitted.
    pub(crate) fn touch(&mut self, number: usize, message: &[u8]) {
        let Some(Some(slot)) = self.slots.get_mut(number) else { return };
        slot.uses = slot.uses.saturating_add(USE);
        slot.fits = slot.fits.saturating_add(1);
        if REVISIONS.contains(&slot.fits)
            && let Some(template) = binary::revise(&slot.template, message)
        {
            let memory = self.memory - slot.template.memory() + template.memory();
            if memory <= self.budget {
                slot.template = template;
                self.memory = memory;
            }
        }
    }

    /// Learns from a message that fitted no template. Returns the number of the new template.
    pub(crate) fn learn(&mut self, message: &[u8], scratch: &mut learn::Scratch) -> Option<usize> {
        if message.len() > Template::EXAMPLE_MAX.min(self.budget / 3) {
            return None;
        }
        let alike = self.most_alike(message, &mut scratch.spans);
        let base = alike.and_then(|number| self.get(number));
        let learned = learn::learn(base, message, scratch)?;
        // A text hole ends at the first place that looks like its end; if that is too soon even for
        // the template's own example, no message of the kind fits.
        if !learned.template.matches(message, &mut scratch.spans) {
            return None;
        }
        if learned.replaces_base
            && let Some(number) = alike
        {
            self.remove(number);
        }
        self.insert(learned.template)
    }

    /// The template that fits most bytes of the message.
    fn most_alike(&self, message: &[u8], spans: &mut Vec<Range<usize>>) -> Option<usize> {
        let mut best = None;
        let mut most = 0;
        for (number, slot) in self.slots.iter().enumerate() {
            if let Some(template) = slot.as_ref().map(|slot| &slot.template) {
                let likeness = template.likeness(message, spans) * 4
                    + usize::from(template.example().len() == message.len());
                if likeness > most {
                    most = likeness;
                    best = Some(number);
                }
            }
        }
        best
    }

    fn insert(&mut self, template: Template) -> Option<usize> {
        let slot = Box::new(Slot { template, uses: USE, fits: 0 });
        let size = slot.memory();
        if size > self.budget / 2 {
            return None;
        }
        let free = loop {
            let free = self.slots.iter().position(Option::is_none);
            match free {
                Some(free) if self.memory + size <= self.budget => break free,
                _ => self.evict(),
            }
        };
        self.memory += size;
        self.slots[free] = Some(slot);
        Some(free)
    }

    /// Drops the template that saves least, and lets the fame of the others fade.
    fn evict(&mut self) {
        let mut least: Option<(u64, usize)> = None;
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if let Some(slot) = slot {
                slot.uses -= slot.uses.div_ceil(16);
                let saves = u64::from(slot.uses) * (slot.template.fixed() as u64 + 1);
                if least.is_none_or(|(smallest, _)| saves < smallest) {
                    least = Some((saves, number));
                }
            }
        }
        if let Some((_, number)) = least {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: usize) {
        if let Some(slot) = self.slots[number].take() {
            self.memory -= slot.memory();
        }
    }
}
