//! What both ends of a transport may use: the capabilities of HELLO and WELCOME (wire W10).

use crate::wire::capability::{
    BLOCKS, CODED, CONTRACTS, COPIES, DATAGRAM_GROUPS, DATAGRAMS, QUALITY, SMALL_MODELS,
    STREAM_GROUPS,
};
use crate::{Error, ModelMemory};

/// A set of capabilities: in HELLO those that the client offers, in WELCOME those that both ends
/// have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Agreed {
    /// Payloads are coded by the crate `groupwire-gmc` (W27).
    pub(crate) coded: bool,
    /// The models of coded payloads are small (W118).
    pub(crate) small: bool,
    /// Snapshot chunks and payloads are packed by a codec (W52).
    pub(crate) blocks: bool,
    /// A fan-out group of receivers is sent the same payloads over the stream (W60).
    pub(crate) shared_streams: bool,
    /// Awareness travels in datagrams beside the stream (W38).
    pub(crate) datagrams: bool,
    /// A fan-out group of receivers is sent the same datagrams (W70).
    pub(crate) groups: bool,
    /// Datagrams carry copies of transactions (W81).
    pub(crate) copies: bool,
    /// Receivers judge whether the QoS of a channel is kept, participants may change it, and a
    /// receiver may limit the rate that it is sent (W76 to W80).
    pub(crate) contracts: bool,
    /// Receivers report the quality of their channels to the inspector (W84).
    pub(crate) quality: bool,
}

impl Agreed {
    /// The capabilities that this end offers. `compress`: messages may be compressed; `codecs`: the
    /// codecs that this end reads, bit n for codec number n; `max_datagram`: bytes of the largest
    /// datagram, 0 if the transport has none.
    pub(crate) fn offered(compress: bool, codecs: u64, max_datagram: usize) -> Self {
        let datagrams = max_datagram > 0;
        // Codec number 0 copies its input, so it alone packs nothing.
        let packs = codecs & !1 != 0;
        Agreed {
            coded: compress,
            small: false,
            blocks: compress && packs,
            shared_streams: compress,
            datagrams,
            groups: datagrams && compress,
            copies: datagrams,
            contracts: true,
            quality: true,
        }
    }

    /// The set with small models, if messages may be compressed: what a client offers that wants
    /// them, and every server.
    pub(crate) fn with_small_models(self) -> Self {
        Agreed { small: self.coded, ..self }
    }

    /// The memory of each model of coded payloads; `None` if payloads are not coded.
    pub(crate) fn models(self) -> Option<ModelMemory> {
        let memory = if self.small { ModelMemory::Small } else { ModelMemory::Full };
        self.coded.then_some(memory)
    }

    /// Parses the capabilities of a frame. Bits that this end does not know are ignored.
    pub(crate) fn from_capabilities(bits: u64) -> Self {
        let has = |bit: u64| bits & bit != 0;
        Agreed {
            coded: has(CODED),
            small: has(SMALL_MODELS),
            blocks: has(BLOCKS),
            shared_streams: has(STREAM_GROUPS),
            datagrams: has(DATAGRAMS),
            groups: has(DATAGRAM_GROUPS),
            copies: has(COPIES),
            contracts: has(CONTRACTS),
            quality: has(QUALITY),
        }
    }

    /// The set as the bits of a HELLO or WELCOME frame.
    pub(crate) fn capabilities(self) -> u64 {
        let Agreed { coded, small, blocks, shared_streams, .. } = self;
        let Agreed { datagrams, groups, copies, contracts, quality, .. } = self;
        let bits = [
            (coded, CODED),
            (small, SMALL_MODELS),
            (blocks, BLOCKS),
            (shared_streams, STREAM_GROUPS),
            (datagrams, DATAGRAMS),
            (groups, DATAGRAM_GROUPS),
            (copies, COPIES),
            (contracts, CONTRACTS),
            (quality, QUALITY),
        ];
        bits.into_iter().filter(|(has, _)| *has).fold(0, |set, (_, bit)| set | bit)
    }

    /// The capabilities that both sets have: the server's answer to an offer.
    pub(crate) fn common(self, other: Agreed) -> Self {
        Agreed::from_capabilities(self.capabilities() & other.capabilities())
    }

    /// Parses the capabilities of a WELCOME that answers a HELLO with the offer `self`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if `bits` has a capability that was not offered, or one without another
    /// that it needs.
    pub(crate) fn answered(self, bits: u64) -> Result<Agreed, Error> {
        let agreed = Agreed::from_capabilities(bits);
        let has_unoffered = agreed.capabilities() & !self.capabilities() != 0;
        // W70, W81: both capabilities need datagrams, and the datagrams of a fan-out group are
        // always coded. W118: small models are those of coded payloads.
        let lacks_datagrams = (agreed.groups || agreed.copies) && !agreed.datagrams;
        let lacks_coding = (agreed.groups || agreed.small) && !agreed.coded;
        if has_unoffered || lacks_datagrams || lacks_coding {
            return Err(Error::malformed("WELCOME: a capability that was not offered"));
        }
        Ok(agreed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 =
        CODED | BLOCKS | STREAM_GROUPS | DATAGRAMS | DATAGRAM_GROUPS | COPIES | CONTRACTS | QUALITY;
    const KNOWN: u64 = ALL | SMALL_MODELS;

    #[test]
    fn w10_every_set_of_known_bits_is_kept_and_unknown_bits_are_ignored() {
        for bits in 0..1 << 12 {
            assert_eq!(Agreed::from_capabilities(bits).capabilities(), bits & KNOWN);
        }
        assert_eq!(Agreed::from_capabilities(u64::MAX).capabilities(), KNOWN);
    }

    #[test]
    fn w10_an_end_offers_what_its_transport_and_settings_allow() {
        assert_eq!(Agreed::offered(true, 0b11, 1000).capabilities(), ALL);
        assert_eq!(Agreed::offered(true, 0b01, 1000).capabilities(), ALL & !BLOCKS);
        let plain = Agreed::offered(false, 0b11, 1000).capabilities();
        assert_eq!(plain, DATAGRAMS | COPIES | CONTRACTS | QUALITY);
        let stream = Agreed::offered(true, 0b11, 0).capabilities();
        assert_eq!(stream, CODED | BLOCKS | STREAM_GROUPS | CONTRACTS | QUALITY);
    }

    #[test]
    fn w10_the_answer_to_an_offer_is_the_common_set() {
        let (client, server) = (Agreed::offered(true, 0b11, 0), Agreed::offered(false, 0, 1000));
        let common = client.common(server);
        assert_eq!(common.capabilities(), CONTRACTS | QUALITY);
        assert_eq!(client.answered(common.capabilities()), Ok(common));
        assert!(client.answered(DATAGRAMS).is_err());
        assert!(server.answered(CODED).is_err());
    }

    #[test]
    fn w118_models_are_small_where_both_ends_say_so_and_payloads_are_coded() {
        let (wants, usual) =
            (Agreed::offered(true, 0b11, 0).with_small_models(), Agreed::offered(true, 0b11, 0));
        let server = Agreed::offered(true, 0b11, 1000).with_small_models();
        assert_eq!(server.common(wants).models(), Some(ModelMemory::Small));
        assert_eq!(server.common(usual).models(), Some(ModelMemory::Full));
        assert_eq!(usual.common(wants).models(), Some(ModelMemory::Full), "an older server");
        let off = Agreed::offered(false, 0b11, 1000).with_small_models();
        assert_eq!((off.capabilities() & SMALL_MODELS, off.models()), (0, None));
        assert!(wants.answered(SMALL_MODELS).is_err());
        assert!(usual.answered(SMALL_MODELS | CODED).is_err());
    }

    #[test]
    fn w70_w81_groups_and_copies_need_datagrams_and_groups_need_coded_bodies() {
        let offer = Agreed::offered(true, 0b11, 1000);
        for bits in [DATAGRAM_GROUPS | CODED, DATAGRAM_GROUPS | DATAGRAMS, COPIES] {
            assert!(offer.answered(bits).is_err(), "{bits}");
        }
        assert!(offer.answered(DATAGRAMS | COPIES).is_ok());
        assert!(offer.answered(DATAGRAMS | DATAGRAM_GROUPS | CODED).is_ok());
    }
}
