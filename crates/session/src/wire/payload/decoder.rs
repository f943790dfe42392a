//! Decodes payloads into records.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use super::account;
use super::batch::Batch;
use super::coder::group_config;
use crate::ids::ChannelNo;
use crate::packing::Packing;
use crate::trace::Carrier;
use crate::wire::numbering::Numbering;
use crate::wire::record::{self, Direction, FIELDS, Record};
use crate::{Error, Kind, ModelMemory};

/// The bytes that the decoder of a fan-out group may use besides its model, to restore older
/// versions of the model. It needs an old version to decode a payload that was lost and is sent
/// again up to two seconds later (wire W74).
const FOR_LATE_ONES: usize = 256 << 10;

/// Decodes the payloads of one direction of one carrier.
pub(crate) struct PayloadDecoder {
    carrier: Carrier,
    direction: Direction,
    pub(crate) numbering: Numbering,
    /// The memory of the model, if both ends agreed on coded payloads.
    coded: Option<ModelMemory>,
    /// Created for the first coded payload, so that an idle connection needs no memory for it.
    coder: Option<Box<gmc::Decoder>>,
    max_message: usize,
    /// True if the coder measures the cost of each message, for the inspector.
    keeps_account: bool,
}

impl PayloadDecoder {
    pub(crate) fn new(
        direction: Direction,
        numbering: Numbering,
        coded: Option<ModelMemory>,
        max_message: usize,
    ) -> Self {
        PayloadDecoder {
            carrier: Carrier::Stream,
            direction,
            numbering,
            coded,
            coder: None,
            max_message,
            keeps_account: false,
        }
    }

    /// Creates a decoder for datagrams that are encoded for this receiver only, not for a fan-out
    /// group.
    pub(crate) fn for_datagrams(direction: Direction, max_message: usize) -> Self {
        let coded = Some(ModelMemory::Full);
        let decoder = PayloadDecoder::new(direction, Numbering::absolute(), coded, max_message);
        PayloadDecoder { carrier: Carrier::Datagrams, ..decoder }
    }

    /// Creates a decoder for the datagrams of a fan-out group from the snapshot of the group's
    /// model (wire W71).
    pub(crate) fn from_model(model: &[u8], max_message: usize) -> Result<Self, Error> {
        let mut coder = gmc::Decoder::from_snapshot(group_config(), model)
            .map_err(|error| Error::Compression { why: error.to_string() })?;
        coder.keep_more(FOR_LATE_ONES);
        let decoder = PayloadDecoder::for_datagrams(Direction::ToClient, max_message);
        Ok(PayloadDecoder { coder: Some(Box::new(coder)), ..decoder })
    }

    /// The number of the newest coded payload that arrived, and a bit set: bit `k` is set if the
    /// payload whose number is `k` smaller arrived.
    pub(crate) fn received(&self) -> (u32, u128) {
        self.coder.as_deref().map_or((0, 0), gmc::Decoder::received)
    }

    /// Appends gmc's acknowledgement of the coded payloads that arrived. Appends nothing if none
    /// has arrived yet.
    pub(crate) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some(coder) = &mut self.coder {
            coder.acknowledge(out);
        }
    }

    /// Creates a decoder for the shared stream of a fan-out group from the snapshot of the group's
    /// model. An empty snapshot means an empty model (wire W61).
    pub(crate) fn for_group(model: &[u8], max_message: usize) -> Result<Self, Error> {
        let (numbering, memory) = (Numbering::default(), ModelMemory::Full);
        let decoder =
            PayloadDecoder::new(Direction::ToClient, numbering, Some(memory), max_message);
        let coder = match model.is_empty() {
            true => None,
            false => {
                let config = decoder.carrier.coder_config(memory);
                let coder = gmc::Decoder::from_snapshot(config, model);
                let coder = coder.map_err(|error| Error::Compression { why: error.to_string() })?;
                Some(Box::new(coder))
            }
        };
        Ok(PayloadDecoder { coder, ..decoder })
    }

    /// Drops the gmc decoder and all last numbers. The next payload must come from an encoder that
    /// was restarted, too (wire W61).
    pub(crate) fn restart(&mut self) {
        let PayloadDecoder { carrier, direction, coded, max_message, .. } = *self;
        let numbering = Numbering::default();
        *self = PayloadDecoder {
            carrier,
            ..PayloadDecoder::new(direction, numbering, coded, max_message)
        };
    }

    /// Sets whether the costs that [`PayloadDecoder::costs`] returns are measured.
    pub(crate) fn keep_account(&mut self, on: bool) {
        if self.keeps_account != on {
            self.keeps_account = on;
            if let Some(coder) = &mut self.coder {
                account::cost_decoder(coder, on);
            }
        }
    }

    /// The size of each message within the last coded payload, in 1/64 of a byte. Empty if it was
    /// not measured.
    pub(crate) fn costs(&self) -> &[u32] {
        self.coder.as_deref().map(account::decoder_costs).unwrap_or_default()
    }

    /// Decodes a coded payload into `batch`.
    pub(super) fn decode(&mut self, payload: &[u8], batch: &mut Batch) -> Result<(), Error> {
        let Some(memory) = self.coded else {
            return Err(Error::malformed("CODED: it was not agreed on"));
        };
        let PayloadDecoder { coder, carrier, keeps_account, .. } = self;
        let coder = coder.get_or_insert_with(|| {
            let mut coder = gmc::Decoder::new(carrier.coder_config(memory));
            account::cost_decoder(&mut coder, *keeps_account);
            Box::new(coder)
        });
        batch.decode(coder, payload);
        Ok(())
    }

    /// Sets all last numbers to 0 (wire W63).
    pub(super) fn restart_numbering(&mut self) {
        self.numbering = Numbering::default();
    }

    /// The most bytes that a message may have.
    pub(super) fn max_message(&self) -> usize {
        self.max_message
    }

    /// Reads one record from its six numbers and its content.
    pub(super) fn read<'a>(
        &mut self,
        fields: [u32; FIELDS],
        content: &'a [u8],
        kind_of: &impl Fn(ChannelNo) -> Result<Kind, Error>,
        max_message: usize,
        packing: Option<&'a mut Packing>,
    ) -> Result<Record<'a>, Error> {
        // An own record tells a client that one of its transactions is ordered. It comes even if
        // the transaction's channel is not open on this transport, so `kind_of` is not asked (wire
        // W29). Only the stream has own records; in a datagram, the flag is a sign of damage.
        let is_stream = self.direction == Direction::ToClient && self.carrier == Carrier::Stream;
        let kind = match is_stream && record::is_own(&fields) {
            true => Kind::Transaction,
            false => kind_of(ChannelNo(fields[0]))?,
        };
        let numbering = &mut self.numbering;
        record::read(fields, content, kind, self.direction, numbering, max_message, packing)
    }
}
