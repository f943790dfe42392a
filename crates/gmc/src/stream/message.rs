//! Codes one message after the other: its fields, its template, and what fills the template's holes. A template is an
//! earlier message, and its holes are the places where other messages of its type differ. Fields are small numbers,
//! such as channel and sender.
//!
//! To "code" is to write in the encoder and to read in the decoder. The key hole of a template tells to which sender or
//! object the other values belong; a label is a number that names a hole.

use alloc::vec::Vec;

use crate::batch::{BULK, Batch, Message};
use crate::budget::Budget;
use crate::choice::Choices;
use crate::config::Config;
use crate::error::DecodeError;
use crate::fields::Fields;
use crate::hash::hash;
use crate::history::Place;
use crate::holes::{Holes, Value};
use crate::keys::{Keys, Seen};
use crate::learn::scratch::Scratch;
use crate::literal::Setting;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};
use crate::template::TemplateId;
use crate::templates::Templates;

/// The label of the text of a message that fits no template.
const MISS: u32 = 0x3155;
/// Makes the hash of a sender's number differ from other hashes.
const SENDER: u32 = 0x5e;

/// The model of messages, except for the probabilities of decisions, which are in the context table.
pub(crate) struct MessageCoder {
    pub(super) templates: Templates,
    pub(super) choices: Choices,
    pub(super) holes: Holes,
    pub(super) fields: Fields,
    pub(super) keys: Keys,
    /// The place in the history of strings of the last message that fitted no template.
    pub(super) last_miss: Table<Place>,
    buffers: Buffers,
}

/// Buffers that are reused for each message.
#[derive(Default)]
struct Buffers {
    /// The value of the key hole of the message.
    key: Vec<u8>,
    /// The values of the holes of the message, in the order in which they were coded.
    seen: Vec<Seen>,
    scratch: Scratch,
}

/// The hash that stands for a sender's number.
pub(super) fn sender_hash(sender: u32) -> u32 {
    hash(sender, SENDER)
}

/// The hash that stands for one sender in one channel.
pub(super) fn channel_hash(channel: u32, sender: u32) -> u32 {
    hash(channel, sender_hash(sender))
}

impl MessageCoder {
    pub(crate) fn new(config: &Config, budget: &Budget) -> Self {
        Self {
            templates: Templates::new(budget.templates),
            choices: Choices::new(budget.choices),
            holes: Holes::new(budget),
            fields: Fields::new(config),
            keys: Keys::new(budget.keys),
            last_miss: Table::new(Place::default(), 1),
            buffers: Buffers::default(),
        }
    }

    /// A copy of the model, with buffers of its own.
    pub(super) fn copy(&self) -> Self {
        Self {
            templates: self.templates.clone(),
            choices: self.choices.clone(),
            holes: self.holes.clone(),
            fields: self.fields.clone(),
            keys: self.keys.clone(),
            last_miss: self.last_miss.clone(),
            buffers: Buffers::default(),
        }
    }

    /// The memory of these parts of the model, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.templates.memory()
            + self.choices.memory()
            + self.holes.memory()
            + self.fields.memory()
            + self.keys.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.templates.visit(visit);
        self.choices.visit(visit);
        self.holes.visit(visit);
        self.fields.visit(visit);
        self.keys.visit(visit);
        visit(&mut self.last_miss);
    }

    /// Codes a message and appends it to `done`; the caller calls [`Batch::end_message`].
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        config: &Config,
        given: Message<'_>,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let first_field = done.fields.len();
        let is_first = done.len() == 0;
        self.fields.code(pass, is_first, given.fields, &mut done.fields)?;
        let fields = &done.fields[first_field..];
        let channel = fields.first().copied().unwrap_or(0);
        let sender = fields.get(1).copied().unwrap_or(0);
        let stream = channel_hash(channel, sender);

        let out = &mut done.bytes;
        let start = out.len();
        let limit = config.max_message.min(config.max_packet - start).min(BULK);
        let choice = if pass.coder.decodes() {
            None
        } else {
            let likely = self.choices.recent(stream).likely();
            let spans = &mut self.buffers.scratch.spans;
            self.templates.best(given.bytes, &likely, spans)
        };
        let choice = self.choices.code(pass, stream, choice)?;
        if let Some(id) = choice {
            self.code_holes(pass, id, sender_hash(sender), given.bytes, limit, out)?;
            // If learning is deferred until the packet is acknowledged, templates and keys learn only then.
            if !pass.is_deferred() {
                let Buffers { scratch, seen, .. } = &mut self.buffers;
                for (index, shape) in scratch.shapes.drain(..) {
                    self.templates.reshape(id, index, shape);
                }
                self.templates.touch(id, &out[start..]);
                self.keys.learn(id, seen);
            }
        } else {
            let setting =
                Setting { label: MISS, before: [0; 2], like: Some(self.last_miss[0]), limit };
            let literals = &mut self.holes.texts.literals;
            *self.last_miss.change(0) = literals.code(pass, &setting, given.bytes, out)?;
            let scratch = &mut self.buffers.scratch;
            if let Some(id) = self.templates.learn(&out[start..], scratch) {
                self.choices.learned(pass.is_read_only(), stream, id);
                self.keys.start(id);
            }
        }
        if out.len() - start > limit {
            return Err(DecodeError::TooLarge);
        }
        Ok(())
    }

    /// Codes what fills the holes of a template, and appends the whole message to `out`.
    fn code_holes<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        id: TemplateId,
        sender: u32,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let template = self.templates.get(id).ok_or(DecodeError::Malformed)?;
        if template.fixed() > limit {
            return Err(DecodeError::TooLarge);
        }
        let Self { holes, buffers, .. } = self;
        let Buffers { key: key_value, seen, scratch } = buffers;
        seen.clear();
        let end = out.len() + limit;
        // The value of the key hole is coded first, since it helps to predict the values of the other holes.
        let key = self.keys.label(id).and_then(|label| template.find(label));
        let mut sender = sender;
        key_value.clear();
        scratch.shapes.clear();
        let mut code = |index: usize, sender: u32, limit: usize, out: &mut Vec<u8>| {
            let mut hole = template.holes()[index].clone();
            let shape = hole.shape;
            let given =
                if pass.coder.decodes() { &[] } else { &given[scratch.spans[index].clone()] };
            let value = Value { hole: &mut hole, sender, given, limit };
            let coded = holes.code(pass, value, out)?;
            // The search for keys names a hole by its own label, even if the values are coded under another label.
            seen.extend(coded.map(|seen| Seen { label: hole.label, ..seen }));
            if hole.shape != shape {
                scratch.shapes.push((index, hole.shape));
            }
            Ok(coded.map_or(0, |seen| seen.identity))
        };
        if let Some(key) = key {
            let identity = code(key, sender, limit, key_value)?;
            let label = template.holes()[key].label;
            sender = hash(hash(sender, label), identity);
        }
        for index in 0..template.holes().len() {
            out.extend_from_slice(template.fixed_before(index));
            if key == Some(index) {
                out.extend_from_slice(key_value);
                continue;
            }
            let left = end.saturating_sub(out.len());
            code(index, sender, left, out)?;
        }
        out.extend_from_slice(template.fixed_before(template.holes().len()));
        Ok(())
    }
}
