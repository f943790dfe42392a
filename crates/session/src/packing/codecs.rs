//! The codecs of one end, which pack and unpack messages and blocks (wire W45 to W55).

use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{Choice, Codec, Costs, Packer};

use super::idle::Idle;
use crate::Error;

/// The most working memory, in bytes, that is kept from one packet to the next. All codecs
/// together, without the slowest two, need less.
const MAX_WORKING: usize = 8 << 20;

/// The codecs of one end, with their working memory, which is allocated on first use and then used
/// for every message. The default has no codecs: it packs nothing, and refuses packed messages.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    codecs: &'static [&'static dyn Codec],
    /// `None` only in [`Packing::default`].
    costs: Option<Costs>,
    packer: Option<Packer>,
    buffer: Vec<u8>,
    idle: Idle,
    clock: Option<fn() -> Duration>,
    /// The newest `now` that was passed to [`Packing::time`], and the total time for packing blocks
    /// since then.
    worked: (Duration, Duration),
}

impl Packing {
    pub(crate) fn new(codecs: &'static [&'static dyn Codec], costs: Costs) -> Self {
        Packing { codecs, costs: Some(costs), ..Packing::default() }
    }

    /// Sets a clock that measures how long packing a block takes.
    pub(crate) fn with_clock(self, clock: Option<fn() -> Duration>) -> Self {
        Packing { clock, ..self }
    }

    /// The estimated time that each codec takes for packing and unpacking.
    pub(crate) fn costs(&mut self) -> &Costs {
        self.costs.get_or_insert_with(Costs::reference)
    }

    /// True for [`Packing::default`], which never calls the crate `groupwire-codecs`: a page may
    /// not have loaded it yet.
    pub(crate) fn is_absent(&self) -> bool {
        self.costs.is_none()
    }

    /// The codecs that this end can read: bit n for codec number n (wire W46).
    pub(crate) fn set(&self) -> u64 {
        self.codecs.iter().fold(0, |set, codec| set | 1 << codec.number())
    }

    /// Packs a message. `None` if the packed form is not smaller than the message.
    pub(crate) fn pack(&mut self, choice: Choice, message: &[u8]) -> Option<&[u8]> {
        self.buffer.clear();
        let codecs = self.codecs;
        let packer = self.packer.get_or_insert_with(|| Packer::new(codecs));
        self.idle.used();
        let packed = packer.pack(choice, message, &mut self.buffer);
        let is_smaller = packed.is_ok_and(|made| made != Choice::NONE);
        (is_smaller && self.buffer.len() < message.len()).then_some(&self.buffer[..])
    }

    /// Packs a block. Returns the size of the packed form in bytes (`None` if it is not smaller
    /// than the block) and the time that packing took. The clock measures that time; without a
    /// clock, it is estimated from the costs of the codec.
    pub(crate) fn pack_block(&mut self, choice: Choice, block: &[u8]) -> (Option<usize>, Duration) {
        let start = self.clock.map(|clock| clock());
        let size = self.pack(choice, block).map(<[u8]>::len);
        let took = match (start, self.clock) {
            (Some(start), Some(clock)) => {
                let took = clock().saturating_sub(start);
                self.worked.1 += took;
                took
            }
            _ => {
                let nanos = self.costs().of(choice).compress.at(block.len());
                Duration::from_nanos(nanos as u64)
            }
        };
        (size, took)
    }

    /// The packed form of the message or block that was packed last.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.buffer
    }

    /// The present time: `now`, which the caller of the core passed in, plus the time for packing
    /// blocks since then.
    pub(crate) fn time(&mut self, now: Duration) -> Duration {
        if now > self.worked.0 {
            self.worked = (now, Duration::ZERO);
        }
        now + self.worked.1
    }

    /// Unpacks a message, which may have at most `limit` bytes.
    pub(crate) fn unpack(&mut self, packed: &[u8], limit: usize) -> Result<&[u8], Error> {
        if self.is_absent() {
            return Err(Error::Compression { why: "this end has no codecs".to_string() });
        }
        self.buffer.clear();
        let codecs = self.codecs;
        let packer = self.packer.get_or_insert_with(|| Packer::new(codecs));
        self.idle.used();
        match packer.unpack(packed, limit, &mut self.buffer) {
            Ok(()) => Ok(&self.buffer),
            Err(error) => Err(Error::Compression { why: error.to_string() }),
        }
    }

    /// Frees the working memory if it was used since the last [`Packing::release_if_idle`] and is
    /// more than [`MAX_WORKING`].
    pub(crate) fn tidy(&mut self) {
        if self.idle.was_used() && self.working() > MAX_WORKING {
            self.packer = None;
        }
    }

    /// Frees all memory if it has not been used for some time. The owner calls this regularly.
    pub(crate) fn release_if_idle(&mut self, now: Duration) {
        if self.idle.is_over(now) {
            self.release();
        }
    }

    /// Frees all memory.
    pub(crate) fn release(&mut self) {
        self.packer = None;
        self.buffer = Vec::new();
    }

    /// The memory in use, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.working() + self.buffer.capacity()
    }

    fn working(&self) -> usize {
        let memory = self.packer.as_ref().map(Packer::memory).unwrap_or_default();
        memory.compress + memory.decompress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_codecs::ALL;

    const MESSAGE: &[u8] = b"again and again and again and again and again";

    #[test]
    fn unused_memory_is_given_back() {
        let mut packing = Packing::new(ALL, Costs::reference());
        assert!(packing.pack(Choice::codec(1), MESSAGE).is_some());
        for seconds in [100, 109] {
            packing.release_if_idle(Duration::from_secs(seconds));
            assert!(packing.packer.is_some());
        }
        packing.release_if_idle(Duration::from_secs(110));
        assert_eq!((packing.packer.is_none(), packing.memory()), (true, 0));
    }

    #[test]
    fn the_memory_of_all_but_the_slowest_two_codecs_may_be_kept() {
        let mut packing = Packing::new(ALL, Costs::reference());
        let message: Vec<u8> = (0..60_000u32).map(|at| ((at * at) >> 7) as u8 & 31).collect();
        let named = ALL.iter().map(|codec| Choice::codec(codec.number()));
        let chosen = groupwire_codecs::Auto::candidates(|_| true);
        for choice in named.chain(chosen).filter(|choice| !matches!(choice.codec, 9 | 10)) {
            if let Some(packed) = packing.pack(choice, &message).map(<[u8]>::to_vec) {
                assert_eq!(packing.unpack(&packed, 60_000).unwrap(), message, "{choice}");
            }
        }
        assert!(packing.working() <= MAX_WORKING, "{} bytes", packing.working());
    }

    #[test]
    fn messages_that_do_not_get_smaller_and_unknown_codecs_are_not_packed() {
        let mut packing = Packing::new(&ALL[..2], Costs::reference());
        for (choice, message) in [
            (Choice::codec(0), MESSAGE),
            (Choice::codec(1), b"abc"),
            (Choice::codec(2), MESSAGE),
            (Choice { level: Some(99), ..Choice::codec(1) }, MESSAGE),
        ] {
            assert_eq!(packing.pack(choice, message), None, "{choice}");
        }
        assert_eq!(packing.set(), 0b11);
    }
}
