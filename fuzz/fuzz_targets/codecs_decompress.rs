//! Every codec's decompressor: whatever it is given, it keeps to its limit, leaves what was there,
//! and serves the next message as if nothing had been.
//!
//! The first byte picks the codec, the second one the limit and whether there is a dictionary; the
//! rest is decompressed.

#![no_main]

use groupwire_codecs::{ALL, Options, decompress_after};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const LIMITS: [usize; 4] = [0, 100, 3000, 70_000];
const DICTIONARY: &[u8] = br#"{"id":1,"kind":"stroke","color":"black","points":[[10,20],[11,22]]}"#;
const BEFORE: &[u8] = b"what was there";
/// Working memory of the hungriest codec, whatever its input claims.
const MEMORY: usize = 32 << 20;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let codec = ALL[usize::from(input.byte()) % ALL.len()];
    let how = input.byte();
    let limit = LIMITS[usize::from(how) % LIMITS.len()];
    let with_dictionary = codec.takes_dictionary() && how & 4 != 0;
    let options = Options {
        dictionary: if with_dictionary { DICTIONARY } else { &[] },
        ..Options::default()
    };
    let mut coder = codec.coder(&options).expect("the codec can do that");
    let mut out = BEFORE.to_vec();
    let outcome = match with_dictionary && how & 0x80 != 0 {
        false => coder.decompress(input.rest(), limit, &mut out),
        // The same, where the dictionary is what came before in a stream.
        true => decompress_after(codec, DICTIONARY, input.rest(), limit, &mut out),
    };
    assert_eq!(&out[..BEFORE.len()], BEFORE);
    assert!(out.len() <= BEFORE.len() + if outcome.is_ok() { limit } else { 0 });
    // Vectors grow by doubling, and some codecs by pieces.
    assert!(out.capacity() <= 2 * (BEFORE.len() + limit) + 8192, "{}", out.capacity());
    assert!(coder.memory().decompress <= MEMORY, "{:?}", coder.memory());
    if how & 0x38 == 0 {
        let (mut packed, mut plain) = (Vec::new(), Vec::new());
        coder.compress(DICTIONARY, &mut packed);
        coder.decompress(&packed, DICTIONARY.len(), &mut plain).expect("it is its own");
        assert_eq!(plain, DICTIONARY);
    }
});
