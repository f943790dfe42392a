//! The receiver's buffer: when each frame is played, and which frames come too late for that.
//!
//! The delay of the buffer is the same for all frames of a talk, and changes in pauses: it is the
//! time in which all but one in 500 of the newest frames came, and a margin. A frame that has not
//! come when it is to be played is missed, whatever comes later.

use std::time::Duration;

use super::speech::Frame;
use crate::statistics::percentile;

/// What passes from the mouth to the network, and from the buffer to the ear: a frame of 20 ms is
/// complete, Opus looks 6.5 ms ahead, and the sound card holds 10 ms at each end.
const AROUND_MS: f64 = 20.0 + 6.5 + 20.0;
/// The frames that the delay is computed from, and the share of them that would have been in time.
const LATELY: usize = 500;
const IN_TIME: f64 = 99.8;
/// Until this number of frames came, the delay is [`FIRST_MS`].
const FEW: usize = 50;
const FIRST_MS: f64 = 100.0;
/// Half of a frame is added to the delay, as the timers of browsers and sound cards need it.
const MARGIN_MS: f64 = 10.0;
/// The longest delay: more than that from mouth to ear is no conversation (ITU-T G.114).
const MOST_MS: f64 = 400.0;

/// What a listener heard of one person.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// Frames in which the person talked.
    pub(super) frames: usize,
    /// The number of these frames that were not played, and of those that never came.
    pub(super) missed: usize,
    pub(super) never: usize,
    /// The time from mouth to ear of each played frame, in ms.
    pub(super) delays: Vec<f64>,
}

/// Plays the frames, of which each came at a time, or never.
pub(super) fn play(frames: &[Frame], came: &[Option<Duration>]) -> Heard {
    let mut heard = Heard::default();
    let (mut lately, mut delay, mut talked) = (Vec::new(), FIRST_MS, false);
    for (frame, came) in frames.iter().zip(came) {
        if frame.voice && !talked {
            delay = delay_of(&lately).unwrap_or(delay);
        }
        talked = frame.voice;
        let took = came.map(|came| came.saturating_sub(frame.at()).as_secs_f64() * 1e3);
        lately.extend(took);
        if !frame.voice {
            continue;
        }
        heard.frames += 1;
        match took {
            Some(took) if took <= delay => heard.delays.push(delay + AROUND_MS),
            _ => heard.missed += 1,
        }
        heard.never += usize::from(took.is_none());
    }
    heard
}

fn delay_of(lately: &[f64]) -> Option<f64> {
    let lately = &lately[lately.len().saturating_sub(LATELY)..];
    if lately.len() < FEW {
        return None;
    }
    let mut sorted = lately.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some((percentile(&sorted, IN_TIME) + MARGIN_MS).min(MOST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_follows_the_frames_in_pauses_only() {
        // Talks of 100 frames, and one frame of each pause.
        let frames: Vec<Frame> =
            (0..1010).map(|slot| Frame { slot, size: 60, voice: slot % 101 != 100 }).collect();
        let after = |ms: u64| move |frame: &Frame| Some(frame.at() + Duration::from_millis(ms));
        let heard = play(&frames, &frames.iter().map(after(30)).collect::<Vec<_>>());
        assert_eq!((heard.frames, heard.missed, heard.never), (1000, 0, 0));
        // 100 ms at first, and 40 ms from the second talk on.
        assert_eq!((heard.delays[0], heard.delays[100]), (146.5, 86.5));
        // When the path becomes slower, what is left of the talk is missed.
        let slower = |frame: &Frame| after(if frame.slot < 555 { 30 } else { 80 })(frame);
        let heard = play(&frames, &frames.iter().map(slower).collect::<Vec<_>>());
        assert_eq!((heard.missed, heard.delays.last().copied()), (50, Some(136.5)));
    }
}
