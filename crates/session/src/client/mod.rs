//! A participant's end of a session. It outlives its transports: it resumes on a new transport, and
//! keeps transactions until the room has confirmed them.
//!
//! [`Client`] is the state machine. Its `phase` owns the state of the transport in use, its
//! `session` the state that outlives transports.

mod api;
mod channel;
mod channel_id;
mod channels;
mod close;
mod compose;
mod contract;
mod copies;
mod delivered;
mod delivery;
mod directs;
mod due;
mod emit;
mod event;
mod groups;
mod inspector;
mod join;
mod lifecycle;
mod numbers;
mod outbox;
mod participants;
mod parts;
mod payloads;
mod pending;
mod phase;
mod pieces;
mod progress;
mod provided;
mod receive;
mod records;
mod send;
mod session;
mod shared_stream;
mod transports;
mod upload;
mod values;

use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};
use groupwire_codecs::{Codec, Costs};

pub use api::{ChannelOptions, Config, Input, Outgoing, Output, Recipient, Sent, Stats};
pub use channel_id::ChannelId;
pub use event::{Event, GapReason, Incoming, ParticipantChange, Status};

use crate::backoff::Backoff;
use crate::datagrams::PathNeeds;
use crate::ids::{Counter, ParticipantId, Position};
use crate::limits::{MAX_PRESENCE, MAX_ROOM_NAME, MAX_TOKEN};
use crate::link::Link;
use crate::packing::Packing;
use crate::wire::frame::Frame;
use crate::wire::io::clip;
use crate::wire::payload::Batch;
use crate::wire::quality::MAX_REASON;
use crate::{Durability, Error};
use phase::Phase;
use session::Session;

/// The client's state machine.
///
/// How to drive it: pass every input to [`handle_input`](Client::handle_input), then call
/// [`poll_output`](Client::poll_output) until it returns [`Output::Timeout`]. `now` is the time
/// since an origin of the caller's choice and never decreases.
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::client::{Client, Config, Input, Output, Outgoing, Sent};
/// use groupwire_session::Qos;
///
/// let now = Duration::ZERO;
/// let mut client = Client::new(now, Config::new("demo"))?;
/// let chat = client.channel("chat", Qos::transaction())?;
/// let message = Outgoing { bytes: b"hello", text: true, ..Outgoing::default() };
/// let sent = client.send(now, chat, message)?;
/// assert_eq!(sent, Sent::Accepted);
/// // It says that it connects and that a transaction waits. Then it asks for a transport.
/// assert!(matches!(client.poll_output(now), Output::Event(_)));
/// assert!(matches!(client.poll_output(now), Output::Event(_)));
/// assert!(matches!(client.poll_output(now), Output::Dial));
/// # Ok::<(), groupwire_session::Error>(())
/// ```
pub struct Client {
    phase: Phase,
    session: Session,
    backoff: Backoff,
    /// The number of transports in a row that ended because one end could not understand the other.
    /// A transport that lasts resets it.
    misunderstood: u8,
    packing: Packing,
    /// Scratch memory for the messages of one payload.
    batch: Batch,
}

impl Client {
    /// A client that will dial as soon as it is polled.
    ///
    /// # Errors
    /// A room name, token or presence over its limit.
    pub fn new(now: Duration, config: Config) -> Result<Self, Error> {
        check_size("room name", config.room.len(), MAX_ROOM_NAME)?;
        check_size("token", config.token.len(), MAX_TOKEN)?;
        check_size("presence", config.presence.len(), MAX_PRESENCE)?;
        if config.room.is_empty() {
            return Err(Error::malformed("room name: it is empty"));
        }
        Ok(Client {
            phase: Phase::Waiting { until: now, earliest: now },
            backoff: Backoff::new(config.seed),
            misunderstood: 0,
            packing: packing_of(&config),
            batch: Batch::default(),
            session: Session::new(config),
        })
    }

    /// Sets the codecs that this end has from now on, for a program that loads codecs when they are
    /// first needed. A codec that was in an earlier set must be in all later ones: messages packed
    /// by it may still arrive.
    pub fn set_codecs(&mut self, codecs: &'static [&'static dyn Codec]) {
        self.session.config.codecs = codecs;
        self.renew_packing();
        if let Phase::Greeting(_) | Phase::Joined(_) = &self.phase
            && let Some(link) = self.phase.link_mut()
        {
            announce_codecs(&self.packing, link);
        }
    }

    /// Ends [`Config::plain`]: the client uses all that its configuration allows, over the next
    /// transport. A program that has joined opens one and reports [`Input::Opened`], to which the
    /// session moves without a gap.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    ///
    /// let config = Config { plain: true, ..Config::new("demo") };
    /// let mut client = Client::new(Duration::ZERO, config)?;
    /// // Later, when the rest of the program is loaded:
    /// client.complete();
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    pub fn complete(&mut self) {
        if core::mem::take(&mut self.session.config.plain) {
            self.renew_packing();
        }
    }

    /// Sets the costs of codecs on this machine, for a program that measured them.
    pub fn set_costs(&mut self, costs: Costs) {
        self.session.config.costs = costs;
        self.renew_packing();
    }

    /// Changes the presence of this participant: the bytes that the other participants receive
    /// about it.
    ///
    /// # Errors
    /// [`Error::TooLarge`] over 4,096 bytes.
    pub fn set_presence(&mut self, presence: &[u8]) -> Result<(), Error> {
        check_size("presence", presence.len(), MAX_PRESENCE)?;
        self.session.config.presence = presence.to_vec();
        self.session.transports.presence_changed = true;
        Ok(())
    }

    /// Asks for participants with numbers above `after`, 0 for the first ones: in a large room not
    /// all are announced (wire W105). [`Event::Page`] brings them. Does nothing while there is no
    /// connection: then ask again after [`Event::Joined`].
    pub fn want_page(&mut self, after: ParticipantId) {
        if let Phase::Joined(joined) = &mut self.phase {
            joined.link.queue(&Frame::PageWanted { after });
        }
    }

    /// States why the transport in use was chosen, in a sentence for people who inspect the room;
    /// of up to 240 bytes.
    pub fn set_reason(&mut self, reason: &str) {
        self.session.transports.reason = clip(reason, MAX_REASON).into();
    }

    /// This participant's number in the room, once joined.
    pub fn participant(&self) -> Option<ParticipantId> {
        self.session.membership.map(|membership| membership.participant)
    }

    /// The position of the last delivered transaction. Its event was returned by
    /// [`Client::poll_output`], or will be returned by the next calls.
    pub fn position(&self) -> Position {
        self.session.delivered.position
    }

    /// What a confirmed transaction of the room survives, as the room stated it last (wire W94).
    pub fn durability(&self) -> Durability {
        let stored = self.session.membership.and_then(|membership| membership.stored);
        stored.map_or(Durability::Memory, |(durability, _)| durability)
    }

    /// The number of own transactions that are not confirmed yet; in a stored room, a confirmed
    /// transaction is durable. After the client has ended: the number of transactions that were
    /// never confirmed. See [`Event::Pending`].
    pub fn pending(&self) -> usize {
        self.session.outbox.waiting()
    }

    /// The number that the last own transaction has, or will get when it is sent. Own transactions
    /// are ordered as they were submitted, so one that comes with this
    /// [`index`](Incoming::index) or a greater one says that all up to now are ordered. After
    /// [`GapReason::Incarnation`] and [`GapReason::Session`] the numbers begin again.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config, Outgoing};
    /// use groupwire_session::Qos;
    ///
    /// let mut client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// let chat = client.channel("chat", Qos::transaction())?;
    /// client.send(Duration::ZERO, chat, Outgoing { bytes: b"hello", ..Outgoing::default() })?;
    /// assert_eq!(client.submitted().get(), 1);
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    pub fn submitted(&self) -> Counter {
        self.session.outbox.submitted()
    }

    /// Totals since the client was made.
    pub fn stats(&self) -> Stats {
        self.session.stats
    }

    /// Statistics of a channel's datagrams on the transport in use: what was sent, how often
    /// messages are repeated, and what was received from the server.
    pub fn path(&self, channel: ChannelId) -> Option<(SenderStats, Code, ReceiverStats)> {
        let id = self.session.channels.get(channel.0 as usize)?.id?;
        let (sent, code, received) = self.phase.welcomed()?.datagrams.as_ref()?.stats(id)?;
        Some((sent, code, *received))
    }

    /// What the datagrams on the transport in use need of its congestion control.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    ///
    /// let client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// assert_eq!(client.path_needs(Duration::ZERO).minimum_rate, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path_needs(&self, now: Duration) -> PathNeeds {
        let datagrams = self.phase.welcomed().and_then(|joined| joined.datagrams.as_ref());
        datagrams.map(|datagrams| datagrams.path_needs(now)).unwrap_or_default()
    }

    /// Smoothed round trip to the server.
    pub fn round_trip(&self) -> Option<Duration> {
        self.phase.link().and_then(|link| link.clock.round_trip())
    }

    /// How far the server's clock is ahead of `now`, in microseconds, and the largest error of that
    /// number.
    pub fn clock_offset(&self) -> Option<(i64, Duration)> {
        self.phase.link().and_then(|link| link.clock.offset())
    }

    /// Processes an input. Call [`Client::poll_output`] afterwards.
    pub fn handle_input(&mut self, now: Duration, input: Input<'_>) {
        debug_assert!(
            self.phase.link().is_none_or(|link| link.last_packet() <= now),
            "time never goes back"
        );
        match input {
            Input::Opened { max_datagram } => {
                if !matches!(self.phase, Phase::Leaving(_) | Phase::Ended) {
                    self.greet(now, max_datagram);
                }
            }
            Input::Hurry => {
                if let Phase::Waiting { until, earliest } = &mut self.phase {
                    *until = now.max(*earliest);
                }
            }
            Input::Timeout => {}
            Input::Packet(packet) => {
                if let Err(error) = self.on_packet(now, packet) {
                    self.fail(error);
                }
            }
            Input::Datagram(packet) => self.on_datagram(now, packet),
            Input::DatagramSent => {
                if let Some(datagrams) = self.phase.datagrams_mut() {
                    datagrams.sent();
                }
            }
            Input::DatagramDropped => {
                if let Some(datagrams) = self.phase.datagrams_mut() {
                    datagrams.dropped();
                }
            }
            Input::Sent => {
                if let Some(link) = self.phase.link_mut() {
                    link.sent();
                }
            }
            Input::Closed => self.on_closed(now),
        }
        self.session.report_pending();
    }

    /// Returns the next thing that the caller is to do.
    pub fn poll_output(&mut self, now: Duration) -> Output {
        if self.session.outputs.is_empty() {
            self.on_housekeeping(now);
            self.compose(now);
        }
        let output = self.session.outputs.pop_front();
        output.unwrap_or_else(|| Output::Timeout(self.next_timeout(now)))
    }

    /// Uses the codecs and costs of the configuration, after one of them changed.
    fn renew_packing(&mut self) {
        self.packing = packing_of(&self.session.config);
        if let Some(link) = self.phase.link_mut() {
            link.choosing.begin_anew();
        }
    }
}

fn packing_of(config: &Config) -> Packing {
    if config.plain {
        return Packing::default();
    }
    let codecs = if config.compress { config.codecs } else { &[] };
    Packing::new(codecs, config.costs.clone()).with_clock(config.clock)
}

/// W46: tells the server which codecs this end reads.
fn announce_codecs(packing: &Packing, link: &mut Link) {
    let set = packing.set();
    if set != 0 {
        link.queue(&Frame::Codecs { set });
    }
}

/// # Errors
/// [`Error::TooLarge`] if `size` is over `limit`.
fn check_size(what: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    if size > limit { Err(Error::TooLarge { what, size, limit }) } else { Ok(()) }
}
