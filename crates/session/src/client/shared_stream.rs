//! Reading the stream that a fan-out group of receivers shares (wire W60 to W66).

use alloc::vec::Vec;

use super::delivery::Delivery;
use crate::Error;
use crate::ids::{ChannelNo, GroupId, ParticipantId};
use crate::limits::MAX_MODEL;
use crate::packing::Packing;
use crate::wire::payload::{Batch, PayloadDecoder};
use crate::wire::record::{Number, Record};

/// The state of this end as a receiver of shared streams, on one transport.
#[derive(Default)]
pub(super) struct SharedStream {
    /// The fan-out group whose model is arriving, and the bytes of the model so far.
    model: Option<(GroupId, Vec<u8>)>,
    /// Reads the payloads of the fan-out group that this end is in.
    decoder: Option<PayloadDecoder>,
}

impl SharedStream {
    /// W61: takes in a piece of a fan-out group's model. `true`: it was the last piece, and this
    /// end is in the group now.
    ///
    /// # Errors
    /// A model over its limit, a piece that is not the next one, a model that cannot be read.
    pub(super) fn add_model(
        &mut self,
        group: GroupId,
        total: usize,
        offset: usize,
        piece: &[u8],
        max_message: usize,
    ) -> Result<bool, Error> {
        if total > MAX_MODEL {
            return Err(Error::TooLarge { what: "model", size: total, limit: MAX_MODEL });
        }
        if offset == 0 {
            self.model = Some((group, Vec::new()));
        }
        let has_piece = !piece.is_empty() || total == 0;
        let Some((_, model)) = self.model.as_mut().filter(|(of, model)| {
            *of == group && model.len() == offset && offset + piece.len() <= total && has_piece
        }) else {
            return Err(Error::malformed("MODEL: a piece that does not fit"));
        };
        model.extend_from_slice(piece);
        if model.len() < total {
            return Ok(false);
        }
        self.decoder = Some(PayloadDecoder::for_group(model, max_message)?);
        self.model = None;
        Ok(true)
    }

    /// W64: processes LEAVE, after which this end is in no fan-out group any more.
    ///
    /// # Errors
    /// This end was in no group.
    pub(super) fn leave(&mut self) -> Result<(), Error> {
        match self.decoder.take() {
            Some(_) => Ok(()),
            None => Err(Error::malformed("LEAVE: of no group")),
        }
    }

    /// W62: reads SHARED, a payload that all receivers of the fan-out group are sent.
    /// `participant`: this end's number.
    ///
    /// # Errors
    /// This end is in no fan-out group, or something is wrong with the payload.
    pub(super) fn read(
        &mut self,
        mut delivery: Delivery<'_>,
        packing: &mut Packing,
        batch: &mut Batch,
        participant: ParticipantId,
        payload: &[u8],
    ) -> Result<(), Error> {
        let Some(decoder) = &mut self.decoder else {
            return Err(Error::malformed("SHARED: of no group"));
        };
        let mut records = decoder.open_shared(payload, batch)?;
        let outcome = loop {
            let kind_of = |id: ChannelNo| delivery.inbound.numbers.kind(id);
            let record = match records.next(decoder, packing, kind_of) {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let own = record.sender == participant;
            // W62: an own transaction is read because it confirms the position of that transaction;
            // own awareness messages are skipped.
            if own && !matches!(record.number, Number::Transaction { .. }) {
                continue;
            }
            let record = if own { Record { own, ..record } } else { record };
            if let Err(error) = delivery.deliver(&record) {
                break Err(error);
            }
        };
        records.finish(outcome)
    }
}
