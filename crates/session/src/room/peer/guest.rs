//! Serves a participant whose transport is at a mirror of the room: takes its messages, and says
//! what it has to be told.

use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::publish::Publisher;
use crate::Error;
use crate::room::common::Common;
use crate::room::log::Message;
use crate::wire::coding::Coding;
use crate::wire::record::{Number, Record};

/// What a participant is told after its message.
#[derive(Default)]
pub(in crate::room) struct Answer {
    pub(in crate::room) frames: Vec<Vec<u8>>,
    /// Its transport is not to be read for this time.
    pub(in crate::room) delay: Option<Duration>,
}

impl Peer {
    /// Publishes a message that took `size` bytes on the way from the mirror.
    ///
    /// # Errors
    /// The transport has to be closed.
    pub(in crate::room) fn publish_as_guest(
        &mut self,
        now: Duration,
        (number, message, size): (Number, &Message, usize),
        common: &mut Common,
    ) -> Result<Answer, Error> {
        self.account.check(now, &common.config.quotas)?;
        let before = common.accounting.stats;
        let held = self.sender.held;
        let record = Record {
            channel: message.channel,
            sender: self.id,
            number,
            own: false,
            piece: message.piece,
            state: false,
            age: now.saturating_sub(message.born),
            text: message.text,
            key: message.key.as_deref(),
            priority: message.priority,
            departed: None,
            to: message.to,
            bytes: &message.bytes,
            packed: None,
            coding: Coding::Shared,
        };
        let published = Publisher::of_guest(now, self, common).publish(&record);
        common.accounting.inspector.forget_noted();
        common.accounting.use_bytes(size, before.bytes_in_before);
        let frame = self.held_frame(held, &common.log, &common.intake);
        let mut answer = Answer { frames: frame.into_iter().collect(), delay: None };
        if common.accounting.stats.messages_in > before.messages_in {
            common.members.act(now, self.id, &mut common.timers);
        }
        self.charge_as_guest(now, common, &mut answer);
        published.map(|()| answer)
    }

    /// Counts the present input against the quotas.
    pub(in crate::room) fn charge_as_guest(
        &mut self,
        now: Duration,
        common: &mut Common,
        answer: &mut Answer,
    ) {
        answer.delay = self.count_usage(now, common);
        if answer.delay.is_some() {
            answer.frames.extend(self.hold_frame(now, common));
        }
    }

    /// The frame by which a limited participant is asked to hold transactions back, if it is due.
    pub(in crate::room) fn hold_frame(
        &mut self,
        now: Duration,
        common: &Common,
    ) -> Option<Vec<u8>> {
        let hold = self.hold(now, common)?;
        let mut frame = Vec::new();
        hold.write(&mut frame);
        Some(frame)
    }
}
