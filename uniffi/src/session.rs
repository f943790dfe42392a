//! The one object: a session in a room.

use std::sync::Arc;

use groupwire_ffi::{
    ChannelOptions, ChannelStats, Contract, Durability, Options, Participant, Qos, Room,
    SendOptions, Sent, Stats, Status,
};

use crate::error::{Failure, SessionError};
use crate::event::Event;

/// Messages that must all arrive, once and in order.
#[uniffi::export]
pub fn transaction_qos() -> Qos {
    Qos::transaction()
}

/// Values that newer ones replace, of which 5 % may be lost.
#[uniffi::export]
pub fn awareness_qos() -> Qos {
    Qos::awareness()
}

/// Frames of sound (docs/voice.md): each is of use for 180 ms, and those of the four loudest
/// senders are passed on.
#[uniffi::export]
pub fn voice_qos() -> Qos {
    Qos::voice()
}

/// A session in a room. It reconnects after broken connections until the program leaves or drops
/// it. No function but `ready` waits; what takes time is told by events.
#[derive(uniffi::Object)]
pub struct Session {
    pub(crate) room: Room,
}

#[uniffi::export]
impl Session {
    /// Joins a room. The address determines the transport: `ws://`, `wss://`, `tcp://`, or
    /// `https://` for WebTransport. Returns at once; `Event.Joined` tells when this participant is
    /// in the room.
    ///
    /// Throws for an address, room name, token, presence or `trust` that is malformed.
    #[uniffi::constructor]
    pub fn connect(url: &str, options: Options) -> Result<Arc<Session>, SessionError> {
        Ok(Arc::new(Session { room: Room::connect(url, options)? }))
    }

    /// The next events, at most `most`; none if there are none at present.
    pub fn poll(&self, most: u32) -> Result<Vec<Event>, SessionError> {
        let events = self.room.poll_batch(most as usize)?;
        Ok(events.into_iter().map(Event::from).collect())
    }

    /// Waits until events came to an empty queue, or the session is over; then it returns false.
    /// The program polls until there are no more events before it waits again. One task at a time
    /// waits.
    pub async fn ready(&self) -> Result<bool, SessionError> {
        let readiness = self.room.readiness()?;
        Ok(readiness.wait().await)
    }

    /// Opens a channel, and returns its number in this room. A channel that is open already keeps
    /// its QoS and options.
    pub fn channel(
        &self,
        name: &str,
        qos: Qos,
        options: ChannelOptions,
    ) -> Result<u32, SessionError> {
        Ok(self.room.channel(name, qos, &options)?)
    }

    /// Ends this participant's part in a channel, after what waits on it was sent and confirmed;
    /// then comes `Event.Closed`.
    pub fn close_channel(&self, channel: u32) -> Result<(), SessionError> {
        Ok(self.room.close_channel(channel)?)
    }

    /// Sends a message, or queues it until there is a connection.
    pub fn send(
        &self,
        channel: u32,
        bytes: Vec<u8>,
        options: SendOptions,
    ) -> Result<Sent, SessionError> {
        Ok(self.room.send(channel, &bytes, &options)?)
    }

    /// Asks for another QoS of a channel, for all its participants. `Event.Opened` or
    /// `Event.Failed` answers.
    pub fn set_qos(&self, channel: u32, qos: Qos) -> Result<(), SessionError> {
        Ok(self.room.set_qos(channel, qos)?)
    }

    /// Asks for at most this many values of each key per second of a conflated channel, always the
    /// newest; 0 for all.
    pub fn limit_rate(&self, channel: u32, per_second: f64) -> Result<(), SessionError> {
        Ok(self.room.limit_rate(channel, per_second)?)
    }

    /// Changes how a channel's messages are compressed between this participant and the server.
    pub fn set_compress(&self, channel: u32, compress: &str) -> Result<(), SessionError> {
        Ok(self.room.set_compress(channel, compress)?)
    }

    /// The QoS in force; until the server answers, the one that was asked for.
    pub fn qos(&self, channel: u32) -> Result<Qos, SessionError> {
        Ok(self.room.qos(channel)?)
    }

    /// Whether the channel's contract is kept; nothing before it is open.
    pub fn contract(&self, channel: u32) -> Result<Option<Contract>, SessionError> {
        Ok(self.room.contract(channel)?)
    }

    /// The traffic of a channel.
    pub fn channel_stats(&self, channel: u32) -> Result<ChannelStats, SessionError> {
        Ok(self.room.channel_stats(channel)?)
    }

    /// Changes the presence of this participant: at most 4,096 bytes.
    pub fn set_presence(&self, presence: Vec<u8>) -> Result<(), SessionError> {
        Ok(self.room.set_presence(&presence)?)
    }

    /// Gives another token, of at most 4,096 bytes; the answer to `Event.TokenWanted`.
    pub fn set_token(&self, token: Vec<u8>) -> Result<(), SessionError> {
        Ok(self.room.set_token(&token)?)
    }

    /// Asks for the participants after this number, in a room too large to announce all;
    /// `Event.Page` answers. Does nothing without a connection.
    pub fn want_page(&self, after: u32) -> Result<(), SessionError> {
        Ok(self.room.want_page(after)?)
    }

    /// States that this program makes a part of the room's snapshot: the state of these channels.
    pub fn provide(&self, part: &str, channels: Vec<u32>) -> Result<(), SessionError> {
        Ok(self.room.provide(part, &channels)?)
    }

    /// Answers `Event.SnapshotWanted` with the state after all events before it.
    pub fn snapshot(&self, part: &str, as_of: u64, bytes: Vec<u8>) -> Result<(), SessionError> {
        Ok(self.room.snapshot(part, as_of, &bytes)?)
    }

    /// A ticket for all own transactions up to now, for `is_confirmed`.
    pub fn ticket(&self) -> Result<u32, SessionError> {
        Ok(self.room.ticket()?)
    }

    /// True once the server has confirmed all own transactions up to the ticket. It can become true
    /// with any polled event.
    pub fn is_confirmed(&self, ticket: u32) -> Result<bool, SessionError> {
        Ok(self.room.is_confirmed(ticket)?)
    }

    /// How many own transactions are not confirmed.
    pub fn pending(&self) -> Result<u64, SessionError> {
        Ok(self.room.pending()?)
    }

    /// What a confirmed transaction survives; nothing before this participant has joined.
    pub fn durability(&self) -> Result<Option<Durability>, SessionError> {
        Ok(self.room.durability()?)
    }

    /// This participant's number; nothing before it has joined.
    pub fn participant(&self) -> Result<Option<u32>, SessionError> {
        Ok(self.room.participant()?)
    }

    /// The other participants that the polled events have told of.
    pub fn participants(&self) -> Result<Vec<Participant>, SessionError> {
        Ok(self.room.participants()?)
    }

    /// The state of the connection, as of the last polled event.
    pub fn status(&self) -> Result<Status, SessionError> {
        Ok(self.room.status()?)
    }

    /// Why there is no connection, if the last attempt to make one failed; the client keeps trying.
    pub fn trouble(&self) -> Result<Option<Failure>, SessionError> {
        Ok(self.room.trouble()?.map(Failure::from))
    }

    /// Counts of this room.
    pub fn stats(&self) -> Result<Stats, SessionError> {
        Ok(self.room.stats()?)
    }

    /// Leaves the room. The status `Closed` tells when that is done. Own transactions that the
    /// server has not put in order yet are lost; `pending` counts them.
    pub fn leave(&self) -> Result<(), SessionError> {
        Ok(self.room.leave()?)
    }
}
