//! Chooses the senders whose frames of sound the room passes on: those that are the loudest,
//! compared with their own average (wire W119). The first byte of a frame states its loudness, so
//! that no frame is decoded.
//!
//! A channel has a limited number of places. While one is free, any sender with voice gets it. When
//! all are taken, the sender that is further above its own average gets the place. A sender that
//! always states the largest loudness has no advantage: after ten seconds this is its average, and
//! any sender that begins to speak is further above its own.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ParticipantId;

/// A sender has its place for this long after its last frame with voice: longer than the pauses
/// between words.
const KEEPS_PLACE: Duration = Duration::from_millis(400);

/// A sender takes another one's place if it is ahead by this many decibels, so that two that are
/// about as loud do not take turns at each word.
const AHEAD: f32 = 6.0;

/// The length of a frame: each such span without a frame counts as one silent frame.
const FRAME: Duration = Duration::from_millis(20);

/// The number of frames over which the present loudness is smoothed: 80 ms, a syllable.
const PRESENT: f32 = 4.0;

/// The number of frames over which the usual loudness is averaged: ten seconds, several sentences.
const USUAL: f32 = 500.0;

/// The most senders whose loudness a channel remembers. The one that was heard longest ago is
/// forgotten for a new one.
const MOST_HEARD: usize = 256;

/// The bit of a frame's first byte that says that there is voice in it, and the level without
/// sound, as in RFC 6464.
const VOICE: u8 = 0x80;
const SILENCE: u8 = 127;

/// The senders of one channel.
#[derive(Debug, Default)]
pub(in crate::room) struct Speakers {
    heard: BTreeMap<ParticipantId, Loudness>,
    /// The senders whose frames are passed on.
    places: Vec<ParticipantId>,
}

/// How loud a sender is, in decibels above silence.
#[derive(Debug, Clone, Copy, Default)]
struct Loudness {
    present: f32,
    usual: f32,
    /// When the last frame came.
    last: Duration,
    /// When the last frame with voice came.
    voiced: Option<Duration>,
}

impl Speakers {
    /// Hears a frame that begins with this byte. True if the frame is passed on, of at most `most`
    /// senders at a time.
    pub(in crate::room) fn hear(
        &mut self,
        now: Duration,
        sender: ParticipantId,
        first: Option<u8>,
        most: u8,
    ) -> bool {
        let first = first.unwrap_or(SILENCE);
        let has_voice = first & VOICE != 0;
        self.make_room(sender);
        let loudness =
            self.heard.entry(sender).or_insert(Loudness { last: now, ..Loudness::default() });
        loudness.hear(now, if has_voice { SILENCE - (first & SILENCE) } else { 0 });
        if has_voice {
            loudness.voiced = Some(now);
        }
        let heard = &self.heard;
        self.places.retain(|id| heard.get(id).is_some_and(|one| one.keeps_place(now)));
        if !has_voice || self.places.contains(&sender) {
            return self.places.contains(&sender);
        }
        self.give_way(now, sender, most);
        let has_place = self.places.len() < usize::from(most);
        if has_place {
            self.places.push(sender);
        }
        has_place
    }

    /// Takes their places from those that are the least ahead of themselves, as long as there are
    /// `most` or more of them and `sender` is clearly ahead of them.
    fn give_way(&mut self, now: Duration, sender: ParticipantId, most: u8) {
        let ahead = |id: &ParticipantId| self.heard.get(id).map_or(0.0, |one| one.ahead(now));
        let own = ahead(&sender);
        let most = usize::from(most);
        while self.places.len() >= most {
            let leads = self.places.iter().map(ahead).enumerate();
            let least = leads.min_by(|one, other| one.1.total_cmp(&other.1));
            let Some((at, least)) = least else { return };
            if self.places.len() == most && own <= least + AHEAD {
                return;
            }
            self.places.swap_remove(at);
        }
    }

    /// Forgets the sender that was heard longest ago, if there are too many for a new one.
    fn make_room(&mut self, sender: ParticipantId) {
        if self.heard.len() >= MOST_HEARD
            && !self.heard.contains_key(&sender)
            && let Some((&oldest, _)) = self.heard.iter().min_by_key(|(_, one)| one.last)
        {
            self.heard.remove(&oldest);
        }
    }
}

impl Loudness {
    fn hear(&mut self, now: Duration, loud: u8) {
        *self = self.at(now);
        self.last = now;
        self.present += (f32::from(loud) - self.present) / PRESENT;
        self.usual += (f32::from(loud) - self.usual) / USUAL;
    }

    /// The loudness after the silence since the last frame.
    fn at(self, now: Duration) -> Self {
        let frames = now.saturating_sub(self.last).as_millis() / FRAME.as_millis();
        let silent = frames.saturating_sub(1).min(USUAL as u128) as f32;
        let present = self.present * (1.0 - silent / (2.0 * PRESENT)).max(0.0);
        Loudness { present, usual: self.usual * (1.0 - silent / USUAL), ..self }
    }

    /// How much louder the sender is than usual.
    fn ahead(&self, now: Duration) -> f32 {
        let Loudness { present, usual, .. } = self.at(now);
        present - usual
    }

    fn keeps_place(&self, now: Duration) -> bool {
        self.voiced.is_some_and(|voiced| now < voiced + KEEPS_PLACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// The first byte of a frame with voice, this many decibels below the loudest.
    fn voice(below: u8) -> Option<u8> {
        Some(VOICE | below)
    }

    /// Lets senders 1, 2, ... speak from `from` on for this many frames, `below` decibels below the
    /// loudest. Returns how many frames of each were passed on.
    fn speak(speakers: &mut Speakers, from: u32, frames: u32, below: &[u8], most: u8) -> Vec<u32> {
        let mut passed = alloc::vec![0; below.len()];
        for frame in 0..frames {
            for (at, &below) in below.iter().enumerate() {
                let (now, sender) = (MS * (from + frame * 20), ParticipantId(at as u32 + 1));
                let first = if below < SILENCE { voice(below) } else { Some(SILENCE) };
                passed[at] += u32::from(speakers.hear(now, sender, first, most));
            }
        }
        passed
    }

    #[test]
    fn w119_all_speakers_are_passed_on_while_there_are_places() {
        let mut speakers = Speakers::default();
        assert_eq!(speak(&mut speakers, 0, 50, &[60, 20, 40, 127], 3), [50, 50, 50, 0]);
        // A message without bytes is silent.
        assert!(!speakers.hear(MS * 1000, ParticipantId(9), None, 3));
    }

    #[test]
    fn w119_the_loudest_are_passed_on_and_keep_their_places_between_words() {
        let mut speakers = Speakers::default();
        // The first two have the places; the third is clearly louder than one of them.
        let passed = speak(&mut speakers, 0, 25, &[50, 55, 20], 2);
        assert!(passed[2] >= 20 && passed[1] <= 5, "{passed:?}");
        // About as loud is not enough.
        let mut speakers = Speakers::default();
        assert_eq!(speak(&mut speakers, 0, 50, &[30, 30, 27], 2), [50, 50, 0]);
        // A pause of 300 ms keeps the place, one of 500 ms loses it.
        assert!(speakers.hear(MS * 1280, ParticipantId(1), Some(SILENCE), 2));
        assert!(!speakers.hear(MS * 1500, ParticipantId(1), Some(SILENCE), 2));
    }

    #[test]
    fn w119_who_is_always_the_loudest_gives_way_to_those_who_begin_to_speak() {
        let mut speakers = Speakers::default();
        let hostile = [0, 0];
        assert_eq!(speak(&mut speakers, 0, 500, &hostile, 2), [500, 500]);
        // Two people speak quietly, against two that claim to be as loud as can be.
        let passed = speak(&mut speakers, 10_000, 100, &[0, 0, 50, 50], 2);
        assert!(passed[2] >= 95 && passed[3] >= 95, "{passed:?}");
        assert!(passed[0] + passed[1] <= 10, "{passed:?}");
    }

    #[test]
    fn w119_fewer_places_than_before_are_kept_by_those_who_are_the_most_ahead() {
        let mut speakers = Speakers::default();
        speak(&mut speakers, 0, 50, &[20, 40, 60], 3);
        let passed = speak(&mut speakers, 1000, 50, &[20, 40, 60, 127], 3);
        assert_eq!(passed, [50, 50, 50, 0]);
        speakers.hear(MS * 2000, ParticipantId(4), voice(30), 1);
        assert_eq!(speakers.places.len(), 1);
    }

    #[test]
    fn senders_that_were_heard_long_ago_are_forgotten_for_new_ones() {
        let mut speakers = Speakers::default();
        for sender in 1..=1000 {
            speakers.hear(MS * sender, ParticipantId(sender), voice(20), 4);
        }
        assert_eq!(speakers.heard.len(), MOST_HEARD);
        assert!(speakers.heard.contains_key(&ParticipantId(1000)));
    }
}
