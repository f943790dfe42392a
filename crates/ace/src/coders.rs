//! The working memory of the codecs. Any number of streams can share it. A candidate is a codec
//! with its level, with or without history (the last bytes of the stream) as its dictionary.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use groupwire_codecs::{
    Choice, Codec, CodecError, Coder, Filter, Options, OptionsError, by_number, compress_after,
    decompress_after,
};

use crate::Candidate;

/// Working memory of codecs. A stream needs it only while it compresses or decompresses one block,
/// so thousands of streams of a thread can share it. The memory keeps no content of earlier blocks.
#[derive(Default)]
pub struct Coders {
    /// The coders that were used, by codec and level. A list is enough, because there are few.
    known: Vec<(Choice, Box<dyn Coder>)>,
}

impl Coders {
    /// An empty set. Each codec allocates its memory when it is first used, and keeps it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of the memory in bytes. Blocks that are compressed with a history need more for a
    /// moment: the same amount again, and for some codecs a copy of the history.
    pub fn memory(&self) -> usize {
        let memory = self.known.iter().map(|(_, coder)| coder.memory());
        memory.map(|memory| memory.compress + memory.decompress).sum()
    }

    /// Whether this build has the codec and the level of a candidate and, if the candidate uses
    /// history, whether the codec can use a dictionary.
    pub(crate) fn can_pack(candidate: Candidate) -> bool {
        let Candidate { choice, history } = candidate;
        let level_exists = |codec: &dyn Codec| match (codec.levels(), choice.level) {
            (_, None) => true,
            (Some(levels), Some(level)) => (levels.min..=levels.max).contains(&level),
            (None, Some(_)) => false,
        };
        choice.filter == Filter::None
            && by_number(choice.codec)
                .is_some_and(|codec| level_exists(codec) && (!history || codec.takes_dictionary()))
    }

    /// Appends the compressed block to `out`. A candidate with history uses `history` (the bytes of
    /// the stream before the block) as the dictionary.
    ///
    /// # Errors
    /// A codec or level that this build does not have.
    pub(crate) fn pack(
        &mut self,
        candidate: Candidate,
        history: &[u8],
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), OptionsError> {
        let Candidate { choice, history: with_history } = candidate;
        if with_history {
            return compress_after(codec(choice.codec)?, choice.level, history, block, out);
        }
        self.coder(choice)?.compress(block, out);
        Ok(())
    }

    /// Appends the decompressed block, at most `limit` bytes, to `out`. `history` is the
    /// dictionary, if the block was compressed with one.
    ///
    /// # Errors
    /// A block that is not valid or too large. `out` is unchanged.
    pub(crate) fn unpack(
        &mut self,
        number: u8,
        history: Option<&[u8]>,
        block: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let unknown = |_| CodecError::UnknownCodec { number };
        match history {
            Some(history) => {
                decompress_after(codec(number).map_err(unknown)?, history, block, limit, out)
            }
            None => {
                let coder = self.coder(Choice::codec(number)).map_err(unknown)?;
                coder.decompress(block, limit, out)
            }
        }
    }

    fn coder(&mut self, choice: Choice) -> Result<&mut dyn Coder, OptionsError> {
        let at = match self.known.iter().position(|(other, _)| *other == choice) {
            Some(at) => at,
            None => {
                let options = Options { level: choice.level, dictionary: &[] };
                self.known.push((choice, codec(choice.codec)?.coder(&options)?));
                self.known.len() - 1
            }
        };
        Ok(&mut *self.known[at].1)
    }
}

fn codec(number: u8) -> Result<&'static dyn Codec, OptionsError> {
    by_number(number).ok_or(OptionsError::Missing { number })
}

impl fmt::Debug for Coders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coders").field("memory", &self.memory()).finish_non_exhaustive()
    }
}
