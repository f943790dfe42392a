//! Sends again the messages that the receiver requests.

use core::time::Duration;

use super::Sender;
use super::schedule::Due;
use crate::ids::ChannelId;
use crate::path::Path;

/// The most requests for one message that the sender answers: as many as a receiver of this crate
/// makes. It bounds how much a peer can make this end send.
const ANSWERS: u8 = 4;

impl Sender {
    /// Answers a request for message `first` of a channel and for those of the following messages
    /// whose bit is set in `more`. `first` is the 16 low bits of the message's index in the
    /// channel.
    pub(crate) fn on_request(
        &mut self,
        now: Duration,
        id: ChannelId,
        first: u16,
        more: u32,
        path: &Path,
    ) {
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
        let back = channel.next_index.low().wrapping_sub(low);
        let index = channel.next_index.minus(u32::from(back));
        let Some(sent) = channel.history.get_mut(index) else {
            return;
        };
        let until = (sent.origin + channel.qos.deadline).saturating_sub(path.one_way());
        // The receiver waits for a round trip and an interval before it requests the message again,
        // so that an earlier request is a copy.
        let interval = channel.cadence.interval();
        let is_copy = |at| now < at + (path.round_trip() + interval) / 2;
        let answered = sent.answered.is_some_and(is_copy);
        if now > until || answered || sent.answers == ANSWERS {
            return;
        }
        sent.answers += 1;
        sent.answered = Some(now);
        channel.stats.answers += 1;
        // A piggyback (a repeat in a packet with new messages) is cheaper, if such a packet is
        // expected in time.
        let next =
            channel.cadence.next(now).map(|next| next + interval / 4).filter(|next| *next <= until);
        for nth in 0..u32::from(channel.code.answers.max(1)) {
            let from_packet = Some(self.packets_with_new.wrapping_add(nth + 1));
            let at = Some((next.unwrap_or(now) + interval * nth).min(until.max(now)));
            self.schedule.push(Due { channel: place, index, from_packet, at, until });
        }
    }
}
