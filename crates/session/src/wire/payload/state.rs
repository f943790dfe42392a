//! Payloads with late-joiner state, coded once for all newcomers that are sent the same state.
//!
//! A payload depends only on the messages, on the model with which they are coded, and on the
//! codecs that both ends have. So these are its key in the cache, which also keeps the model after
//! the payload.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::time::Duration;

use groupwire_gmc as gmc;

use super::encoder::PayloadEncoder;
use crate::Error;
use crate::packing::{Choosing, Idle, Packing};
use crate::wire::record::FIELDS;
use alloc::vec::Vec;

/// The most payloads that are kept: enough for newcomers with a few different sets of channels and
/// a long log.
const MAX_PAYLOADS: usize = 64;

/// The most bytes of payloads and keys, models excluded. Beyond it the oldest payloads are dropped.
const MAX_BYTES: usize = 4 << 20;

/// Payloads with late-joiner state that were coded lately. See the [module](self).
#[derive(Default)]
pub(crate) struct StatePayloads {
    /// The payloads in the order in which they were coded.
    payloads: VecDeque<StatePayload>,
    bytes: usize,
    /// The number of the last model.
    last: u64,
    idle: Idle,
}

/// What an encoder knows after payloads that other newcomers are sent, too.
pub(crate) struct SharedModel {
    /// Two models with the same number are equal.
    number: u64,
    coder: gmc::Encoder,
}

/// One coded payload.
struct StatePayload {
    key: KeptKey,
    bytes: Box<[u8]>,
    /// The model after the payload; `None` if there was none before, and the payload was not coded
    /// with one.
    after: Option<Arc<SharedModel>>,
}

/// All that the bytes of a payload depend on.
struct Key<F, E, C> {
    /// The number of the model before the payload; 0 for one that has learned nothing.
    model: u64,
    /// The codecs with which the payload may be packed as a block: bit n for codec number n.
    codecs: u64,
    fields: F,
    ends: E,
    contents: C,
}

type KeptKey = Key<Box<[[u32; FIELDS]]>, Box<[usize]>, Box<[u8]>>;

impl PayloadEncoder {
    /// As [`PayloadEncoder::finish`], for a payload with late-joiner state. It is not coded if
    /// `known` has the same payload; `None` if it is not to be shared. `model` is the newcomer's
    /// shared model, which becomes the one after the payload. Returns true if the payload had to be
    /// coded.
    pub(crate) fn finish_state(
        &mut self,
        choosing: &mut Choosing,
        packing: &mut Packing,
        (known, model): (Option<&mut StatePayloads>, &mut Option<Arc<SharedModel>>),
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let Some(known) = known.filter(|_| self.is_shareable()) else {
            self.own_model(model);
            return self.finish(choosing, packing, out).map(|()| true);
        };
        let codecs = if self.may_be_block() { choosing.block_codecs(packing) } else { 0 };
        let number = model.as_ref().map_or(0, |model| model.number);
        let (fields, ends, contents) = self.collected();
        let key = Key { model: number, codecs, fields, ends, contents };
        if let Some(payload) = known.find(&key) {
            out.extend_from_slice(&payload.bytes);
            model.clone_from(&payload.after);
            // As if this payload had been coded here, so that the next ones are the same, too.
            self.learn_enough(payload.bytes.len());
            self.clear();
            return Ok(false);
        }
        let key = key.to_owned();
        self.own_model(model);
        let start = out.len();
        self.finish(choosing, packing, out)?;
        *model = self.take_coder().map(|coder| known.share(coder));
        known.keep(StatePayload { key, bytes: out[start..].into(), after: model.clone() });
        Ok(true)
    }

    /// Makes the shared model the encoder's own, so that it can code further payloads.
    pub(crate) fn own_model(&mut self, model: &mut Option<Arc<SharedModel>>) {
        let Some(model) = model.take() else { return };
        let coder = match Arc::try_unwrap(model) {
            Ok(last) => last.coder,
            Err(model) => model.coder.clone(),
        };
        self.put_coder(coder);
    }
}

impl<'a> Key<&'a [[u32; FIELDS]], &'a [usize], &'a [u8]> {
    fn to_owned(&self) -> KeptKey {
        let Key { model, codecs, fields, ends, contents } = *self;
        Key { model, codecs, fields: fields.into(), ends: ends.into(), contents: contents.into() }
    }

    fn is(&self, other: &KeptKey) -> bool {
        (self.model, self.codecs) == (other.model, other.codecs)
            && *self.ends == *other.ends
            && *self.fields == *other.fields
            && *self.contents == *other.contents
    }
}

impl StatePayload {
    fn size(&self) -> usize {
        let Key { fields, ends, contents, .. } = &self.key;
        let records = size_of_val(&**fields) + size_of_val(&**ends);
        size_of::<Self>() + records + contents.len() + self.bytes.len()
    }
}

impl StatePayloads {
    fn find(&mut self, key: &Key<&[[u32; FIELDS]], &[usize], &[u8]>) -> Option<&StatePayload> {
        self.idle.used();
        self.payloads.iter().rev().find(|payload| key.is(&payload.key))
    }

    fn share(&mut self, coder: gmc::Encoder) -> Arc<SharedModel> {
        self.last += 1;
        Arc::new(SharedModel { number: self.last, coder })
    }

    fn keep(&mut self, payload: StatePayload) {
        self.bytes += payload.size();
        self.payloads.push_back(payload);
        while self.payloads.len() > MAX_PAYLOADS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.payloads.pop_front() else { return };
            self.bytes -= oldest.size();
        }
    }

    /// Drops all kept payloads if the cache has not been used for some time. The owner calls this
    /// regularly.
    pub(crate) fn release_if_idle(&mut self, now: Duration) {
        if self.idle.is_over(now) {
            self.release();
        }
    }

    /// Drops all kept payloads.
    pub(crate) fn release(&mut self) {
        (self.payloads, self.bytes) = (VecDeque::new(), 0);
    }

    /// Bytes of memory that is in use, about.
    pub(crate) fn memory(&self) -> usize {
        let models = self.payloads.iter().filter_map(|payload| payload.after.as_ref());
        self.bytes + models.map(|model| model.coder.memory()).sum::<usize>()
    }
}
