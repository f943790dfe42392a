//! Packed messages, which state how they are to be read.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::{Choice, Codec, CodecError, Coder, Filter, Memory, Options, OptionsError};

/// Packs messages one by one, each with its own choice, and unpacks the messages of other packers.
///
/// ```text
/// packed  = first:u8 bytes
/// first   = codec number | filter number << 5     bit 4 is reserved, and not set
/// ```
///
/// A message that a codec does not make smaller is sent unchanged, so that a packed message is at
/// most one byte longer. Memory is allocated when a codec is first used, and kept.
///
/// ```
/// use groupwire_codecs::{ALL, Packer};
/// let mut packer = Packer::new(ALL);
/// let mut packed = Vec::new();
/// packer.pack("lz4".parse()?, b"again and again and again and again", &mut packed)?;
/// let mut message = Vec::new();
/// packer.unpack(&packed, 1000, &mut message)?;
/// assert_eq!(message, b"again and again and again and again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Packer {
    codecs: &'static [&'static dyn Codec],
    /// Coders by codec and level (the filter is `None` in the key). A list, as there are few.
    coders: Vec<(Choice, Box<dyn Coder>)>,
    /// A buffer for filtered messages.
    filtered: Vec<u8>,
}

/// The reserved bit of `first`: it once marked a dictionary.
const DICTIONARY: u8 = 16;
/// The bits of `first` that hold the codec's number.
const CODEC: u8 = 15;
/// The position of the filter's number in `first`.
const FILTER_SHIFT: u32 = 5;

impl Packer {
    /// A packer with these codecs.
    pub fn new(codecs: &'static [&'static dyn Codec]) -> Self {
        Packer { codecs, coders: Vec::new(), filtered: Vec::new() }
    }

    /// Whether this packer has the codec with this number.
    pub fn has(&self, codec: u8) -> bool {
        self.codec(codec).is_ok()
    }

    /// Appends the packed form of `message` to `out`. Returns the choice that was used: `choice`,
    /// or [`Choice::NONE`] if `choice` does not make the message smaller.
    ///
    /// # Errors
    /// If the packer does not have the codec, or the codec has no such level. `out` is unchanged.
    pub fn pack(
        &mut self,
        choice: Choice,
        message: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Choice, OptionsError> {
        let start = out.len();
        let made = self.try_pack(choice, message, out)?;
        if !made || out.len() - start > message.len() {
            out.truncate(start);
            out.push(0);
            out.extend_from_slice(message);
        }
        Ok(if made && out[start] != 0 { choice } else { Choice::NONE })
    }

    /// Appends the message as `choice` packs it, even if that is larger. Returns false and appends
    /// nothing if `choice` is no compression.
    fn try_pack(
        &mut self,
        choice: Choice,
        message: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, OptionsError> {
        self.codec(choice.codec)?;
        if choice.codec == 0 && choice.filter == Filter::None {
            return Ok(false);
        }
        out.push(choice.codec | choice.filter.number() << FILTER_SHIFT);
        let mut filtered = core::mem::take(&mut self.filtered);
        filtered.clear();
        let input = match choice.filter {
            Filter::None => message,
            filter => {
                filter.apply(message, &mut filtered);
                &filtered
            }
        };
        let outcome = self.coder(choice).map(|coder| coder.compress(input, out));
        self.filtered = filtered;
        outcome.map(|()| true)
    }

    /// Appends the original message of `packed` to `out`, if it has at most `limit` bytes. On an
    /// error `out` is unchanged.
    ///
    /// # Errors
    /// If `packed` is malformed, too large, or made with a codec that this packer lacks. Not all
    /// damage is found.
    pub fn unpack(
        &mut self,
        packed: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let (&first, bytes) = packed.split_first().ok_or(CodecError::Malformed)?;
        let number = first & CODEC;
        let filter = Filter::by_number(first >> FILTER_SHIFT).ok_or(CodecError::Malformed)?;
        self.codec(number).map_err(|_| CodecError::UnknownCodec { number })?;
        if first & DICTIONARY != 0 {
            return Err(CodecError::WrongDictionary);
        }
        let mut filtered = core::mem::take(&mut self.filtered);
        filtered.clear();
        let coder = self.coder(Choice::codec(number)).map_err(|_| CodecError::Malformed)?;
        let outcome = match filter {
            Filter::None => coder.decompress(bytes, limit, out),
            filter => coder
                .decompress(bytes, limit, &mut filtered)
                .and_then(|()| filter.undo(&filtered, limit, out)),
        };
        self.filtered = filtered;
        outcome
    }

    /// The working memory of all coders made so far, bytes.
    pub fn memory(&self) -> Memory {
        let add = |sum: Memory, one: Memory| Memory {
            compress: sum.compress + one.compress,
            decompress: sum.decompress + one.decompress,
        };
        self.coders.iter().map(|(_, coder)| coder.memory()).fold(Memory::default(), add)
    }

    fn codec(&self, number: u8) -> Result<&'static dyn Codec, OptionsError> {
        let found = self.codecs.iter().copied().find(|codec| codec.number() == number);
        found.ok_or(OptionsError::Missing { number })
    }

    /// The coder for a choice, made at its first use.
    fn coder(&mut self, choice: Choice) -> Result<&mut dyn Coder, OptionsError> {
        let key = Choice { filter: Filter::None, ..choice };
        let at = match self.coders.iter().position(|(other, _)| *other == key) {
            Some(at) => at,
            None => {
                let codec = self.codec(choice.codec)?;
                let options = Options { level: choice.level, dictionary: &[] };
                self.coders.push((key, codec.coder(&options)?));
                self.coders.len() - 1
            }
        };
        Ok(&mut *self.coders[at].1)
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").field("memory", &self.memory()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL;
    use alloc::vec;
    use proptest::prelude::*;

    fn choices() -> Vec<Choice> {
        let codecs = ALL.iter().map(|codec| Choice::codec(codec.number()));
        codecs
            .flat_map(|choice| Filter::ALL.iter().map(move |&filter| Choice { filter, ..choice }))
            .collect()
    }

    fn round_trip(mut packer: Packer, message: &[u8]) {
        for choice in choices() {
            let mut packed = vec![9];
            packer.pack(choice, message, &mut packed).unwrap();
            assert!(packed.len() <= 1 + 1 + message.len());
            let mut out = vec![1, 2];
            packer.unpack(&packed[1..], message.len(), &mut out).unwrap();
            assert_eq!((&out[..2], &out[2..]), (&[1, 2][..], message), "{choice}");
        }
    }

    proptest! {
        #[test]
        fn messages_come_back(message in proptest::collection::vec(0u8..5, 0..3000)) {
            round_trip(Packer::new(ALL), &message);
        }

        #[test]
        fn arbitrary_bytes_keep_the_limit(packed: Vec<u8>) {
            let mut packer = Packer::new(ALL);
            let mut out = vec![7];
            match packer.unpack(&packed, 200, &mut out) {
                Ok(()) => prop_assert!(out.len() <= 201),
                Err(_) => prop_assert_eq!(out, [7]),
            }
        }
    }

    #[test]
    fn errors_name_a_codec_that_one_end_lacks() {
        let mut packed = Vec::new();
        Packer::new(ALL).pack(Choice::codec(1), &[0; 99], &mut packed).unwrap();
        let mut poor = Packer::new(&ALL[..1]);
        let error = poor.unpack(&packed, 99, &mut Vec::new());
        assert_eq!(error, Err(CodecError::UnknownCodec { number: 1 }));
        let error = poor.pack(Choice::codec(1), b"", &mut Vec::new());
        assert_eq!(error, Err(OptionsError::Missing { number: 1 }));
    }

    #[test]
    fn an_incompressible_message_is_sent_unchanged() {
        let mut packed = Vec::new();
        let taken = Packer::new(ALL).pack(Choice::codec(1), b"abc", &mut packed).unwrap();
        assert_eq!((taken, &packed[..]), (Choice::NONE, &b"\0abc"[..]));
    }
}
