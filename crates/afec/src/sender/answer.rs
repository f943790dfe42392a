//! Sending again what a receiver asks for.

use core::time::Duration;

use super::Sender;
use super::schedule::Due;
use crate::path::Path;

/// How often a message is sent again because the receiver asks.
const ANSWERS: u8 = 4;

impl Sender {
    /// The receiver misses message `first` of a channel and those after it whose bit is set in `more`.
    pub(crate) fn asked(&mut self, now: Duration, id: u32, first: u16, more: u32, path: &Path) {
        let Some(place) = self.place(id) else {
            return;
        };
        let missing =
            (0..32u16).filter(|bit| more >> bit & 1 == 1).map(|bit| first.wrapping_add(bit + 1));
        for low in core::iter::once(first).chain(missing) {
            self.answer(now, place, low, path);
        }
    }

    fn answer(&mut self, now: Duration, place: usize, low: u16, path: &Path) {
        let channel = &mut self.channels[place];
        let back = (channel.next_index as u16).wrapping_sub(low);
        let index = channel.next_index.wrapping_sub(u32::from(back));
        let Some(sent) = channel.history.get_mut(index) else {
            return;
        };
        let until = (sent.origin + channel.qos.deadline).saturating_sub(path.one_way());
        let answered = sent.answered.is_some_and(|at| now < at + path.round_trip() / 2);
        if now > until || answered || sent.answers == ANSWERS {
            return;
        }
        sent.answers += 1;
        sent.answered = Some(now);
        channel.stats.answers += 1;
        let interval = channel.cadence.interval();
        // A packet that goes anyway is cheaper, if one is to be expected in time.
        let next =
            channel.cadence.next(now).map(|next| next + interval / 4).filter(|next| *next <= until);
        for nth in 0..u32::from(channel.code.ask.max(1)) {
            let ride = Some(self.rides.wrapping_add(nth + 1));
            let at = Some((next.unwrap_or(now) + interval * nth).min(until.max(now)));
            self.schedule.push(Due { channel: place, index, ride, at, until });
        }
    }
}
