//! The codecs that the browser's core lacks, as modules of their own: a page loads one when a channel asks for what is in
//! it. All but brotli are in this crate's; `crates/wasm-brotli` builds the same for brotli alone.
//!
//! It knows single messages only. What is packed when, and for whom, is the core's matter, which calls this module
//! through `crates/wasm/src/codecs.js`.

use groupwire_codecs::{Choice, Coder, Filter, Options, by_number};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// What a name such as `zstd-3` or `delta4+lz4` asks for.
#[wasm_bindgen]
pub struct Named(Choice);

#[wasm_bindgen]
impl Named {
    /// Reads a name.
    ///
    /// # Errors
    /// What is wrong with it, and what there is.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Result<Named, JsError> {
        let choice: Choice = name.parse()?;
        // A level that the codec does not have is found here, not at the first message.
        coder(choice.codec, choice.level)?;
        Ok(Named(choice))
    }

    /// The number of the codec.
    #[wasm_bindgen(getter)]
    pub fn codec(&self) -> u8 {
        self.0.codec
    }

    /// The level, if the name has one.
    #[wasm_bindgen(getter)]
    pub fn level(&self) -> Option<i8> {
        self.0.level
    }

    /// The number of the filter; 0: none.
    #[wasm_bindgen(getter)]
    pub fn filter(&self) -> u8 {
        Filter::number(self.0.filter)
    }
}

/// Codecs at work. They keep their memory from message to message.
#[wasm_bindgen]
#[derive(Default)]
pub struct Codecs {
    /// By number and level; few, so a list. The newest stand last.
    coders: Vec<(Key, Box<dyn Coder>)>,
}

/// The number of a codec, and its level if it is not the default.
type Key = (u8, Option<i8>);

/// So many coders keep their memory. A page has few channels that differ in this, each with two directions.
const KEPT: usize = 6;

#[wasm_bindgen]
impl Codecs {
    /// None has any memory yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Codecs {
        Codecs::default()
    }

    /// The compressed form of `message`.
    ///
    /// # Errors
    /// If there is no such codec, or it has no such level.
    pub fn compress(
        &mut self,
        codec: u8,
        level: Option<i8>,
        message: &[u8],
    ) -> Result<Vec<u8>, JsError> {
        let mut out = Vec::new();
        self.coder(codec, level)?.compress(message, &mut out);
        Ok(out)
    }

    /// The original of `packed`, at most `limit` bytes.
    ///
    /// # Errors
    /// What is wrong with `packed`.
    pub fn decompress(
        &mut self,
        codec: u8,
        packed: &[u8],
        limit: usize,
    ) -> Result<Vec<u8>, JsError> {
        let mut out = Vec::new();
        self.coder(codec, None)?.decompress(packed, limit, &mut out)?;
        Ok(out)
    }

    fn coder(&mut self, codec: u8, level: Option<i8>) -> Result<&mut dyn Coder, JsError> {
        let key = (codec, level);
        match self.coders.iter().position(|(other, _)| *other == key) {
            Some(at) => self.coders[at..].rotate_left(1),
            None => {
                let new = coder(codec, level)?;
                if self.coders.len() == KEPT {
                    self.coders.remove(0);
                }
                self.coders.push((key, new));
            }
        }
        let at = self.coders.len() - 1;
        Ok(&mut *self.coders[at].1)
    }
}

fn coder(codec: u8, level: Option<i8>) -> Result<Box<dyn Coder>, JsError> {
    let Some(found) = by_number(codec) else {
        return Err(JsError::new("there is no codec with this number"));
    };
    Ok(found.coder(&Options { level, ..Options::default() })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_comes_back_more_of_them_than_are_kept() {
        let mut codecs = Codecs::new();
        let message = b"to be or not to be or not to be".repeat(9);
        for _ in 0..2 {
            for codec in groupwire_codecs::ALL.iter().map(|codec| codec.number()) {
                let packed = codecs.compress(codec, None, &message).ok().unwrap();
                let plain = codecs.decompress(codec, &packed, message.len()).ok().unwrap();
                assert_eq!(plain, message);
                assert!(codecs.coders.len() <= KEPT);
            }
        }
    }
}
