//! Chooses for large payloads whether they are packed by a codec or coded by gmc (wire W54).

use groupwire_codecs::{Auto, Choice, Link};

use crate::packing::codecs::Packing;

/// The codecs to choose among: the first list whose codecs both ends have. The lists are short, because there are too few large
/// payloads to try many codecs.
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

/// Assumptions about gmc for messages below [`LONG`] and for longer ones: the ratio before one is measured, and the time at both
/// ends, in nanoseconds per byte. Short messages share more of their structure, so that their ratio is better.
const CODED: [(f32, f32); 2] = [(0.12, 260.0), (0.33, 70.0)];
const LONG: usize = 4 << 10;

/// After this many payloads, the choice that seemed worse is tried again, because content changes.
const RETRY: u32 = 16;

/// The weight of the newest body in the moving average of a ratio.
const FOLLOW: f32 = 0.5;

/// How a large body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockChoice {
    /// A codec packs the payload as a whole. It is sent as it is, if it arrives sooner that way.
    Block,
    /// Coded by gmc.
    Coded,
}

/// What is known about the large payloads of one transport.
#[derive(Debug, Default)]
pub(super) struct LargeBodies {
    /// The set of codecs that both ends have, and the choice among them.
    auto: Option<(u64, Auto)>,
    /// The time for packing and unpacking the last block, in nanoseconds.
    work: f32,
    /// For payloads with late-joiner state, and for payloads with large messages.
    estimates: [Estimates; 2],
}

/// What is known about both choices, for one kind of payloads.
#[derive(Debug, Default)]
struct Estimates {
    /// The ratio of packed payloads, and the time for packing and unpacking them, in nanoseconds per byte.
    block: Option<(f32, f32)>,
    /// The ratio of coded payloads.
    coded: Option<f32>,
    /// Payloads since the choice that seemed worse was last tried.
    since: u32,
}

impl LargeBodies {
    /// The choice with which a body arrives sooner. `each`: bytes of a message, on average; `travel`: the time of a byte on the
    /// link, in nanoseconds.
    pub(super) fn choose_block(&mut self, is_state: bool, each: usize, travel: f32) -> BlockChoice {
        self.estimates[usize::from(!is_state)].choose(each, travel)
    }

    /// Packs a body as a block. Returns the bytes of the packed form, if it is smaller. `set`: codecs that both ends have.
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

    /// Takes the size of a body before (`plain`) and after it was packed or coded (`wire`).
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
            // gmc is slow. It is not tried where even half of its assumed ratio would not pay.
            false if is_retry && coding + assumed / 2.0 * travel < block => BlockChoice::Coded,
            _ => BlockChoice::Block,
        }
    }

    /// A body of `plain` bytes was packed to `wire` bytes, and packing and unpacking it takes `nanos` nanoseconds.
    fn packed(&mut self, plain: usize, wire: usize, nanos: f32) {
        let plain = plain.max(1) as f32;
        let (ratio, work) = (wire as f32 / plain, nanos / plain);
        let before = self.block.unwrap_or((ratio, work));
        let follow = |before: f32, now: f32| before + FOLLOW * (now - before);
        self.block = Some((follow(before.0, ratio), follow(before.1, work)));
    }

    /// A body of `plain` bytes was coded to `wire` bytes.
    fn coded(&mut self, plain: usize, wire: usize) {
        let ratio = wire as f32 / plain.max(1) as f32;
        let before = self.coded.unwrap_or(ratio);
        self.coded = Some(before + FOLLOW * (ratio - before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends 200 payloads and returns how many of the last hundred were coded. `each`: bytes of a message; `block`: ratio and time
    /// of packing; `ratio`: ratio of coding.
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
