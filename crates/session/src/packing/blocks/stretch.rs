//! Bodies of many octets: by what they are packed, or whether they are coded by what their messages have in common.

use groupwire_codecs::{Auto, Choice, Link};

use crate::packing::Packing;

/// What is chosen among: the first list of codecs that both ends have. Bodies are few, so there is no time to try many.
const CANDIDATES: &[&[Choice]] = &[
    &[level(ZSTD, 1), level(ZSTD, 6)],
    &[Choice::codec(LZ4), level(ZLIB, 1), level(ZLIB, 6)],
    &[Choice::codec(LZ4)],
];

/// Numbers of codecs.
const LZ4: u8 = 1;
const ZLIB: u8 = 2;
const ZSTD: u8 = 7;

const fn level(codec: u8, level: i8) -> Choice {
    Choice { level: Some(level), ..Choice::codec(codec) }
}

/// What gmc leaves, as long as it was not tried, and what it takes at both ends, nanoseconds per octet: of messages below
/// [`LONG`], and of others. It knows well what short ones have in common.
const CODED: [(f32, f32); 2] = [(0.12, 260.0), (0.33, 70.0)];
const LONG: usize = 4 << 10;

/// After so many bodies the way that seemed worse is tried again, since content changes.
const RETRY: u32 = 16;

/// How fast a ratio follows.
const FOLLOW: f32 = 0.5;

/// How a body goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As a block, or as it is.
    Block,
    /// By gmc.
    Coded,
}

/// What is known of the bodies of one transport.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// Among the codecs of this set.
    auto: Option<(u64, Auto)>,
    /// What packing and unpacking the last block takes, nanoseconds.
    work: f32,
    /// Of late-joiner state, and of bodies with large messages.
    ways: [Ways; 2],
}

/// What is known of both ways, of one sort of bodies.
#[derive(Debug, Default)]
struct Ways {
    /// What blocks became, as a share, and what packing and unpacking took, nanoseconds per octet.
    block: Option<(f32, f32)>,
    /// What coded bodies became.
    coded: Option<f32>,
    /// Bodies since the other way was last tried.
    since: u32,
}

impl Stretches {
    /// The way that gets a body there sooner. `each`: octets of a message, on average; `travel`: what an octet takes on
    /// the link, nanoseconds.
    pub(super) fn way(&mut self, is_state: bool, each: usize, travel: f32) -> Way {
        self.ways[usize::from(!is_state)].choose(each, travel)
    }

    /// Packs a body as a block; returns the octets of the packed form, if it is smaller. `set`: codecs that both ends
    /// have.
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

    /// What became of a body.
    pub(super) fn went(&mut self, way: Way, is_state: bool, plain: usize, wire: usize) {
        let ways = &mut self.ways[usize::from(!is_state)];
        match way {
            Way::Block => ways.packed(plain, wire, self.work),
            Way::Coded => ways.coded(plain, wire),
        }
    }
}

impl Ways {
    fn choose(&mut self, each: usize, travel: f32) -> Way {
        let Some((left, work)) = self.block else { return Way::Block };
        let (hoped, coding) = CODED[usize::from(each >= LONG)];
        let coded = coding + self.coded.unwrap_or(hoped) * travel;
        let block = work + left * travel;
        self.since += 1;
        let is_retry = self.since > RETRY;
        if is_retry {
            self.since = 0;
        }
        match coded < block {
            true if !is_retry => Way::Coded,
            // Gmc is slow: where what it may be hoped to leave would not pay, it is left alone.
            false if is_retry && coding + hoped / 2.0 * travel < block => Way::Coded,
            _ => Way::Block,
        }
    }

    /// A block became so much, and took so long.
    fn packed(&mut self, plain: usize, wire: usize, nanos: f32) {
        let plain = plain.max(1) as f32;
        let (left, work) = (wire as f32 / plain, nanos / plain);
        let before = self.block.unwrap_or((left, work));
        let follow = |before: f32, now: f32| before + FOLLOW * (now - before);
        self.block = Some((follow(before.0, left), follow(before.1, work)));
    }

    /// A coded body became so much.
    fn coded(&mut self, plain: usize, wire: usize) {
        let left = wire as f32 / plain.max(1) as f32;
        let before = self.coded.unwrap_or(left);
        self.coded = Some(before + FOLLOW * (left - before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends bodies; returns how many of the last hundred were coded.
    fn coded(each: usize, megabits: f32, block: (f32, f32), left: f32) -> usize {
        let mut ways = Ways::default();
        let mut send = |_| {
            let way = ways.choose(each, 8000.0 / megabits);
            match way {
                Way::Block => ways.packed(50_000, (50e3 * block.0) as usize, 50e3 * block.1),
                Way::Coded => ways.coded(50_000, (50e3 * left) as usize),
            }
            way == Way::Coded
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
    fn short_messages_are_coded_on_a_slow_link_if_that_leaves_less() {
        let zstd = (0.23, 6.0);
        assert!(coded(40, 0.5, zstd, 0.1) >= 90);
        assert!(coded(40, 0.5, zstd, 0.3) <= 10);
        assert_eq!(coded(40, 71.0, zstd, 0.1), 0);
    }
}
