//! The one object of this crate: a session in a room.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groupwire_client::world::World;
use groupwire_client::{self as client, ParticipantId, Position, Readiness};

use crate::contract::Contract;
use crate::convert;
use crate::error::{Code, Error};
use crate::event::{Durability, Event, Participant, Status};
use crate::options::{self, ChannelOptions, Options, Qos, SendOptions, Sent};
use crate::queue::Queue;
#[cfg(unix)]
use crate::ready::Ready;
use crate::runtime::{self, Host};
use crate::stats::{ChannelStats, Stats};

/// A session in a room. It reconnects after broken connections until the program leaves by
/// [`Room::leave`] or drops it.
///
/// Every function fails with [`Code::Forked`] in a process that was forked after `connect`.
pub struct Room {
    /// The process that the room belongs to.
    pid: u32,
    /// Only dropping takes it. In a forked process, what another thread of the parent held locked
    /// stays locked, so nothing in here is dropped there.
    inner: Option<Inner>,
}

pub(crate) struct Inner {
    pub(crate) client: client::Room,
    pub(crate) host: Host,
    /// By their numbers. Those of shared data are not among them.
    channels: Mutex<BTreeMap<u32, client::Channel>>,
    pub(crate) queue: Mutex<Queue>,
    #[cfg(unix)]
    ready: Mutex<Option<Ready>>,
}

impl Room {
    /// Joins a room. The address determines the transport: `ws://`, `wss://`, `tcp://`, or
    /// `https://` for WebTransport, which has datagrams ([`groupwire_client::Room::connect`]).
    /// Returns at once; [`Event::Joined`] tells when this participant is in the room.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] for an address or `trust` that is malformed, [`Code::TooLarge`] or
    /// [`Code::Malformed`] for a room name, token or presence, [`Code::Internal`] if no thread can
    /// be started.
    pub fn connect(url: &str, options: Options) -> Result<Room, Error> {
        let (options, trust) = options.to_client()?;
        let host = Host::Thread(runtime::handle()?);
        let guard = host.enter();
        let (client, events) = client::Room::connect_trusting(url, trust, options)?;
        drop(guard);
        Ok(Room::of(client, events, host))
    }

    /// Joins a room in a world of its own, such as that of a simulation, whose tasks run only when
    /// the program lets them ([`groupwire_client::world`]). `told` is called, beside what
    /// [`Room::fd`] does, when events came to an empty queue. All chance of the client comes from
    /// `seed`.
    ///
    /// # Errors
    /// Those of [`Room::connect`], but for the address.
    pub fn connect_within(
        world: Arc<dyn World>,
        told: impl Fn() + Send + Sync + 'static,
        options: Options,
        seed: u64,
    ) -> Result<Room, Error> {
        let (options, _) = options.to_client()?;
        let options = client::Options { seed, ..options };
        let (client, events) = client::Room::connect_within(Arc::clone(&world), options)?;
        Ok(Room::of(client, events, Host::World(world, Arc::new(told))))
    }

    fn of(client: client::Room, events: client::Events, host: Host) -> Room {
        let inner = Inner {
            client,
            host,
            channels: Mutex::new(BTreeMap::new()),
            queue: Mutex::new(Queue::new(events)),
            #[cfg(unix)]
            ready: Mutex::new(None),
        };
        Room { pid: std::process::id(), inner: Some(inner) }
    }

    /// The next event; `None` if there is none at present. After [`Event::Status`] with
    /// [`Status::Closed`] there are no more.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn poll(&self) -> Result<Option<Event>, Error> {
        Ok(self.queue()?.next())
    }

    /// The next events, at most `most`, which costs less than taking each alone.
    ///
    /// # Errors
    /// Those of [`Room::poll`].
    pub fn poll_batch(&self, most: usize) -> Result<Vec<Event>, Error> {
        let mut queue = self.queue()?;
        Ok(std::iter::from_fn(|| queue.next()).take(most).collect())
    }

    /// A file descriptor that is readable when events came to an empty queue, for event loops. The
    /// program calls [`Room::clear_fd`], then polls until there are no more events. It belongs to
    /// the room, and is closed with it.
    ///
    /// # Errors
    /// [`Code::Internal`] if the operating system has no more descriptors.
    #[cfg(unix)]
    pub fn fd(&self) -> Result<i32, Error> {
        let inner = self.inner()?;
        let mut ready = lock(&inner.ready);
        if let Some(ready) = &*ready {
            return Ok(ready.fd());
        }
        let readiness = lock(&inner.queue).readiness();
        let started = Ready::start(readiness, &inner.host)?;
        Ok(ready.insert(started).fd())
    }

    /// Empties the descriptor of [`Room::fd`], so that it is readable again only after new events.
    ///
    /// # Errors
    /// Only that of a forked process.
    #[cfg(unix)]
    pub fn clear_fd(&self) -> Result<(), Error> {
        if let Some(ready) = &*lock(&self.inner()?.ready) {
            ready.clear();
        }
        Ok(())
    }

    /// Waits for events on behalf of a language that has futures of its own: its `wait` completes
    /// once each time that events came to an empty queue, and when the room has ended. The program
    /// polls until there are no more events before it waits again. Beside `fd` it must not be used:
    /// one of both would wait for what the other has seen.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn readiness(&self) -> Result<Readiness, Error> {
        Ok(self.queue()?.readiness())
    }

    /// Opens a channel, and returns its number in this room. A channel that is open already keeps
    /// its QoS and options.
    ///
    /// # Errors
    /// [`Code::InvalidQos`], [`Code::InvalidCompress`], [`Code::InvalidArgument`];
    /// [`Code::TooLarge`] for the name, [`Code::TooMany`] channels.
    pub fn channel(&self, name: &str, qos: Qos, options: &ChannelOptions) -> Result<u32, Error> {
        let inner = self.inner()?;
        let _guard = inner.host.enter();
        let (qos, options) = (qos.to_client()?, options.to_client()?);
        let channel = inner.client.channel_with(name, qos, options)?;
        let id = channel.id().0;
        lock(&inner.channels).insert(id, channel);
        Ok(id)
    }

    /// Ends this participant's part in a channel, after what waits on it was sent and confirmed;
    /// then comes [`Event::Closed`].
    ///
    /// # Errors
    /// [`Code::UnknownChannel`].
    pub fn close_channel(&self, channel: u32) -> Result<(), Error> {
        Ok(self.find(channel)?.close()?)
    }

    /// Sends a message, or queues it until there is a connection.
    ///
    /// # Errors
    /// [`Code::TooLarge`], [`Code::InvalidText`], [`Code::NotAllowed`], [`Code::UnknownChannel`];
    /// [`Code::Closed`] after the room has ended.
    pub fn send(&self, channel: u32, bytes: &[u8], options: &SendOptions) -> Result<Sent, Error> {
        let to = options.to.map(|to| client::Recipient {
            participant: ParticipantId(to.participant),
            tag: to.tag,
        });
        let payload = match options.text {
            false => client::Payload::Bytes(bytes),
            true => client::Payload::Text(std::str::from_utf8(bytes).map_err(|_| {
                Error::own(Code::InvalidText, "text message is not valid UTF-8: send it as bytes")
            })?),
        };
        let key = options.key.as_deref();
        let options = client::SendOptions { key, priority: options.priority, to };
        let channel = self.find(channel)?;
        if self.inner()?.client.is_over() {
            return Err(Error::closed());
        }
        Ok(match channel.send(payload, options)? {
            client::Sent::Accepted => Sent::Accepted,
            client::Sent::Conflated => Sent::Conflated,
            client::Sent::NotNow => Sent::NotNow,
        })
    }

    /// Asks for another QoS of a channel, for all its participants. [`Event::Opened`] or
    /// [`Event::Failed`] answers.
    ///
    /// # Errors
    /// [`Code::InvalidQos`] for one that contradicts itself or is of another kind.
    pub fn set_qos(&self, channel: u32, qos: Qos) -> Result<(), Error> {
        Ok(self.find(channel)?.set_qos(qos.to_client()?)?)
    }

    /// Asks for at most this many values of each key per second of a conflated channel, always the
    /// newest; 0 for all.
    ///
    /// # Errors
    /// [`Code::NotAllowed`] for a channel that does not conflate.
    pub fn limit_rate(&self, channel: u32, per_second: f64) -> Result<(), Error> {
        let rate = options::rate("`per_second`", per_second)?;
        Ok(self.find(channel)?.limit_rate((!rate.is_zero()).then_some(rate))?)
    }

    /// Changes how a channel's messages are compressed between this participant and the server.
    ///
    /// # Errors
    /// [`Code::InvalidCompress`].
    pub fn set_compress(&self, channel: u32, compress: &str) -> Result<(), Error> {
        let _guard = self.inner()?.host.enter();
        Ok(self.find(channel)?.compress(options::compress(compress)?)?)
    }

    /// The QoS in force; until the server answers, the one that was asked for.
    ///
    /// # Errors
    /// [`Code::UnknownChannel`].
    pub fn qos(&self, channel: u32) -> Result<Qos, Error> {
        let qos = self.find(channel)?.qos();
        Ok(Qos::from_client(qos.unwrap_or(client::Qos::transaction())))
    }

    /// Whether the channel's contract is kept; `None` before it is open.
    ///
    /// # Errors
    /// [`Code::UnknownChannel`].
    pub fn contract(&self, channel: u32) -> Result<Option<Contract>, Error> {
        Ok(self.find(channel)?.contract().map(Contract::from))
    }

    /// The traffic of a channel.
    ///
    /// # Errors
    /// [`Code::UnknownChannel`].
    pub fn channel_stats(&self, channel: u32) -> Result<ChannelStats, Error> {
        Ok(self.find(channel)?.stats().into())
    }

    /// Changes the presence of this participant.
    ///
    /// # Errors
    /// [`Code::TooLarge`] above 4,096 bytes.
    pub fn set_presence(&self, presence: &[u8]) -> Result<(), Error> {
        Ok(self.inner()?.client.set_presence(presence)?)
    }

    /// Gives another token; the answer to [`Event::TokenWanted`].
    ///
    /// # Errors
    /// [`Code::TooLarge`] above 4,096 bytes.
    pub fn set_token(&self, token: &[u8]) -> Result<(), Error> {
        Ok(self.inner()?.client.set_token(token)?)
    }

    /// Asks for the participants after this number, in a room too large to announce all;
    /// [`Event::Page`] answers. Does nothing without a connection.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn want_page(&self, after: u32) -> Result<(), Error> {
        self.inner()?.client.want_page(ParticipantId(after));
        Ok(())
    }

    /// States that this program makes a part of the room's snapshot: the state of these channels.
    ///
    /// # Errors
    /// [`Code::TooLarge`] for the name, [`Code::TooMany`] parts, [`Code::UnknownChannel`].
    pub fn provide(&self, part: &str, channels: &[u32]) -> Result<(), Error> {
        let inner = self.inner()?;
        let known = lock(&inner.channels);
        let found: Result<Vec<_>, Error> =
            channels.iter().map(|id| known.get(id).ok_or_else(|| unknown(*id))).collect();
        Ok(inner.client.provide(part, &found?)?)
    }

    /// Answers [`Event::SnapshotWanted`] with the state after all events before it.
    ///
    /// # Errors
    /// [`Code::TooLarge`] above the server's limit.
    pub fn snapshot(&self, part: &str, as_of: u64, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.inner()?.client.snapshot(part, Position(as_of), bytes)?)
    }

    /// A ticket for all own transactions up to now, for [`Room::is_confirmed`].
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn ticket(&self) -> Result<u32, Error> {
        Ok(self.inner()?.client.submitted().get())
    }

    /// True once the server has confirmed all own transactions up to the ticket: they are in the
    /// room's order and, in a stored room, durable. It can become true with any polled event.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn is_confirmed(&self, ticket: u32) -> Result<bool, Error> {
        let client = &self.inner()?.client;
        // In this order: what is sent meanwhile makes the difference smaller, not larger.
        let (submitted, pending) = (client.submitted().get(), client.pending());
        if pending == 0 {
            return Ok(true);
        }
        // The queue tells what the program has seen. Its number may be of a session that is lost,
        // so the number of this session counts, too.
        let confirmed = submitted.saturating_sub(u32::try_from(pending).unwrap_or(u32::MAX));
        Ok(confirmed >= ticket && self.queue()?.ordered >= ticket)
    }

    /// How many own transactions are not confirmed.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn pending(&self) -> Result<u64, Error> {
        Ok(self.inner()?.client.pending() as u64)
    }

    /// What a confirmed transaction survives; `None` before this participant has joined.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn durability(&self) -> Result<Option<Durability>, Error> {
        Ok(self.inner()?.client.durability().map(convert::durability))
    }

    /// This participant's number; `None` before it has joined.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn participant(&self) -> Result<Option<u32>, Error> {
        Ok(self.inner()?.client.participant().map(ParticipantId::get))
    }

    /// The other participants that the polled events have told of.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn participants(&self) -> Result<Vec<Participant>, Error> {
        Ok(self.queue()?.participants())
    }

    /// The state of the connection, as of the last polled event.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn status(&self) -> Result<Status, Error> {
        Ok(self.queue()?.status)
    }

    /// Why there is no connection, if the last attempt to make one failed; the client keeps trying.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn trouble(&self) -> Result<Option<Error>, Error> {
        Ok(self.inner()?.client.trouble().map(Error::from))
    }

    /// Counts of this room.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn stats(&self) -> Result<Stats, Error> {
        Ok(Stats::of(&self.inner()?.client))
    }

    /// Leaves the room. [`Status::Closed`] tells when that is done. Own transactions that the
    /// server has not put in order yet are lost; [`Room::pending`] counts them.
    ///
    /// # Errors
    /// Only that of a forked process.
    pub fn leave(&self) -> Result<(), Error> {
        self.inner()?.client.begin_leaving();
        Ok(())
    }

    pub(crate) fn inner(&self) -> Result<&Inner, Error> {
        if self.is_forked() {
            return Err(Error::own(
                Code::Forked,
                "this room belongs to the process that forked this one: connect again here",
            ));
        }
        self.inner.as_ref().ok_or_else(Error::closed)
    }

    fn is_forked(&self) -> bool {
        self.pid != std::process::id()
    }

    pub(crate) fn queue(&self) -> Result<MutexGuard<'_, Queue>, Error> {
        Ok(lock(&self.inner()?.queue))
    }

    fn find(&self, channel: u32) -> Result<client::Channel, Error> {
        let channels = lock(&self.inner()?.channels);
        channels.get(&channel).cloned().ok_or_else(|| unknown(channel))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // The client leaves when its last handle is dropped.
        let inner = self.inner.take();
        if self.is_forked() {
            std::mem::forget(inner);
        }
    }
}

/// Locks what is consistent whenever it is unlocked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unknown(channel: u32) -> Error {
    Error::own(
        Code::UnknownChannel,
        format!("channel {channel} was not opened: call `channel` with its name and QoS first"),
    )
}
