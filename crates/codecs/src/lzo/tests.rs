use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::CodecError;
use crate::lz77::Table;
use crate::samples::{mixed, noise};

fn compressed(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress::block(input, &mut Table::default(), &mut out);
    out
}

fn decompressed(block: &[u8], length: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![7];
    let outcome = decompress::block(block, length, &mut out);
    assert_eq!(out.remove(0), 7);
    assert!(outcome.is_ok() || out.is_empty());
    outcome.map(|()| out)
}

/// Compresses with each implementation and decompresses with both.
fn agree(message: &[u8]) {
    let ours = compressed(message);
    assert_eq!(decompressed(&ours, message.len()).unwrap(), message);
    let mut plain = vec![0; message.len()];
    assert_eq!(lzokay::decompress::decompress(&ours, &mut plain).unwrap(), message.len());
    assert_eq!(plain, message);
    // The other implementation writes no valid block for an empty message.
    if !message.is_empty() {
        let theirs = lzokay::compress::compress(message).unwrap();
        assert_eq!(decompressed(&theirs, message.len()).unwrap(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn another_implementation_reads_and_writes_the_same(message in mixed()) {
        agree(&message);
    }

    #[test]
    fn arbitrary_blocks_that_we_read_the_other_reads_alike(
        block in proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..36], 0..60),
        length in 0usize..600,
    ) {
        let block = [&block[..], &END].concat();
        if let Ok(plain) = decompressed(&block, length) {
            let mut theirs = vec![0; length];
            prop_assert_eq!(lzokay::decompress::decompress(&block, &mut theirs), Ok(length));
            prop_assert_eq!(plain, theirs);
        }
    }

    #[test]
    fn only_the_whole_block_and_the_exact_length_are_accepted(message in mixed(), cut: prop::sample::Index) {
        let block = compressed(&message);
        prop_assert!(decompressed(&block[..cut.index(block.len())], message.len()).is_err());
        prop_assert!(decompressed(&[&block[..], &[0]].concat(), message.len()).is_err());
        prop_assert!(decompressed(&block, message.len() + 1).is_err());
        if !message.is_empty() {
            prop_assert!(decompressed(&block, message.len() - 1).is_err());
        }
    }
}

#[test]
fn all_numbers_of_literals_are_coded() {
    let counts = (0..24).chain(235..242).chain(270..276).chain(525..531).chain([5000]);
    for count in counts {
        let literals = noise(count, 1);
        agree(&literals);
        agree(&[&literals[..], &[1; 20], &literals, &[1; 20], &noise(count, 2)].concat());
    }
}

#[test]
fn all_distances_and_lengths_are_coded() {
    for distance in [1, 2, 8, 2047, 2048, 2049, 16383, 16384, 16385, 32767, 32768, 49151, 49152] {
        for length in [4, 8, 9, 10, 33, 34, 264, 265, 300, 600, 5000] {
            let mut message = noise(distance, 3);
            for at in 0..length {
                message.push(message[at]);
            }
            agree(&message);
        }
    }
}

#[test]
fn every_instruction_is_read() {
    // 3000 literals, then each instruction once.
    let mut block = vec![0];
    block.extend([0; 11]);
    block.push((3000 - 18 - 11 * 255) as u8);
    block.extend(noise(3000, 4));
    block.extend([0b0000_1001, 5, b'x']); // 3 from 2071, one literal
    block.extend([0b0000_0100, 0]); // 2 from 2
    block.extend([0b0000_0001, 1, 2, 3, 4]); // 4 literals
    block.extend([0b0110_1010, 3, b'y', b'z']); // 4 from 27, two literals
    block.extend([0b1110_0000, 3]); // 8 from 25
    block.extend([0b0010_0011, 0x04, 0x20]); // 5 from 2050
    block.extend([0b0010_0000, 0, 7, 0xfc, 0x0b]); // 295 from 768
    block.extend(END);
    let length = 3000 + 3 + 1 + 2 + 4 + 4 + 2 + 8 + 5 + 2 + 31 + 255 + 7;
    let plain = decompressed(&block, length).unwrap();
    let mut theirs = vec![0; length];
    assert_eq!(lzokay::decompress::decompress(&block, &mut theirs), Ok(length));
    assert_eq!(plain, theirs);
    let text = noise(3000, 4);
    assert_eq!(plain[3000..3003], text[3000 - 2071..][..3]);
    assert_eq!(plain[3003..3010], [b'x', plain[3002], b'x', 1, 2, 3, 4]);
}

#[test]
fn copies_from_before_the_start_are_refused() {
    for wrong in [
        &[64, 0, 17, 0, 0][..],
        &[18, 1, 68, 0, 17, 0, 0],
        &[18, 1, 33, 4, 0, 17, 0, 0],
        &[18, 1, 17, 4, 0, 17, 0, 0],
        &[16, 0, 0],
        &[17, 4, 0],
        &[17, 1, 0],
    ] {
        for length in 0..8 {
            assert!(decompressed(wrong, length).is_err(), "{wrong:?}");
        }
    }
}

#[test]
fn an_empty_message_is_coded_as_the_end_mark() {
    assert_eq!(compressed(&[]), END);
    assert_eq!(decompressed(&END, 0), Ok(vec![]));
}

#[test]
fn text_becomes_much_smaller() {
    let text =
        b"It is a truth universally acknowledged, that it is acknowledged universally. ".repeat(10);
    assert!(compressed(&text).len() < text.len() / 8);
}
