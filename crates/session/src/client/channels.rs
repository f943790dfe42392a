//! Opens channels, at first for the application and then as the server answers, sets their
//! compression, and returns their statistics.

use alloc::string::ToString;
use core::time::Duration;

use super::api::ChannelOptions;
use super::channel::{Channel, Stage};
use super::channel_id::ChannelId;
use super::parts::offer_parts;
use super::phase::{Joined, Phase};
use super::session::Session;
use super::{Client, check_size};
use crate::datagrams::Needs;
use crate::ids::{ChannelNo, Position};
use crate::limits::MAX_CHANNEL_NAME;
use crate::wire::frame::{Access, Frame};
use crate::{ChannelStats, Compress, Error, Qos};

/// A CHANNEL frame: the server's answer to OPEN, or a change of a channel that is open.
pub(super) struct ChannelFrame<'a> {
    pub(super) reference: u32,
    pub(super) id: ChannelNo,
    pub(super) access: Access,
    pub(super) name: &'a str,
    pub(super) qos: Qos,
}

impl Client {
    /// Opens a channel for sending and receiving, now or as soon as there is a connection. If a
    /// channel of this name is already open, it is returned as it is; one that was closed is opened
    /// again.
    ///
    /// # Errors
    /// A QoS that contradicts itself, too long a name, too many channels.
    pub fn channel(&mut self, name: &str, qos: Qos) -> Result<ChannelId, Error> {
        self.channel_with(name, qos, ChannelOptions::default())
    }

    /// Opens a channel like [`Client::channel`], with options: only sending or only receiving, or
    /// another compression.
    ///
    /// # Errors
    /// As [`Client::channel`], and a level that the codec does not have.
    pub fn channel_with(
        &mut self,
        name: &str,
        qos: Qos,
        options: ChannelOptions,
    ) -> Result<ChannelId, Error> {
        let Client { phase, session, .. } = self;
        qos.validate()?;
        options.compress.check(session.config.codecs)?;
        check_size("channel name", name.len(), MAX_CHANNEL_NAME)?;
        let at = match session.channels.iter().position(|channel| channel.name == name) {
            Some(at) => {
                let channel = &mut session.channels[at];
                if channel.stage != Stage::Closed {
                    channel.stage = Stage::Open;
                    return Ok(ChannelId(at as u32));
                }
                *channel = channel.opened_again(qos, options);
                at
            }
            None => {
                let limit = session.config.limits.max_channels;
                if session.channels.len() >= limit {
                    return Err(Error::TooMany { what: "channels", limit });
                }
                let channel = Channel::new(name.to_string(), qos, options, Position(0));
                session.channels.push(channel);
                session.channels.len() - 1
            }
        };
        let channel = &mut session.channels[at];
        match phase {
            Phase::Joined(joined) => channel.open(at, session.delivered.position, &mut joined.link),
            // W18: WELCOME tells whether the transactions that the channel has still count. With
            // any, it waits for that.
            Phase::Greeting(greeting) if channel.received.have == Position(0) => {
                channel.open(at, session.delivered.position, &mut greeting.link);
            }
            _ => {}
        }
        Ok(ChannelId(at as u32))
    }

    /// Changes how a channel's messages are compressed in both directions: messages of this end
    /// from now on, messages of the server once it has received the change. The change also applies
    /// to later transports.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    /// use groupwire_session::Qos;
    ///
    /// let mut client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// let telemetry = client.channel("telemetry", Qos::awareness())?;
    /// client.compress(telemetry, "lz4".parse()?)?;
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// A channel that is unknown or closed, a level that the codec does not have.
    pub fn compress(&mut self, channel: ChannelId, compress: Compress) -> Result<(), Error> {
        let Client { phase, session, .. } = self;
        compress.check(session.config.codecs)?;
        let open = session.open_mut(channel)?;
        open.compress = compress;
        if let Phase::Joined(joined) = phase {
            open.announce_compress(&mut joined.link);
        }
        Ok(())
    }

    /// How a channel's messages are compressed.
    pub fn compression(&self, channel: ChannelId) -> Option<Compress> {
        self.session.channels.get(channel.0 as usize).map(|open| open.compress)
    }

    /// The bytes of a channel's messages, before and after compression.
    pub fn channel_stats(&self, channel: ChannelId) -> Option<ChannelStats> {
        self.session.channels.get(channel.0 as usize).map(|open| open.stats)
    }

    /// The channel's name and its present QoS.
    pub fn describe(&self, channel: ChannelId) -> Option<(&str, &Qos)> {
        let open = self.session.channels.get(channel.0 as usize)?;
        Some((open.name.as_str(), &open.qos))
    }
}

impl Joined {
    /// W16: the server opened a channel, or changed its QoS.
    pub(super) fn on_channel(
        &mut self,
        now: Duration,
        session: &mut Session,
        frame: &ChannelFrame<'_>,
    ) -> Result<(), Error> {
        let ChannelFrame { reference, id, access, name, qos } = *frame;
        let numbered = self.inbound.numbers.at(id);
        let at = match numbered {
            // W16: the number belongs to an open channel. With reference 0, the frame is no answer
            // to OPEN.
            Some(at) if reference == 0 || at as u32 == reference => at,
            Some(_) => return Err(Error::malformed("CHANNEL: one number for two channels")),
            None => reference as usize,
        };
        let Some(channel) = session.channels.get_mut(at).filter(|channel| channel.name == name)
        else {
            return Err(Error::malformed("CHANNEL: it was not asked for"));
        };
        self.inbound.numbers.insert(id, at, Needs { qos, upstream: None })?;
        if channel.stage == Stage::Closed {
            // The application closed a refused channel which the room now opens; otherwise SHUT was
            // already sent.
            if numbered.is_none() {
                self.link.queue(&Frame::Shut { id });
            }
            return Ok(());
        }
        let is_change = channel.id.is_some();
        if numbered.is_some() && !is_change && at as u32 != reference {
            // The room made this frame before it read SHUT and the second OPEN. It will answer that
            // OPEN with another frame.
            return Ok(());
        }
        channel.id = Some(id);
        let before = channel.qos;
        channel.qos = qos;
        channel.access = channel.access.and(access);
        let may_publish = channel.access.publish;
        channel.announce_compress(&mut self.link);
        self.on_terms(now, session, at, is_change, before);
        session.check_pieces(at);
        if before.kind != qos.kind {
            session.change_kind(at);
        }
        if !may_publish && session.give_up_all(at) {
            session.emit_error(at, Error::NotAllowed { what: "publishing on this channel" });
        }
        offer_parts(&mut session.parts, &session.channels, &mut self.link);
        Ok(())
    }
}
