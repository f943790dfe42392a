//! By which codec a message is packed for the other end of a link.

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::{Auto, Choice, Link};

#[cfg(feature = "ace")]
use super::Way;
use super::blocks::{Blocks, Cache, Place};
use super::{Forms, Packing};
use crate::Compress;
use crate::ids::Order;

/// Messages below this tell little of a link's rate.
const WORTH_A_PROBE: usize = 200;

/// What an end knows of the other one's codecs and of the way there, on one transport.
#[derive(Debug, Default)]
pub(crate) struct Choosing {
    /// W46: what the other end can read.
    reads: u64,
    /// Made for the first message that is to be packed by the best choice.
    best: Option<Box<Best>>,
    pub(crate) blocks: Blocks,
}

/// W50: what the choice for each message is made by.
#[derive(Debug, Default)]
struct Best {
    /// Among the codecs that both ends have.
    auto: Option<Auto>,
    /// What an octet takes on the link.
    rate: Link,
    /// A message worth it went since the last probe.
    wants_probe: bool,
    /// What packing and unpacking it, and the others of its packet, are held to take.
    work: Duration,
}

impl Choosing {
    /// W46: the other end can read these from now on.
    pub(crate) fn reads(&mut self, set: u64) {
        self.reads = set;
        self.begin_anew();
    }

    /// There are other codecs to choose from.
    pub(crate) fn begin_anew(&mut self) {
        if let Some(best) = &mut self.best {
            best.auto = None;
        }
    }

    /// What the link carries, in octets per second, as far as it was measured.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.best.as_ref()?.rate.nanos_per_byte().map(|nanos| 1e9 / f64::from(nanos))
    }

    /// The packed form of a message, and how it was made; `None`: it goes as it is. `cached`: where packed forms of
    /// messages are kept, and this one's place there.
    pub(crate) fn pack<'a>(
        &mut self,
        compress: Compress,
        message: &[u8],
        packing: &'a mut Packing,
        cached: Option<(&'a mut Forms, Order)>,
    ) -> Option<(Choice, &'a [u8])> {
        let choice = match compress {
            Compress::Template | Compress::Off => return None,
            Compress::Named(choice) => choice,
            Compress::Auto => {
                let set = packing.set() & self.reads;
                self.best.get_or_insert_default().choose(message, set, packing)
            }
        };
        if choice.codec == 0 || self.reads >> choice.codec & 1 == 0 {
            return None;
        }
        let packed = match cached {
            None => packing.pack(choice, message),
            Some((forms, order)) => forms.get_or_pack(order, choice, message, packing),
        };
        if let (Compress::Auto, Some(best)) = (compress, &mut self.best) {
            best.learn(choice, message, packed);
        }
        packed.map(|packed| (choice, packed))
    }

    /// Whether blocks can be packed for the other end (W52).
    pub(crate) fn packs_blocks(&self, packing: &Packing) -> bool {
        self.blocks.are_agreed() && packing.set() & self.reads & !1 != 0
    }

    /// The packed form of a block, if that gets it there sooner. `more`: octets that are to follow at once; `cached`: where
    /// packed forms are kept, and this one's place there.
    pub(crate) fn pack_block<'a>(
        &mut self,
        now: Duration,
        block: &[u8],
        more: usize,
        packing: &'a mut Packing,
        cached: Option<(&'a mut Cache, Place)>,
    ) -> Option<&'a [u8]> {
        if block.is_empty() || !self.packs_blocks(packing) {
            return None;
        }
        let set = packing.set() & self.reads;
        self.blocks.pack(now, block, more, set, packing, cached)
    }

    /// How a body goes that is late-joiner state, or has large messages, of so many octets on average (W54).
    #[cfg(feature = "ace")]
    pub(crate) fn way(&mut self, is_state: bool, each: usize) -> Way {
        // From now on the link's rate is learned.
        let best = self.best.get_or_insert_default();
        best.wants_probe = true;
        self.blocks.way(is_state, each, best.rate.nanos_per_byte())
    }

    /// The packed form of such a body, if that gets it there sooner.
    #[cfg(feature = "ace")]
    pub(crate) fn pack_body<'a>(
        &mut self,
        body: &[u8],
        packing: &'a mut Packing,
    ) -> Option<&'a [u8]> {
        let set = packing.set() & self.reads;
        let travel = self.best.as_ref().and_then(|best| best.rate.nanos_per_byte());
        self.blocks.pack_body(body, set, travel, packing)
    }

    /// The work for the packet's messages, if there are some that tell something of the link's rate.
    pub(crate) fn take_probe(&mut self) -> Option<Duration> {
        let best = self.best.as_mut()?;
        let work = core::mem::take(&mut best.work);
        core::mem::take(&mut best.wants_probe).then_some(work)
    }

    /// So many octets, there and back, took so long.
    pub(crate) fn heard(&mut self, octets: usize, time: Duration) {
        if let Some(best) = &mut self.best {
            best.rate.heard(octets, time);
        }
    }
}

impl Best {
    fn choose(&mut self, message: &[u8], set: u64, packing: &mut Packing) -> Choice {
        self.wants_probe |= message.len() >= WORTH_A_PROBE;
        let auto = self.auto.get_or_insert_with(|| {
            let candidates = Auto::candidates(|codec| set >> codec & 1 == 1);
            Auto::new(&candidates, packing.costs())
        });
        let pick = auto.choose(message.len(), &self.rate);
        if let Some(also) = pick.also {
            let packed = packing.pack(also, message).map_or(message.len(), <[u8]>::len);
            auto.learn(also, message.len(), packed);
        }
        let nanos = packing.costs().of(pick.choice).at(message.len());
        self.work += Duration::from_nanos(nanos as u64);
        pick.choice
    }

    fn learn(&mut self, choice: Choice, message: &[u8], packed: Option<&[u8]>) {
        if let Some(auto) = &mut self.auto {
            auto.learn(choice, message.len(), packed.map_or(message.len(), <[u8]>::len));
        }
    }
}
