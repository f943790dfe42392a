//! The application's handles: a room and its channels.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::client::Outgoing;
use groupwire_session::{Client, ParticipantId, Position};

use crate::address::Address;
use crate::costs;
use crate::driver::drive;
use crate::shared::{Framing, Progress, Shared};
use crate::{
    ChannelId, ChannelOptions, ChannelStats, Compress, ContractReport, Error, Events, Options, Qos,
    Sent, Stats, Trust,
};

/// A session in a room. Clones are the same session; it is left when the last one, and the last [`Channel`], goes.
#[derive(Clone)]
pub struct Room {
    handle: Arc<Handle>,
}

/// A channel of a room, for sending. Its messages come as events with its [`id`](Channel::id).
#[derive(Clone)]
pub struct Channel {
    room: Room,
    id: ChannelId,
}

/// A message: text that is handed to the receivers as text, or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// UTF-8.
    Text(&'a str),
    /// Anything.
    Bytes(&'a [u8]),
}

/// What to say of a message besides its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendOptions<'a> {
    /// On a conflated channel: only the newest value of each of this participant's keys matters.
    pub key: Option<&'a [u8]>,
    /// Instead of the channel's.
    pub priority: Option<u8>,
}

impl Room {
    /// Joins a room and stays in it until told to leave: connects, and connects again when the transport breaks.
    /// The address says by which transport:
    ///
    /// | address | transport |
    /// | --- | --- |
    /// | `ws://host:port` | WebSocket; the path is the server's own, `/ws`, unless one is given |
    /// | `tcp://host:port` | a TCP connection, to the port that the server has for that |
    /// | `https://host:port` | WebTransport, with datagrams; the path is `/wt` unless one is given |
    ///
    /// Over `https://`, [`Trust::Auto`] says what is taken for the server. Returns at once; [`Room::joined`] waits. Call
    /// it within a tokio runtime.
    ///
    /// `options.seed` is mixed with a random number, so that clients which lost their server do not return in step.
    ///
    /// # Errors
    /// An address that cannot be; a room name, token or presence over its limit.
    pub fn connect(url: &str, options: Options) -> Result<(Room, Events), Error> {
        Room::connect_trusting(url, Trust::default(), options)
    }

    /// Like [`Room::connect`], and says how to know the server over `https://`.
    ///
    /// # Errors
    /// The same.
    pub fn connect_trusting(
        url: &str,
        trust: Trust,
        mut options: Options,
    ) -> Result<(Room, Events), Error> {
        let address = Arc::new(Address::parse(url)?);
        options.seed ^= RandomState::new().hash_one(0);
        options.clock.get_or_insert(costs::clock);
        let mut client = Client::new(Duration::ZERO, options)?;
        client.set_reason(address.reason());
        let shared = Arc::new(Shared::new(client, address.scheme));
        tokio::spawn(drive(Arc::clone(&shared), address, Arc::new(trust)));
        let events = Events::new(Arc::clone(&shared));
        Ok((Room { handle: Arc::new(Handle { shared }) }, events))
    }

    /// Waits until this participant is in the room and returns its number.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if the last attempt to connect failed; there will be others, and one may wait again.
    /// [`Error::Session`] if the server does not want it, [`Error::Over`] after [`Room::leave`].
    pub async fn joined(&self) -> Result<ParticipantId, Error> {
        let mut progress = self.shared().progress.subscribe();
        loop {
            match &*progress.borrow_and_update() {
                Progress::Joined(participant) => return Ok(*participant),
                Progress::Unreachable(error) | Progress::Ended(error) => return Err(error.clone()),
                Progress::Connecting => {}
            }
            if progress.changed().await.is_err() {
                return Err(Error::Over);
            }
        }
    }

    /// Opens a channel for sending and receiving, now or as soon as there is a connection.
    ///
    /// # Errors
    /// A QoS that contradicts itself, too long a name, too many channels.
    pub fn channel(&self, name: &str, qos: Qos) -> Result<Channel, Error> {
        let id = self.change(|client, _| client.channel(name, qos))?;
        Ok(Channel { room: self.clone(), id })
    }

    /// The same for only sending or only receiving, or with a compression of its own.
    ///
    /// # Errors
    /// The same, and a level that the codec does not have.
    pub fn channel_with(
        &self,
        name: &str,
        qos: Qos,
        options: ChannelOptions,
    ) -> Result<Channel, Error> {
        let id = self.change(|client, _| client.channel_with(name, qos, options))?;
        self.prepare(options.compress);
        Ok(Channel { room: self.clone(), id })
    }

    /// Changes what the others are told of this participant.
    ///
    /// # Errors
    /// A presence over 4,096 bytes.
    pub fn set_presence(&self, presence: &[u8]) -> Result<(), Error> {
        self.change(|client, _| client.set_presence(presence))
    }

    /// Answers [`Event::SnapshotWanted`](crate::Event::SnapshotWanted): `bytes` stands for all transactions up to the
    /// `as_of` that it names, that is for all events before it.
    ///
    /// # Errors
    /// A snapshot over the server's limit; the room then goes on without.
    pub fn snapshot(&self, as_of: Position, bytes: &[u8]) -> Result<(), Error> {
        self.change(|client, _| client.snapshot(as_of, bytes))
    }

    /// Says goodbye and waits until that is done. Own transactions that are not yet ordered are given up; while
    /// [`Room::pending`] is above 0 there are some.
    pub async fn leave(&self) {
        self.shared().leave();
        let mut progress = self.shared().progress.subscribe();
        let _ = progress.wait_for(|progress| matches!(progress, Progress::Ended(_))).await;
    }

    /// Own transactions that are not yet ordered.
    pub fn pending(&self) -> usize {
        self.shared().lock().client.pending()
    }

    /// The position of the last transaction that was, or is about to be, told.
    pub fn position(&self) -> Position {
        self.shared().lock().client.position()
    }

    /// Smoothed round trip to the server, once it is known.
    pub fn round_trip(&self) -> Option<Duration> {
        self.shared().lock().client.round_trip()
    }

    /// Totals since the room was made.
    pub fn stats(&self) -> Stats {
        self.shared().lock().client.stats()
    }

    /// What the transport adds to the packets that [`Room::stats`] counts.
    pub fn framing(&self) -> Framing {
        self.shared().lock().framing
    }

    /// Whoever leaves the choice to Groupwire has it made by what codecs cost on this machine.
    fn prepare(&self, compress: Compress) {
        if compress == Compress::Auto {
            costs::measure(Arc::clone(self.shared()));
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }

    /// Calls the machine and lets the driver see to the consequences.
    fn change<T>(
        &self,
        call: impl FnOnce(&mut Client, Duration) -> Result<T, groupwire_session::Error>,
    ) -> Result<T, Error> {
        let shared = self.shared();
        let outcome = call(&mut shared.lock().client, shared.now())?;
        shared.wake.notify_one();
        Ok(outcome)
    }
}

impl Channel {
    /// Hands over a message. The answer is the truth at this moment: on its way, in the place of an older value of
    /// its key, or not taken because too much is waiting; then [`Event::Drain`](crate::Event::Drain) says when to
    /// try again.
    ///
    /// # Errors
    /// A message or key over its limit, or a channel that may not be sent to.
    pub fn send<'a>(
        &self,
        payload: impl Into<Payload<'a>>,
        options: SendOptions<'_>,
    ) -> Result<Sent, Error> {
        let (bytes, text) = match payload.into() {
            Payload::Text(text) => (text.as_bytes(), true),
            Payload::Bytes(bytes) => (bytes, false),
        };
        let message = Outgoing { bytes, text, key: options.key, priority: options.priority };
        self.room.change(|client, now| client.send(now, self.id, message))
    }

    /// Changes how messages become small, both ways between this program and the server. Holds over broken connections.
    ///
    /// # Errors
    /// A level that the codec does not have.
    pub fn compress(&self, compress: Compress) -> Result<(), Error> {
        self.room.change(|client, _| client.compress(self.id, compress))?;
        self.room.prepare(compress);
        Ok(())
    }

    /// Asks for another QoS for the channel, for everybody; its kind and overflow stay. The server's word is final:
    /// [`Event::Changed`](crate::Event::Changed) says what holds from then on.
    ///
    /// # Errors
    /// A QoS that contradicts itself or is of another kind.
    pub fn set_qos(&self, qos: Qos) -> Result<(), Error> {
        self.room.change(|client, _| client.set_qos(self.id, qos))
    }

    /// Asks the server for at most so many values of each key of a conflated channel, in 1/1000 per second, always the
    /// newest; `None`: for all. Holds over broken connections.
    ///
    /// # Errors
    /// A channel that does not conflate.
    pub fn limit_rate(&self, rate: Option<u32>) -> Result<(), Error> {
        self.room.change(|client, _| client.limit_rate(self.id, rate))
    }

    /// How the channel's contract stands, judged by what comes here.
    /// [`Event::Contract`](crate::Event::Contract) tells when it begins to be missed and when it is kept again.
    pub fn contract(&self) -> Option<ContractReport> {
        self.room.shared().lock().client.contract(self.id)
    }

    /// What the channel carried, before and after compression.
    pub fn stats(&self) -> ChannelStats {
        self.room.shared().lock().client.channel_stats(self.id).unwrap_or_default()
    }

    /// How events name this channel.
    pub fn id(&self) -> ChannelId {
        self.id
    }

    /// The QoS that holds: what was asked for, until the server answers.
    pub fn qos(&self) -> Option<Qos> {
        self.room.shared().lock().client.describe(self.id).map(|(_, qos)| *qos)
    }
}

impl<'a> From<&'a str> for Payload<'a> {
    fn from(text: &'a str) -> Self {
        Payload::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Payload::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Payload::Bytes(bytes)
    }
}

/// Ends the session when the last handle goes.
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.leave();
    }
}
