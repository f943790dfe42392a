//! Dictionaries for the peers that need one.

/// Bytes that both ends of a peer have before the first message.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    /// The bytes of the dictionary.
    pub(super) bytes: Vec<u8>,
    /// The messages on which the dictionary was trained.
    pub(super) source: &'static str,
}

/// The size of dictionaries: the usual advice, and half of deflate's window.
const SIZE: usize = 16 << 10;

impl Dictionary {
    /// Trains with zstd's trainer on `samples`.
    ///
    /// It refuses samples that are too few or too equal. Then the dictionary is their last bytes,
    /// which is what zlib's manual advises.
    pub(super) fn train<'a>(samples: impl Iterator<Item = &'a [u8]>, source: &'static str) -> Self {
        let samples: Vec<&[u8]> = samples.collect();
        let bytes = zstd::dict::from_samples(&samples, SIZE).unwrap_or_else(|_| {
            let all = samples.concat();
            all[all.len().saturating_sub(SIZE)..].to_vec()
        });
        Dictionary { bytes, source }
    }
}
