//! Closing channels, after what is pending on them was sent and confirmed (wire W85).

use core::time::Duration;

use super::Client;
use super::channel::Stage;
use super::channel_id::ChannelId;
use super::event::Event;
use super::outbox::Pending;
use super::parts::withdraw_parts;
use super::phase::Phase;
use super::session::Session;
use crate::Error;
use crate::latest::Latest;
use crate::trace::Carrier;
use crate::wire::frame::Frame;

impl Client {
    /// Ends this client's own part in a channel; the channel goes on for the other participants.
    /// Before that, messages that wait on the channel are sent, and its transactions are confirmed,
    /// over a later transport if this one breaks. Until [`Event::Closed`], messages are still
    /// received. Closing a channel again changes nothing.
    ///
    /// [`Client::channel`] with the same name opens the channel again, under the same
    /// [`ChannelId`]. The transactions that were missed meanwhile and the newest awareness then
    /// come as late-joiner state. Called before [`Event::Closed`], it cancels the closing.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config, Event, Output, Outgoing};
    /// use groupwire_session::Qos;
    ///
    /// let now = Duration::ZERO;
    /// let mut client = Client::new(now, Config::new("demo"))?;
    /// let chat = client.channel("chat", Qos::transaction())?;
    /// client.close(chat)?;
    /// assert!(client.send(now, chat, Outgoing::default()).is_err());
    /// # let mut outputs = (0..4).map(|_| client.poll_output(now));
    /// # assert!(outputs.any(|output| match output {
    /// #     Output::Event(Event::Closed { channel }) => channel == chat,
    /// #     _ => false,
    /// # }));
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// A channel that is unknown.
    pub fn close(&mut self, channel: ChannelId) -> Result<(), Error> {
        let known = self.session.channels.get_mut(channel.0 as usize);
        let known = known.ok_or(Error::UnknownChannel { channel: channel.0 })?;
        if known.stage == Stage::Open {
            known.stage = Stage::Closing;
        }
        Ok(())
    }

    /// Closes the channels in [`Stage::Closing`] on which nothing is pending any more.
    pub(super) fn finish_closing(&mut self) {
        let Client { phase, session, .. } = self;
        match phase {
            // Only the answer to OPEN tells which number the room gave the channel.
            Phase::Greeting(_) => {}
            Phase::Joined(joined) => {
                for at in 0..session.channels.len() {
                    let channel = &session.channels[at];
                    let is_answered = channel.id.is_some() || channel.refused;
                    if channel.stage != Stage::Closing || !is_answered || !session.has_sent_all(at)
                    {
                        continue;
                    }
                    if let Some(id) = channel.id {
                        joined.link.queue(&Frame::Shut { id });
                        if let Some(datagrams) = &mut joined.datagrams {
                            datagrams.close(id);
                        }
                    }
                    session.set_closed(at);
                }
            }
            _ => session.close_unconnected(),
        }
    }
}

impl Session {
    /// Closes the channels in [`Stage::Closing`] that have nothing left to send, while no transport
    /// is in use. The room ended their subscriptions when the transport was closed.
    pub(super) fn close_unconnected(&mut self) {
        for at in 0..self.channels.len() {
            if self.channels[at].stage == Stage::Closing && self.has_sent_all(at) {
                self.set_closed(at);
            }
        }
    }

    /// True if the room has all messages that were sent on a channel.
    fn has_sent_all(&self, at: usize) -> bool {
        let channel = &self.channels[at];
        let is_pending = |pending: &Pending| pending.channel == at;
        channel.values.queue.is_empty()
            && (!channel.may_send() || channel.values.unconfirmed().next().is_none())
            && !self.outbox.pending.iter().any(is_pending)
    }

    /// When the closing channels last sent a value over the stream that is not known to have
    /// arrived. The answer to a later ping tells that it has.
    pub(super) fn closing_since(&self) -> Option<Duration> {
        let closing = self.channels.iter().filter(|channel| channel.stage == Stage::Closing);
        let values = closing.flat_map(|channel| channel.values.unconfirmed());
        let over_stream = values.filter(|(_, value)| value.carrier == Carrier::Stream);
        over_stream.map(|(_, value)| value.sent).max()
    }

    fn set_closed(&mut self, at: usize) {
        debug_assert!(
            self.outbox.pending.iter().all(|pending| pending.channel != at),
            "all confirmed"
        );
        let position = self.delivered.position;
        let channel = &mut self.channels[at];
        channel.stage = Stage::Closed;
        channel.id = None;
        if channel.synced {
            // All transactions of the channel up to this position were delivered.
            channel.received.advance(position);
        }
        channel.received.take_back_begun();
        channel.synced = false;
        channel.values.sent = Latest::new();
        self.delivered.forget_values(ChannelId(at as u32));
        self.participants.forget_held(ChannelId(at as u32));
        withdraw_parts(&mut self.parts, at);
        self.emit(Event::Closed { channel: ChannelId(at as u32) });
    }
}
