//! The codecs that compress messages. Two codecs are part of this module, the core. The others are
//! in two further WebAssembly modules, which the page loads when a channel asks for one of their
//! codecs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use groupwire_session::codecs::{
    Codec, CodecError, Coder, Levels, Lz4, Memory, Options, OptionsError, Plain,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen(module = "/src/codecs.js")]
extern "C" {
    fn install(codecs: JsValue, numbers: &[u8]);
    fn compress(codec: u8, level: Option<i8>, message: &[u8]) -> Option<Vec<u8>>;
    fn decompress(codec: u8, packed: &[u8], limit: usize) -> Option<Vec<u8>>;
}

/// The number of the codec brotli, which has a WebAssembly module of its own.
const BROTLI: u8 = 8;

/// Makes the codecs of another WebAssembly module available to all cores of the page. A core uses
/// them after [`Core::set_codecs`](crate::Core::set_codecs). `codecs` is an instance of the
/// module's class `Codecs`; `brotli` is true if the module is the one that contains only brotli.
#[wasm_bindgen(js_name = installCodecs)]
#[expect(unreachable_pub, reason = "JavaScript reaches it")]
pub fn install_codecs(codecs: JsValue, brotli: bool) {
    let elsewhere = ALL.iter().map(|codec| codec.number()).filter(|&number| number > 1);
    let numbers: Vec<u8> = elsewhere.filter(|&number| (number == BROTLI) == brotli).collect();
    install(codecs, &numbers);
}

/// The codecs that are part of the core.
pub(crate) static OWN: &[&dyn Codec] = &[&Plain, &Lz4];

/// The codecs of a core: its own ones, those of the module with most codecs if `most` is true, and
/// brotli if `brotli` is true.
pub(crate) fn with(most: bool, brotli: bool) -> &'static [&'static dyn Codec] {
    match (most, brotli) {
        (false, false) => OWN,
        (true, false) => &ALL[..ALL.len() - 1],
        (false, true) => &[&Plain, &Lz4, &Elsewhere(BROTLI)],
        (true, true) => ALL,
    }
}

/// All codecs. Brotli is last, so that [`with`] can leave it out.
static ALL: &[&dyn Codec] = &[
    &Plain,
    &Lz4,
    &Elsewhere(2),
    &Elsewhere(3),
    &Elsewhere(4),
    &Elsewhere(5),
    &Elsewhere(6),
    &Elsewhere(7),
    &Elsewhere(9),
    &Elsewhere(10),
    &Elsewhere(11),
    &Elsewhere(12),
    &Elsewhere(BROTLI),
];

/// The codec with this number, which is in another WebAssembly module.
struct Elsewhere(u8);

impl Codec for Elsewhere {
    fn name(&self) -> &'static str {
        // Names of codecs are parsed by the module that has them, not here.
        "elsewhere"
    }

    fn number(&self) -> u8 {
        self.0
    }

    /// All levels are allowed here: the other module has checked the level when it parsed the name
    /// of the codec.
    fn levels(&self) -> Option<Levels> {
        Some(Levels { min: i8::MIN, max: i8::MAX, default: 0 })
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        Ok(Box::new(Remote { codec: self.0, level: options.level }))
    }
}

struct Remote {
    codec: u8,
    level: Option<i8>,
}

impl Coder for Remote {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        match compress(self.codec, self.level, input) {
            Some(packed) => out.extend_from_slice(&packed),
            // The codec failed. A result longer than the message makes the session send the message
            // uncompressed.
            None => out.resize(out.len() + input.len() + 1, 0),
        }
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let plain = decompress(self.codec, input, limit).ok_or(CodecError::Malformed)?;
        out.extend_from_slice(&plain);
        Ok(())
    }

    fn memory(&self) -> Memory {
        // The codec uses memory of the other module, none of this one.
        Memory::default()
    }
}
