//! Reads the records of a body.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use super::class::class_config;
use super::{Batch, Lane, account};
use crate::ids::ChannelNo;
use crate::packing::Packing;
use crate::wire::numbering::Numbering;
use crate::wire::record::{self, Direction, FIELDS, Record};
use crate::{Error, Kind};

/// Octets that a class's decoder may take besides its model to read a body that was lost and comes again: what up to two
/// seconds of traffic have taught meanwhile (W74).
const FOR_LATE_ONES: usize = 256 << 10;

/// Reads bodies.
pub(crate) struct BodyDecoder {
    lane: Lane,
    direction: Direction,
    pub(crate) numbering: Numbering,
    coded: bool,
    /// Made with the first coded body.
    coder: Option<Box<gmc::Decoder>>,
    max_message: usize,
    keeps_account: bool,
}

impl BodyDecoder {
    pub(crate) fn new(
        direction: Direction,
        numbering: Numbering,
        coded: bool,
        max_message: usize,
    ) -> Self {
        BodyDecoder {
            lane: Lane::Stream,
            direction,
            numbering,
            coded,
            coder: None,
            max_message,
            keeps_account: false,
        }
    }

    /// For datagrams.
    pub(crate) fn for_datagrams(direction: Direction, coded: bool, max_message: usize) -> Self {
        let numbering = Numbering::absolute();
        let decoder = BodyDecoder::new(direction, numbering, coded, max_message);
        BodyDecoder { lane: Lane::Datagrams, ..decoder }
    }

    /// For the datagrams of a class, from the snapshot of its model (W71).
    pub(crate) fn from_model(model: &[u8], max_message: usize) -> Result<Self, Error> {
        let mut coder = gmc::Decoder::from_snapshot(class_config(), model)
            .map_err(|error| Error::Compression { why: error.to_string() })?;
        coder.keep_more(FOR_LATE_ONES);
        let decoder = BodyDecoder::for_datagrams(Direction::ToClient, true, max_message);
        Ok(BodyDecoder { coder: Some(Box::new(coder)), ..decoder })
    }

    /// The newest coded body that came, and which of those before it did: bit `k` stands for the one `k` before.
    pub(crate) fn received(&self) -> (u32, u128) {
        self.coder.as_deref().map_or((0, 0), gmc::Decoder::received)
    }

    /// What came, for who made it. Empty as long as no coded body came.
    pub(crate) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some(coder) = &mut self.coder {
            coder.acknowledge(out);
        }
    }

    /// For the stream of a class, from the model that it starts with (W61).
    pub(crate) fn for_class(model: &[u8], max_message: usize) -> Result<Self, Error> {
        let fresh = BodyDecoder::new(Direction::ToClient, Numbering::default(), true, max_message);
        let coder = match model.is_empty() {
            true => None,
            false => {
                let config = fresh.lane.coder_config();
                let coder = gmc::Decoder::from_snapshot(config, model);
                let coder = coder.map_err(|error| Error::Compression { why: error.to_string() })?;
                Some(Box::new(coder))
            }
        };
        Ok(BodyDecoder { coder, ..fresh })
    }

    /// W61: what comes next is coded and numbered as if nothing had come before.
    pub(crate) fn restart(&mut self) {
        let BodyDecoder { lane, direction, coded, max_message, .. } = *self;
        let numbering = Numbering::default();
        *self = BodyDecoder { lane, ..BodyDecoder::new(direction, numbering, coded, max_message) };
    }

    /// Whether [`BodyDecoder::costs`] is kept.
    pub(crate) fn keep_account(&mut self, on: bool) {
        if self.keeps_account != on {
            self.keeps_account = on;
            if let Some(coder) = &mut self.coder {
                account::cost_decoder(coder, on);
            }
        }
    }

    /// What each message of the last coded body took; empty if that is not known.
    pub(crate) fn costs(&self) -> &[u32] {
        self.coder.as_deref().map(account::decoder_costs).unwrap_or_default()
    }

    /// Decodes a coded payload into `batch`.
    pub(super) fn decode(&mut self, payload: &[u8], batch: &mut Batch) -> Result<(), Error> {
        if !self.coded {
            return Err(Error::malformed("CODED: it was not agreed on"));
        }
        let BodyDecoder { coder, lane, keeps_account, .. } = self;
        let coder = coder.get_or_insert_with(|| {
            let mut coder = gmc::Decoder::new(lane.coder_config());
            account::cost_decoder(&mut coder, *keeps_account);
            Box::new(coder)
        });
        batch.decode(coder, payload);
        Ok(())
    }

    /// W63: numbers begin anew.
    pub(super) fn restart_numbering(&mut self) {
        self.numbering = Numbering::default();
    }

    /// The most bytes of a message.
    pub(super) fn max_message(&self) -> usize {
        self.max_message
    }

    pub(super) fn read<'a>(
        &mut self,
        fields: [u32; FIELDS],
        payload: &'a [u8],
        kind_of: &impl Fn(ChannelNo) -> Result<Kind, Error>,
        max_message: usize,
        packing: Option<&'a mut Packing>,
    ) -> Result<Record<'a>, Error> {
        // An own transaction settles what waits here, whether its channel is open on this transport or not. Datagrams
        // have none, but one that is damaged may say so.
        let is_stream = self.direction == Direction::ToClient && self.lane == Lane::Stream;
        let kind = match is_stream && record::is_own(&fields) {
            true => Kind::Transaction,
            false => kind_of(ChannelNo(fields[0]))?,
        };
        let numbering = &mut self.numbering;
        record::read(fields, payload, kind, self.direction, numbering, max_message, packing)
    }
}
