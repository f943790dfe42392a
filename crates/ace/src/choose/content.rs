//! How far blocks can be packed: by what they look like, as blocks were packed that looked alike.

/// Kinds of blocks, by entropy: so many for each bit.
const PER_BIT: f64 = 2.0;
const KINDS: usize = 17;
/// How fast what is known of a kind follows.
const FOLLOW: f64 = 0.5;
/// As much entropy means nothing to expect, before anything is known.
const NOISE: f64 = 7.5;
/// The first probe of a kind that is not packed comes after so many of its blocks; later ones ever more rarely.
const PROBE: u32 = 8;
const PROBE_LATER: u32 = 256;

/// The ratios that zstd-1 reached or would have reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contents {
    kinds: [Kind; KINDS],
    /// The kind that was last, and its ratio.
    last: Option<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    ratio: Option<f64>,
    /// Blocks that were not packed since one was.
    passed: u32,
    /// How many there are to be.
    patience: u32,
}

impl Default for Contents {
    fn default() -> Self {
        Contents { kinds: [Kind::default(); KINDS], last: None }
    }
}

impl Contents {
    /// What zstd-1 probably makes of a block of such an entropy.
    pub(super) fn ratio(&self, entropy: f64) -> f64 {
        match (self.kinds[kind(entropy)].ratio, self.last) {
            (Some(ratio), _) => ratio,
            (None, Some((near, ratio))) if (near - entropy).abs() < 1.0 / PER_BIT => ratio,
            _ if entropy > NOISE => 0.97,
            _ => 0.1 + 0.07 * entropy,
        }
    }

    /// Learns what it made, or would have made.
    pub(super) fn learn(&mut self, entropy: f64, ratio: f64) {
        let kind = &mut self.kinds[kind(entropy)];
        let before = kind.ratio.unwrap_or(ratio);
        kind.ratio = Some(before + FOLLOW * (ratio - before));
        kind.passed = 0;
        self.last = Some((entropy, ratio));
    }

    /// Whether a block that is not worth to be packed, as far as is known, should be, to see whether it is true.
    pub(super) fn is_due(&mut self, entropy: f64) -> bool {
        let kind = &mut self.kinds[kind(entropy)];
        kind.passed += 1;
        let is_due = kind.passed > kind.patience.max(PROBE);
        if is_due {
            kind.patience = (2 * kind.patience.max(PROBE)).min(PROBE_LATER);
            kind.passed = 0;
        }
        is_due
    }

    /// A block of such an entropy was worth to be packed.
    pub(super) fn pays(&mut self, entropy: f64) {
        self.kinds[kind(entropy)].patience = 0;
    }
}

fn kind(entropy: f64) -> usize {
    ((entropy * PER_BIT) as usize).min(KINDS - 1)
}
