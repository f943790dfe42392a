//! The codecs that the browser's core lacks, as WebAssembly modules that a page loads when a
//! channel asks for one of them. This crate has all of them but brotli; `crates/wasm-brotli` builds
//! the same source with brotli alone.
//!
//! The module compresses and decompresses single messages. The core decides which messages, and
//! calls this module through `crates/wasm/src/codecs.js`.

use groupwire_codecs::{Choice, Coder, Filter, Options, by_number};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// A choice of a codec, parsed from a name such as `zstd-3` or `delta4+lz4`.
#[wasm_bindgen]
pub struct Named(Choice);

#[wasm_bindgen]
impl Named {
    /// Parses a name.
    ///
    /// # Errors
    /// If no codec or filter has this name, or the codec has no such level. The text lists the
    /// known names.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Result<Named, JsError> {
        let choice: Choice = name.parse()?;
        // Refuses a level that the codec lacks here, and not at the first message.
        coder(choice.codec, choice.level)?;
        Ok(Named(choice))
    }

    /// The number of the codec.
    #[wasm_bindgen(getter)]
    pub fn codec(&self) -> u8 {
        self.0.codec
    }

    /// The level, if the name states one.
    #[wasm_bindgen(getter)]
    pub fn level(&self) -> Option<i8> {
        self.0.level
    }

    /// The number of the filter; 0 for none.
    #[wasm_bindgen(getter)]
    pub fn filter(&self) -> u8 {
        Filter::number(self.0.filter)
    }
}

/// Coders, which keep their memory from message to message.
#[wasm_bindgen]
#[derive(Default)]
pub struct Codecs {
    /// Coders by number and level. A list, as there are few; the most recently used is last.
    coders: Vec<(Key, Box<dyn Coder>)>,
}

/// The number of a codec, and its level if it is not the default.
type Key = (u8, Option<i8>);

/// The most coders that are kept. A page has few channels with different codecs, each with two
/// directions.
const MAX_CODERS: usize = 6;

#[wasm_bindgen]
impl Codecs {
    /// Starts without coders.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Codecs {
        Codecs::default()
    }

    /// The compressed form of `message`.
    ///
    /// # Errors
    /// If this module lacks the codec, or the codec has no such level.
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
    /// If `packed` is malformed, or its original longer than `limit`.
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

    /// The coder for a codec and level, made at its first use.
    fn coder(&mut self, codec: u8, level: Option<i8>) -> Result<&mut dyn Coder, JsError> {
        let key = (codec, level);
        match self.coders.iter().position(|(other, _)| *other == key) {
            Some(at) => self.coders[at..].rotate_left(1),
            None => {
                let new = coder(codec, level)?;
                if self.coders.len() == MAX_CODERS {
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
    fn all_codecs_round_trip_though_not_all_coders_are_kept() {
        let mut codecs = Codecs::new();
        let message = b"to be or not to be or not to be".repeat(9);
        for _ in 0..2 {
            for codec in groupwire_codecs::ALL.iter().map(|codec| codec.number()) {
                let packed = codecs.compress(codec, None, &message).ok().unwrap();
                let plain = codecs.decompress(codec, &packed, message.len()).ok().unwrap();
                assert_eq!(plain, message);
                assert!(codecs.coders.len() <= MAX_CODERS);
            }
        }
    }
}
