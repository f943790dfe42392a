//! Dictionaries for the peers that need one.

/// Bytes that both ends of a peer have before the first message.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    /// What the peer loads.
    pub(super) bytes: Vec<u8>,
    /// What it was trained on.
    pub(super) source: &'static str,
}

/// The size usually advised, and half of deflate's window.
const SIZE: usize = 16 << 10;

impl Dictionary {
    /// Trains with zstd's trainer on `samples`.
    ///
    /// It refuses samples that are too few or too equal. Then the dictionary is their last bytes, which is what zlib's
    /// manual advises.
    pub(super) fn train<'a>(samples: impl Iterator<Item = &'a [u8]>, source: &'static str) -> Self {
        let samples: Vec<&[u8]> = samples.collect();
        let bytes = zstd::dict::from_samples(&samples, SIZE).unwrap_or_else(|_| {
            let all = samples.concat();
            all[all.len().saturating_sub(SIZE)..].to_vec()
        });
        Dictionary { bytes, source }
    }
}
