//! The model of a stream: everything that both ends have learned from the messages so far.
//!
//! Encoder and decoder share [`Stream::code_ordered`] and [`Stream::code_datagram`]. These pass every decision to a
//! [`Coder`], which either writes or reads it, and learn from the messages and from nothing else, so that the model is
//! a function of the messages alone.

#[cfg(feature = "describe")]
use alloc::vec::Vec;

use crate::batch::{Batch, Message};
use crate::budget::Budget;
use crate::config::Config;
use crate::contexts::ContextTable;
use crate::control::Control;
use crate::error::DecodeError;
use crate::integer::{Contexts, code_unsigned};
use crate::packet_number::PacketNumber;
use crate::pass::{Learning, Pass};
use crate::probability::Probability;
use crate::range_coder::{Coder, Silent, shared};
use crate::table::{Table, Version, Versioned};
use crate::templates::Search;
#[cfg(feature = "describe")]
use crate::templates::Templates;
use crate::trace::Trace;

use message::MessageCoder;

mod compact;
mod message;
mod snapshot;

pub(crate) struct Stream {
    config: Config,
    /// The most memory that the configuration of both ends allows. The model may have less: see
    /// [`Encoder::set_memory`](crate::Encoder::set_memory).
    memory_max: usize,
    contexts: ContextTable,
    messages: MessageCoder,
    /// The probability that a packet is learned and has no control part.
    usual: Table<Probability>,
    /// Buffer for the messages that learning a packet reproduces; only a debug assertion reads it.
    unused: Batch,
    /// How many eighths of a bit each message of the last packet took, while the inspector wants to know.
    #[cfg(feature = "describe")]
    pub(crate) costs: Option<Vec<u32>>,
}

impl Stream {
    pub(crate) fn new(config: Config) -> Self {
        let config = Config { memory: config.memory_bounded(), ..config };
        let budget = Budget::new(&config);
        Self {
            contexts: ContextTable::new(budget.contexts),
            messages: MessageCoder::new(&config, &budget),
            usual: Table::new(Probability::LIKELY, 1),
            unused: Batch::default(),
            memory_max: config.memory,
            #[cfg(feature = "describe")]
            costs: None,
            config,
        }
    }

    /// An empty model of `memory` bytes, with the same settings.
    pub(crate) fn empty(&self, memory: usize) -> Self {
        debug_assert!(memory <= self.memory_max, "a model has no more memory than both ends allow");
        let mut empty = Self::new(Config { memory, ..self.config.clone() });
        empty.memory_max = self.memory_max;
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

    /// The memory of the model, if it is less than both ends allow.
    pub(crate) fn less_memory(&self) -> Option<u32> {
        Some(self.config.memory)
            .filter(|&memory| memory != self.memory_max)
            .map(|memory| memory as u32)
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    #[cfg(feature = "describe")]
    pub(crate) fn templates(&self) -> &Templates {
        &self.messages.templates
    }

    /// Bytes of state.
    pub(crate) fn memory(&self) -> usize {
        self.contexts.memory() + self.messages.memory()
    }

    /// Bytes that remain of the memory when the model is as large as it can become.
    pub(crate) fn remaining(&self) -> usize {
        let memory = self.config.memory.clamp(Config::MEMORY_MIN, Config::MEMORY_MAX);
        memory.saturating_sub(self.memory() + self.messages.templates.remaining())
    }

    /// Calls `visit` with each table whose changes can be taken back.
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.contexts.visit(visit);
        self.messages.visit(visit);
        visit(&mut self.usual);
    }

    /// Attributes all changes from now on to a version, so that they can be taken back; with `None` they cannot.
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

    /// Codes a packet for an ordered link: whether it is learned, its control part, and the messages. Learns the packet
    /// if it is to be learned. Returns whether a message was coded with another template than [`Search::Best`] finds.
    pub(crate) fn code_ordered<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learns: bool,
        search: Search,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<bool, DecodeError> {
        let (learns, control) = self.code_header(coder, learns, given.control)?;
        done.control = control;
        if !learns {
            self.record(Some(PacketNumber::new(1)));
        }
        let result =
            self.code(coder, Learning::Immediate, PacketNumber::default(), search, given, done);
        if !learns {
            self.undo(PacketNumber::new(0));
            self.record(None);
        }
        let suboptimal = result?;
        self.obey(control);
        Ok(suboptimal)
    }

    /// Codes whether a packet of an ordered link is learned, and its control part.
    pub(crate) fn code_header<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learns: bool,
        control: Control,
    ) -> Result<(bool, Control), DecodeError> {
        let mut pass = Pass::immediate(coder, &mut self.contexts);
        code_header(&mut pass, &mut self.usual, self.memory_max, learns, control)
    }

    /// Does what the control part of a packet asks for, after the packet was learned.
    fn obey(&mut self, control: Control) {
        if let Some(memory) = control.memory {
            let count_max = self.messages.templates.count_max();
            *self = self.empty(memory as usize);
            self.messages.templates.set_count_max(count_max);
        }
        if let Some(count) = control.templates_max {
            self.messages.templates.set_count_max(count as usize);
        }
        if control.compact && cfg!(feature = "snapshots") {
            self.compact();
        }
    }

    /// Codes a packet for a link that loses some: its distance, which is the number of packets between the epoch's and
    /// this one, whether it will be learned, and the messages. Records the decisions in `trace`. The caller undoes the
    /// changes of the model. Returns the packet's number, and whether it will be learned.
    pub(crate) fn code_datagram<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        given: Datagram<'_>,
        trace: &mut Trace,
        done: &mut Batch,
    ) -> Result<(PacketNumber, bool), DecodeError> {
        let Datagram { epoch, distance, learns, search, batch } = given;
        trace.clear();
        let learning = Learning::Deferred(&mut *trace);
        let mut pass = Pass::new(coder, &mut self.contexts, learning, epoch);
        let mut pass = pass.part(true);
        let contexts = Contexts::single(DISTANCE);
        let distance = code_unsigned(&mut pass, contexts, u64::from(distance));
        let distance = u32::try_from(distance).map_err(|_| DecodeError::Malformed)?;
        let number = epoch.next().plus(distance);
        let (learns, control) =
            code_header(&mut pass, &mut self.usual, self.memory_max, learns, batch.control)?;
        if control.memory.is_some() {
            return Err(DecodeError::Malformed);
        }
        done.control = control;
        self.code(coder, Learning::Deferred(trace), number, search, batch, done)?;
        Ok((number, learns))
    }

    /// Learns the messages of a packet, and the decisions that `trace` recorded when the packet was coded.
    pub(crate) fn learn(&mut self, number: PacketNumber, batch: &Batch, trace: &mut Trace) {
        self.contexts.learn(trace);
        let mut unused = core::mem::take(&mut self.unused);
        unused.clear();
        let mut coder = Silent;
        self.code(
            shared(&mut coder),
            Learning::Replay(trace),
            number,
            Search::Best,
            batch,
            &mut unused,
        )
        .expect("messages within the limits are coded");
        debug_assert!(unused.bytes == batch.bytes, "a replay gives the messages that were coded");
        self.unused = unused;
        self.usual.change(0).code(shared(&mut Silent), batch.control.is_empty());
        self.obey(batch.control);
    }

    /// Codes the messages of a packet. They are appended to `done`, whether they were given or decoded. Returns whether a
    /// message was coded with another template than [`Search::Best`] finds.
    fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learning: Learning<'_>,
        packet: PacketNumber,
        search: Search,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<bool, DecodeError> {
        let Self { contexts, messages, config, .. } = self;
        let mut pass = Pass::new(coder, contexts, learning, packet);
        #[cfg(feature = "describe")]
        let mut before = pass.coder.position();
        let mut suboptimal = false;
        let mut more = code_more(&mut pass.part(true), 0, given);
        while more {
            let index = done.len();
            if index == config.max_messages_per_packet {
                return Err(DecodeError::TooLarge);
            }
            if pass.coder.is_exhausted() {
                return Err(DecodeError::Malformed);
            }
            more = code_more(&mut pass.part(index == 0), index + 1, given);
            let message = if pass.coder.decodes() {
                Message { fields: &[], bytes: &[] }
            } else {
                given.get(index)
            };
            suboptimal |= messages.code(&mut pass.part(!more), config, search, message, done)?;
            done.end_message();
            #[cfg(feature = "describe")]
            if let Some(costs) = &mut self.costs {
                let now = pass.coder.position();
                costs.extend(now.zip(before).map(|(now, before)| now - before));
                before = now;
            }
        }
        Ok(suboptimal)
    }
}

/// A packet to be coded for a link that loses some.
pub(crate) struct Datagram<'a> {
    /// The number of the epoch's packet.
    pub(crate) epoch: PacketNumber,
    /// How many packets were sent between the epoch's and this one; unused when decoding.
    pub(crate) distance: u32,
    /// Whether the packet will be learned; unused when decoding.
    pub(crate) learns: bool,
    /// How the templates of messages are searched for; unused when decoding.
    pub(crate) search: Search,
    /// The messages; unused when decoding.
    pub(crate) batch: &'a Batch,
}

impl<'a> Datagram<'a> {
    /// A packet to be decoded. `empty` takes the place of its messages, which are not known yet.
    pub(crate) fn unknown(epoch: PacketNumber, empty: &'a Batch) -> Self {
        Self { epoch, distance: 0, learns: false, search: Search::Best, batch: empty }
    }
}

/// The context of a packet's distance.
const DISTANCE: u32 = 0xd157;
/// The context of whether a packet is learned, for packets that are not learned or have a control part.
const LEARNS: u32 = 0x1ea2;
/// The context of whether there is another message.
const MORE: u32 = 0x303e;

/// Codes whether a packet is learned, and its control part.
fn code_header<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    usual: &mut Table<Probability>,
    memory_max: usize,
    learns: bool,
    control: Control,
) -> Result<(bool, Control), DecodeError> {
    if usual.change(0).code(pass.coder, learns && control.is_empty()) {
        return Ok((true, Control::default()));
    }
    let row = pass.single(LEARNS);
    let learns = pass.bit(row, 0, learns);
    let control = control.code(pass)?;
    let memory = control.memory.map_or(0, |memory| memory as usize);
    if memory > memory_max {
        return Err(DecodeError::TooLarge);
    }
    Ok((learns, control))
}

/// Codes whether there is a message with this index. Each of the first fourteen indices has its own probability; the
/// others share one.
fn code_more<C: Coder + ?Sized>(pass: &mut Pass<'_, C>, index: usize, given: &Batch) -> bool {
    let row = pass.single(MORE);
    pass.bit(row, index.min(14), index < given.len())
}
