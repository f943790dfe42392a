//! Packed messages that nobody packed are refused, or become a message within the limit.
//!
//! The first byte chooses the limit; the rest is the message.

#![no_main]

use groupwire_codecs::{ALL, Packer};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const LIMITS: [usize; 4] = [0, 10, 2000, 20_000];
const BEFORE: &[u8] = b"what was there";
/// Working memory of the hungriest codec, whatever its input claims.
const MEMORY: usize = 32 << 20;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let how = input.byte();
    let limit = LIMITS[usize::from(how) % LIMITS.len()];
    let mut packer = Packer::new(ALL);
    let mut out = BEFORE.to_vec();
    let outcome = packer.unpack(input.rest(), limit, &mut out);
    assert_eq!(&out[..BEFORE.len()], BEFORE);
    assert!(out.len() <= BEFORE.len() + if outcome.is_ok() { limit } else { 0 });
    assert!(out.capacity() <= 2 * (BEFORE.len() + limit) + 8192, "{}", out.capacity());
    assert!(packer.memory().decompress <= MEMORY, "{:?}", packer.memory());
});
