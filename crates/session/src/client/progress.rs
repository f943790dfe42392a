//! The place of this end in the room's order: the position of the stream, gaps, and own
//! transactions that are ordered.

use super::channel::Asked;
use super::channel_id::ChannelId;
use super::event::{Event, GapReason};
use super::phase::Joined;
use super::session::Session;
use crate::Error;
use crate::ids::{ChannelNo, Counter, Position};
use crate::wire::frame::Frame;

impl Joined {
    /// W33, W102: this end lacks transactions of a channel that the room no longer has, or that
    /// were reset.
    pub(super) fn on_gap(
        &mut self,
        session: &mut Session,
        channel: ChannelNo,
        position: Position,
    ) -> Result<(), Error> {
        let at = self.inbound.numbers.at(channel);
        let at = at.ok_or(Error::UnknownChannel { channel: channel.get() })?;
        let known = &mut session.channels[at];
        if known.id.is_some() {
            known.received.advance(position);
            known.received.forget_begun();
            let missing = Some((ChannelId(at as u32), position));
            let reason = match self.inbound.reset.take() {
                Some(reset) if reset == (channel, position) => GapReason::Reset,
                _ => GapReason::History,
            };
            session.emit(Event::Gap { reason, uncertain: 0, missing });
        }
        Ok(())
    }

    /// W115: tells the server up to which position the application has its direct transactions.
    pub(super) fn say_received(&mut self) {
        if let Some(position) = self.inbound.held.received.take() {
            self.link.queue(&Frame::Received { position });
        }
    }

    /// W96: own transactions up to this counter are ordered.
    pub(super) fn on_ordered(
        &mut self,
        session: &mut Session,
        counter: Counter,
    ) -> Result<(), Error> {
        if counter > session.outbox.numbered {
            return Err(Error::malformed("ORDERED: transactions that were never sent"));
        }
        session.confirm(counter);
        Ok(())
    }

    /// Sets the position of the stream: its next transaction has a greater position than
    /// `position`.
    pub(super) fn move_to(
        &mut self,
        session: &mut Session,
        position: Position,
    ) -> Result<(), Error> {
        let copies = &mut self.inbound.copies;
        if position < copies.streamed(session.delivered.position) {
            return Err(Error::malformed("position: it went back"));
        }
        copies.passed(position);
        session.delivered.position = session.delivered.position.max(position);
        self.inbound.held.release(session, session.delivered.position);
        self.coders.decoder.numbering.advance(position);
        Ok(())
    }

    /// Processes SYNCED: late-joiner state is complete for one channel or, with number 0, for all
    /// channels that were opened with HELLO.
    pub(super) fn on_synced(&mut self, session: &mut Session, id: ChannelNo) -> Result<(), Error> {
        if id != ChannelNo(0) {
            let at = self.inbound.numbers.at(id);
            let at = at.ok_or(Error::UnknownChannel { channel: id.get() })?;
            // A channel without a number was closed in the meantime.
            if session.channels[at].id.is_some() {
                session.channels[at].synced = true;
                session.emit(Event::Synced { channel: Some(ChannelId(at as u32)) });
            }
            return Ok(());
        }
        for at in 0..session.channels.len() {
            let channel = &mut session.channels[at];
            if channel.asked == Asked::WithHello && !channel.synced && channel.id.is_some() {
                channel.synced = true;
                session.emit(Event::Synced { channel: Some(ChannelId(at as u32)) });
            }
        }
        session.emit(Event::Synced { channel: None });
        Ok(())
    }
}
