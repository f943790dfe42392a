//! Packed messages that nobody packed: with or without a dictionary and a check they are refused, or become a message
//! within the limit.
//!
//! The first octet says how the packer is made, and whether the message names the right dictionary; the rest is the
//! message.

#![no_main]

use groupwire_codecs::{ALL, Choice, Packer};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const LIMITS: [usize; 4] = [0, 10, 2000, 20_000];
const DICTIONARY: &[u8] = b"0123456789 again and again the same words, again and again";
const BEFORE: &[u8] = b"what was there";
/// Working memory of the hungriest codec, whatever its input claims.
const MEMORY: usize = 32 << 20;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let how = input.byte();
    let limit = LIMITS[usize::from(how) % LIMITS.len()];
    let mut packer = Packer::new(ALL);
    if how & 4 != 0 {
        packer = packer.with_dictionary(DICTIONARY);
    }
    if how & 8 != 0 {
        packer = packer.with_check();
    }
    let mut packed = input.rest().to_vec();
    if how & 4 != 0 && how & 16 != 0 && !packed.is_empty() {
        packed[0] |= 16;
        packed.splice(1..1, dictionary_id());
    }
    let mut out = BEFORE.to_vec();
    let outcome = packer.unpack(&packed, limit, &mut out);
    assert_eq!(&out[..BEFORE.len()], BEFORE);
    assert!(out.len() <= BEFORE.len() + if outcome.is_ok() { limit } else { 0 });
    assert!(out.capacity() <= 2 * (BEFORE.len() + limit) + 8192, "{}", out.capacity());
    assert!(packer.memory().decompress <= MEMORY, "{:?}", packer.memory());
});

/// What names the dictionary: it is behind the first octet of whatever is packed with it.
fn dictionary_id() -> Vec<u8> {
    let mut packed = Vec::new();
    let mut packer = Packer::new(ALL).with_dictionary(DICTIONARY);
    let taking = ALL.iter().find(|codec| codec.takes_dictionary());
    let Some(codec) = taking else { return Vec::new() };
    packer
        .pack(Choice::codec(codec.number()), &DICTIONARY.repeat(9), &mut packed)
        .expect("there is the codec");
    assert_eq!(packed[0] & 16, 16);
    packed[1..5].to_vec()
}
