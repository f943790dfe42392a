//! Codes one message after the other: its fields, its template, and what fills the template's
//! holes. A template is an earlier message, and its holes are the places where other messages of
//! its type differ. Fields are small numbers, such as channel and sender.
//!
//! To "code" is to write in the encoder and to read in the decoder. The key hole of a template
//! tells to which sender or object the other values belong; a label is a number that names a hole.

use alloc::vec::Vec;
use core::ops::Range;

#[cfg(feature = "accounting")]
use crate::account::Part;
use crate::batch::{BULK, Batch, Message};
use crate::binary::shape::Shape;
use crate::budget::Budget;
use crate::choice::Choices;
use crate::config::Config;
use crate::error::DecodeError;
use crate::fields::Fields;
use crate::hash::hash;
use crate::history::StringPlace;
use crate::holes::{Holes, Value};
use crate::keys::{Keys, Seen};
use crate::learn::envelope::LENGTHS_MAX;
use crate::learn::scratch::Scratch;
use crate::literal::Setting;
use crate::nested;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};
use crate::template::{Hole, HoleKind, Template, TemplateId};
use crate::templates::Templates;

/// The label of the text of a message that fits no template.
const MISS: u32 = 0x3155;
/// Makes the hash of a sender's number differ from other hashes.
const SENDER: u32 = 0x5e;

/// The model of messages, except for the probabilities of decisions, which are in the context
/// table.
pub(crate) struct MessageCoder {
    pub(super) templates: Templates,
    pub(super) choices: Choices,
    pub(super) holes: Holes,
    pub(super) fields: Fields,
    pub(super) keys: Keys,
    /// The place in the history of strings of the last message that fitted no template.
    pub(super) last_miss: Table<StringPlace>,
    buffers: Buffers,
}

/// Buffers that are reused for each message.
#[derive(Default)]
struct Buffers {
    /// The values of the holes of the message and of its nested messages, in the order in which
    /// they were coded.
    seen: Vec<Seen>,
    levels: [Level; LEVELS],
    scratch: Scratch,
}

/// Buffers for a message at one level: messages are at level 0, those inside of them at level 1.
#[derive(Default)]
struct Level {
    /// The value of the key hole.
    key: Vec<u8>,
    /// In the encoder, the ranges of the values of the holes.
    spans: Vec<Range<usize>>,
    /// For each hole whose shape (how its values are stored) the message changes: its index in the
    /// template, and its new shape.
    shapes: Vec<(usize, Shape)>,
    /// The message, taken out of the one around it.
    content: Vec<u8>,
}

/// The number of levels: a message is at level 0, and messages are nested up to three levels deep.
const LEVELS: usize = 4;

/// What is known about a message before it is coded.
#[derive(Clone, Copy)]
struct Position {
    /// The hash that stands for the messages among which this one is: of a sender in a channel, and
    /// in a hole.
    stream: u32,
    /// The hash that stands for the sender, and for the keys of the messages around this one.
    sender: u32,
    level: usize,
    /// The most bytes that the message may have.
    limit: usize,
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
            last_miss: Table::new(StringPlace::default(), 1),
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

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
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
        #[cfg(feature = "accounting")]
        pass.coder.charge(Part::Fields);
        let fields = &done.fields[first_field..];
        let channel = fields.first().copied().unwrap_or(0);
        let sender = fields.get(1).copied().unwrap_or(0);
        let stream = channel_hash(channel, sender);

        let out = &mut done.bytes;
        let limit = config.max_message.min(config.max_packet - out.len()).min(BULK);
        self.buffers.seen.clear();
        let place = Position { stream, sender: sender_hash(sender), level: 0, limit };
        self.code_content(pass, place, given.bytes, out)
    }

    /// Codes a message, or a message inside of another one, and appends it to `out`.
    fn code_content<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        place: Position,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let Position { stream, limit, level, .. } = place;
        let start = out.len();
        let choice = if pass.coder.decodes() { None } else { self.choose(place, given) };
        let choice = self.choices.code(pass, stream, choice)?;
        #[cfg(feature = "accounting")]
        pass.coder.charge(Part::Template);
        if let Some(id) = choice {
            let first_seen = self.buffers.seen.len();
            self.code_holes(pass, id, place, given, out)?;
            let Buffers { levels, seen, .. } = &mut self.buffers;
            // If learning is deferred until the packet is acknowledged, templates and keys learn
            // only then.
            if !pass.is_deferred() {
                for (index, shape) in levels[level].shapes.drain(..) {
                    self.templates.reshape(id, index, shape);
                }
                self.templates.touch(id, &out[start..]);
                self.keys.learn(id, &seen[first_seen..]);
            }
            // The message around this one can only have a key among its own holes.
            seen[first_seen..].iter_mut().for_each(|seen| seen.is_key = false);
        } else {
            let setting = Setting {
                label: MISS,
                before: [0; 2],
                like: Some(self.last_miss[0]),
                limit,
                is_fixed: false,
                has_runs: false,
            };
            let literals = &mut self.holes.texts.literals;
            *self.last_miss.change(0) = literals.code(pass, &setting, given, out)?;
            #[cfg(feature = "accounting")]
            pass.coder.charge(Part::Literal);
            self.learn(pass.is_read_only(), place, &out[start..]);
        }
        if out.len() - start > limit {
            return Err(DecodeError::TooLarge);
        }
        Ok(())
    }

    /// The template with which a message is coded.
    fn choose(&mut self, place: Position, message: &[u8]) -> Option<TemplateId> {
        let likely = self.choices.recent(place.stream).likely();
        let spans = &mut self.buffers.levels[place.level].spans;
        let id = self.templates.best(message, &likely, spans)?;
        let is_deepest = place.level + 1 == LEVELS;
        let is_nesting = || self.templates.get(id).is_some_and(Template::is_nesting);
        (!is_deepest || !is_nesting()).then_some(id)
    }

    /// Makes templates of a message that fitted none, and of the messages inside of it.
    fn learn(&mut self, read_only: bool, place: Position, message: &[u8]) {
        let inner = place.level + 1;
        let spans = &mut self.buffers.levels[place.level].spans;
        // The deepest level uses no template with nested messages. A message that fits one is not
        // learned again.
        if inner == LEVELS && self.templates.best(message, &[], spans).is_some() {
            return;
        }
        let Some(id) = self.templates.learn(message, &mut self.buffers.scratch) else { return };
        self.choices.learned(read_only, place.stream, id);
        self.keys.start(id);
        let template = self.templates.share(id);
        let Some(template) = template.filter(|it| it.is_nesting() && inner < LEVELS) else {
            return;
        };
        let mut content = core::mem::take(&mut self.buffers.levels[inner].content);
        for hole in template.holes().iter().filter(|hole| hole.kind.is_nested()) {
            content.clear();
            nested::open(hole.kind, &message[hole.range()], &mut content);
            let spans = &mut self.buffers.levels[inner].spans;
            if self.templates.best(&content, &[], spans).is_none() {
                let stream = hash(place.stream, hole.label);
                self.learn(read_only, Position { stream, level: inner, ..place }, &content);
            }
        }
        self.buffers.levels[inner].content = content;
    }

    /// Codes what fills the holes of a template, and appends the whole message to `out`.
    fn code_holes<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        id: TemplateId,
        place: Position,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let Position { level, limit, .. } = place;
        let template = self.templates.share(id).ok_or(DecodeError::Malformed)?;
        if template.fixed() > limit {
            return Err(DecodeError::TooLarge);
        }
        if template.is_nesting() && (level + 1 == LEVELS || pass.coder.is_exhausted()) {
            return Err(DecodeError::Malformed);
        }
        let end = out.len() + limit;
        self.buffers.levels[level].shapes.clear();
        let decodes = pass.coder.decodes();
        let spans = core::mem::take(&mut self.buffers.levels[level].spans);
        let value = |index: usize| if decodes { &[][..] } else { &given[spans[index].clone()] };
        // The value of the key hole is coded first, since it helps to predict the values of the
        // other holes.
        let key = self.keys.label(id).and_then(|label| template.find(label));
        let mut place = place;
        let mut key_value = core::mem::take(&mut self.buffers.levels[level].key);
        key_value.clear();
        if let Some(key) = key {
            let hole = &template.holes()[key];
            let identity = self.code_value(pass, (key, hole), place, value(key), &mut key_value)?;
            place.sender = hash(hash(place.sender, hole.label), identity);
        }
        let mut lengths = [(0, 0); LENGTHS_MAX];
        let mut counted = 0;
        let mut before = 0;
        for (index, hole) in template.holes().iter().enumerate() {
            let range = hole.range();
            out.extend_from_slice(&template.example()[before..range.start]);
            before = range.end;
            if key == Some(index) {
                out.extend_from_slice(&key_value);
                continue;
            }
            place.limit = end.checked_sub(out.len()).ok_or(DecodeError::TooLarge)?;
            if hole.kind.is_nested() {
                self.code_nested(pass, &template, hole, place, value(index), out)?;
            } else if matches!(hole.kind, HoleKind::Length(_)) {
                *lengths.get_mut(counted).ok_or(DecodeError::Malformed)? = (index, out.len());
                counted += 1;
            } else {
                self.code_value(pass, (index, hole), place, value(index), out)?;
            }
        }
        out.extend_from_slice(&template.example()[before..]);
        // A length counts the lengths after it, so the last one is written first.
        for &(index, at) in lengths[..counted].iter().rev() {
            let HoleKind::Length(prefix) = template.holes()[index].kind else { continue };
            let length = template.counted(index, out.len() - at).ok_or(DecodeError::Malformed)?;
            if length > prefix.limit() {
                return Err(DecodeError::TooLarge);
            }
            prefix.insert_length(out, at, length);
        }
        self.buffers.levels[level].spans = spans;
        self.buffers.levels[level].key = key_value;
        Ok(())
    }

    /// Codes the value of a hole that holds no message. Returns a hash that stands for the value.
    fn code_value<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        (index, hole): (usize, &Hole),
        place: Position,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<u32, DecodeError> {
        let mut hole = hole.clone();
        let shape = hole.shape;
        let value = Value { hole: &mut hole, sender: place.sender, given, limit: place.limit };
        let coded = self.holes.code(pass, value, out)?;
        #[cfg(feature = "accounting")]
        pass.coder.charge(Part::Value(hole.label));
        let Buffers { seen, levels, .. } = &mut self.buffers;
        // The search for keys names a hole by its own label, even if the values are coded under
        // another label.
        if let Some(coded) = coded {
            seen.push(Seen { label: hole.label, ..coded });
        }
        // Only the shapes of binary values change.
        if !matches!(hole.kind, HoleKind::Number | HoleKind::Text) && hole.shape != shape {
            levels[place.level].shapes.push((index, hole.shape));
        }
        Ok(coded.map_or(0, |seen| seen.identity))
    }

    /// Codes the message inside of a hole.
    fn code_nested<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        template: &Template,
        hole: &Hole,
        place: Position,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let level = place.level + 1;
        let stream = hash(place.stream, hole.label);
        let inner = Position { stream, level, ..place };
        let mut content = core::mem::take(&mut self.buffers.levels[level].content);
        content.clear();
        nested::open(hole.kind, given, &mut content);
        let start = out.len();
        self.code_content(pass, inner, &content, out)?;
        let example = &template.example()[hole.range()];
        let closed = nested::close(hole.kind, example, out, start, &mut content);
        self.buffers.levels[level].content = content;
        closed
    }
}
