//! Reading the stream that this receiver shares with others (wire.md W60 to W66).

use alloc::vec::Vec;

use super::Client;
use crate::ids::{ChannelNo, GroupId};
use crate::limits::MAX_MODEL;
use crate::link::Link;
use crate::wire::body::BodyDecoder;
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

/// What is known of shared streams on one transport.
#[derive(Default)]
pub(super) struct Shared {
    /// Both ends can (W10).
    pub(super) agreed: bool,
    /// Pieces of a model, and the class that it is of.
    model: Option<(GroupId, Vec<u8>)>,
    /// Of the class that this end is in.
    decoder: Option<BodyDecoder>,
}

impl Client {
    /// W61: a piece of a class's model. With the last one, what comes to this end alone begins anew.
    pub(super) fn model(
        &mut self,
        class: GroupId,
        total: u32,
        offset: u32,
        rest: &[u8],
    ) -> Result<(), Error> {
        let (total, offset) = (total as usize, offset as usize);
        if total > MAX_MODEL {
            return Err(Error::TooLarge { what: "model", size: total, limit: MAX_MODEL });
        }
        let shared = &mut self.shared;
        if offset == 0 {
            shared.model = Some((class, Vec::new()));
        }
        let has_piece = !rest.is_empty() || total == 0;
        let Some((_, model)) = shared.model.as_mut().filter(|(of, model)| {
            *of == class && model.len() == offset && offset + rest.len() <= total && has_piece
        }) else {
            return Err(Error::malformed("MODEL: a piece that does not fit"));
        };
        model.extend_from_slice(rest);
        if model.len() == total {
            let max_message = self.config.limits.max_message;
            shared.decoder = Some(BodyDecoder::for_class(model, max_message)?);
            shared.model = None;
            self.restart_bodies();
        }
        Ok(())
    }

    /// W64: what comes from here on comes to this end alone.
    pub(super) fn leave_shared(&mut self) -> Result<(), Error> {
        match self.shared.decoder.take() {
            Some(_) => self.restart_bodies(),
            None => return Err(Error::malformed("LEAVE: of no class")),
        }
        Ok(())
    }

    /// W62: a body that all of the class are sent.
    pub(super) fn shared_body(&mut self, body: &[u8]) -> Result<(), Error> {
        let Some(mut decoder) = self.shared.decoder.take() else {
            return Err(Error::malformed("SHARED: of no class"));
        };
        let one_way = self.link.as_ref().map(Link::transit).unwrap_or_default();
        let own = self.participant();
        let known = core::mem::take(&mut self.known);
        let kind_of = |id: ChannelNo| -> Result<Kind, Error> {
            let needs = known.get(id.get() as usize).copied().flatten();
            needs.map(|needs| needs.qos.kind).ok_or(Error::UnknownChannel { channel: id.get() })
        };
        let each = |record: Record<'_>| match record.number {
            _ if Some(record.sender) != own => self.deliver(one_way, &record),
            Number::Transaction { .. } => self.deliver(one_way, &Record { own: true, ..record }),
            _ => Ok(()),
        };
        let outcome = decoder.shared(body, kind_of, each);
        self.known = known;
        self.shared.decoder = Some(decoder);
        outcome
    }

    fn restart_bodies(&mut self) {
        if let Some(bodies) = self.link.as_mut().and_then(|link: &mut Link| link.bodies.as_mut()) {
            bodies.decoder.restart();
        }
    }
}
