//! How a codec is chosen: what every policy is told, and what it answers.

use core::fmt;
use core::time::Duration;

use crate::Candidate;

/// Chooses for the blocks of one direction of one stream.
///
/// For each block [`Policy::choose`] is called, then the block is packed and [`Policy::packed`] called, and later, when
/// the other end has said so, [`Policy::delivered`]; blocks are acknowledged in order, several at once.
pub trait Policy: fmt::Debug + Send {
    /// Chooses how to pack the next block.
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision;

    /// What became of the block that was chosen for last.
    fn packed(&mut self, now: Duration, packed: &Packed);

    /// What the other end says of the oldest blocks that it had not yet spoken of.
    fn delivered(&mut self, now: Duration, delivered: &Delivered);

    /// Which codecs the other end can unpack, a bit each by number, and whether it keeps history. Until this is called
    /// it is none and lz4, and no history.
    fn peer_has(&mut self, codecs: u16, history: bool);

    /// Octets that may be in flight before the next block is packed: enough to keep the network busy, and few, so that a
    /// new choice is soon felt.
    fn window(&self) -> usize {
        usize::MAX
    }

    /// What is expected of the network and of the last block, for people.
    fn forecast(&self) -> Forecast;
}

/// What the stream knows when it asks for a choice. Sizes in octets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Situation {
    /// Further octets that the application has written already: the data comes faster than it is packed.
    pub more: usize,
    /// Whether the application waits for this block (it flushed): then its time counts, and not only the throughput.
    pub flushed: bool,
    /// Packed octets that the transport or we hold, or that are under way: not yet acknowledged.
    pub in_flight: usize,
    /// Of these, octets that the transport has not taken yet.
    pub unsent: usize,
}

/// What a policy answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// How the block is to be packed.
    pub candidate: Candidate,
}

/// A block that was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// How. What was decided, even if the block went as it is because it would have become larger.
    pub candidate: Candidate,
    /// Octets before.
    pub plain: usize,
    /// Octets after, without the header.
    pub wire: usize,
    /// What packing took, wall time: with what other programs took of the processor.
    pub took: Duration,
}

/// What the other end says of some blocks together. All durations are by its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// How many blocks.
    pub blocks: u32,
    /// Octets on the wire, headers included.
    pub wire: usize,
    /// What unpacking them took, wall time.
    pub unpacking: Duration,
    /// The time since it spoke of the blocks before (of the first: since the first octet of the stream came).
    pub span: Duration,
    /// Of that, time in which it waited for octets of the network.
    pub waited: Duration,
    /// From handing the last of these blocks to the transport to this word's coming, by our clock.
    pub round_trip: Duration,
    /// Whether all of them had been handed to the transport before the word before this one came: the network had
    /// work all the time, so that `wire` in `span` is what it carries, if the other end waited for it.
    pub backlogged: bool,
}

/// What is expected.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Forecast {
    /// What the network carries, octets per second. 0: not known.
    pub bandwidth: f64,
    /// From handing over a block until the word of its arrival without any queue, seconds.
    pub round_trip: f64,
    /// The last block's wire octets per plain octet as expected.
    pub ratio: f64,
    /// Time that the last block was expected to take in the slowest stage, seconds.
    pub seconds: f64,
    /// The same without compression.
    pub seconds_plain: f64,
    /// Whether blocks are expected to overlap (the paper's pipeline model) or to come one at a time (sequential).
    pub is_pipeline: bool,
    /// How much slower than measured beforehand this processor is at present: 1.0 for not.
    pub local_load: f64,
    /// The same of the other end.
    pub remote_load: f64,
}

/// The same for every block.
#[derive(Debug, Clone, Copy)]
pub struct Always(pub Candidate);

impl Policy for Always {
    fn choose(&mut self, _: Duration, _: &[u8], _: &Situation) -> Decision {
        Decision { candidate: self.0 }
    }

    fn packed(&mut self, _: Duration, _: &Packed) {}

    fn delivered(&mut self, _: Duration, _: &Delivered) {}

    fn peer_has(&mut self, _: u16, _: bool) {}

    fn forecast(&self) -> Forecast {
        Forecast::default()
    }
}
