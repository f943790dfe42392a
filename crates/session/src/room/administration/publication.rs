//! Publishes messages of the room itself, for programs that are no participants (wire W101).

use core::time::Duration;

use crate::limits::MAX_KEY;
use crate::room::Room;
use crate::room::administration::{NotPublished, Publication, Published};
use crate::room::log::Message;
use crate::{Error, Kind, ParticipantId, Position};

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
        let Publication { channel: name, bytes, text, key, request } = *publication;
        self.common.now = now;
        self.check_publication(publication).map_err(NotPublished::Failed)?;
        let common = &mut self.common;
        let channel = common.log.find_channel(name).ok_or(NotPublished::NoChannel)?;
        let message = Message {
            channel,
            sender: ParticipantId(0),
            key: key.map(Into::into),
            priority: None,
            departed: None,
            to: None,
            text,
            piece: Default::default(),
            bytes: bytes.into(),
            born: now,
        };
        let day = common.config.wall + now;
        let qos = common.log.channel(channel).qos;
        if qos.kind == Kind::Awareness {
            let value = common.log.own_value(message, day);
            let pairs = common.timers.pairs_after(&qos);
            let replaced = common.log.put(now, value, pairs);
            common.accounting.stats.conflated += u64::from(replaced);
            common.timers.schedule_tick(now);
            return Ok(Published::Awareness);
        }
        let request = request.ok_or(NotPublished::NoRequestKey)?;
        if let Some((before, position)) = common.log.find_request(&request.key) {
            return match before == request {
                true => Ok(Published::Transaction { position, repeated: true }),
                false => Err(NotPublished::OtherContent),
            };
        }
        if common.intake.is_full(&common.log, channel) {
            return Err(NotPublished::NotNow);
        }
        common.log.check_positions(1).map_err(NotPublished::Failed)?;
        let position = common.log.append_own(message, Some(request), day);
        common.accounting.inspector.advance(position);
        if !common.log.is_stored() {
            common.timers.schedule_tick(now);
        }
        Ok(Published::Transaction { position, repeated: false })
    }

    /// The position up to which transactions are durable. In a room that is not stored, that of the
    /// newest transaction.
    pub fn durable(&self) -> Position {
        self.common.log.durable()
    }

    fn check_publication(&self, publication: &Publication<'_>) -> Result<(), Error> {
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
