//! What the two ends agree on, and what the encoder may do.

use core::time::Duration;

/// Which compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The paper's, as evaluated in its section 5.
    #[default]
    Gmc2006,
    /// With the three improvements that its section 6.4 proposes: composite templates, numbers
    /// recoded to binary, and aggregation.
    Gmc2006Plus,
}

/// The configuration of an encoder or decoder.
///
/// Both ends must agree on `profile`; the decoder's limits must not be below the encoder's.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which compressor.
    pub profile: Profile,
    /// How many templates there may be at a time, 1 to 8191. The paper thinks of "1,638 clients
    /// who each announce ten" (section 4.3), hence 10.
    pub max_templates: u16,
    /// Largest message that may become a template, in bytes, up to 65,535. An encoder's template
    /// takes about 90 bytes of memory for each of its bytes, so 8 KiB: a large document is seldom
    /// sent twice.
    pub max_template_bytes: usize,
    /// Largest message in bytes.
    pub max_message: usize,
    /// How many previous messages a new template is judged on: the paper's n, for which it states
    /// no value.
    pub history: usize,
    /// The target ratio at the start, compressed to original, in ten-thousandths. A message that
    /// no template compresses to less makes a new template. 30 % in the paper (section 5.2).
    pub target_ratio: u32,
    /// How long a message may take before the target ratio is lowered no further (section 4.1.1).
    pub time_budget: Duration,
    /// How many messages a template codes before its Huffman code set is made: the paper's "after
    /// a number of messages".
    pub frequencies_after: u32,
    /// Deflate is tried when the escape sequences are longer than this, in bytes (section 4.2).
    pub deflate_threshold: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::Gmc2006,
            max_templates: 10,
            max_template_bytes: 8 << 10,
            max_message: 1 << 20,
            history: 20,
            target_ratio: 3000,
            time_budget: Duration::from_millis(2),
            frequencies_after: 200,
            deflate_threshold: 100,
        }
    }
}

impl Config {
    /// The configuration with every value in the range that the formats have room for.
    pub(super) fn bounded(mut self) -> Self {
        self.max_templates = self.max_templates.clamp(1, MAX_NUMBER);
        self.max_template_bytes = self.max_template_bytes.min(usize::from(u16::MAX));
        self
    }
}

/// Largest template number: of the header's 14 bits one says whether the code set was used.
pub(super) const MAX_NUMBER: u16 = 0x1fff;
