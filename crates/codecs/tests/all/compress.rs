//! `compress`, `uncompress` and `gzip` read what our LZW writes, and we read what `compress`
//! writes.

use groupwire_codecs::by_name;

use crate::programs::{run, samples};

/// The start of a file: the magic number, then block mode and 16 bits.
const HEADER: [u8; 3] = [0x1f, 0x9d, 0x90];

#[test]
fn the_programs_read_what_we_write() {
    let Some(lzw) = by_name("lzw") else { return };
    for program in ["uncompress", "compress", "gzip"] {
        for (name, original) in samples() {
            let mut file = HEADER.to_vec();
            lzw.compress(&original, &mut file);
            let file_name = format!("{name}-{program}.Z");
            let Some(plain) = run(program, &["-dc"], &file_name, &file) else { break };
            assert!(plain == original, "{program} of {name}");
        }
    }
}

#[test]
fn we_read_what_compress_writes() {
    let Some(lzw) = by_name("lzw") else { return };
    for (name, original) in samples() {
        let Some(file) = run("compress", &["-cf"], &format!("{name}-plain"), &original) else {
            return;
        };
        let stream = file.strip_prefix(&HEADER).unwrap();
        let mut plain = Vec::new();
        lzw.decompress(stream, original.len(), &mut plain).unwrap();
        assert!(plain == original, "{name}");
    }
}
