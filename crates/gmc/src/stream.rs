//! The model of a stream: everything that an end has learned from the messages so far. Both ends
//! have equal models. On links that lose packets the model has versions, each named by the number
//! of the newest packet that it has learned; the version under which packets are coded is the
//! epoch.
//!
//! Encoder and decoder share [`StreamModel::code_ordered`] and [`StreamModel::code_datagram`]. To
//! "code" a packet is to write it in the encoder and to read it in the decoder: every decision is
//! passed to a [`Coder`], which does either. The model learns from the messages and from nothing
//! else, so that it is a function of the messages alone.

#[cfg(feature = "describe")]
use alloc::vec::Vec;

#[cfg(feature = "accounting")]
use crate::account::Part;
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
use crate::range_coder::{Coder, Replayer, Silent, shared};
use crate::table::{Table, Version, Versioned};
#[cfg(any(feature = "describe", feature = "accounting"))]
use crate::templates::Templates;
use crate::trace::Trace;

use message::MessageCoder;

mod compact;
mod message;
mod snapshot;

pub(crate) struct StreamModel {
    config: Config,
    contexts: ContextTable,
    messages: MessageCoder,
    /// The probability that a packet is learned and has no control part (a request to all models).
    usual: Table<Probability>,
    /// The version as which the tables log their changes.
    recorded: Option<Version>,
    /// Buffer for the messages that come out when a packet is learned. Only a debug assertion reads
    /// it.
    unused: Batch,
    /// How many eighths of a bit each message of the last packet took. `None` if this is not
    /// measured.
    #[cfg(feature = "describe")]
    pub(crate) costs: Option<Vec<u32>>,
}

impl StreamModel {
    pub(crate) fn new(config: Config) -> Self {
        let config = Config { memory: config.memory_bounded(), ..config };
        let budget = Budget::new(&config);
        Self {
            contexts: ContextTable::new(budget.contexts),
            messages: MessageCoder::new(&config, &budget),
            usual: Table::new(Probability::LIKELY, 1),
            recorded: None,
            unused: Batch::default(),
            #[cfg(feature = "describe")]
            costs: None,
            config,
        }
    }

    /// An empty model with the same settings.
    pub(crate) fn empty(&self) -> Self {
        #[cfg_attr(not(feature = "describe"), expect(unused_mut))]
        let mut empty = Self::new(self.config.clone());
        #[cfg(feature = "describe")]
        {
            empty.costs = self.costs.clone();
        }
        empty
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    #[cfg(any(feature = "describe", feature = "accounting"))]
    pub(crate) fn templates(&self) -> &Templates {
        &self.messages.templates
    }

    /// The memory of the model, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.contexts.memory() + self.messages.memory()
    }

    /// The bytes of the configured memory that remain when the model is as large as it can become.
    pub(crate) fn remaining(&self) -> usize {
        let memory = self.config.memory.clamp(Config::MEMORY_MIN, Config::MEMORY_MAX);
        memory.saturating_sub(self.memory() + self.messages.templates.remaining())
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.contexts.visit(visit);
        self.messages.visit(visit);
        visit(&mut self.usual);
    }

    /// Logs all changes from now on as those of `version`, so that they can be undone. `None` ends
    /// logging.
    pub(crate) fn record(&mut self, version: Option<Version>) {
        if self.recorded != version {
            self.recorded = version;
            self.visit(&mut |part| part.record(version));
        }
    }

    /// Undoes all changes later than `version`.
    pub(crate) fn undo(&mut self, version: Version) {
        self.visit(&mut |part| part.undo(version));
    }

    /// Goes back to `version` until [`StreamModel::forward`] is called.
    pub(crate) fn rewind(&mut self, version: Version) {
        self.visit(&mut |part| part.rewind(version));
    }

    /// Makes all changes since `version` again.
    pub(crate) fn forward(&mut self, version: Version) {
        self.visit(&mut |part| part.forward(version));
    }

    /// Drops the logs that are needed to go back to a version before this one. Returns the memory
    /// of the remaining ones, in bytes.
    pub(crate) fn forget(&mut self, version: Version) -> usize {
        let mut memory = 0;
        self.visit(&mut |part| memory += part.forget(version));
        memory
    }

    /// The memory of the logs that serve to go back, in bytes.
    pub(crate) fn log_memory(&mut self) -> usize {
        let mut memory = 0;
        self.visit(&mut |part| memory += part.log_memory());
        memory
    }

    /// Codes a packet for an ordered link: its control part, and the messages. Learns the packet at
    /// once.
    pub(crate) fn code_ordered<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let mut pass = Pass::immediate(coder, &mut self.contexts);
        let (learns, control) = code_header(&mut pass, &mut self.usual, true, given.control)?;
        // Each packet of an ordered link is learned.
        if !learns {
            return Err(DecodeError::Malformed);
        }
        done.control = control;
        self.code(coder, Learning::Immediate, PacketNumber::default(), given, done)?;
        self.obey(control);
        Ok(())
    }

    /// Does what the control part of a packet requests, after the packet was learned.
    fn obey(&mut self, control: Control) {
        if control.compact && cfg!(feature = "snapshots") {
            self.compact();
        }
    }

    /// Codes a packet for a link that loses packets: the number of packets between the epoch's
    /// packet and this one; whether this packet will be learned; its control part; its messages.
    /// Returns the packet's number, and whether it will be learned.
    ///
    /// The model is to change only when the packet is learned: `trace` records the decisions for
    /// that, and the caller undoes the changes that are made here.
    pub(crate) fn code_datagram<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        given: Datagram<'_>,
        trace: &mut Trace,
        done: &mut Batch,
    ) -> Result<(PacketNumber, bool), DecodeError> {
        let Datagram { epoch, distance, learns, batch } = given;
        trace.clear();
        let learning = Learning::Deferred(&mut *trace);
        let mut pass = Pass::new(coder, &mut self.contexts, learning, epoch);
        let mut pass = pass.part(true);
        let contexts = Contexts::single(DISTANCE);
        let distance = code_unsigned(&mut pass, contexts, u64::from(distance));
        #[cfg(feature = "accounting")]
        pass.coder.charge(Part::Number);
        let distance = u32::try_from(distance).map_err(|_| DecodeError::Malformed)?;
        let number = epoch.next().plus(distance);
        let (learns, control) = code_header(&mut pass, &mut self.usual, learns, batch.control)?;
        done.control = control;
        self.code(coder, Learning::Deferred(trace), number, batch, done)?;
        Ok((number, learns))
    }

    /// Learns the messages of a packet, and the decisions that `trace` recorded when the packet was
    /// coded.
    pub(crate) fn learn(&mut self, number: PacketNumber, batch: &Batch, trace: &mut Trace) {
        self.contexts.learn(trace);
        let mut unused = core::mem::take(&mut self.unused);
        unused.clear();
        let mut coder = Replayer;
        self.code(shared(&mut coder), Learning::Replay(trace), number, batch, &mut unused)
            .expect("messages within the limits are coded");
        debug_assert!(unused.bytes == batch.bytes, "a replay gives the messages that were coded");
        self.unused = unused;
        self.usual.change(0).code(shared(&mut Silent), batch.control.is_empty());
        self.obey(batch.control);
    }

    /// Codes the messages of a packet and appends them to `done`, in the encoder too.
    fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        learning: Learning<'_>,
        packet: PacketNumber,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let Self { contexts, messages, config, .. } = self;
        let mut pass = Pass::new(coder, contexts, learning, packet);
        #[cfg(feature = "accounting")]
        pass.coder.charge(Part::Control);
        #[cfg(feature = "describe")]
        let mut before = pass.coder.position();
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
            #[cfg(feature = "accounting")]
            pass.coder.charge(Part::Count);
            messages.code(&mut pass.part(!more), config, message, done)?;
            done.end_message();
            #[cfg(feature = "describe")]
            if let Some(costs) = &mut self.costs {
                let now = pass.coder.position();
                costs.extend(now.zip(before).map(|(now, before)| now - before));
                before = now;
            }
        }
        Ok(())
    }
}

/// A packet to be coded for a link that loses some.
pub(crate) struct Datagram<'a> {
    /// The number of the epoch's packet: the newest one that the model has learned.
    pub(crate) epoch: PacketNumber,
    /// How many packets were sent between the epoch's packet and this one. Unused in the decoder.
    pub(crate) distance: u32,
    /// Whether the packet will be learned. Unused in the decoder.
    pub(crate) learns: bool,
    /// The messages. Unused in the decoder.
    pub(crate) batch: &'a Batch,
}

impl<'a> Datagram<'a> {
    /// A packet to be decoded. `empty` stands for its messages, which are not known yet.
    pub(crate) fn unknown(epoch: PacketNumber, empty: &'a Batch) -> Self {
        Self { epoch, distance: 0, learns: false, batch: empty }
    }
}

/// The context (which selects probabilities) of a packet's distance.
const DISTANCE: u32 = 0xd157;
/// The context of whether a packet is learned, for packets that are not learned or have a control
/// part.
const LEARNS: u32 = 0x1ea2;
/// The context of whether the packet has another message.
const MORE: u32 = 0x303e;

/// Codes whether a packet is learned, and its control part.
fn code_header<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    usual: &mut Table<Probability>,
    learns: bool,
    control: Control,
) -> Result<(bool, Control), DecodeError> {
    if usual.change(0).code(pass.coder, learns && control.is_empty()) {
        return Ok((true, Control::default()));
    }
    let row = pass.single(LEARNS);
    let learns = pass.bit(row, 0, learns);
    let control = control.code(pass)?;
    Ok((learns, control))
}

/// Codes whether there is a message with this index. Each of the first fourteen indices has its own
/// probability; all others share one.
fn code_more<C: Coder + ?Sized>(pass: &mut Pass<'_, C>, index: usize, given: &Batch) -> bool {
    let row = pass.single(MORE);
    pass.bit(row, index.min(14), index < given.len())
}
