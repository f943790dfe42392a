//! Compression with a dictionary that is used once: the bytes of a stream before a block.
//!
//! These are functions and not methods of [`Codec`], so that the linker leaves them out of modules
//! that do not use them.

use alloc::vec::Vec;

use crate::{Codec, CodecError, Options, OptionsError};
#[cfg(feature = "pure")]
use crate::{Zstd, zstd};

/// Appends the compressed form of `input` to `out`; matches may lie in `history`. Memory is freed
/// at once. zstd reads the history in place; other codecs copy it.
///
/// ```
/// use groupwire_codecs::{Zstd, compress_after, decompress_after};
/// let (mut packed, mut plain) = (Vec::new(), Vec::new());
/// compress_after(&Zstd, Some(1), b"to be or not to be", b"or not to be", &mut packed)?;
/// decompress_after(&Zstd, b"to be or not to be", &packed, 100, &mut plain)?;
/// assert_eq!(plain, b"or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the codec has no such level or takes no dictionary. `out` is unchanged.
pub fn compress_after(
    codec: &dyn Codec,
    level: Option<i8>,
    history: &[u8],
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), OptionsError> {
    #[cfg(feature = "pure")]
    if codec.number() == Zstd.number() {
        zstd::compress_after(zstd::level(level)?, history, input, out);
        return Ok(());
    }
    codec.coder(&Options { level, dictionary: history })?.compress(input, out);
    Ok(())
}

/// Appends the original of `input` to `out`, if it has at most `limit` bytes. `history` must equal
/// the history that [`compress_after`] was given. Memory is freed at once.
///
/// On an error `out` is unchanged.
///
/// # Errors
/// If `input` is malformed or its original longer than `limit`; [`CodecError::WrongDictionary`] if
/// the codec takes no dictionary.
pub fn decompress_after(
    codec: &dyn Codec,
    history: &[u8],
    input: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    #[cfg(feature = "pure")]
    if codec.number() == Zstd.number() {
        return zstd::decompress_after(history, input, limit, out);
    }
    match codec.coder(&Options { level: None, dictionary: history }) {
        Ok(mut coder) => coder.decompress(input, limit, out),
        Err(_) => Err(CodecError::WrongDictionary),
    }
}

#[cfg(all(test, feature = "pure"))]
mod tests {
    use super::*;
    use crate::ALL;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_come_back(
            history in proptest::collection::vec(0u8..5, 0..3000),
            block in proptest::collection::vec(0u8..5, 0..3000),
        ) {
            for codec in ALL {
                let (mut packed, mut plain) = (Vec::new(), Vec::from([7]));
                let made = compress_after(*codec, None, &history, &block, &mut packed);
                prop_assert_eq!(made.is_ok(), codec.takes_dictionary() || history.is_empty());
                if made.is_ok() {
                    let read = decompress_after(*codec, &history, &packed, block.len(), &mut plain);
                    prop_assert_eq!(read, Ok(()));
                    prop_assert_eq!(&plain[1..], &block[..], "{:?}", codec);
                }
            }
        }
    }
}
