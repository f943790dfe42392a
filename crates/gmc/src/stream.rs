//! The model of a stream: everything that both ends have learned from the messages so far.
//!
//! [`Stream::code`] is what encoder and decoder share. It takes every decision through a
//! [`Coder`], which either writes it or reads it, and learns from the
//! messages and from nothing else, so that the model is a function of the messages alone.

use alloc::vec::Vec;

use crate::batch::{Batch, Message};
use crate::choice::Choices;
use crate::config::Config;
use crate::error::DecodeError;
use crate::fields::Fields;
use crate::hash::hash;
use crate::history::Place;
use crate::hole::Holes;
use crate::learn;
use crate::packet::BULK;
use crate::range_coder::Coder;
use crate::speller::Setting;
use crate::templates::Templates;

pub(crate) struct Stream {
    config: Config,
    templates: Templates,
    choices: Choices,
    holes: Holes,
    fields: Fields,
    /// The last message that fitted no template.
    last_miss: Place,
    scratch: learn::Scratch,
}

/// The label of a whole message that fits no template.
const MISS: u32 = 0x3155;

impl Stream {
    pub(crate) fn new(config: Config) -> Self {
        let budget = config.budget();
        Self {
            templates: Templates::new(budget.templates),
            choices: Choices::new(budget.senders),
            holes: Holes::new(&budget),
            fields: Fields::new(config.field_count()),
            last_miss: Place::default(),
            scratch: learn::Scratch::default(),
            config,
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn memory(&self) -> usize {
        self.templates.memory() + self.choices.memory() + self.holes.memory() + self.fields.memory()
    }

    /// Codes the messages of a packet. They are appended to `done`, whether they were given or
    /// decoded.
    pub(crate) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        given: &Batch,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        loop {
            let index = done.len();
            let row = self.holes.rows.single(0x303e);
            // Of the first messages the model knows how likely another one is.
            if !self.holes.rows.bit(coder, row, index.min(14), index < given.len()) {
                return Ok(());
            }
            if index == self.config.max_messages_per_packet {
                return Err(DecodeError::TooLarge);
            }
            if coder.is_exhausted() {
                return Err(DecodeError::Malformed);
            }
            let message =
                if C::DECODES { Message { fields: &[], bytes: &[] } } else { given.get(index) };
            self.code_message(coder, message, done)?;
            done.end_message();
        }
    }

    fn code_message<C: Coder>(
        &mut self,
        coder: &mut C,
        given: Message<'_>,
        done: &mut Batch,
    ) -> Result<(), DecodeError> {
        let first_field = done.fields.len();
        self.fields.code(coder, &mut self.holes.rows, given.fields, &mut done.fields)?;
        let fields = &done.fields[first_field..];
        let channel = fields.first().copied().unwrap_or(0);
        let sender = hash(fields.get(1).copied().unwrap_or(0), 0x5e);
        let stream = hash(channel, sender);

        let out = &mut done.bytes;
        let start = out.len();
        let limit = self.config.max_message.min(self.config.max_packet - start).min(BULK);
        let choice = if C::DECODES {
            None
        } else {
            let likely = self.choices.recent(stream).likely();
            self.templates.find(given.bytes, &likely, &mut self.scratch.spans)
        };
        let choice = self.choices.code(coder, &mut self.holes.rows, stream, choice)?;
        if let Some(number) = choice {
            self.code_holes(coder, number, sender, given.bytes, limit, out)?;
            self.templates.touch(number, &out[start..]);
        } else {
            let setting =
                Setting { label: MISS, before: [0; 2], like: Some(self.last_miss), limit };
            let Holes { texts, rows, .. } = &mut self.holes;
            self.last_miss = texts.speller.code(coder, rows, &setting, given.bytes, out)?;
            if let Some(number) = self.templates.learn(&out[start..], &mut self.scratch) {
                self.choices.learned(stream, number);
            }
        }
        if out.len() - start > limit {
            return Err(DecodeError::TooLarge);
        }
        Ok(())
    }

    /// Codes what fills the holes of a template, and appends the whole message to `out`.
    fn code_holes<C: Coder>(
        &mut self,
        coder: &mut C,
        number: usize,
        sender: u32,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let template = self.templates.get_mut(number).ok_or(DecodeError::Malformed)?;
        if template.fixed() > limit {
            return Err(DecodeError::TooLarge);
        }
        let end = out.len() + limit;
        for index in 0..template.holes().len() {
            out.extend_from_slice(template.fixed_before(index));
            let hole = template.hole_mut(index);
            let given = if C::DECODES { &[] } else { &given[self.scratch.spans[index].clone()] };
            let left = end.saturating_sub(out.len());
            self.holes.code(coder, hole, sender, given, left, out)?;
        }
        out.extend_from_slice(template.fixed_before(template.holes().len()));
        Ok(())
    }
}
