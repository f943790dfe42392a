//! What people say, and the messages that carry it.

use std::time::Duration;

use super::speech::{Frame, speech};
use crate::sim::random::derive;

/// The bytes before the Opus frame: loudness, the number of the frame's 20 ms, flags.
pub(super) const HEADER: usize = 4;
/// The bit that says that somebody talks; the levels of talk and of noise, in dB below the loudest.
const VOICE: u8 = 0x80;
const LOUD: u8 = 30;
const NOISE: u8 = 90;

/// What each person says.
#[derive(Debug)]
pub(super) struct Talk {
    /// Sorted by their slots.
    pub(super) frames: Vec<Vec<Frame>>,
}

impl Talk {
    pub(super) fn new(people: usize, length: Duration, seed: u64) -> Self {
        let each = (0..people).map(|who| speech(derive(seed, who as u64), length));
        Talk { frames: each.collect() }
    }

    /// The number of the frame that a message of this person carries. A slot fits the two bytes of
    /// a header, because sessions are shorter than 21 minutes.
    pub(super) fn find(&self, who: usize, message: &[u8]) -> Option<usize> {
        let &[_, high, low, _, ..] = message else { return None };
        let slot = u64::from(u16::from_be_bytes([high, low]));
        self.frames[who].binary_search_by_key(&slot, |frame| frame.slot).ok()
    }
}

/// What stands before the Opus frame of a message.
pub(super) fn header(frame: &Frame, flags: u8) -> [u8; HEADER] {
    let level = if frame.voice { VOICE | LOUD } else { NOISE };
    let [high, low] = (frame.slot as u16).to_be_bytes();
    [level, high, low, flags]
}
