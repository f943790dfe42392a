//! The interface of policies, which choose how each block of a stream is compressed: the calls for
//! choosing, and the measurements on which choices are based.

use core::fmt;
use core::time::Duration;

use crate::Candidate;

/// Chooses a candidate (a codec with its level, with or without history) for each block of one
/// direction of one stream. The history is the last bytes of the stream before the block, which
/// serve as a dictionary.
///
/// For each block the stream calls [`Policy::choose`], compresses the block and calls
/// [`Policy::packed`]. When the other end acknowledges blocks, in order and often several at once,
/// the stream calls [`Policy::delivered`].
pub trait Policy: fmt::Debug + Send {
    /// Chooses the candidate for the next block.
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision;

    /// Reports the result of compressing the block for which a candidate was chosen last.
    fn packed(&mut self, now: Duration, packed: &Packed);

    /// Reports the measurements of the other end for the oldest blocks that were not acknowledged
    /// before.
    fn delivered(&mut self, now: Duration, delivered: &Delivered);

    /// Reports the codecs that the other end can decompress, one bit for each codec number, and
    /// whether that end keeps history. Before this call only "none" and lz4, without history, are
    /// known to work.
    fn peer_has(&mut self, codecs: u16, history: bool);

    /// The most bytes that may be in flight (sent and not acknowledged) when the next block is
    /// compressed: enough to keep the network busy, and few enough that a new choice takes effect
    /// soon.
    fn window(&self) -> usize {
        usize::MAX
    }

    /// The current forecasts of the network and of the last block, for display.
    fn forecast(&self) -> Forecast;
}

/// The state of the stream when a candidate is chosen. Sizes are in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Situation {
    /// The number of bytes after this block that the application has written already. If there are
    /// any, data arrive faster than they are sent.
    pub more: usize,
    /// Whether the application has flushed the stream and waits for this block. Then the latency
    /// matters, not only the throughput.
    pub flushed: bool,
    /// Compressed bytes that are not acknowledged, including those that wait for the transport.
    pub in_flight: usize,
    /// The part of `in_flight` that the transport has not accepted yet.
    pub unsent: usize,
}

/// The decision of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The way to compress the block.
    pub candidate: Candidate,
}

/// The result of compressing a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// The candidate of the decision, even if the block was sent uncompressed because compression
    /// would have made it larger.
    pub candidate: Candidate,
    /// The bytes of the block before compression.
    pub plain: usize,
    /// The bytes of the block after compression, without the header.
    pub wire: usize,
    /// The duration of the compression by the wall clock, which includes the time that other
    /// programs took.
    pub took: Duration,
}

/// The measurements of the other end for some acknowledged blocks. Durations are by the clock of
/// the other end unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// The number of blocks.
    pub blocks: u32,
    /// The bytes of these blocks on the wire, including headers.
    pub wire: usize,
    /// The duration of the decompression of these blocks.
    pub unpacking: Duration,
    /// The time since the other end's previous acknowledgement, or since the first byte of the
    /// stream for the first one.
    pub span: Duration,
    /// The part of `span` in which the other end waited for bytes from the network.
    pub waited: Duration,
    /// The time from when the last of the blocks was passed to the transport to when the
    /// acknowledgement arrived, by the clock of this end.
    pub round_trip: Duration,
    /// Whether all of the blocks had been passed to the transport before the previous
    /// acknowledgement arrived. Then the network was busy all the time. If the other end also
    /// waited, `wire / span` is the bandwidth.
    pub backlogged: bool,
}

/// The forecasts of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Forecast {
    /// The bandwidth of the network in bytes per second; 0 if unknown.
    pub bandwidth: f64,
    /// The round trip in seconds without waiting in queues.
    pub round_trip: f64,
    /// The expected ratio of the last block: wire bytes per plain byte.
    pub ratio: f64,
    /// The expected time of the last block by the model of the policy, in seconds.
    pub seconds: f64,
    /// The expected time of the last block without compression, in seconds.
    pub seconds_plain: f64,
    /// Whether several blocks are expected to be in different stages (compression, transfer,
    /// decompression) at the same time: the pipeline model of the paper "Adaptive On-the-Fly
    /// Compression". If not, its sequential model applies.
    pub is_pipeline: bool,
    /// The load of this processor: the duration of work divided by its expected duration; 1.0
    /// without load.
    pub local_load: f64,
    /// The load of the processor of the other end.
    pub remote_load: f64,
}

/// A policy that chooses the same candidate for every block.
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
