//! Chooses for large payloads, here called bodies, whether a codec packs them or gmc codes them
//! (wire W54).

use groupwire_codecs::{Auto, Choice, Link};

use crate::packing::codecs::Packing;

/// Lists of codecs. The choice is among the codecs of the first list of which both ends have all
/// codecs. The lists are short, because there are too few large payloads to try many codecs.
const CANDIDATES: &[&[Choice]] = &[
    &[level(ZSTD, 1), level(ZSTD, 6)],
    &[Choice::codec(LZ4), level(ZLIB, 1), level(ZLIB, 6)],
    &[Choice::codec(LZ4)],
];

// Numbers of codecs.
const LZ4: u8 = 1;
const ZLIB: u8 = 2;
const ZSTD: u8 = 7;

const fn level(codec: u8, level: i8) -> Choice {
    Choice { level: Some(level), ..Choice::codec(codec) }
}

/// Assumptions about gmc, first for messages below [`LONG`] bytes, then for longer ones: the
/// compression ratio that is assumed until one is measured, and the time for coding and decoding
/// together, in nanoseconds per byte. Short messages resemble each other more, so that their ratio
/// is better.
const CODED: [(f32, f32); 2] = [(0.12, 260.0), (0.33, 70.0)];
const LONG: usize = 4 << 10;

/// After this many payloads, the choice that seemed worse is tried again, because the kind of
/// content may have changed.
const RETRY: u32 = 16;

/// The weight of the newest body in the moving average of a ratio.
const FOLLOW: f32 = 0.5;

/// How a large payload is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockChoice {
    /// A codec packs the payload as a whole, or the payload is sent uncompressed if it arrives
    /// sooner that way.
    Block,
    /// gmc codes the payload.
    Coded,
}

/// What is known about the large payloads of one transport.
#[derive(Debug, Default)]
pub(super) struct LargeBodies {
    /// The set of codecs that both ends have, and the choice among them.
    auto: Option<(u64, Auto)>,
    /// The time for packing and unpacking the last block, in nanoseconds.
    work: f32,
    /// The first is for payloads with state for a late joiner, the second for other payloads, which
    /// have large messages.
    estimates: [Estimates; 2],
}

/// What is known about both variants of [`BlockChoice`], for one kind of payloads.
#[derive(Debug, Default)]
struct Estimates {
    /// The ratio of packed payloads, and the time for packing and unpacking them, in nanoseconds
    /// per byte.
    block: Option<(f32, f32)>,
    /// The ratio of coded payloads.
    coded: Option<f32>,
    /// The number of payloads since the last retry (see [`RETRY`]).
    since: u32,
}

impl LargeBodies {
    /// Returns the choice with which a body arrives sooner. `each` is the average size of its
    /// messages in bytes; `travel` is the time that the link takes for a byte, in nanoseconds.
    pub(super) fn choose_block(&mut self, is_state: bool, each: usize, travel: f32) -> BlockChoice {
        self.estimates[usize::from(!is_state)].choose(each, travel)
    }

    /// Packs a body with a codec. Returns the size of the packed form in bytes, or `None` if the
    /// body is to be sent unpacked. `set` has bit n for each codec number n that both ends have;
    /// `travel` is the time that the link takes for a byte, in nanoseconds.
    pub(super) fn pack(
        &mut self,
        body: &[u8],
        set: u64,
        travel: f32,
        packing: &mut Packing,
    ) -> Option<usize> {
        if self.auto.as_ref().is_none_or(|(known, _)| *known != set) {
            let found =
                CANDIDATES.iter().find(|few| few.iter().all(|one| set >> one.codec & 1 == 1));
            self.auto = Some((set, Auto::new(found.copied().unwrap_or_default(), packing.costs())));
        }
        let (_, auto) = self.auto.as_mut()?;
        let pick = auto.choose(body.len(), &Link::of_rate(8e9 / travel.max(1e-3)));
        if let Some(also) = pick.also {
            let packed = packing.pack_block(also, body).0.unwrap_or(body.len());
            auto.learn(also, body.len(), packed);
        }
        self.work = packing.costs().of(pick.choice).at(body.len());
        let packed = match pick.choice {
            Choice::NONE => None,
            choice => packing.pack_block(choice, body).0,
        };
        auto.learn(pick.choice, body.len(), packed.unwrap_or(body.len()));
        packed
    }

    /// Learns from a body that was sent: its size before (`plain`) and after (`wire`) it was packed
    /// or coded, in bytes.
    pub(super) fn record_size(
        &mut self,
        way: BlockChoice,
        is_state: bool,
        plain: usize,
        wire: usize,
    ) {
        let estimates = &mut self.estimates[usize::from(!is_state)];
        match way {
            BlockChoice::Block => estimates.packed(plain, wire, self.work),
            BlockChoice::Coded => estimates.coded(plain, wire),
        }
    }
}

impl Estimates {
    fn choose(&mut self, each: usize, travel: f32) -> BlockChoice {
        let Some((ratio, work)) = self.block else { return BlockChoice::Block };
        let (assumed, coding) = CODED[usize::from(each >= LONG)];
        let coded = coding + self.coded.unwrap_or(assumed) * travel;
        let block = work + ratio * travel;
        self.since += 1;
        let is_retry = self.since > RETRY;
        if is_retry {
            self.since = 0;
        }
        match coded < block {
            true if !is_retry => BlockChoice::Coded,
            // gmc is slow. It is not tried again if the payload would arrive later even with half
            // of gmc's assumed ratio.
            false if is_retry && coding + assumed / 2.0 * travel < block => BlockChoice::Coded,
            _ => BlockChoice::Block,
        }
    }

    /// Learns that a codec packed a body of `plain` bytes to `wire` bytes, and that packing and
    /// unpacking it takes `nanos` nanoseconds.
    fn packed(&mut self, plain: usize, wire: usize, nanos: f32) {
        let plain = plain.max(1) as f32;
        let (ratio, work) = (wire as f32 / plain, nanos / plain);
        let before = self.block.unwrap_or((ratio, work));
        let follow = |before: f32, now: f32| before + FOLLOW * (now - before);
        self.block = Some((follow(before.0, ratio), follow(before.1, work)));
    }

    /// Learns that gmc coded a body of `plain` bytes to `wire` bytes.
    fn coded(&mut self, plain: usize, wire: usize) {
        let ratio = wire as f32 / plain.max(1) as f32;
        let before = self.coded.unwrap_or(ratio);
        self.coded = Some(before + FOLLOW * (ratio - before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends 200 payloads and returns how many of the last hundred were coded. `each` is the size
    /// of a message in bytes; `block` is the ratio of packing and its time in nanoseconds per byte;
    /// `ratio` is the ratio of coding.
    fn coded(each: usize, megabits: f32, block: (f32, f32), ratio: f32) -> usize {
        let mut estimates = Estimates::default();
        let mut send = |_| {
            let way = estimates.choose(each, 8000.0 / megabits);
            match way {
                BlockChoice::Block => {
                    estimates.packed(50_000, (50e3 * block.0) as usize, 50e3 * block.1)
                }
                BlockChoice::Coded => estimates.coded(50_000, (50e3 * ratio) as usize),
            }
            way == BlockChoice::Coded
        };
        (0..200).map(&mut send).skip(100).filter(|&is_coded| is_coded).count()
    }

    #[test]
    fn large_messages_are_packed_unless_the_codec_is_weak_and_the_link_slow() {
        let (zstd, lz4) = ((0.32, 6.0), (0.55, 4.0));
        for megabits in [1.7, 71.0, 1000.0] {
            assert!(coded(50_000, megabits, zstd, 0.33) <= 10, "{megabits}");
        }
        assert!(coded(50_000, 1.7, lz4, 0.33) >= 90);
        assert_eq!(coded(50_000, 1000.0, lz4, 0.33), 0);
    }

    #[test]
    fn short_messages_are_coded_on_a_slow_link_if_that_is_smaller() {
        let zstd = (0.23, 6.0);
        assert!(coded(40, 0.5, zstd, 0.1) >= 90);
        assert!(coded(40, 0.5, zstd, 0.3) <= 10);
        assert_eq!(coded(40, 71.0, zstd, 0.1), 0);
    }
}
