//! The frames of sound that Opus makes of speech: their times and their sizes.
//!
//! Talk and pauses have the mean lengths of ITU-T P.59. A frame is 20 ms. While somebody talks, its
//! size varies around the mean of the bit rate as that of a variable rate does, and neighbours are
//! alike. In a pause Opus codes 200 ms more, of noise, and then nothing but one small frame in 400
//! ms (DTX).

use std::time::Duration;

use crate::drawing::random::Random;

/// The length of a frame in ms.
pub(super) const FRAME_MS: u64 = 20;
/// When the first frame is made: everybody has joined.
const START: u64 = 3_000 / FRAME_MS;
/// The mean lengths of talk and of pauses in ms, as ITU-T P.59 has them.
const TALK_MS: f64 = 1004.0;
const PAUSE_MS: f64 = 1587.0;
/// The mean size of a frame at 24 kbit/s.
const BYTES: f64 = 60.0;
/// How much sizes vary, as a share of the mean, and how alike neighbours are.
const SPREAD: f64 = 0.25;
const ALIKE: f64 = 0.8;
/// Noise after talk: the number of frames, and their size.
const TAIL: u64 = 10;
const TAIL_BYTES: usize = 24;
/// In a pause, every twentieth frame is sent; its size.
const RARE: u64 = 20;
const RARE_BYTES: usize = 8;

/// A frame of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The number of its 20 ms since the beginning.
    pub(super) slot: u64,
    /// The bytes of Opus.
    pub(super) size: usize,
    /// Whether somebody talks in it.
    pub(super) voice: bool,
}

impl Frame {
    /// When the encoder has made it.
    pub(super) fn at(&self) -> Duration {
        Duration::from_millis(self.slot * FRAME_MS)
    }
}

/// The frames of one person.
pub(super) fn speech(seed: u64, length: Duration) -> Vec<Frame> {
    let mut random = Random::new(seed);
    let (mut talks, mut since, mut size) = (false, TAIL + random.below(80) as u64, 0.0);
    let end = START + length.as_millis() as u64 / FRAME_MS;
    let mut frames = Vec::new();
    for slot in START..end {
        let mean = if talks { TALK_MS } else { PAUSE_MS };
        if random.chance(FRAME_MS as f64 / mean) {
            (talks, since) = (!talks, 0);
        }
        size = size * ALIKE + random.normal() * (1.0 - ALIKE * ALIKE).sqrt();
        let bytes = match (talks, since) {
            (true, _) => {
                Some((BYTES * (1.0 + SPREAD * size)).clamp(BYTES / 3.0, BYTES * 2.0) as usize)
            }
            (false, ..TAIL) => Some(TAIL_BYTES),
            (false, _) if since % RARE == TAIL - 1 => Some(RARE_BYTES),
            (false, _) => None,
        };
        since += 1;
        frames.extend(bytes.map(|size| Frame { slot, size, voice: talks }));
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speech_has_the_rate_and_the_pauses_that_are_meant() {
        let frames = speech(1, Duration::from_secs(3600));
        let voiced: Vec<&Frame> = frames.iter().filter(|frame| frame.voice).collect();
        let share = voiced.len() as f64 / (3600.0 * 50.0);
        assert!((0.35..0.42).contains(&share), "{share}");
        let kbit = voiced.iter().map(|one| one.size).sum::<usize>() as f64 * 8.0 * 0.05
            / voiced.len() as f64;
        assert!((23.0..25.0).contains(&kbit), "{kbit}");
        assert_eq!(frames, speech(1, Duration::from_secs(3600)));
        assert!(frames.windows(2).all(|pair| pair[0].slot < pair[1].slot));
    }
}
