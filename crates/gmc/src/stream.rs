//! The model of a stream: everything that both ends have learned from the messages so far.
//!
//! [`Stream::code`] is what encoder and decoder share. It takes every decision through a
//! [`Coder`], which either writes it or reads it, and learns from the
//! messages and from nothing else, so that the model is a function of the messages alone.

use alloc::vec::Vec;

use crate::batch::{BULK, Batch, Message};
use crate::budget::Budget;
use crate::choice::Choices;
use crate::config::Config;
use crate::control::Control;
use crate::error::DecodeError;
use crate::fields::Fields;
use crate::hash::hash;
use crate::history::Place;
use crate::hole::Holes;
use crate::integer::{Contexts, code_unsigned};
use crate::keys::Keys;
use crate::learn::scratch::Scratch;
use crate::literal::Setting;
use crate::model::{Bit, Learning};
use crate::range_coder::{Coder, Silent, shared};
use crate::table::{Table, Version, Versioned};
use crate::templates::Templates;
use crate::trace::Trace;

mod compact;
mod snapshot;

pub(crate) struct Stream {
    config: Config,
    /// The most memory that the configuration of both ends allows.
    memory_max: usize,
    /// Whether the first template that fits is taken, instead of the best.
    first_match: bool,
    /// Whether, for that, another one was taken than the best.
    suboptimal: bool,
    templates: Templates,
    choices: Choices,
    holes: Holes,
    fields: Fields,
    keys: Keys,
    /// The last message that fitted no template.
    last_miss: Table<Place>,
    /// Whether a packet is learned and asks of the model nothing besides.
    usual: Table<Bit>,
    /// What a packet consists of while it is learned: a copy that nobody needs.
    unused: Batch,
    /// What fills the key hole of a message.
    key: Vec<u8>,
    scratch: Scratch,
    /// What each message of the last packet took, if that is asked for.
    #[cfg(feature = "describe")]
    pub(crate) costs: Option<Vec<u32>>,
}

/// The label of a whole message that fits no template.
const MISS: u32 = 0x3155;

impl Stream {
    pub(crate) fn new(config: Config) -> Self {
        let config = Config { memory: config.memory_bounded(), ..config };
        let budget = Budget::new(&config);
        Self {
            templates: Templates::new(budget.templates),
            choices: Choices::new(budget.senders),
            holes: Holes::new(&budget),
            fields: Fields::new(&config),
            keys: Keys::new(budget.keys),
            last_miss: Table::new(Place::default(), 1),
            usual: Table::new(Bit::LIKELY, 1),
            unused: Batch::default(),
            key: Vec::new(),
            scratch: Scratch::default(),
            memory_max: config.memory,
            first_match: false,
            suboptimal: false,
            #[cfg(feature = "describe")]
            costs: None,
            config,
        }
    }

    /// An empty model of so many bytes, with the same settings.
    pub(crate) fn empty(&self, memory: usize) -> Self {
        let mut empty = Self::new(Config { memory, ..self.config.clone() });
        (empty.memory_max, empty.first_match) = (self.memory_max, self.first_match);
        #[cfg(feature = "describe")]
        {
            empty.costs = self.costs.clone();
        }
        empty
    }

    /// The most memory that both ends allow.
    pub(crate) fn memory_max(&self) -> usize {
        self.memory_max
    }

    /// The memory, if it is less than that.
    pub(crate) fn less_memory(&self) -> Option<u32> {
        Some(self.config.memory)
            .filter(|&memory| memory != self.memory_max)
            .map(|memory| memory as u32)
    }

    pub(crate) fn set_first_match(&mut self, first_match: bool) {
        self.first_match = first_match;
    }

    /// Whether a message of the last packet was coded with another template than a decoder would
    /// choose that is given the message.
    pub(crate) fn is_suboptimal(&self) -> bool {
        self.suboptimal
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    #[cfg(feature = "describe")]
    pub(crate) fn templates(&self) -> &Templates {
        &self.templates
    }

    pub(crate) fn memory(&self) -> usize {
        self.templates.memory()
            + self.choices.memory()
            + self.holes.memory()
            + self.fields.memory()
            + self.keys.memory()
    }

    /// Bytes that the limit of the memory leaves when the model is as large as it can become.
    pub(crate) fn room(&self) -> usize {
        let memory = self.config.memory.clamp(Config::MEMORY_MIN, Config::MEMORY_MAX);
        memory.saturating_sub(self.memory() + self.templates.room())
    }

    /// Visits all that has versions.
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.templates.visit(visit);
        self.choices.visit(visit);
        self.holes.visit(visit);
        self.fields.visit(visit);
        self.keys.visit(visit);
        visit(&mut self.last_miss);
        visit(&mut self.usual);
    }

    /// Attributes all changes from now on to a version, so that they can be taken back; with `None`
    /// they cannot.
    pub(crate) fn record(&mut self, version: Option<Version>) {
        self.visit(&mut |part| part.record(version));
    }

    /// Takes back all changes later than `version`.
    pub(crate) fn undo(&mut self, version: Version) {
        self.visit(&mut |part| part.undo(version));
    }

    /// Goes back to `version`, until [`Stream::forward`].
    pub(crate) fn rewind(&mut self, version: Version) {
        self.visit(&mut |part| part.rewind(version));
    }

    /// Makes all changes since `version` again.
    pub(crate) fn forward(&mut self, version: Version) {
        self.visit(&mut |part| part.forward(version));
    }

    /// Forgets how to go back to a version before this one.
    pub(crate) fn forget(&mut self, version: Version) {
        self.visit(&mut |part| part.forget(version));
    }

    /// Bytes that serve to go back.
    pub(crate) fn log_memory(&mut self) -> usize {
        let mut memory = 0;
        self.visit(&mut |part| memory += part.log_memory());
        memory
    }

    /// Codes a packet for an ordered link: whether it is learned, what it asks of the model besides, and
    /// the messages. Learns it if so.
    pub(crate) fn code_ordered<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learns: bool,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let (learns, control) = self.code_front(coder, learns, given.control)?;
        done.control = control;
        self.suboptimal = false;
        if learns {
            self.code(coder, given, done)?;
        } else {
            self.record(Some(1));
            let result = self.code(coder, given, done);
            self.undo(0);
            self.record(None);
            result?;
        }
        self.obey(control);
        Ok(())
    }

    /// Codes whether a packet is learned, and what it asks of the model besides.
    pub(crate) fn code_front<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learns: bool,
        control: Control,
    ) -> Result<(bool, Control), DecodeError> {
        if self.usual.change(0).code(coder, learns && control.is_empty()) {
            return Ok((true, Control::default()));
        }
        let rows = &mut self.holes.rows;
        let row = rows.single(0x1ea2);
        let learns = rows.bit(coder, row, 0, learns);
        let control = control.code(coder, rows)?;
        let memory = control.memory.map_or(0, |memory| memory as usize);
        if memory > self.memory_max {
            return Err(DecodeError::TooLarge);
        }
        Ok((learns, control))
    }

    /// Does what a packet asked for that was learned.
    fn obey(&mut self, control: Control) {
        if let Some(memory) = control.memory {
            let count_max = self.templates.count_max();
            *self = self.empty(memory as usize);
            self.templates.set_count_max(count_max);
        }
        if let Some(count) = control.templates_max {
            self.templates.set_count_max(count as usize);
        }
        if control.compact && cfg!(feature = "snapshots") {
            self.compact();
        }
    }

    /// Codes a packet for a link that loses some: how many packets it is behind the epoch, less one,
    /// whether it will be learned, and the messages. What it teaches is left in [`Stream::trace`].
    pub(crate) fn code_datagram<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        epoch: u32,
        distance: u32,
        learns: bool,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(u32, bool), DecodeError> {
        self.holes.rows.learning = Learning::Deferred;
        self.holes.rows.read_only = true;
        self.holes.rows.trace.clear();
        let result = self.code_datagram_body(coder, epoch, distance, learns, given, done);
        self.holes.rows.learning = Learning::Immediate;
        self.holes.rows.read_only = false;
        result
    }

    fn code_datagram_body<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        epoch: u32,
        distance: u32,
        learns: bool,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(u32, bool), DecodeError> {
        let rows = &mut self.holes.rows;
        let distance = code_unsigned(coder, rows, Contexts::single(0xd157), u64::from(distance));
        let distance = u32::try_from(distance).map_err(|_| DecodeError::Malformed)?;
        let number = epoch.wrapping_add(1).wrapping_add(distance);
        rows.packet = number;
        let (learns, control) = self.code_front(coder, learns, given.control)?;
        if control.memory.is_some() {
            return Err(DecodeError::Malformed);
        }
        done.control = control;
        self.code(coder, given, done)?;
        Ok((number, learns))
    }

    /// What the last packet taught.
    pub(crate) fn trace(&self) -> &Trace {
        &self.holes.rows.trace
    }

    pub(crate) fn trace_mut(&mut self) -> &mut Trace {
        &mut self.holes.rows.trace
    }

    /// For a packet whose coding was dropped.
    pub(crate) fn clear_trace(&mut self) {
        self.holes.rows.trace.clear();
    }

    /// Learns the messages of a packet, and what it taught when it was coded.
    pub(crate) fn learn(&mut self, number: u32, batch: &Batch, trace: &mut Trace) {
        let rows = &mut self.holes.rows;
        rows.packet = number;
        core::mem::swap(&mut rows.trace, trace);
        rows.learn();
        rows.learning = Learning::Replay;
        let mut unused = core::mem::take(&mut self.unused);
        unused.clear();
        self.code(shared(&mut Silent), batch, &mut unused)
            .expect("messages within the limits are coded");
        self.unused = unused;
        let rows = &mut self.holes.rows;
        rows.learning = Learning::Immediate;
        core::mem::swap(&mut rows.trace, trace);
        self.usual.change(0).code(shared(&mut Silent), batch.control.is_empty());
        self.obey(batch.control);
    }

    /// Codes the messages of a packet. They are appended to `done`, whether they were given or
    /// decoded.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        #[cfg(feature = "describe")]
        let mut before = coder.position();
        let mut more = self.code_more(coder, 0, given);
        while more {
            let index = done.len();
            if index == self.config.max_messages_per_packet {
                return Err(DecodeError::TooLarge);
            }
            if coder.is_exhausted() {
                return Err(DecodeError::Malformed);
            }
            more = self.code_more(coder, index + 1, given);
            // Nothing of a packet's last message will be needed before it is learned.
            self.set_read_only(!more && self.holes.rows.learning == Learning::Deferred);
            let message = if coder.decodes() {
                Message { fields: &[], bytes: &[] }
            } else {
                given.get(index)
            };
            let result = self.code_message(coder, message, done);
            self.set_read_only(false);
            result?;
            done.end_message();
            #[cfg(feature = "describe")]
            if let Some(costs) = &mut self.costs {
                let now = coder.position();
                costs.extend(now.zip(before).map(|(now, before)| now - before));
                before = now;
            }
        }
        Ok(())
    }

    /// Codes whether there is a message with this index. Of the first ones the model knows how likely
    /// that is.
    fn code_more<C: Coder + ?Sized>(&mut self, coder: &mut C, index: usize, given: &Batch) -> bool {
        let rows = &mut self.holes.rows;
        let row = rows.single(0x303e);
        rows.bit(coder, row, index.min(14), index < given.len())
    }

    /// Whether what becomes of a message is forgotten at once.
    fn set_read_only(&mut self, read_only: bool) {
        self.holes.rows.read_only = read_only;
        self.holes.set_quiet(read_only);
        self.choices.set_quiet(read_only);
    }

    fn code_message<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        given: Message<'_>,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let first_field = done.fields.len();
        let is_first = done.len() == 0;
        self.fields.code(coder, &mut self.holes.rows, is_first, given.fields, &mut done.fields)?;
        let fields = &done.fields[first_field..];
        let channel = fields.first().copied().unwrap_or(0);
        let sender = hash(fields.get(1).copied().unwrap_or(0), 0x5e);
        let stream = hash(channel, sender);

        let out = &mut done.bytes;
        let start = out.len();
        let limit = self.config.max_message.min(self.config.max_packet - start).min(BULK);
        let choice = if coder.decodes() {
            None
        } else {
            let likely = self.choices.recent(stream).likely();
            // What is only learned is learned alike by all.
            let first_match = self.first_match && self.holes.rows.learning != Learning::Replay;
            let spans = &mut self.scratch.spans;
            let first =
                if first_match { self.templates.first(given.bytes, &likely, spans) } else { None };
            self.suboptimal |= first.is_some();
            first.or_else(|| self.templates.find(given.bytes, &likely, spans))
        };
        let choice = self.choices.code(coder, &mut self.holes.rows, stream, choice)?;
        if let Some(number) = choice {
            self.code_holes(coder, number, sender, given.bytes, limit, out)?;
            // What would be taken back need not be learned.
            if self.holes.rows.learning != Learning::Deferred {
                for (index, shape) in self.scratch.shapes.drain(..) {
                    self.templates.reshape(number, index, shape);
                }
                self.templates.touch(number, &out[start..]);
                self.keys.learn(number, &self.holes.seen);
            }
        } else {
            let setting =
                Setting { label: MISS, before: [0; 2], like: Some(self.last_miss[0]), limit };
            let Holes { texts, rows, .. } = &mut self.holes;
            *self.last_miss.change(0) =
                texts.literals.code(coder, rows, &setting, given.bytes, out)?;
            if let Some(number) = self.templates.learn(&out[start..], &mut self.scratch) {
                self.choices.learned(stream, number);
                self.keys.start(number);
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
        coder: &mut C,
        number: usize,
        sender: u32,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let template = self.templates.get(number).ok_or(DecodeError::Malformed)?;
        if template.fixed() > limit {
            return Err(DecodeError::TooLarge);
        }
        let Self { holes, scratch, .. } = self;
        holes.seen.clear();
        let end = out.len() + limit;
        // The key comes first, since it tells what to expect of the others.
        let key = self.keys.label(number).and_then(|label| template.find(label));
        let mut sender = sender;
        self.key.clear();
        scratch.shapes.clear();
        let mut code = |index: usize, sender: u32, limit: usize, out: &mut Vec<u8>| {
            let mut hole = template.holes()[index].clone();
            let shape = hole.shape;
            let seen = holes.seen.len();
            let given = if coder.decodes() { &[] } else { &given[scratch.spans[index].clone()] };
            holes.code(coder, &mut hole, sender, given, limit, out)?;
            // A hole is known by its name, however its values are coded.
            holes.seen.truncate(seen + 1);
            let seen = holes.seen.get_mut(seen).map(|seen| {
                seen.label = hole.label;
                seen.identity
            });
            if hole.shape != shape {
                scratch.shapes.push((index, hole.shape));
            }
            Ok(seen)
        };
        if let Some(key) = key {
            let identity = code(key, sender, limit, &mut self.key)?;
            let label = template.holes()[key].label;
            sender = hash(hash(sender, label), identity.unwrap_or(0));
        }
        for index in 0..template.holes().len() {
            out.extend_from_slice(template.fixed_before(index));
            if key == Some(index) {
                out.extend_from_slice(&self.key);
                continue;
            }
            let left = end.saturating_sub(out.len());
            code(index, sender, left, out)?;
        }
        out.extend_from_slice(template.fixed_before(template.holes().len()));
        Ok(())
    }
}
