//! Chooses the codec with which a message is packed for the other end of a link.

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::{Auto, Choice, Link};

#[cfg(feature = "ace")]
use super::blocks::BlockChoice;
use super::blocks::{Blocks, Cache, ChunkKey};
use super::codecs::Packing;
use super::encoding_cache::EncodingCache;
use crate::Compress;
use crate::ids::Order;

/// The smallest message, in bytes, that is worth a measurement of the link's rate (wire W51).
const WORTH_A_PROBE: usize = 200;

/// What an end knows about the other end's codecs and about the link to it, on one transport.
#[derive(Debug, Default)]
pub(crate) struct Choosing {
    /// The codecs that the other end can read: bit n for codec number n (wire W46).
    peer_codecs: u64,
    /// Created for the first message of a channel with [`Compress::Auto`], or for the first large
    /// payload.
    auto: Option<Box<AutoChoice>>,
    pub(crate) blocks: Blocks,
}

/// The automatic choice for each message (wire W50).
#[derive(Debug, Default)]
struct AutoChoice {
    /// Chooses among the codecs that both ends have. `None` until the first choice, and again when
    /// these codecs change.
    chooser: Option<Auto>,
    /// The measured rate of the link.
    rate: Link,
    /// A message of at least [`WORTH_A_PROBE`] bytes was sent since the last probe.
    wants_probe: bool,
    /// The estimated time to pack and unpack the messages since the last probe.
    work: Duration,
}

impl Choosing {
    /// Sets the codecs that the other end can read: bit n of `set` for codec number n (wire W46).
    pub(crate) fn set_peer_codecs(&mut self, set: u64) {
        self.peer_codecs = set;
        self.begin_anew();
    }

    /// Forgets what the automatic choice has learned. Called when the codecs of either end have
    /// changed.
    pub(crate) fn begin_anew(&mut self) {
        if let Some(auto) = &mut self.auto {
            auto.chooser = None;
        }
    }

    /// The link's rate in bytes per second. `None` until it was measured.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.auto.as_ref()?.rate.nanos_per_byte().map(|nanos| 1e9 / f64::from(nanos))
    }

    /// Packs a message. Returns the codec and the packed form, or `None` if the message is to be
    /// sent unpacked. `cached` is a cache of packed messages, and the message's order, which is its
    /// key in the cache.
    pub(crate) fn pack<'a>(
        &mut self,
        compress: Compress,
        message: &[u8],
        packing: &'a mut Packing,
        cached: Option<(&'a mut EncodingCache, Order)>,
    ) -> Option<(Choice, &'a [u8])> {
        match compress {
            Compress::Template | Compress::Off => None,
            _ if packing.is_absent() => None,
            _ => self.pack_alone(compress, message, packing, cached),
        }
    }

    /// As [`Choosing::pack`], for a channel whose messages are packed alone.
    #[inline(never)] // Split from `pack` for the browser's core, see crates/wasm/second.txt.
    fn pack_alone<'a>(
        &mut self,
        compress: Compress,
        message: &[u8],
        packing: &'a mut Packing,
        cached: Option<(&'a mut EncodingCache, Order)>,
    ) -> Option<(Choice, &'a [u8])> {
        let choice = match compress {
            Compress::Template | Compress::Off => return None,
            Compress::Named(choice) => choice,
            Compress::Auto => {
                let set = packing.set() & self.peer_codecs;
                self.auto.get_or_insert_default().choose(message, set, packing)
            }
        };
        if choice.codec == 0 || self.peer_codecs >> choice.codec & 1 == 0 {
            return None;
        }
        let packed = match cached {
            None => packing.pack(choice, message),
            Some((forms, order)) => forms.get_or_pack(order, choice, message, packing),
        };
        if let (Compress::Auto, Some(auto)) = (compress, &mut self.auto) {
            auto.learn(choice, message, packed);
        }
        packed.map(|packed| (choice, packed))
    }

    /// True if blocks can be packed for the other end (wire W52).
    pub(crate) fn packs_blocks(&self, packing: &Packing) -> bool {
        self.block_codecs(packing) & !1 != 0
    }

    /// The codecs with which blocks can be packed for the other end: bit n for codec number n.
    pub(crate) fn block_codecs(&self, packing: &Packing) -> u64 {
        if self.blocks.are_agreed() { packing.set() & self.peer_codecs } else { 0 }
    }

    /// Packs a block. Returns `None` if the block is to be sent unpacked, because it arrives sooner
    /// that way or the other end cannot read packed blocks. `more` is the number of bytes that are
    /// sent right after the block. `cached` is a cache of packed blocks, and the block's key in it.
    pub(crate) fn pack_block<'a>(
        &mut self,
        now: Duration,
        block: &[u8],
        more: usize,
        packing: &'a mut Packing,
        cached: Option<(&'a mut Cache, ChunkKey)>,
    ) -> Option<&'a [u8]> {
        if block.is_empty() || !self.packs_blocks(packing) {
            return None;
        }
        let set = packing.set() & self.peer_codecs;
        self.blocks.pack(now, block, more, set, packing, cached)
    }

    /// Chooses how to compress a payload that contains state for a late joiner (`is_state`) or
    /// large messages (wire W54). `each` is the average size of its messages in bytes.
    #[cfg(feature = "ace")]
    pub(crate) fn choose_block(&mut self, is_state: bool, each: usize) -> BlockChoice {
        let auto = self.auto.get_or_insert_default();
        auto.wants_probe = true;
        self.blocks.choose_block(is_state, each, auto.rate.nanos_per_byte())
    }

    /// Packs `body`, a payload that contains state for a late joiner or large messages. `None` if
    /// it arrives sooner unpacked.
    #[cfg(feature = "ace")]
    pub(crate) fn pack_body<'a>(
        &mut self,
        body: &[u8],
        packing: &'a mut Packing,
    ) -> Option<&'a [u8]> {
        let set = packing.set() & self.peer_codecs;
        let travel = self.auto.as_ref().and_then(|auto| auto.rate.nanos_per_byte());
        self.blocks.pack_body(body, set, travel, packing)
    }

    /// If a ping in the packet that is being made would measure the link's rate well, returns the
    /// estimated time for packing and unpacking the messages since the last call. Else returns
    /// `None`.
    pub(crate) fn take_probe(&mut self) -> Option<Duration> {
        let auto = self.auto.as_mut()?;
        let work = core::mem::take(&mut auto.work);
        core::mem::take(&mut auto.wants_probe).then_some(work)
    }

    /// Updates the link's rate: a ping and its answer took `time`. The two packets that contained
    /// them had `bytes` bytes in total.
    pub(crate) fn on_round_trip(&mut self, bytes: usize, time: Duration) {
        if let Some(auto) = &mut self.auto {
            auto.rate.heard(bytes, time);
        }
    }
}

impl AutoChoice {
    fn choose(&mut self, message: &[u8], set: u64, packing: &mut Packing) -> Choice {
        self.wants_probe |= message.len() >= WORTH_A_PROBE;
        let chooser = self.chooser.get_or_insert_with(|| {
            let candidates = Auto::candidates(|codec| set >> codec & 1 == 1);
            Auto::new(&candidates, packing.costs())
        });
        let pick = chooser.choose(message.len(), &self.rate);
        if let Some(also) = pick.also {
            let packed = packing.pack(also, message).map_or(message.len(), <[u8]>::len);
            chooser.learn(also, message.len(), packed);
        }
        let nanos = packing.costs().of(pick.choice).at(message.len());
        self.work += Duration::from_nanos(nanos as u64);
        pick.choice
    }

    fn learn(&mut self, choice: Choice, message: &[u8], packed: Option<&[u8]>) {
        if let Some(chooser) = &mut self.chooser {
            chooser.learn(choice, message.len(), packed.map_or(message.len(), <[u8]>::len));
        }
    }
}
