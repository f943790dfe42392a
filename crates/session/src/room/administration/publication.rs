//! Publishes messages of the room itself, for programs that are no participants (wire W101).

use core::time::Duration;

use crate::limits::MAX_KEY;
use crate::room::Room;
use crate::room::administration::{NotPublished, Publication, Published};
use crate::room::common::Common;
use crate::room::log::{Log, Message, RequestKey, Value};
use crate::{ChannelNo, Error, Kind, ParticipantId, Position};

impl Room {
    /// Publishes a message of the room itself, whose sender is number 0.
    ///
    /// # Errors
    /// [`NotPublished`] says why nothing was published.
    pub fn publish(
        &mut self,
        now: Duration,
        publication: &Publication<'_>,
    ) -> Result<Published, NotPublished> {
        self.common.now = now;
        self.check_publication(publication).map_err(NotPublished::Failed)?;
        let common = &mut self.common;
        let channel =
            common.log.find_channel(publication.channel).ok_or(NotPublished::NoChannel)?;
        common.check_takes_publications(channel).map_err(NotPublished::Failed)?;
        let message = publication.message(channel, ParticipantId(0), now);
        let day = common.config.wall + now;
        if common.log.channel(channel).qos.kind == Kind::Awareness {
            let value = common.log.own_value(message, day);
            return Ok(common.publish_value(now, value));
        }
        let request = publication.request.ok_or(NotPublished::NoRequestKey)?;
        if let Some(done) = common.outcome_of(&request) {
            return done;
        }
        common.publish_transaction(now, channel, |log| log.append_own(message, Some(request), day))
    }

    /// The position up to which transactions are durable. In a room that is not stored, that of the
    /// newest transaction.
    pub fn durable(&self) -> Position {
        self.common.log.durable()
    }

    pub(in crate::room) fn check_publication(
        &self,
        publication: &Publication<'_>,
    ) -> Result<(), Error> {
        let Publication { bytes, text, key, .. } = *publication;
        let check = |what, size, limit| match size > limit {
            true => Err(Error::TooLarge { what, size, limit }),
            false => Ok(()),
        };
        check("message", bytes.len(), self.common.config.limits.max_message)?;
        check("key", key.map_or(0, <[u8]>::len), MAX_KEY)?;
        if text && core::str::from_utf8(bytes).is_err() {
            return Err(Error::InvalidText { what: "message" });
        }
        Ok(())
    }
}

impl Publication<'_> {
    /// The message as the log has it.
    pub(in crate::room) fn message(
        &self,
        channel: ChannelNo,
        sender: ParticipantId,
        now: Duration,
    ) -> Message {
        Message {
            channel,
            sender,
            key: self.key.map(Into::into),
            priority: None,
            departed: None,
            to: None,
            text: self.text,
            piece: Default::default(),
            bytes: self.bytes.into(),
            born: now,
        }
    }
}

/// What publications of the room itself and of visitors share.
impl Common {
    /// Checks that a channel takes messages that no participant sends. Frames of sound come only
    /// from participants, which the room compares with each other (wire W119).
    ///
    /// # Errors
    /// [`Error::NotAllowed`] if the channel is one of sound frames.
    pub(in crate::room) fn check_takes_publications(
        &self,
        channel: ChannelNo,
    ) -> Result<(), Error> {
        match self.log.channel(channel).qos.has_speakers() {
            true => Err(Error::NotAllowed { what: "publishing frames of sound one by one" }),
            false => Ok(()),
        }
    }

    /// Puts an awareness value into the log.
    pub(in crate::room) fn publish_value(&mut self, now: Duration, value: Value) -> Published {
        let qos = self.log.channel(value.message.channel).qos;
        let pairs = self.timers.pairs_after(&qos);
        let replaced = self.log.put(now, value, pairs);
        self.accounting.stats.conflated += u64::from(replaced);
        self.timers.schedule_tick(now);
        Published::Awareness
    }

    /// The outcome of a request with this key, if one was carried out.
    pub(in crate::room) fn outcome_of(
        &self,
        request: &RequestKey,
    ) -> Option<Result<Published, NotPublished>> {
        let (before, position) = self.log.find_request(&request.key)?;
        Some(match before == *request {
            true => Ok(Published::Transaction { position, repeated: true }),
            false => Err(NotPublished::OtherContent),
        })
    }

    /// Appends a transaction on this channel, if the room can take one.
    pub(in crate::room) fn publish_transaction(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        append: impl FnOnce(&mut Log) -> Position,
    ) -> Result<Published, NotPublished> {
        if self.intake.is_full(&self.log, channel) {
            return Err(NotPublished::NotNow);
        }
        self.log.check_positions(1).map_err(NotPublished::Failed)?;
        let position = append(&mut self.log);
        self.accounting.inspector.advance(position);
        if !self.log.is_stored() {
            self.timers.schedule_tick(now);
        }
        Ok(Published::Transaction { position, repeated: false })
    }
}
