//! A participant's end of a session: outlives its transports, resumes, keeps what must not be lost.

mod class;
mod compose;
mod contract;
mod copies;
mod delivered;
mod event;
mod inspected;
mod lifecycle;
mod outbox;
mod receive;
mod settle;
mod shared;
mod standing;

use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};
use groupwire_codecs::{Codec, Costs};

pub use contract::{ChannelId, ChannelOptions, Config, Input, Outgoing, Output, Sent, Stats};
pub use event::{Event, GapReason, Incoming, ParticipantChange, Status};

use crate::agreed::Agreed;
use crate::backoff::Backoff;
use crate::datagrams::Needs;
use crate::ids::{ChannelNo, Counter, Order, ParticipantId, Position};
use crate::limits::{MAX_CHANNEL_NAME, MAX_KEY, MAX_PRESENCE, MAX_ROOM_NAME, MAX_TOKEN};
use crate::link::Link;
use crate::map::Map;
use crate::packing::Packing;
use crate::seen::Seen;
use crate::wire::body::Batch;
use crate::wire::frame::Frame;
use crate::wire::handshake::Secret;
use crate::wire::snapshot::Assembly;
use crate::{ChannelStats, Compress, Error, Kind, Qos, Timing};
use class::Classes;
use copies::Copies;
use delivered::Delivered;
use inspected::Inspected;
use outbox::{Channel, Item, Pending};
use shared::Shared;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No transport; dial at this time.
    Waiting(Duration),
    /// The shell opens one.
    Dialing,
    /// HELLO is on its way; give up at this time.
    Greeting(Duration),
    /// WELCOME came.
    Joined,
    /// Goodbye is being said.
    Leaving,
    /// For good.
    Ended,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    participant: ParticipantId,
    secret: Secret,
    incarnation: u64,
    timing: Timing,
    max_message: usize,
    max_snapshot: usize,
    /// It continued on this transport where it stopped.
    resumed: bool,
}

/// The client's state machine.
///
/// Drive it so: hand every happening to [`handle_input`](Client::handle_input), then call
/// [`poll_output`](Client::poll_output) until it answers [`Output::Timeout`]. `now` is the time since any origin
/// of the caller's choice and never goes back.
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::client::{Client, Config, Input, Output, Outgoing, Sent};
/// use groupwire_session::Qos;
///
/// let now = Duration::ZERO;
/// let mut client = Client::new(now, Config::new("demo"))?;
/// let chat = client.channel("chat", Qos::transaction())?;
/// let sent = client.send(now, chat, Outgoing { bytes: b"hello", text: true, ..Outgoing::default() })?;
/// assert_eq!(sent, Sent::Accepted);
/// // The first thing it wants, after saying so, is a transport.
/// assert!(matches!(client.poll_output(now), Output::Event(_)));
/// assert!(matches!(client.poll_output(now), Output::Dial));
/// # Ok::<(), groupwire_session::Error>(())
/// ```
pub struct Client {
    config: Config,
    phase: Phase,
    backoff: Backoff,
    /// Transports in a row that ended soon because one end did not understand the other.
    misunderstood: u8,
    outputs: VecDeque<Output>,
    session: Option<Session>,
    /// The last transaction delivered without a hole.
    position: Position,
    /// The last own transaction known to be ordered.
    ordered: Counter,
    /// The last own transaction that has a number.
    numbered: Counter,
    /// So many were opened.
    transports: u32,
    pending: VecDeque<Pending>,
    pending_bytes: usize,
    /// Submissions so far.
    order: Order,
    channels: Vec<Channel>,
    by_id: Map<ChannelNo, usize>,
    /// Whether the transport is suspected to be dead.
    quiet: bool,
    /// What holds of channels, by the room's numbers, for reading bodies.
    known: Vec<Option<Needs>>,
    link: Option<Link>,
    /// The capabilities in the HELLO of this transport.
    offered: Agreed,
    /// The last transaction delivered of each sender, to see stale awareness.
    delivered: Delivered,
    /// The awareness that was delivered.
    seen: Seen<ChannelId>,
    download: Option<Assembly>,
    /// What the server asked for on this transport.
    snapshot_wanted: Option<Position>,
    upload: Option<compose::Upload>,
    /// The last snapshot taken in: it stands for every channel up to here.
    covered: Position,
    presence_changed: bool,
    /// How long the server that said goodbye asked to wait.
    stay_away: Duration,
    wants_drain: bool,
    /// When the current transport was welcomed.
    joined_at: Option<Duration>,
    stats: Stats,
    packing: Packing,
    batch: Batch,
    shared: Shared,
    classes: Classes,
    copies: Copies,
    inspected: Inspected,
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
        let status = Output::Event(Event::Status(Status::Connecting));
        Ok(Client {
            phase: Phase::Waiting(now),
            backoff: Backoff::new(config.seed),
            misunderstood: 0,
            packing: packing_of(&config),
            classes: Classes::default(),
            config,
            outputs: VecDeque::from([status]),
            session: None,
            position: Position(0),
            ordered: Counter(0),
            numbered: Counter(0),
            transports: 0,
            pending: VecDeque::new(),
            pending_bytes: 0,
            order: Order(0),
            channels: Vec::new(),
            by_id: Map::new(),
            quiet: false,
            known: Vec::new(),
            link: None,
            offered: Agreed::default(),
            delivered: Delivered::default(),
            seen: Seen::default(),
            download: None,
            snapshot_wanted: None,
            upload: None,
            covered: Position(0),
            presence_changed: false,
            stay_away: Duration::ZERO,
            wants_drain: false,
            joined_at: None,
            stats: Stats::default(),
            batch: Batch::default(),
            shared: Shared::default(),
            copies: Copies::default(),
            inspected: Inspected::default(),
        })
    }

    /// Opens a channel for sending and receiving, now or as soon as there is a connection. A channel
    /// of this name that is already open is returned as it is.
    ///
    /// # Errors
    /// A QoS that contradicts itself, too long a name, too many channels.
    pub fn channel(&mut self, name: &str, qos: Qos) -> Result<ChannelId, Error> {
        self.channel_with(name, qos, ChannelOptions::default())
    }

    /// The same for only sending or only receiving, or with a compression of its own.
    ///
    /// # Errors
    /// As [`Client::channel`], and a level that the codec does not have.
    pub fn channel_with(
        &mut self,
        name: &str,
        qos: Qos,
        options: ChannelOptions,
    ) -> Result<ChannelId, Error> {
        qos.validate()?;
        options.compress.check(self.config.codecs)?;
        check_size("channel name", name.len(), MAX_CHANNEL_NAME)?;
        if let Some(at) = self.channels.iter().position(|channel| channel.name == name) {
            return Ok(ChannelId(at as u32));
        }
        let limit = self.config.limits.max_channels;
        if self.channels.len() >= limit {
            return Err(Error::TooMany { what: "channels", limit });
        }
        self.channels.push(Channel::new(name.to_string(), qos, options, self.covered));
        let at = self.channels.len() - 1;
        // Also after HELLO but before WELCOME: what `greet` announced did not include it.
        if matches!(self.phase, Phase::Greeting(_) | Phase::Joined) {
            self.open_channel(at);
        }
        Ok(ChannelId(at as u32))
    }

    /// Changes how a channel's messages become small, both ways: what is sent from now on, and what the server sends once
    /// it knows. Holds over broken transports.
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
    /// A channel that is unknown, a level that the codec does not have.
    pub fn compress(&mut self, channel: ChannelId, compress: Compress) -> Result<(), Error> {
        compress.check(self.config.codecs)?;
        let open = self.channels.get_mut(channel.0 as usize);
        let open = open.ok_or(Error::UnknownChannel { channel: channel.0 })?;
        open.compress = compress;
        self.tell_compress(channel.0 as usize);
        Ok(())
    }

    /// The codecs that this end has from now on, for a shell that fetches them when they are first needed. Once named,
    /// a codec has to stay: messages packed by it may be on their way.
    pub fn set_codecs(&mut self, codecs: &'static [&'static dyn Codec]) {
        self.config.codecs = codecs;
        self.pack_anew();
        if matches!(self.phase, Phase::Greeting(_) | Phase::Joined) {
            self.tell_codecs();
        }
    }

    /// What codecs cost here, for a shell that measured it.
    pub fn set_costs(&mut self, costs: Costs) {
        self.config.costs = costs;
        self.pack_anew();
    }

    /// How a channel's messages become small.
    pub fn compression(&self, channel: ChannelId) -> Option<Compress> {
        self.channels.get(channel.0 as usize).map(|open| open.compress)
    }

    /// What a channel carried, before and after compression.
    pub fn channel_stats(&self, channel: ChannelId) -> Option<ChannelStats> {
        self.channels.get(channel.0 as usize).map(|open| open.stats)
    }

    /// Hands over a message.
    ///
    /// # Errors
    /// What is wrong with it: too large, not UTF-8 though `text`, a channel that is unknown or not open for sending.
    pub fn send(
        &mut self,
        now: Duration,
        channel: ChannelId,
        message: Outgoing<'_>,
    ) -> Result<Sent, Error> {
        let max_message =
            self.session.map_or(self.config.limits.max_message, |session| session.max_message);
        check_size("message", message.bytes.len(), max_message)?;
        check_size("key", message.key.map_or(0, <[u8]>::len), MAX_KEY)?;
        if message.text && core::str::from_utf8(message.bytes).is_err() {
            return Err(Error::InvalidText { what: "text message" });
        }
        let at = channel.0 as usize;
        let limits = &self.config.limits;
        let Some(open) = self.channels.get_mut(at) else {
            return Err(Error::UnknownChannel { channel: channel.0 });
        };
        if open.refused || !open.access.publish {
            return Err(Error::NotAllowed { what: "publishing on this channel" });
        }
        // Those with a number come first.
        let numbered = self.pending.partition_point(|pending| pending.counter.is_some());
        let item = Item {
            key: message.key.map(Into::into),
            priority: message.priority,
            text: message.text,
            bytes: message.bytes.into(),
            born: now,
            after: Counter(self.numbered.get() + (self.pending.len() - numbered) as u32),
        };
        self.order = self.order.next();
        let order = self.order;
        if open.qos.kind == Kind::Awareness {
            let pushed = open.push(order, item, limits.max_awareness_bytes, limits.max_keys);
            return Ok(match pushed {
                Ok(false) => Sent::Accepted,
                Ok(true) => {
                    self.stats.conflated += 1;
                    Sent::Conflated
                }
                Err(_) => self.not_now(),
            });
        }
        if self.pending.len() >= limits.max_pending
            || self.pending_bytes + item.cost() > limits.max_pending_bytes
        {
            return Ok(self.not_now());
        }
        self.pending_bytes += item.cost();
        self.pending.push_back(Pending { counter: None, sent: false, channel: at, order, item });
        Ok(Sent::Accepted)
    }

    /// Changes what the others are told of this participant.
    ///
    /// # Errors
    /// [`Error::TooLarge`] over 4,096 octets.
    pub fn set_presence(&mut self, presence: &[u8]) -> Result<(), Error> {
        check_size("presence", presence.len(), MAX_PRESENCE)?;
        self.config.presence = presence.to_vec();
        self.presence_changed = true;
        Ok(())
    }

    /// Answers [`Event::SnapshotWanted`]: `bytes` stands for all transactions up to `as_of`. What was not
    /// asked for, or was by a transport that is gone, is not sent.
    ///
    /// # Errors
    /// [`Error::TooLarge`] over the server's limit; the room then goes on without.
    pub fn snapshot(&mut self, as_of: Position, bytes: &[u8]) -> Result<(), Error> {
        let limit = self.session.map_or(0, |session| session.max_snapshot);
        check_size("snapshot", bytes.len(), limit)?;
        if self.snapshot_wanted.take_if(|wanted| *wanted == as_of).is_some() {
            self.upload = Some(compose::Upload::new(as_of, bytes));
        }
        Ok(())
    }

    /// Says goodbye and ends for good. What was accepted but not yet sent is given up: see [`Client::pending`].
    pub fn leave(&mut self) {
        if matches!(self.phase, Phase::Leaving | Phase::Ended) {
            return;
        }
        match (self.phase, self.link.as_mut()) {
            (Phase::Joined, Some(link)) => {
                link.queue(&Frame::Bye { reason: 0, retry_ms: 0 });
                self.phase = Phase::Leaving;
            }
            (_, Some(_)) => {
                self.outputs.push_back(Output::Hangup);
                self.end();
            }
            (phase, None) => {
                if phase == Phase::Dialing {
                    self.outputs.push_back(Output::Hangup);
                }
                self.end();
            }
        }
    }

    /// This participant's number in the room, once joined.
    pub fn participant(&self) -> Option<ParticipantId> {
        self.session.map(|session| session.participant)
    }

    /// The channel's name and the QoS that holds.
    pub fn describe(&self, channel: ChannelId) -> Option<(&str, &Qos)> {
        self.channels.get(channel.0 as usize).map(|open| (open.name.as_str(), &open.qos))
    }

    /// The position of the last transaction handed out by [`Client::poll_output`] or about to be.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Own transactions that are not yet ordered.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Totals since the client was made.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// What was sent as datagrams of a channel, what the server misses lets this end send again, and what came from the
    /// server; on the transport that is in use.
    pub fn path(&self, channel: ChannelId) -> Option<(SenderStats, Code, ReceiverStats)> {
        let id = self.channels.get(channel.0 as usize)?.id?;
        let (sent, code, received) = self.link.as_ref()?.datagrams.as_ref()?.stats(id)?;
        Some((sent, code, *received))
    }

    /// Smoothed round trip to the server.
    pub fn round_trip(&self) -> Option<Duration> {
        self.link.as_ref().and_then(|link| link.clock.round_trip())
    }

    /// How far the server's clock is ahead of `now`, in microseconds, and by how much that may be wrong.
    pub fn clock_offset(&self) -> Option<(i64, Duration)> {
        self.link.as_ref().and_then(|link| link.clock.offset())
    }

    /// Takes in what happened.
    pub fn handle_input(&mut self, now: Duration, input: Input<'_>) {
        match input {
            Input::Opened { max_datagram } => {
                if !matches!(self.phase, Phase::Leaving | Phase::Ended) {
                    self.greet(now, max_datagram);
                }
            }
            Input::Hurry => {
                if let Phase::Waiting(at) = &mut self.phase {
                    *at = now;
                }
            }
            Input::Timeout => {}
            Input::Packet(packet) => {
                if let Err(error) = self.receive(now, packet) {
                    self.fail(error);
                }
            }
            Input::Datagram(packet) => self.receive_datagram(now, packet),
            Input::DatagramSent => {
                if let Some(datagrams) = self.link.as_mut().and_then(|link| link.datagrams.as_mut())
                {
                    datagrams.sent();
                }
            }
            Input::Sent => {
                if let Some(link) = self.link.as_mut() {
                    link.sent();
                }
            }
            Input::Closed => self.closed(now),
        }
    }

    /// What to do next.
    pub fn poll_output(&mut self, now: Duration) -> Output {
        if self.outputs.is_empty() {
            self.keep_alive(now);
            self.compose(now);
        }
        self.outputs.pop_front().unwrap_or_else(|| Output::Timeout(self.next_timeout(now)))
    }

    /// Other codecs, or other costs of them.
    fn pack_anew(&mut self) {
        self.packing = packing_of(&self.config);
        if let Some(link) = self.link.as_mut() {
            link.choosing.begin_anew();
        }
    }

    fn not_now(&mut self) -> Sent {
        self.wants_drain = true;
        Sent::NotNow
    }
}

fn packing_of(config: &Config) -> Packing {
    let codecs = if config.compress { config.codecs } else { &[] };
    Packing::new(codecs, config.costs.clone()).with_clock(config.clock)
}

fn check_size(what: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    if size > limit { Err(Error::TooLarge { what, size, limit }) } else { Ok(()) }
}
