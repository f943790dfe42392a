//! Datagrams of fan-out groups, which the room codes once for many receivers (wire W70 to W75).

use alloc::vec::Vec;
use core::time::Duration;

use super::delivery::Delivery;
use crate::ids::{GroupId, ParticipantId};
use crate::limits::MAX_DATAGRAM_MODEL;
use crate::packing::Packing;
use crate::wire::acknowledged::Acknowledged;
use crate::wire::coding::PayloadForm;
use crate::wire::frame::{Frame, SHARED_DATAGRAM_LAST};
use crate::wire::payload::{Batch, PayloadDecoder};
use crate::wire::record::Number;
use crate::{Error, Kind};

/// The most models that are kept: the model of the fan-out group that this end is in, and that of
/// the group that it joins next.
const MODELS: usize = 2;

/// W72: how long an acknowledgement waits, so that a datagram that is sent anyway can carry it.
const ACKNOWLEDGE_WITHIN: Duration = Duration::from_millis(250);

/// An acknowledgement waits up to this many milliseconds longer. The additional time differs
/// between receivers, so that they do not all answer at once.
const SPREAD_MS: u32 = 150;

/// An acknowledgement is due at once when this many datagrams were received.
const ACKNOWLEDGE_AFTER: u32 = 32;

/// A datagram carries the acknowledgements that are due within this time after it.
const ACKNOWLEDGE_EARLY: Duration = Duration::from_millis(150);

/// How long an acknowledgement waits after a datagram that was sent again over the stream: the room
/// waits for this acknowledgement.
const ACKNOWLEDGE_SOON: Duration = Duration::from_millis(30);

/// The fan-out groups of one transport.
#[derive(Default)]
pub(super) struct Groups {
    /// A model that arrives in pieces.
    arriving: Option<Arriving>,
    models: Vec<Model>,
}

/// The pieces of a model that have arrived.
struct Arriving {
    group: GroupId,
    total: u32,
    bytes: Vec<u8>,
}

/// The model of a fan-out group.
struct Model {
    group: GroupId,
    decoder: PayloadDecoder,
    /// Datagrams that were received since the last acknowledgement.
    unanswered: u32,
    /// When the acknowledgement of these datagrams is due. `None` if there are none.
    answer_at: Option<Duration>,
}

impl Groups {
    /// The time at which an acknowledgement is due, if no datagram is sent before.
    pub(super) fn answer_at(&self) -> Option<Duration> {
        self.models.iter().filter_map(|model| model.answer_at).min()
    }

    pub(super) fn must_answer(&self, now: Duration) -> bool {
        self.answer_at().is_some_and(|at| at <= now)
    }

    /// Puts the acknowledgements that are due soon at the front of `packet`.
    pub(super) fn acknowledge(&mut self, now: Duration, packet: &mut Vec<u8>) {
        for model in &mut self.models {
            if model.answer_at.is_some_and(|at| at <= now + ACKNOWLEDGE_EARLY) {
                let mut frame = Vec::new();
                model.acknowledge(&mut frame);
                packet.splice(0..0, frame);
            }
        }
    }
}

impl Model {
    fn acknowledge(&mut self, out: &mut Vec<u8>) {
        (self.unanswered, self.answer_at) = (0, None);
        let (newest, came) = self.decoder.received();
        let (mut gmc, mut rest) = (Vec::new(), Vec::new());
        self.decoder.acknowledge(&mut gmc);
        Acknowledged::new(newest, came, &gmc).write(&mut rest);
        Frame::Acknowledged { group: self.group, rest: &rest }.write(out);
    }

    /// Counts a received datagram and plans its acknowledgement. `is_again`: its payload was
    /// received over the stream, after the datagram was lost.
    fn came(&mut self, now: Duration, participant: ParticipantId, is_again: bool) {
        self.unanswered += 1;
        let spread = participant.get().wrapping_mul(37) % SPREAD_MS;
        let within = match (is_again, self.unanswered >= ACKNOWLEDGE_AFTER) {
            (_, true) => Duration::ZERO,
            (true, _) => ACKNOWLEDGE_SOON,
            (false, _) => ACKNOWLEDGE_WITHIN + Duration::from_millis(u64::from(spread)),
        };
        let at = now + within;
        self.answer_at = Some(self.answer_at.map_or(at, |before| before.min(at)));
    }
}

impl Groups {
    /// W71: takes in a piece of a fan-out group's model. With the last one, returns the frame that
    /// acknowledges it.
    ///
    /// # Errors
    /// A model over its limit, a piece that is not the next one, a model that cannot be read.
    pub(super) fn add_model(
        &mut self,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
        max_message: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let size = total as usize;
        if size > MAX_DATAGRAM_MODEL {
            return Err(Error::TooLarge { what: "model", size, limit: MAX_DATAGRAM_MODEL });
        }
        if offset == 0 {
            self.arriving = Some(Arriving { group, total, bytes: Vec::new() });
        }
        let fits = |arriving: &&mut Arriving| {
            let come = arriving.bytes.len();
            (arriving.group, arriving.total) == (group, total)
                && come == offset as usize
                && come + piece.len() <= size
        };
        let Some(arriving) = self.arriving.as_mut().filter(fits) else {
            return Err(Error::malformed("MODEL: pieces that do not fit together"));
        };
        arriving.bytes.extend_from_slice(piece);
        if arriving.bytes.len() < size {
            return Ok(None);
        }
        let decoder = PayloadDecoder::from_model(&arriving.bytes, max_message)?;
        self.arriving = None;
        let mut model = Model { group, decoder, unanswered: 0, answer_at: None };
        let mut answer = Vec::new();
        model.acknowledge(&mut answer);
        self.models.retain(|model| model.group != group);
        if self.models.len() == MODELS {
            self.models.remove(0);
        }
        self.models.push(model);
        debug_assert!(self.models.len() <= MODELS, "the oldest model gave way");
        Ok(Some(answer))
    }

    /// W75: this end is no longer in the fan-out group.
    pub(super) fn leave(&mut self, group: GroupId) {
        self.models.retain(|model| model.group != group);
        self.arriving.take_if(|arriving| arriving.group == group);
    }

    /// True if this datagram belongs to a fan-out group, and this end has the model of a group.
    pub(super) fn takes(&self, packet: &[u8]) -> bool {
        !self.models.is_empty() && packet.first() == Some(&SHARED_DATAGRAM_LAST)
    }

    /// Reads a payload of a fan-out group; `is_again`: the room sent it over the stream, as its
    /// datagram was lost. `participant`: this end's number. An error in the payload is ignored: the
    /// payload may have arrived too late to be decoded.
    pub(super) fn read(
        &mut self,
        mut delivery: Delivery<'_>,
        packing: &mut Packing,
        batch: &mut Batch,
        participant: ParticipantId,
        (group, payload): (GroupId, &[u8]),
        is_again: bool,
    ) {
        let Some(model) = self.models.iter_mut().find(|model| model.group == group) else { return };
        let decoder = &mut model.decoder;
        let outcome =
            decoder.open(PayloadForm::Coded, payload, packing, batch).and_then(|mut records| {
                let outcome = loop {
                    // The group's payloads may hold channels that this end has not open: it does
                    // not need their records.
                    let record = match records.next(decoder, packing, |_| Ok(Kind::Awareness)) {
                        Ok(Some(record)) => record,
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error),
                    };
                    let kind = delivery.inbound.numbers.kind(record.channel);
                    let is_awareness = matches!(record.number, Number::Awareness { .. });
                    if record.sender == participant || kind != Ok(Kind::Awareness) || !is_awareness
                    {
                        continue;
                    }
                    if let Err(error) = delivery.deliver(&record) {
                        break Err(error);
                    }
                };
                records.finish(outcome)
            });
        if outcome.is_ok() || is_again {
            model.came(delivery.now, participant, is_again);
        }
        if is_again {
            // W74: the room may code later packets with the model of any packet that this one makes
            // decodable, so the decoder keeps all of these models, as if they were acknowledged.
            model.decoder.acknowledge(&mut Vec::new());
        }
    }
}
