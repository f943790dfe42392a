//! The application's handles: a room and its channels.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as Options, Outgoing, Recipient, Sent, Stats,
};
use groupwire_session::{
    ChannelStats, Client, Compress, ContractReport, Counter, Durability, ParticipantId, Position,
    Qos, Rate,
};

use crate::address::Address;
use crate::costs;
use crate::driver::{Dialer, Sockets, drive};
use crate::error::Error;
use crate::events::Events;
use crate::shared::{Framing, Progress, SharedSession};
use crate::trust::Trust;
use crate::world::World;

/// A session in a room. Clones share the session; dropping the last clone, and the last
/// [`Channel`], leaves the room.
#[derive(Clone)]
pub struct Room {
    handle: Arc<Handle>,
}

/// A channel of a room, for sending. Its messages arrive as events with its [`id`](Channel::id).
#[derive(Clone)]
pub struct Channel {
    room: Room,
    id: ChannelId,
}

/// The payload of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Text. Receivers are told that it is text.
    Text(&'a str),
    /// Any bytes.
    Bytes(&'a [u8]),
}

/// Options of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendOptions<'a> {
    /// The key of the value, on a conflated channel: of each key of a sender, only the newest value
    /// matters.
    pub key: Option<&'a [u8]>,
    /// The priority of this message; `None` for that of the channel.
    pub priority: Option<u8>,
    /// The only receiver of the message; `None` for all receivers of the channel. Only transactions
    /// can have one. The receiver gets the event [`Event::Direct`](crate::Event::Direct), the
    /// sender [`Event::Receipt`](crate::Event::Receipt).
    pub to: Option<Recipient>,
}

impl Room {
    /// Joins a room, and reconnects when the transport breaks, until the application leaves. The
    /// address determines the transport:
    ///
    /// | address | transport |
    /// | --- | --- |
    /// | `ws://host:port` | WebSocket; the path is the server's own, `/ws`, unless one is given |
    /// | `wss://host:port` | the same over TLS |
    /// | `tcp://host:port` | a TCP connection, to the port that the server has for that |
    /// | `https://host:port` | WebTransport, with datagrams; the path is `/wt` unless one is given |
    ///
    /// Over `https://` and `wss://`, [`Trust::Auto`] decides how the server is authenticated.
    /// Returns at once; [`Room::joined`] waits. Has to be called within a tokio runtime.
    ///
    /// `options.seed` is mixed with a random number, so that clients which lost their server at the
    /// same time do not reconnect at the same times.
    ///
    /// # Errors
    /// An address that is malformed; a room name, token or presence above its limit.
    pub fn connect(url: &str, options: Options) -> Result<(Room, Events), Error> {
        Room::connect_trusting(url, Trust::default(), options)
    }

    /// Like [`Room::connect`], with a choice of how the server is authenticated over `https://` and
    /// `wss://`.
    ///
    /// # Errors
    /// Those of [`Room::connect`].
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
        let shared = Arc::new(SharedSession::new(client, address.scheme));
        let sockets = Sockets { address, trust: Arc::new(trust), configs: Arc::default() };
        tokio::spawn(drive(Arc::clone(&shared), Dialer::Sockets(sockets)));
        Ok(Room::of(shared))
    }

    /// Joins a room in a world of its own, without sockets and tokio's clock: that of a simulation
    /// (the crate `groupwire-simulation`). `options.seed` is taken as it is.
    ///
    /// # Errors
    /// A room name, token or presence above its limit.
    pub fn connect_within(
        world: Arc<dyn World>,
        options: Options,
    ) -> Result<(Room, Events), Error> {
        let client = Client::new(Duration::ZERO, options)?;
        let shared = Arc::new(SharedSession::within(client, Arc::clone(&world)));
        let dialer = Dialer::World(Arc::clone(&world));
        world.spawn(Box::pin(drive(Arc::clone(&shared), dialer)));
        Ok(Room::of(shared))
    }

    fn of(shared: Arc<SharedSession>) -> (Room, Events) {
        let events = Events::new(Arc::clone(&shared));
        (Room { handle: Arc::new(Handle { shared }) }, events)
    }

    /// Waits until this participant is in the room and returns its id.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if the last attempt to connect failed; the client keeps trying, and
    /// this function may be called again. [`Error::Session`] if the server refuses the participant,
    /// [`Error::Over`] after [`Room::leave`].
    pub async fn joined(&self) -> Result<ParticipantId, Error> {
        let mut progress = self.session().progress.subscribe();
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
    /// A QoS that contradicts itself, a name that is too long, or too many channels.
    pub fn channel(&self, name: &str, qos: Qos) -> Result<Channel, Error> {
        let id = self.change(|client, _| client.channel(name, qos))?;
        Ok(Channel { room: self.clone(), id })
    }

    /// Like [`Room::channel`], with options: only sending or only receiving, or another
    /// compression.
    ///
    /// # Errors
    /// Those of [`Room::channel`], and a level that the codec does not have.
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

    /// Changes the presence of this participant, which all others see.
    ///
    /// # Errors
    /// A presence above 4,096 bytes.
    pub fn set_presence(&self, presence: &[u8]) -> Result<(), Error> {
        self.change(|client, _| client.set_presence(presence))
    }

    /// Asks for participants with numbers above `after`, 0 for the first ones: in a large room
    /// ([`Event::Count`](crate::Event::Count)) not all are announced.
    /// [`Event::Page`](crate::Event::Page) brings them. Does nothing while there is no connection.
    pub fn want_page(&self, after: ParticipantId) {
        let shared = self.session();
        shared.lock().client.want_page(after);
        shared.wake.notify_one();
    }

    /// Replaces the token with which this participant joins. The server gets it at once, so that
    /// the session goes on when the token before expires. Answers
    /// [`Event::TokenWanted`](crate::Event::TokenWanted).
    ///
    /// ```no_run
    /// # use groupwire_client::{Event, Events, Room};
    /// # async fn new_token() -> Vec<u8> { Vec::new() }
    /// # async fn example(room: Room, mut events: Events) -> Result<(), groupwire_client::Error> {
    /// while let Some(event) = events.next().await {
    ///     if let Event::TokenWanted = event {
    ///         room.set_token(&new_token().await)?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A token of more than 4,096 bytes.
    pub fn set_token(&self, token: &[u8]) -> Result<(), Error> {
        self.change(|client, _| client.set_token(token))
    }

    /// States that this program makes the part `part` of the room's snapshot: the state of these
    /// channels. The room asks for it by [`Event::SnapshotWanted`](crate::Event::SnapshotWanted);
    /// participants that join later start with it. A channel belongs to at most one part.
    ///
    /// # Errors
    /// A name of more than 128 bytes, a closed channel, more than 64 parts.
    pub fn provide(&self, part: &str, channels: &[&Channel]) -> Result<(), Error> {
        let channels: Vec<ChannelId> = channels.iter().map(|channel| channel.id).collect();
        self.change(|client, _| client.provide(part, &channels))
    }

    /// Answers [`Event::SnapshotWanted`](crate::Event::SnapshotWanted). `bytes` replace all
    /// transactions of the part's channels up to `as_of`, the position in the event. So they must
    /// contain the effect of all transactions that came before the event.
    ///
    /// # Errors
    /// A part above the server's limit; the room then continues without it.
    pub fn snapshot(&self, part: &str, as_of: Position, bytes: &[u8]) -> Result<(), Error> {
        self.change(|client, _| client.snapshot(part, as_of, bytes))
    }

    /// Leaves the room and waits until the server knows. Own transactions that the server has not
    /// put in order yet are lost; [`Room::pending`] counts them.
    pub async fn leave(&self) {
        self.session().leave();
        let mut progress = self.session().progress.subscribe();
        let _ = progress.wait_for(|progress| matches!(progress, Progress::Ended(_))).await;
    }

    /// Like [`Room::leave`], without waiting: `Status::Closed` tells when the server knows.
    pub fn begin_leaving(&self) {
        self.session().leave();
    }

    /// True if the session has ended, so that nothing is sent any more.
    pub fn is_over(&self) -> bool {
        self.session().is_over()
    }

    /// True while this participant is in the room.
    pub fn is_joined(&self) -> bool {
        matches!(&*self.session().progress.borrow(), Progress::Joined(_))
    }

    /// The number of own transactions that are not confirmed: the server has not put them in order,
    /// or not stored them yet. [`Event::Pending`](crate::Event::Pending) tells when it is no longer
    /// 0, and when it is 0 again.
    ///
    /// ```no_run
    /// # use groupwire_client::{Durability, Event, Events, Room};
    /// # async fn example(room: Room, mut events: Events) {
    /// while let Some(event) = events.next().await {
    ///     match event {
    ///         Event::Pending { count: 0 } if room.durability() == Some(Durability::Memory) => println!("sent"),
    ///         Event::Pending { count: 0 } => println!("saved"),
    ///         Event::Pending { .. } => println!("saving…"),
    ///         _ => {}
    ///     }
    /// }
    /// # }
    /// ```
    pub fn pending(&self) -> usize {
        self.session().lock().client.pending()
    }

    /// The number that the last own transaction has among all own ones, or will get when it is
    /// sent. If an own transaction comes with this [`index`](crate::Incoming::index) or a greater
    /// one, all before it are ordered, too: the room orders them as they were submitted.
    /// After [`GapReason::Incarnation`](crate::GapReason::Incarnation) and
    /// [`GapReason::Session`](crate::GapReason::Session) the numbers begin again.
    pub fn submitted(&self) -> Counter {
        self.session().lock().client.submitted()
    }

    /// This participant's number in the room, once it has joined.
    pub fn participant(&self) -> Option<ParticipantId> {
        self.session().lock().client.participant()
    }

    /// Why there is no connection, if the last attempt to make one failed. The client keeps trying.
    pub fn trouble(&self) -> Option<Error> {
        match &*self.session().progress.borrow() {
            Progress::Unreachable(error) => Some(error.clone()),
            _ => None,
        }
    }

    /// What a confirmed transaction survives; `None` before this participant has joined.
    pub fn durability(&self) -> Option<Durability> {
        let client = &self.session().lock().client;
        client.participant().map(|_| client.durability())
    }

    /// The position of the last transaction that was, or is about to be, handed to the application.
    pub fn position(&self) -> Position {
        self.session().lock().client.position()
    }

    /// The smoothed round-trip time to the server, once it is known.
    pub fn round_trip(&self) -> Option<Duration> {
        self.session().lock().client.round_trip()
    }

    /// Totals since this handle was made.
    pub fn stats(&self) -> Stats {
        self.session().lock().client.stats()
    }

    /// The bytes that the transport adds to the packets which [`Room::stats`] counts.
    pub fn framing(&self) -> Framing {
        self.session().lock().framing
    }

    /// Measures the codecs if `compress` leaves the choice to Groupwire, which chooses by their
    /// costs on this machine.
    fn prepare(&self, compress: Compress) {
        // A simulation repeats exactly, so there the reference costs stay.
        if compress == Compress::Auto && self.session().is_real() {
            costs::measure(Arc::clone(self.session()));
        }
    }

    pub(crate) fn session(&self) -> &Arc<SharedSession> {
        &self.handle.shared
    }

    /// Calls a function of the session, then wakes the driver, which carries out the resulting
    /// outputs.
    fn change<T>(
        &self,
        call: impl FnOnce(&mut Client, Duration) -> Result<T, groupwire_session::Error>,
    ) -> Result<T, Error> {
        let shared = self.session();
        let outcome = call(&mut shared.lock().client, shared.now())?;
        shared.wake.notify_one();
        Ok(outcome)
    }
}

impl Channel {
    /// Sends a message. The result says whether it was accepted, replaced an older value of its
    /// key, or was not taken because too much is waiting; [`Event::Drain`](crate::Event::Drain)
    /// then says when to try again.
    ///
    /// # Errors
    /// A message or key above its limit, or a channel on which this participant may not publish.
    pub fn send<'a>(
        &self,
        payload: impl Into<Payload<'a>>,
        options: SendOptions<'_>,
    ) -> Result<Sent, Error> {
        let (bytes, text) = match payload.into() {
            Payload::Text(text) => (text.as_bytes(), true),
            Payload::Bytes(bytes) => (bytes, false),
        };
        let message =
            Outgoing { bytes, text, key: options.key, priority: options.priority, to: options.to };
        self.room.change(|client, now| client.send(now, self.id, message))
    }

    /// Changes the compression between this program and the server, in both directions. It stays in
    /// force after reconnecting.
    ///
    /// # Errors
    /// A level that the codec does not have.
    pub fn compress(&self, compress: Compress) -> Result<(), Error> {
        self.room.change(|client, _| client.compress(self.id, compress))?;
        self.room.prepare(compress);
        Ok(())
    }

    /// Asks for another QoS of the channel, for all its participants. The kind and the overflow
    /// rule cannot be changed. The server decides: [`Event::Changed`](crate::Event::Changed)
    /// reports the QoS that is then in force.
    ///
    /// # Errors
    /// A QoS that contradicts itself or is of another kind.
    pub fn set_qos(&self, qos: Qos) -> Result<(), Error> {
        self.room.change(|client, _| client.set_qos(self.id, qos))
    }

    /// Asks the server to send only the newest value of each key of a conflated channel, at most at
    /// `rate`; `None` for all values. The limit stays in force after reconnecting.
    ///
    /// # Errors
    /// A channel that does not conflate.
    pub fn limit_rate(&self, rate: Option<Rate>) -> Result<(), Error> {
        self.room.change(|client, _| client.limit_rate(self.id, rate))
    }

    /// Ends this client's own part in the channel, after what waits on it was sent and confirmed.
    /// [`Event::Closed`](crate::Event::Closed) says when. [`Room::channel`] with the same name
    /// opens it again, with the same id.
    ///
    /// # Errors
    /// None for a channel of this room.
    pub fn close(&self) -> Result<(), Error> {
        self.room.change(|client, _| client.close(self.id))
    }

    /// Whether the channel's contract is kept, judged by what this participant receives.
    /// [`Event::Contract`](crate::Event::Contract) says when that changes.
    pub fn contract(&self) -> Option<ContractReport> {
        self.room.session().lock().client.contract(self.id)
    }

    /// The messages and bytes of the channel, before and after compression.
    pub fn stats(&self) -> ChannelStats {
        self.room.session().lock().client.channel_stats(self.id).unwrap_or_default()
    }

    /// The channel's id in events.
    pub fn id(&self) -> ChannelId {
        self.id
    }

    /// The QoS in force; until the server answers, the QoS that was asked for.
    pub fn qos(&self) -> Option<Qos> {
        self.room.session().lock().client.describe(self.id).map(|(_, qos)| *qos)
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

/// Leaves the room when the last handle is dropped.
struct Handle {
    shared: Arc<SharedSession>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.leave();
    }
}
