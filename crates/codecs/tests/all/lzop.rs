//! `lzop` reads what our LZO writes, and we read what it writes.
//!
//! Format of its files, with big-endian numbers: a magic number; the versions of the program, its
//! library and the format; method, level and flags; mode, time and name of the original; a checksum
//! of all fields after the magic number. Then blocks: the lengths of the original and of the block,
//! checksums as the flags say, and the block, which is the original if it would be no smaller. A
//! length of zero ends the file.

use groupwire_codecs::by_name;

use crate::programs::{run, samples};

const MAGIC: [u8; 9] = [0x89, b'L', b'Z', b'O', 0, b'\r', b'\n', 0x1a, b'\n'];
/// The largest block of an lzop file, bytes.
const BLOCK: usize = 256 << 10;
/// The flag of a checksum of each block's original.
const CHECKED: usize = 1;

#[test]
fn lzop_reads_what_we_write() {
    let Some(lzo) = by_name("lzo") else { return };
    for (name, original) in samples() {
        let mut file = header();
        for block in original.chunks(BLOCK) {
            let mut packed = Vec::new();
            lzo.compress(block, &mut packed);
            let packed = without_length(&packed);
            let packed = if packed.len() < block.len() { packed } else { block };
            number(block.len(), &mut file);
            number(packed.len(), &mut file);
            file.extend_from_slice(packed);
        }
        number(0, &mut file);
        let Some(plain) = run("lzop", &["-dc"], &format!("{name}.lzo"), &file) else { return };
        assert!(plain == original, "{name}");
    }
}

#[test]
fn we_read_what_lzop_writes() {
    let Some(lzo) = by_name("lzo") else { return };
    // From the fastest level to the smallest, which uses all instructions of the format.
    for level in ["-1", "-3", "-7", "-9"] {
        for (name, original) in samples() {
            let Some(file) = run("lzop", &["-c", level], &format!("{name}{level}"), &original)
            else {
                return;
            };
            let mut plain = Vec::new();
            for (length, block) in blocks(&file) {
                if block.len() == length {
                    plain.extend_from_slice(block);
                    continue;
                }
                let packed = [&leb128(length)[..], block].concat();
                lzo.decompress(&packed, length, &mut plain).unwrap();
            }
            assert!(plain == original, "{name} at {level}");
        }
    }
}

fn header() -> Vec<u8> {
    let mut header = Vec::new();
    for version in [0x1030u16, 0x20a0, 0x0940] {
        header.extend(version.to_be_bytes());
    }
    // LZO1X-1 at level 5, with no flags: no checksums. A plain file, of no time and no name.
    header.extend([1, 5]);
    for field in [0, 0o100_644, 0, 0] {
        number(field, &mut header);
    }
    header.push(0);
    let check = adler32(&header);
    header.extend(check.to_be_bytes());
    [&MAGIC[..], &header].concat()
}

/// The blocks of a file that `lzop` wrote, each with the length of its original.
fn blocks(file: &[u8]) -> Vec<(usize, &[u8])> {
    const FLAGS: usize = 3 * 2 + 2;
    const FIELDS: usize = FLAGS + 4 * 4;
    let rest = file.strip_prefix(&MAGIC).expect("a file of lzop");
    let name = usize::from(rest[FIELDS]);
    let (header, mut rest) = rest.split_at(FIELDS + 1 + name);
    assert_eq!(take(&mut rest), adler32(header) as usize);
    let flags = take(&mut &header[FLAGS..]);
    assert_eq!(flags & !(CHECKED | 0xff00_0008), 0, "how it was called, where, and a checksum");
    let mut blocks = Vec::new();
    loop {
        let length = take(&mut rest);
        if length == 0 {
            assert!(rest.is_empty());
            return blocks;
        }
        let packed = take(&mut rest);
        if flags & CHECKED != 0 {
            take(&mut rest);
        }
        let (block, after) = rest.split_at(packed);
        blocks.push((length, block));
        rest = after;
    }
}

fn number(number: usize, out: &mut Vec<u8>) {
    out.extend((number as u32).to_be_bytes());
}

fn take(rest: &mut &[u8]) -> usize {
    let (number, after) = rest.split_first_chunk().expect("the file is whole");
    *rest = after;
    u32::from_be_bytes(*number) as usize
}

/// RFC 1950, section 9.
fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

fn leb128(mut length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out
}

fn without_length(packed: &[u8]) -> &[u8] {
    let last = packed.iter().position(|&byte| byte < 0x80).expect("a length has an end");
    &packed[last + 1..]
}
