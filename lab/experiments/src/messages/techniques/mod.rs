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

use std::time::Duration;

use groupwire_papers::gmc2006::Profile;

use self::framed::{Codec, Framed};
pub(super) use self::groupwire::Groupwire;
use self::paper::Timer;
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
    /// The time that a message may take before techniques that tune themselves aim no lower.
    pub(super) budget: Duration,
    /// The memory of Groupwire for each direction, in bytes.
    pub(super) memory: usize,
}

/// The memory of Groupwire as users get it, in bytes for each direction (docs/wire, W27).
pub(super) const MEMORY: usize = 64 << 10;

/// The time budget of the GMC paper's compressor (section 4.1.1).
pub(super) const BUDGET: Duration = Duration::from_millis(2);

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
    /// Whether it tunes itself to a time budget, so that its sizes depend on the machine.
    pub(super) is_tuned: bool,
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

    const fn tuned(self) -> Self {
        Kind { is_tuned: true, ..self }
    }

    /// The time budget in the experiment's rows, where the technique has one.
    pub(super) fn budget(&self) -> Option<Duration> {
        self.is_tuned.then_some(BUDGET)
    }

    pub(super) fn runs_over(&self, mode: Mode) -> bool {
        mode == Mode::Stream || self.transport == Transport::Any
    }
}

/// Every technique, in the order of the tables.
pub(super) static ALL: [Kind; 19] = [
    kind("groupwire", Transport::Any, |setup| {
        Ok(Box::new(groupwire::Groupwire::new(setup.mode, setup.senders, setup.memory)))
    })
    .acknowledged(),
    kind("gmc-2006", Transport::Any, |setup| {
        Ok(Box::new(paper::Paper::new(setup.mode, Profile::Gmc2006)))
    })
    .acknowledged(),
    // It replaces templates so often that too many packets on their way name one that is gone, on a
    // link that loses and reorders.
    kind("gmc-2006-tuned", Transport::Stream, |setup| {
        Ok(Box::new(paper::Paper::tuned(setup.mode, setup.budget, Timer::Clock)))
    })
    .tuned(),
    kind("gmc-2006-plus", Transport::Any, |setup| {
        Ok(Box::new(paper::Paper::new(setup.mode, Profile::Gmc2006Plus)))
    })
    .acknowledged(),
    kind("deflate", Transport::Any, |setup| setup.framed(deflate::Deflate::new())),
    kind("deflate-new", Transport::Any, |setup| setup.framed(deflate::DeflateNew)),
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
    kind("asn1-per-text", Transport::Any, |setup| {
        Ok(Box::new(hand::Hand::alone(setup.framing(), formats::asn1_text)))
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
        is_tuned: false,
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
