//! Reading the stream that a fan-out group of receivers shares (wire.md W60 to W66).

use alloc::vec::Vec;

use super::delivery::Delivery;
use super::phase::Joined;
use super::receive::Reading;
use super::session::Session;
use crate::Error;
use crate::ids::{ChannelNo, GroupId};
use crate::limits::MAX_MODEL;
use crate::wire::body::BodyDecoder;
use crate::wire::record::{Number, Record};

/// This end's part in shared streams on one transport.
#[derive(Default)]
pub(super) struct SharedStream {
    /// The fan-out group whose model is arriving, and the bytes of the model so far.
    model: Option<(GroupId, Vec<u8>)>,
    /// Reads the bodies of the fan-out group that this end is in.
    decoder: Option<BodyDecoder>,
}

impl SharedStream {
    /// W61: takes in a piece of a fan-out group's model. `true`: it was the last piece, and this end is in the group now.
    ///
    /// # Errors
    /// A model over its limit, a piece that is not the next one, a model that cannot be read.
    fn add_model(
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
        self.decoder = Some(BodyDecoder::for_class(model, max_message)?);
        self.model = None;
        Ok(true)
    }
}

impl Joined {
    /// W61: MODEL of a shared stream. With the last piece, the bodies for this end alone begin anew.
    ///
    /// # Errors
    /// See [`SharedStream::add_model`].
    pub(super) fn on_stream_model(
        &mut self,
        session: &Session,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
    ) -> Result<(), Error> {
        let (total, offset) = (total as usize, offset as usize);
        let max_message = session.config.limits.max_message;
        if self.shared_stream.add_model(group, total, offset, piece, max_message)? {
            self.bodies.decoder.restart();
        }
        Ok(())
    }

    /// W64: LEAVE of a shared stream. The bodies that follow are for this end alone, and begin anew.
    ///
    /// # Errors
    /// This end is in no fan-out group.
    pub(super) fn on_leave_stream(&mut self) -> Result<(), Error> {
        if self.shared_stream.decoder.is_none() {
            return Err(Error::malformed("LEAVE: of no class"));
        }
        self.shared_stream.decoder = None;
        self.bodies.decoder.restart();
        Ok(())
    }

    /// W62: SHARED, a body that all receivers of the fan-out group are sent.
    ///
    /// # Errors
    /// This end is in no fan-out group, or something is wrong with the body.
    pub(super) fn on_shared(&mut self, reading: Reading<'_>, payload: &[u8]) -> Result<(), Error> {
        let Reading { now, session, packing, batch } = reading;
        let Joined { participant, link, datagrams, shared_stream, inbound, .. } = self;
        let Some(decoder) = &mut shared_stream.decoder else {
            return Err(Error::malformed("SHARED: of no class"));
        };
        let transit = link.transit();
        let mut records = decoder.open_shared(payload, batch)?;
        let outcome = loop {
            let kind_of = |id: ChannelNo| inbound.numbers.kind(id);
            let record = match records.next(decoder, packing, kind_of) {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let own = record.sender == *participant;
            // W62: own transactions show their place in the order, own awareness is of no use here.
            if own && !matches!(record.number, Number::Transaction { .. }) {
                continue;
            }
            let mut delivery = Delivery { now, session, inbound, datagrams: datagrams.as_ref() };
            let record = if own { Record { own, ..record } } else { record };
            if let Err(error) = delivery.deliver(transit, &record) {
                break Err(error);
            }
        };
        records.finish(outcome)
    }
}
