//! The techniques: Groupwire, the published one, and their peers.

mod announcer;
mod brotli;
mod deflate;
mod framed;
mod groupwire;
mod hand;
mod lz4;
mod paper;
mod zstd;

use groupwire_papers::gmc2006::Profile;

use self::framed::{Codec, Framed};
use super::dictionary::Dictionary;
use super::framing::Framing;
use super::row::Mode;
use super::technique::{Failure, Technique};
use crate::hand as formats;

/// The settings from which techniques are built.
pub(super) struct Setup<'a> {
    pub(super) mode: Mode,
    pub(super) dictionary: &'a Dictionary,
    /// Whether Groupwire is told the kind and the sender of each message.
    pub(super) senders: bool,
}

/// A technique by its name.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) transport: Transport,
    /// Whether it has a dictionary from before the first message.
    pub(super) has_dictionary: bool,
    /// Whether acknowledgements, and so their delay, make a difference.
    pub(super) is_acknowledged: bool,
    /// Whether it needs the events of the messages.
    pub(super) codes_events: bool,
    pub(super) build: fn(&Setup<'_>) -> Result<Box<dyn Technique>, Failure>,
}

/// The transports that a technique can run over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// Only transports that are reliable and ordered.
    Stream,
    /// Also transports that lose and reorder packets.
    Any,
}

impl Kind {
    const fn acknowledged(self) -> Self {
        Kind { is_acknowledged: true, ..self }
    }

    const fn with_dictionary(self) -> Self {
        Kind { has_dictionary: true, ..self }
    }

    const fn of_events(self) -> Self {
        Kind { codes_events: true, ..self }
    }

    pub(super) fn runs_over(&self, mode: Mode) -> bool {
        mode == Mode::Stream || self.transport == Transport::Any
    }
}

/// Every technique, in the order of the tables.
pub(super) static ALL: [Kind; 16] = [
    kind("groupwire", Transport::Any, |setup| {
        Ok(Box::new(groupwire::Groupwire::new(setup.mode, setup.senders)))
    })
    .acknowledged(),
    kind("gmc-2006", Transport::Any, |setup| {
        Ok(Box::new(paper::Paper::new(setup.mode, Profile::Gmc2006)))
    })
    .acknowledged(),
    kind("gmc-2006-plus", Transport::Any, |setup| {
        Ok(Box::new(paper::Paper::new(setup.mode, Profile::Gmc2006Plus)))
    })
    .acknowledged(),
    kind("deflate", Transport::Any, |setup| setup.framed(deflate::Deflate::new())),
    kind("zstd", Transport::Any, |setup| setup.framed(zstd::Zstd::new()?)),
    kind("lz4", Transport::Any, |setup| setup.framed(lz4::Lz4)),
    kind("brotli", Transport::Any, |setup| setup.framed(brotli::Brotli)),
    kind("deflate-dict", Transport::Any, |setup| {
        setup.framed(deflate::Deflate::with_dictionary(setup.dictionary))
    })
    .with_dictionary(),
    kind("zstd-dict", Transport::Any, |setup| {
        setup.framed(zstd::Zstd::with_dictionary(setup.dictionary)?)
    })
    .with_dictionary(),
    kind("permessage-deflate", Transport::Stream, |setup| {
        setup.framed(deflate::PermessageDeflate::new())
    }),
    kind("zstd-stream", Transport::Stream, |setup| setup.framed(zstd::ZstdStream::new()?)),
    kind("brotli-stream", Transport::Stream, |setup| setup.framed(brotli::BrotliStream::new())),
    kind("asn1-per", Transport::Any, |setup| {
        Ok(Box::new(hand::Hand::alone(setup.framing(), formats::asn1_per)))
    })
    .of_events(),
    kind("hand-bits", Transport::Any, |setup| {
        Ok(Box::new(hand::Hand::alone(setup.framing(), formats::bits)))
    })
    .of_events(),
    kind("hand-primitives", Transport::Any, |setup| {
        Ok(Box::new(hand::Hand::alone(setup.framing(), formats::primitives)))
    })
    .of_events(),
    kind("hand-strong", Transport::Stream, |setup| {
        Ok(Box::new(hand::Hand::remembering(setup.framing(), formats::strong)))
    })
    .of_events(),
];

const fn kind(
    name: &'static str,
    transport: Transport,
    build: fn(&Setup<'_>) -> Result<Box<dyn Technique>, Failure>,
) -> Kind {
    Kind {
        name,
        transport,
        has_dictionary: false,
        is_acknowledged: false,
        codes_events: false,
        build,
    }
}

impl Setup<'_> {
    fn framed(&self, codec: impl Codec + 'static) -> Result<Box<dyn Technique>, Failure> {
        Ok(Box::new(Framed::new(self.framing(), codec)))
    }

    fn framing(&self) -> Framing {
        if self.mode.messages_per_packet() == 1 { Framing::Single } else { Framing::Several }
    }
}
