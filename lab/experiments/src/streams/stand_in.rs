//! Generated substitutes, from a seed, for files that this machine does not have.

use crate::drawing::random::Random;
use crate::drawing::{Format, encode, generate};

/// Bytes of a pack of an MPEG program stream (ISO 11172-1), as on Video CDs.
const PACK: usize = 2324;
/// The bytes of the headers in a pack.
const HEADERS: usize = 30;

/// Compressed pictures: noise behind the headers of packs, which a codec cannot compress either.
pub(super) fn mpeg(seed: u64, size: usize) -> Vec<u8> {
    let (mut random, mut bytes) = (Random::new(seed), Vec::with_capacity(size + PACK));
    let mut clock: u32 = 0;
    while bytes.len() < size {
        clock = clock.wrapping_add(1200);
        bytes.extend([0, 0, 1, 0xBA]);
        bytes.extend(clock.to_be_bytes());
        bytes.extend([0x80, 0x1B, 0x91, 0x00]);
        bytes.extend([0, 0, 1, 0xE0]);
        bytes.extend(((PACK - HEADERS) as u16).to_be_bytes());
        bytes.extend([0x60, 0x2E, 0x31]);
        bytes.extend(clock.to_be_bytes());
        bytes.extend([0x11, 0x00, 0x07, 0xD8, 0x61]);
        bytes.extend((HEADERS..PACK).map(|_| random.below(256) as u8));
    }
    bytes.truncate(size);
    bytes
}

/// Uncompressed sound: 16 bit, mono, tones that begin and end, and noise.
pub(super) fn sound(seed: u64, size: usize) -> Vec<u8> {
    /// The length of a tone in samples.
    const NOTE: usize = 6000;
    let (mut random, mut bytes) = (Random::new(seed), Vec::with_capacity(size + 2 * NOTE));
    while bytes.len() < size {
        let (loud, noise) = (random.between(500.0, 6000.0), random.between(5.0, 60.0));
        // A rotation by an angle that is small enough to replace sine and cosine.
        let step = random.between(0.01, 0.2);
        let (cosine, sine) = (1.0 - step * step / 2.0, step);
        let norm = (cosine * cosine + sine * sine).sqrt();
        let (mut x, mut y) = (loud, 0.0);
        for _ in 0..NOTE {
            (x, y) = ((x * cosine - y * sine) / norm, (x * sine + y * cosine) / norm);
            bytes.extend(((x + noise * random.normal()) as i16).to_le_bytes());
        }
    }
    bytes.truncate(size);
    bytes
}

/// Four letters with a repeat now and then, as in the genome of a bacterium.
pub(super) fn genome(seed: u64, size: usize) -> Vec<u8> {
    let (mut random, mut bytes) = (Random::new(seed), Vec::with_capacity(size + 1000));
    while bytes.len() < size {
        if bytes.len() > 10_000 && random.chance(0.02) {
            let (length, from) = (20 + random.below(400), random.below(bytes.len() - 1000));
            bytes.extend_from_within(from..from + length);
        } else {
            bytes.extend((0..200).map(|_| random.pick(b"acgt")));
        }
    }
    bytes.truncate(size);
    bytes
}

/// Text of a drawing session.
pub(super) fn text(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Text, seed, size)
}

/// A drawing session in XML.
pub(super) fn xml(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Xml, seed, size)
}

/// A drawing session as serialized objects.
pub(super) fn objects(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Java, seed, size)
}

fn session(format: Format, seed: u64, size: usize) -> Vec<u8> {
    /// The number of events of a session in the GMC paper.
    const EVENTS: usize = 12_850;
    let mut bytes = Vec::with_capacity(size);
    for round in 0.. {
        for message in encode(format, &generate(seed.wrapping_add(round << 32), EVENTS)) {
            bytes.extend(message);
            if bytes.len() >= size {
                bytes.truncate(size);
                return bytes;
            }
        }
    }
    bytes
}

/// Rows of a table: numbers that count, numbers of few values, noise, and names.
pub(super) fn records(seed: u64, size: usize) -> Vec<u8> {
    const NAMES: [&[u8]; 6] =
        [b"BENCHMARK ", b"THE ASAP  ", b"UPDATES   ", b"NOVEMBER  ", b"TRANSACT  ", b"RECORDS   "];
    let (mut random, mut bytes) = (Random::new(seed), Vec::with_capacity(size + 100));
    let mut key: u32 = 0;
    while bytes.len() < size {
        key += 1 + random.below(3) as u32;
        bytes.extend(key.to_le_bytes());
        bytes.extend((random.below(1_000_000_000) as u32).to_le_bytes());
        bytes.extend((random.below(20) as u32).to_le_bytes());
        bytes.extend(random.between(-500.0, 500.0).to_le_bytes());
        bytes.extend(random.pick(&NAMES));
        bytes.extend((0..10).map(|_| b'0' + random.below(10) as u8));
        bytes.extend([0; 4]);
    }
    bytes.truncate(size);
    bytes
}
