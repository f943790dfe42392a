//! Common programs read what the codecs write, and the codecs read what those programs write.
//!
//! The tests convert between a codec's bytes and the program's file format. A test whose
//! program is not installed reports itself as skipped.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use groupwire_codecs::{Options, by_name};

use crate::programs::skip;

/// The messages for every codec.
fn payloads() -> Vec<Vec<u8>> {
    let text = include_bytes!("../../src/codec.rs");
    let mut random = 7u32;
    let random = |_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    };
    let random: Vec<u8> = (0..5000).map(random).collect();
    let mut large = text.repeat(30);
    large.truncate(100_000);
    vec![vec![], vec![b'x'], text[..1400].to_vec(), random, vec![0; 3000], large]
}

/// The tested levels of a codec; the default first.
fn levels(codec: &str) -> Vec<Option<i8>> {
    let levels = by_name(codec).and_then(groupwire_codecs::Codec::levels);
    levels.map_or(vec![None], |levels| {
        let between = levels.min + (levels.max - levels.min) / 2;
        vec![None, Some(levels.min), Some(between), Some(levels.max)]
    })
}

/// The output of a program for `input`; `None` if it is not installed. Panics if it fails.
fn run(program: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip(program);
            return None;
        }
        Err(error) => panic!("{program}: {error}"),
    };
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program ends");
    // A program that fails stops reading.
    let _ = writer.join().expect("writing does not panic");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    Some(output.stdout)
}

/// Checks both directions for every payload and level. `wrap` makes a file of a codec's bytes and
/// the payload; `unwrap` returns the codec's bytes in a file.
fn check(
    codec: &str,
    program: &str,
    (compress, decompress): (&[&[&str]], &[&str]),
    wrap: impl Fn(&[u8], &[u8]) -> Vec<u8>,
    unwrap: impl Fn(&[u8], &[u8]) -> Vec<u8>,
) {
    let Some(known) = by_name(codec) else { return };
    for payload in payloads() {
        for level in levels(codec) {
            let mut coder =
                known.coder(&Options { level, dictionary: &[] }).expect("its own level");
            let mut packed = Vec::new();
            coder.compress(&payload, &mut packed);
            let Some(plain) = run(program, decompress, &wrap(&packed, &payload)) else { return };
            assert!(plain == payload, "{program} reads {codec} {level:?}, {} bytes", payload.len());
        }
        for arguments in compress {
            let Some(file) = run(program, arguments, &payload) else { return };
            let packed = unwrap(&file, &payload);
            let mut coder = known.coder(&Options::default()).expect("the default");
            let mut plain = Vec::new();
            let outcome = coder.decompress(&packed, payload.len(), &mut plain);
            let what = format!("{codec} reads {program} {arguments:?}, {} bytes", payload.len());
            assert_eq!(outcome, Ok(()), "{what}");
            assert!(plain == payload, "{what}");
            plain.clear();
            known.decompress(&packed, payload.len(), &mut plain).expect(&what);
            assert!(plain == payload, "{what}, at once");
        }
    }
}

/// The length that some codecs write before a block, as LEB128.
fn leb128(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes
}

/// The bytes after the length that [`leb128`] makes.
fn behind_leb128(packed: &[u8]) -> &[u8] {
    let length = packed.iter().take_while(|&&byte| byte >= 0x80).count() + 1;
    &packed[length..]
}

#[test]
fn lz4() {
    // A frame (LZ4 Frame Format 1.6) of one block of at most 4 MB; only its header has a checksum.
    let wrap = |packed: &[u8], payload: &[u8]| {
        let mut file = vec![0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73];
        let block = behind_leb128(packed);
        if !payload.is_empty() {
            file.extend_from_slice(&(block.len() as u32).to_le_bytes());
            file.extend_from_slice(block);
        }
        file.extend_from_slice(&[0; 4]);
        file
    };
    let unwrap = |file: &[u8], payload: &[u8]| {
        let mut packed = leb128(payload.len());
        let size = u32::from_le_bytes(*file[7..].first_chunk().unwrap());
        let block = &file[11..][..(size & 0x7fff_ffff) as usize];
        if size >> 31 == 0 && size != 0 {
            packed.extend_from_slice(block);
            return packed;
        }
        // The program stored the payload, so there is no compressed block; make a block of
        // literals.
        packed.push(payload.len().min(15) as u8 * 16);
        if let Some(mut rest) = payload.len().checked_sub(15) {
            while rest >= 255 {
                packed.push(255);
                rest -= 255;
            }
            packed.push(rest as u8);
        }
        packed.extend_from_slice(payload);
        packed
    };
    let compress: &[&[&str]] = &[
        &["-c", "-1", "-B7", "--no-frame-crc", "-BI"],
        &["-c", "-9", "-B7", "--no-frame-crc", "-BI"],
        &["-c", "-12", "-B7", "--no-frame-crc", "-BI"],
    ];
    check("lz4", "lz4", (compress, &["-d", "-c"]), wrap, unwrap);
}

#[test]
fn gzip() {
    // A member (RFC 1952) without a name.
    let wrap = |packed: &[u8], payload: &[u8]| {
        let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        file.extend_from_slice(packed);
        file.extend_from_slice(&crc32(payload).to_le_bytes());
        file.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        file
    };
    let unwrap = |file: &[u8], _: &[u8]| file[10..file.len() - 8].to_vec();
    let compress: &[&[&str]] = &[&["-n", "-1", "-c"], &["-n", "-6", "-c"], &["-n", "-9", "-c"]];
    check("zlib", "gzip", (compress, &["-d", "-c"]), wrap, unwrap);
}

/// CRC-32 (RFC 1952, section 8).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[test]
fn zstd() {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let wrap = |packed: &[u8], _: &[u8]| [&MAGIC, packed].concat();
    let unwrap = |file: &[u8], _: &[u8]| file.strip_prefix(&MAGIC).unwrap().to_vec();
    let compress: &[&[&str]] = &[
        &["-c", "--no-check", "-1"],
        &["-c", "--no-check", "-19"],
        &["-c", "--no-check", "--fast=5"],
        &["-c", "--no-check", "--no-content-size", "-3"],
        &["-c", "--no-check", "--long=27", "-3"],
    ];
    check("zstd", "zstd", (compress, &["-d", "-c"]), wrap, unwrap);
}

#[test]
fn brotli() {
    let as_it_is = |bytes: &[u8], _: &[u8]| bytes.to_vec();
    let compress: &[&[&str]] =
        &[&["-c", "-q", "0"], &["-c", "-q", "5"], &["-c", "-q", "11", "-w", "24"]];
    check("brotli", "brotli", (compress, &["-d", "-c"]), as_it_is, as_it_is);
}

#[test]
fn bzip2() {
    let as_it_is = |bytes: &[u8], _: &[u8]| bytes.to_vec();
    let compress: &[&[&str]] = &[&["-c", "-1"], &["-c", "-9"]];
    check("bzip2", "bzip2", (compress, &["-d", "-c"]), as_it_is, as_it_is);
}

#[test]
fn xz() {
    // The header of `.lzma`: properties, the size of the dictionary, the length.
    let wrap = |packed: &[u8], payload: &[u8]| {
        let mut file = vec![(2 * 5) * 9 + 3];
        // xz accepts dictionary sizes of 2^n and 2^n + 2^(n-1) bytes only.
        file.extend_from_slice(&(payload.len().next_power_of_two().max(4096) as u32).to_le_bytes());
        file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        file.extend_from_slice(behind_leb128(packed));
        file
    };
    let unwrap = |file: &[u8], payload: &[u8]| {
        let mut packed = leb128(payload.len());
        packed.extend_from_slice(file);
        packed
    };
    let decompress = &["--format=lzma", "-d", "-c"];
    // Raw streams without a header. liblzma writes an end marker, which the codec accepts.
    let compress: &[&[&str]] = &[
        &["--format=raw", "--lzma1=preset=0,lc=3,lp=0,pb=2", "-c"],
        &["--format=raw", "--lzma1=preset=6,lc=3,lp=0,pb=2", "-c"],
        &["--format=raw", "--lzma1=preset=9e,lc=3,lp=0,pb=2", "-c"],
    ];
    check("lzma", "xz", (compress, decompress), wrap, unwrap);
}

/// zstd with a dictionary.
#[test]
fn a_dictionary() {
    let dictionary = include_bytes!("../../src/packer.rs");
    let file = std::env::temp_dir().join(format!("groupwire-codecs-{}", std::process::id()));
    std::fs::write(&file, dictionary).unwrap();
    let name = file.display().to_string();
    let payload = &dictionary[1000..2400];
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let Some(zstd) = by_name("zstd") else { return };
    let mut coder = zstd.coder(&Options { level: None, dictionary }).unwrap();
    let mut packed = magic.to_vec();
    coder.compress(payload, &mut packed);
    assert!(packed.len() < 100, "{}", packed.len());
    if let Some(plain) = run("zstd", &["-d", "-c", "-D", &name], &packed) {
        assert!(plain == payload);
    }
    let arguments = ["-c", "--no-check", "--no-dictID", "-D", &name];
    if let Some(file) = run("zstd", &arguments, payload) {
        let mut plain = Vec::new();
        coder.decompress(file.strip_prefix(&magic).unwrap(), payload.len(), &mut plain).unwrap();
        assert!(plain == payload);
    }
    std::fs::remove_file(file).unwrap();
}
