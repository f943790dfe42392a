//! The settings of encoder and decoder. Sections below are those of the paper that the
//! [module](super) names.

use core::time::Duration;

/// The variant of the compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The paper's compressor, as evaluated in its section 5.
    #[default]
    Gmc2006,
    /// The compressor with the three improvements that section 6.4 proposes: composite templates,
    /// numbers recoded to binary, and aggregation.
    Gmc2006Plus,
}

/// The configuration of an encoder or decoder. A template is an earlier message, with which similar
/// ones are compressed.
///
/// Both ends must agree on `profile`; the decoder's limits must not be below the encoder's.
#[derive(Debug, Clone)]
pub struct Config {
    /// The variant of the compressor.
    pub profile: Profile,
    /// The most templates at a time, 1 to 8191. The paper assumes ten for each client (section
    /// 4.3).
    pub max_templates: u16,
    /// The largest message for templates, in bytes, up to 65,535. A larger one neither becomes a
    /// template nor is compressed with one, but by deflate alone. A template takes about 100 bytes
    /// of the encoder's memory for each of its own bytes, so the default is 8 KiB.
    pub max_template_bytes: usize,
    /// Largest message in bytes, up to 64 MiB.
    pub max_message: usize,
    /// The number of previous messages on which a new template is tried: the paper's n, for which
    /// it states no value.
    pub history: usize,
    /// The target ratio at the start, compressed to original size, in ten-thousandths. A message
    /// that no template compresses to less becomes a new template. 30 % in the paper (section 5.2).
    pub target_ratio: u32,
    /// The target ratio falls as long as compressing a message takes at most this time (section
    /// 4.1.1).
    pub time_budget: Duration,
    /// The number of messages that a template compresses before its Huffman code set is made. The
    /// paper states no value.
    pub frequencies_after: u32,
    /// Deflate is tried when the bytes of a message that are not in the template are more than this
    /// (section 4.2).
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
    /// The configuration with each value moved into the range that the formats can represent.
    pub(super) fn bounded(mut self) -> Self {
        self.max_templates = self.max_templates.clamp(1, MAX_NUMBER);
        self.max_message = self.max_message.min(MAX_MESSAGE);
        self.max_template_bytes = self.max_template_bytes.min(usize::from(u16::MAX));
        self
    }
}

/// The largest template number. It has 13 of the 14 bits that the paper's header has for the
/// template; the other one says whether the code set was used.
pub(super) const MAX_NUMBER: u16 = 0x1fff;

/// The largest possible message, in bytes: three times its length still fits into the length field
/// of a packet that contains packets.
const MAX_MESSAGE: usize = 64 << 20;
