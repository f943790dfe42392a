//! The expected compressibility of a block, learned from earlier blocks whose bytes have a similar
//! entropy. Compressibility is expressed as the ratio (compressed bytes per plain byte) that zstd-1
//! has or would have.

/// The number of classes of blocks for each bit of entropy per byte.
const PER_BIT: f64 = 2.0;
/// The number of classes: 0 to 8 bits in half bits.
const CLASSES: usize = 17;
/// The weight of a new measurement in the ratio of its class.
const LEARNING_RATE: f64 = 0.5;
/// The entropy in bits per byte above which a block is assumed to be incompressible before any
/// measurement.
const NOISE: f64 = 7.5;
/// After this many uncompressed blocks of a class, one block is compressed as a probe, to find out
/// whether compression pays again. The number doubles with each probe, up to the next constant. It
/// starts anew when compression is expected to pay.
const PROBE: u32 = 8;
const LONGEST_PROBE: u32 = 256;

/// The ratios of zstd-1 by class of entropy. They are measured, or derived from the ratios of other
/// codecs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contents {
    classes: [Class; CLASSES],
    /// Entropy and ratio of the last compressed block.
    last: Option<(f64, f64)>,
}

/// The measurements of one class of blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    ratio: Option<f64>,
    /// The number of blocks of the class since the last block that was compressed or due as a
    /// probe.
    passed: u32,
    /// The number of blocks until the next probe. If it is less than [`PROBE`], that applies.
    patience: u32,
}

impl Default for Contents {
    fn default() -> Self {
        Contents { classes: [Class::default(); CLASSES], last: None }
    }
}

impl Contents {
    /// The expected ratio of zstd-1 for a block with this entropy.
    pub(super) fn ratio(&self, entropy: f64) -> f64 {
        match (self.classes[class(entropy)].ratio, self.last) {
            (Some(ratio), _) => ratio,
            (None, Some((near, ratio))) if (near - entropy).abs() < 1.0 / PER_BIT => ratio,
            _ if entropy > NOISE => 0.97,
            _ => 0.1 + 0.07 * entropy,
        }
    }

    /// Learns the ratio of zstd-1 for a block with this entropy.
    pub(super) fn learn(&mut self, entropy: f64, ratio: f64) {
        let class = &mut self.classes[class(entropy)];
        let before = class.ratio.unwrap_or(ratio);
        class.ratio = Some(before + LEARNING_RATE * (ratio - before));
        class.passed = 0;
        self.last = Some((entropy, ratio));
    }

    /// Whether a block with this entropy should be compressed as a probe. It is called for blocks
    /// for which compression is not expected to pay.
    pub(super) fn is_probe_due(&mut self, entropy: f64) -> bool {
        let class = &mut self.classes[class(entropy)];
        class.passed += 1;
        let is_due = class.passed > class.patience.max(PROBE);
        if is_due {
            class.patience = (2 * class.patience.max(PROBE)).min(LONGEST_PROBE);
            class.passed = 0;
        }
        is_due
    }

    /// Notes that compression is expected to pay for a block with this entropy.
    pub(super) fn note_gain(&mut self, entropy: f64) {
        self.classes[class(entropy)].patience = 0;
    }
}

fn class(entropy: f64) -> usize {
    ((entropy * PER_BIT) as usize).min(CLASSES - 1)
}
