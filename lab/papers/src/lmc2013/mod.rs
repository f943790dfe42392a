//! Two codecs of the LMC paper with its own settings, as baselines for measurements.
//!
//! Stefan Karlsson and Erik Hansson, *Lossless Message Compression*, Mälardalens högskola 2013.
//! Sections and tables below are the paper's. Its other codecs are those of `groupwire-codecs` at
//! their default levels: LZO, LZ4, and bzip2 (blocks of 100 kB). For LZFX stands `lzf`, from which
//! it was derived.
//!
//! ```
//! use groupwire_codecs::{Choice, Packer};
//! use groupwire_papers::lmc2013::CODECS;
//!
//! let mut packer = Packer::new(CODECS);
//! let mut packed = Vec::new();
//! packer.pack("lzw".parse()?, &[7; 100], &mut packed)?;
//! assert!(packed.len() < 20);
//! let mut message = Vec::new();
//! packer.unpack(&packed, 100, &mut message)?;
//! assert_eq!(message, [7; 100]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod lzma;
mod lzw;

use groupwire_codecs::{Codec, Plain};

/// The codecs whose settings are the paper's own, and that of no compression. They have the numbers
/// of the codecs of `groupwire-codecs` whose formats they vary.
pub static CODECS: &[&dyn Codec] = &[&Plain, &lzw::Lzw9, &lzma::LzmaTable7];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(message: &[u8]) {
        for codec in CODECS {
            let mut packed = Vec::new();
            codec.compress(message, &mut packed);
            let mut back = Vec::new();
            codec.decompress(&packed, message.len(), &mut back).unwrap();
            assert_eq!(back, message, "{codec:?}");
            if !message.is_empty() {
                back.clear();
                let result = codec.decompress(&packed, message.len() - 1, &mut back);
                assert!(result.is_err() && back.is_empty(), "{codec:?} keeps its limit");
            }
        }
    }

    #[test]
    fn messages_come_back() {
        for message in [&b""[..], b"a", b"aaaaaaaaaaaaaaaa", &[0; 70_000]] {
            round_trip(message);
        }
    }

    proptest! {
        #[test]
        fn any_message_comes_back(message in prop::collection::vec(0_u8..9, 0..2000)) {
            round_trip(&message);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(0_u8.., 0..300)) {
            for codec in CODECS {
                let mut out = Vec::new();
                let result = codec.decompress(&bytes, 1000, &mut out);
                prop_assert!(out.len() <= 1000 && (result.is_ok() || out.is_empty()));
            }
        }
    }
}
