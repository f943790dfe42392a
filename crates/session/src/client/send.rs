//! Accepts the messages that the application sends.

use core::time::Duration;

use super::api::{Outgoing, Sent};
use super::channel::Stage;
use super::channel_id::ChannelId;
use super::outbox::{Item, Pending};
use super::session::Session;
use super::{Client, check_size};
use crate::ids::ParticipantId;
use crate::limits::MAX_KEY;
use crate::wire::piece::{cut, largest};
use crate::{Error, Kind};

impl Client {
    /// Sends a message on a channel. Returns whether it was accepted.
    ///
    /// # Errors
    /// The message is too large, not UTF-8 though `text`, or has a wrong `to`; the channel is
    /// unknown, closed, or not open for sending.
    pub fn send(
        &mut self,
        now: Duration,
        channel: ChannelId,
        message: Outgoing<'_>,
    ) -> Result<Sent, Error> {
        let sent = self.session.on_app_data(now, channel, message);
        self.session.report_pending();
        sent
    }
}

impl Session {
    fn on_app_data(
        &mut self,
        now: Duration,
        channel: ChannelId,
        message: Outgoing<'_>,
    ) -> Result<Sent, Error> {
        let limits = &self.config.limits;
        let max_message = self.membership.map_or(limits.max_message, |one| one.max_message);
        // Before the first WELCOME it is not known whether the room takes large transactions.
        let takes_large = self.membership.is_none_or(|one| one.stored.is_some());
        let largest = if takes_large { largest(max_message) } else { 0 };
        check_size("message", message.bytes.len(), largest.max(max_message))?;
        check_size("key", message.key.map_or(0, <[u8]>::len), MAX_KEY)?;
        if message.text && core::str::from_utf8(message.bytes).is_err() {
            return Err(Error::InvalidText { what: "text message" });
        }
        if let Some(to) = message.to {
            check_size("message to one participant", message.bytes.len(), max_message)?;
            if to.participant == ParticipantId(0) {
                return Err(Error::NotAllowed {
                    what: "sending to participant 0, the room itself",
                });
            }
        }
        let at = channel.0 as usize;
        let Some(open) = self.channels.get_mut(at) else {
            return Err(Error::UnknownChannel { channel: channel.0 });
        };
        if open.stage != Stage::Open {
            return Err(Error::NotAllowed { what: "sending on a channel that was closed" });
        }
        if open.refused || !open.access.publish {
            return Err(Error::NotAllowed { what: "publishing on this channel" });
        }
        let after = self.outbox.submitted();
        let item = |bytes: &[u8], begins: bool| Item {
            key: message.key.filter(|_| begins).map(Into::into),
            priority: message.priority.filter(|_| begins),
            text: message.text,
            to: message.to,
            bytes: bytes.into(),
            born: now,
            after,
        };
        let order = self.outbox.next_order();
        if open.qos.kind == Kind::Awareness {
            check_size("message", message.bytes.len(), max_message)?;
            if message.to.is_some() {
                let what = "sending to one participant on a channel of awareness";
                return Err(Error::NotAllowed { what });
            }
            let item = item(message.bytes, true);
            let pushed = open.values.push(&open.qos, order, item, limits);
            return Ok(match pushed {
                Ok(false) => Sent::Accepted,
                Ok(true) => {
                    self.stats.conflated += 1;
                    Sent::Conflated
                }
                Err(_) => self.not_now(),
            });
        }
        let pieces = cut(message.bytes, message.text, max_message);
        let pieces = pieces.map(|(piece, bytes)| {
            let item = item(bytes, piece.begins());
            Pending { counter: None, sent: false, channel: at, order, piece, item }
        });
        Ok(if self.outbox.submit(pieces, limits) { Sent::Accepted } else { self.not_now() })
    }

    fn not_now(&mut self) -> Sent {
        self.outbox.wants_drain = true;
        Sent::NotNow
    }
}
