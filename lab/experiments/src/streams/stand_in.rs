//! What stands for files that are not there, made from a seed.

use crate::drawing::random::Random;
use crate::drawing::{Format, encode, generate};

/// Octets of a pack of an MPEG program stream (ISO 11172-1), as on Video CDs.
const PACK: usize = 2324;
/// Of these, of its headers.
const HEADERS: usize = 30;

/// Compressed pictures: noise behind the headers of packs, which is as much as a codec finds in them.
pub(super) fn mpeg(seed: u64, size: usize) -> Vec<u8> {
    let (mut random, mut octets) = (Random::new(seed), Vec::with_capacity(size + PACK));
    let mut clock: u32 = 0;
    while octets.len() < size {
        clock = clock.wrapping_add(1200);
        octets.extend([0, 0, 1, 0xBA]);
        octets.extend(clock.to_be_bytes());
        octets.extend([0x80, 0x1B, 0x91, 0x00]);
        octets.extend([0, 0, 1, 0xE0]);
        octets.extend(((PACK - HEADERS) as u16).to_be_bytes());
        octets.extend([0x60, 0x2E, 0x31]);
        octets.extend(clock.to_be_bytes());
        octets.extend([0x11, 0x00, 0x07, 0xD8, 0x61]);
        octets.extend((HEADERS..PACK).map(|_| random.below(256) as u8));
    }
    octets.truncate(size);
    octets
}

/// Sound as it is: 16 bit, mono, tones that come and go, and noise.
pub(super) fn sound(seed: u64, size: usize) -> Vec<u8> {
    /// Samples that a tone lasts.
    const NOTE: usize = 6000;
    let (mut random, mut octets) = (Random::new(seed), Vec::with_capacity(size + 2 * NOTE));
    while octets.len() < size {
        let (loud, noise) = (random.between(500.0, 6000.0), random.between(5.0, 60.0));
        // A rotation, whose step is an angle small enough for sine and cosine to be as good as these.
        let step = random.between(0.01, 0.2);
        let (cosine, sine) = (1.0 - step * step / 2.0, step);
        let norm = (cosine * cosine + sine * sine).sqrt();
        let (mut x, mut y) = (loud, 0.0);
        for _ in 0..NOTE {
            (x, y) = ((x * cosine - y * sine) / norm, (x * sine + y * cosine) / norm);
            octets.extend(((x + noise * random.normal()) as i16).to_le_bytes());
        }
    }
    octets.truncate(size);
    octets
}

/// Four letters with a repeat now and then, as in the genome of a bacterium.
pub(super) fn genome(seed: u64, size: usize) -> Vec<u8> {
    let (mut random, mut octets) = (Random::new(seed), Vec::with_capacity(size + 1000));
    while octets.len() < size {
        if octets.len() > 10_000 && random.chance(0.02) {
            let (length, from) = (20 + random.below(400), random.below(octets.len() - 1000));
            octets.extend_from_within(from..from + length);
        } else {
            octets.extend((0..200).map(|_| random.pick(b"acgt")));
        }
    }
    octets.truncate(size);
    octets
}

/// Text of a drawing session.
pub(super) fn text(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Text, seed, size)
}

/// The same as XML.
pub(super) fn xml(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Xml, seed, size)
}

/// The same as serialized objects.
pub(super) fn objects(seed: u64, size: usize) -> Vec<u8> {
    session(Format::Java, seed, size)
}

fn session(format: Format, seed: u64, size: usize) -> Vec<u8> {
    /// A session's, in the GMC paper.
    const EVENTS: usize = 12_850;
    let mut octets = Vec::with_capacity(size);
    for round in 0.. {
        for message in encode(format, &generate(seed.wrapping_add(round << 32), EVENTS)) {
            octets.extend(message);
            if octets.len() >= size {
                octets.truncate(size);
                return octets;
            }
        }
    }
    octets
}

/// Rows of a table: numbers that count, numbers of few values, noise, and names.
pub(super) fn records(seed: u64, size: usize) -> Vec<u8> {
    const NAMES: [&[u8]; 6] =
        [b"BENCHMARK ", b"THE ASAP  ", b"UPDATES   ", b"NOVEMBER  ", b"TRANSACT  ", b"RECORDS   "];
    let (mut random, mut octets) = (Random::new(seed), Vec::with_capacity(size + 100));
    let mut key: u32 = 0;
    while octets.len() < size {
        key += 1 + random.below(3) as u32;
        octets.extend(key.to_le_bytes());
        octets.extend((random.below(1_000_000_000) as u32).to_le_bytes());
        octets.extend((random.below(20) as u32).to_le_bytes());
        octets.extend(random.between(-500.0, 500.0).to_le_bytes());
        octets.extend(random.pick(&NAMES));
        octets.extend((0..10).map(|_| b'0' + random.below(10) as u8));
        octets.extend([0; 4]);
    }
    octets.truncate(size);
    octets
}
