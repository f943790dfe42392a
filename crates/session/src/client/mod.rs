//! A participant's end of a session: outlives its transports, resumes, keeps what must not be lost.

mod compose;
mod event;
mod outbox;
mod receive;
mod settle;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

pub use event::{Event, GapReason, Incoming, ParticipantChange, Status};

use crate::backoff::Backoff;
use crate::limits::{MAX_CHANNEL_NAME, MAX_KEY, MAX_PRESENCE, MAX_ROOM_NAME, MAX_TOKEN};
use crate::link::Link;
use crate::wire::frame::{Access, Frame};
use crate::wire::handshake::{Hello, Outcome, Resume, Secret};
use crate::wire::{VERSION, capability};
use crate::{Error, Kind, Limits, Qos, Timing};
pub(crate) use compose::CHUNK_HEADER;
use outbox::{Channel, Item, Pending};

/// What a client is made of.
#[derive(Debug, Clone)]
pub struct Config {
    /// The room to join, 1 to 256 octets.
    pub room: String,
    /// For the server's authorisation hook; opaque.
    pub token: Vec<u8>,
    /// What the others are told of this participant; opaque.
    pub presence: Vec<u8>,
    /// Spreads reconnections apart; any random number. The core has no randomness of its own.
    pub seed: u64,
    /// Whether message bodies are compressed, if the server can. Off is for debugging.
    pub compress: bool,
    /// What this end accepts and keeps.
    pub limits: Limits,
}

impl Config {
    /// A participant of `room` with everything else as usual.
    pub fn new(room: &str) -> Self {
        Config {
            room: room.to_string(),
            token: Vec::new(),
            presence: Vec::new(),
            seed: 1,
            compress: true,
            limits: Limits::default(),
        }
    }
}

/// What happened outside.
#[derive(Debug)]
pub enum Input<'a> {
    /// The transport asked for by [`Output::Dial`] is open.
    Opened,
    /// A packet came.
    Packet(&'a [u8]),
    /// The transport took one packet of [`Output::Send`]; there is room for another.
    Sent,
    /// The transport is closed, or could not be opened.
    Closed,
    /// There is reason to believe that the network is back: what waits to dial does so now.
    Hurry,
    /// Time passed.
    Timeout,
}

/// What to do outside.
#[derive(Debug)]
pub enum Output {
    /// Open a transport, then report [`Input::Opened`] or [`Input::Closed`].
    Dial,
    /// Send this packet, then report [`Input::Sent`].
    Send(Vec<u8>),
    /// Close the transport once what was sent is out, then report [`Input::Closed`].
    Hangup,
    /// Tell the application.
    Event(Event),
    /// Nothing more until an input comes, or until this time with [`Input::Timeout`].
    Timeout(Option<Duration>),
}

/// A channel of one client, by the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// What to send.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// The message; UTF-8 if `text`.
    pub bytes: &'a [u8],
    /// Whether the receiver is handed text.
    pub text: bool,
    /// On a conflated channel: only the newest value of each of this participant's keys matters.
    pub key: Option<&'a [u8]>,
    /// Instead of the channel's.
    pub priority: Option<u8>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// On its way, or waiting for its turn.
    Accepted,
    /// The same, and it replaced an older value of its key that had not been sent.
    Conflated,
    /// Too much is waiting; nothing was taken. [`Event::Drain`] says when to try again.
    NotNow,
}

/// Totals since the client was made. "Before" counts the bytes of messages, "after" whole packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out_before: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out_after: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in_before: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in_after: u64,
    /// Transports opened after the first.
    pub reconnects: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
}

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
    participant: u32,
    secret: Secret,
    incarnation: u64,
    timing: Timing,
    max_message: usize,
    max_snapshot: usize,
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
    outputs: VecDeque<Output>,
    session: Option<Session>,
    /// The last transaction delivered without a hole.
    position: u64,
    /// The last own transaction known to be ordered.
    ordered: u32,
    /// The last own transaction that has a number.
    numbered: u32,
    pending: VecDeque<Pending>,
    pending_bytes: usize,
    /// Submissions so far.
    order: u64,
    channels: Vec<Channel>,
    by_id: BTreeMap<u32, usize>,
    /// Kinds by the room's numbers, for reading bodies.
    kinds: Vec<Option<Kind>>,
    link: Option<Link>,
    /// The last transaction delivered of each sender, to see stale awareness.
    delivered: BTreeMap<u32, u32>,
    /// The last awareness index of each sender and channel, to drop what a resume repeats.
    seen: BTreeMap<(u32, usize), u32>,
    download: Option<receive::Download>,
    /// What the server asked for on this transport.
    snapshot_wanted: Option<u64>,
    upload: Option<compose::Upload>,
    /// The last snapshot taken in: it stands for every channel up to here.
    covered: u64,
    presence_changed: bool,
    /// How long the server that said goodbye asked to wait.
    stay_away: Duration,
    wants_drain: bool,
    /// When the current transport was welcomed.
    joined_at: Option<Duration>,
    stats: Stats,
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
            config,
            outputs: VecDeque::from([status]),
            session: None,
            position: 0,
            ordered: 0,
            numbered: 0,
            pending: VecDeque::new(),
            pending_bytes: 0,
            order: 0,
            channels: Vec::new(),
            by_id: BTreeMap::new(),
            kinds: Vec::new(),
            link: None,
            delivered: BTreeMap::new(),
            seen: BTreeMap::new(),
            download: None,
            snapshot_wanted: None,
            upload: None,
            covered: 0,
            presence_changed: false,
            stay_away: Duration::ZERO,
            wants_drain: false,
            joined_at: None,
            stats: Stats::default(),
        })
    }

    /// Opens a channel for sending and receiving, now or as soon as there is a connection. A channel
    /// of this name that is already open is returned as it is.
    ///
    /// # Errors
    /// A QoS that contradicts itself, too long a name, too many channels.
    pub fn channel(&mut self, name: &str, qos: Qos) -> Result<ChannelId, Error> {
        self.channel_with(name, qos, Access::FULL)
    }

    /// The same for only sending or only receiving.
    ///
    /// # Errors
    /// As [`Client::channel`].
    pub fn channel_with(
        &mut self,
        name: &str,
        qos: Qos,
        access: Access,
    ) -> Result<ChannelId, Error> {
        qos.validate()?;
        check_size("channel name", name.len(), MAX_CHANNEL_NAME)?;
        if let Some(at) = self.channels.iter().position(|channel| channel.name == name) {
            return Ok(ChannelId(at as u32));
        }
        let limit = self.config.limits.max_channels;
        if self.channels.len() >= limit {
            return Err(Error::TooMany { what: "channels", limit });
        }
        self.channels.push(Channel::new(name.to_string(), qos, access, self.covered));
        let at = self.channels.len() - 1;
        // Also after HELLO but before WELCOME: what `greet` announced did not include it.
        if matches!(self.phase, Phase::Greeting(_) | Phase::Joined) {
            self.open_channel(at);
        }
        Ok(ChannelId(at as u32))
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
        let item = Item {
            key: message.key.map(Into::into),
            priority: message.priority,
            text: message.text,
            bytes: message.bytes.into(),
            born: now,
        };
        self.order += 1;
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
    pub fn snapshot(&mut self, as_of: u64, bytes: &[u8]) -> Result<(), Error> {
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
    pub fn participant(&self) -> Option<u32> {
        self.session.map(|session| session.participant)
    }

    /// The channel's name and the QoS that holds.
    pub fn describe(&self, channel: ChannelId) -> Option<(&str, &Qos)> {
        self.channels.get(channel.0 as usize).map(|open| (open.name.as_str(), &open.qos))
    }

    /// The position of the last transaction handed out by [`Client::poll_output`] or about to be.
    pub fn position(&self) -> u64 {
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
            Input::Opened if self.phase == Phase::Dialing => self.greet(now),
            Input::Hurry => {
                if let Phase::Waiting(at) = &mut self.phase {
                    *at = now;
                }
            }
            Input::Opened | Input::Timeout => {}
            Input::Packet(packet) => {
                if let Err(error) = self.receive(now, packet) {
                    self.fail(error);
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
        self.outputs.pop_front().unwrap_or_else(|| Output::Timeout(self.next_timeout()))
    }

    fn keep_alive(&mut self, now: Duration) {
        match self.phase {
            Phase::Waiting(at) if now >= at => {
                self.phase = Phase::Dialing;
                self.outputs.push_back(Output::Dial);
            }
            Phase::Greeting(until) if now >= until => {
                self.fail(Error::Silent { ms: Timing::default().dead.as_millis() as u64 });
            }
            Phase::Joined | Phase::Leaving => {
                let (Some(session), Some(link)) = (self.session, self.link.as_mut()) else {
                    return;
                };
                let silence = now.saturating_sub(link.heard());
                if silence >= session.timing.dead {
                    self.fail(Error::Silent { ms: silence.as_millis() as u64 });
                } else if now >= link.pinged() + session.timing.ping {
                    link.ping(now);
                }
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        match self.phase {
            Phase::Waiting(at) | Phase::Greeting(at) => Some(at),
            Phase::Joined | Phase::Leaving => {
                let (session, link) = (self.session?, self.link.as_ref()?);
                let dead = link.heard() + session.timing.dead;
                let ping = link.pinged() + session.timing.ping;
                let slot = if link.ready() { self.next_slot() } else { None };
                [Some(dead), Some(ping), slot].into_iter().flatten().min()
            }
            Phase::Dialing | Phase::Ended => None,
        }
    }

    /// A transport is open: say hello and open all channels.
    fn greet(&mut self, now: Duration) {
        let mut link = Link::new(now);
        let limits = &self.config.limits;
        link.queue(&Frame::Hello(Hello {
            lowest: VERSION,
            capabilities: if self.config.compress { capability::ALL } else { 0 },
            max_packet: limits.max_packet,
            max_message: limits.max_message,
            room: &self.config.room,
            token: &self.config.token,
            presence: &self.config.presence,
            resume: self.session.map(|session| Resume {
                participant: session.participant,
                secret: session.secret,
                incarnation: session.incarnation,
                position: self.position,
                counter: self.ordered,
            }),
        }));
        self.link = Some(link);
        self.phase = Phase::Greeting(now + Timing::default().dead);
        self.by_id.clear();
        self.kinds.clear();
        self.download = None;
        self.snapshot_wanted = None;
        self.upload = None;
        self.presence_changed = false;
        for at in 0..self.channels.len() {
            self.channels[at].id = None;
            self.channels[at].with_join = true;
            self.open_channel(at);
        }
    }

    fn open_channel(&mut self, at: usize) {
        let channel = &self.channels[at];
        let have = if channel.synced { self.position } else { channel.have };
        if let Some(link) = self.link.as_mut() {
            link.queue(&Frame::Open {
                reference: at as u32,
                access: channel.access,
                name: &channel.name,
                qos: channel.qos,
                have,
            });
        }
    }

    /// Something is wrong on this transport: say so, close it, try again unless trying cannot help.
    fn fail(&mut self, error: Error) {
        if let Some(link) = self.link.as_mut().filter(|link| link.ready()) {
            // What was composed for the room must not follow the error, so it goes alone.
            let mut packet = link.begin(link.heard());
            crate::link::error_frame(&error, true, 0, &mut packet);
            link.launched();
            self.outputs.push_back(Output::Send(packet));
        }
        self.outputs.push_back(Output::Hangup);
        self.link = None;
        if self.phase == Phase::Leaving {
            return self.end();
        }
        let hopeless = matches!(
            error,
            Error::Version { .. }
                | Error::Unsupported { .. }
                | Error::Refused { .. }
                | Error::Replaced
        ) || matches!(&error, Error::Remote { code, .. } if HOPELESS.contains(code));
        self.outputs.push_back(Output::Event(Event::Error {
            error,
            channel: None,
            fatal: hopeless,
        }));
        if hopeless {
            self.end();
        } else {
            // `Closed` comes from the shell and starts the wait.
            self.phase = Phase::Dialing;
        }
    }

    fn closed(&mut self, now: Duration) {
        self.link = None;
        match self.phase {
            Phase::Ended => {}
            Phase::Leaving => self.end(),
            Phase::Waiting(_) => {}
            _ => {
                let least = core::mem::take(&mut self.stay_away);
                self.wait(now, least);
            }
        }
    }

    /// Dials again after at least `least`.
    fn wait(&mut self, now: Duration, least: Duration) {
        // A connection that fails as soon as it stands is no better than none.
        let lasted = self.joined_at.take().map_or(Duration::ZERO, |at| now.saturating_sub(at));
        if lasted >= Timing::default().dead {
            self.backoff.reset();
        }
        self.phase = Phase::Waiting(now + least + self.backoff.next());
        let status = if self.session.is_some() { Status::Reconnecting } else { Status::Connecting };
        self.outputs.push_back(Output::Event(Event::Status(status)));
    }

    fn end(&mut self) {
        self.link = None;
        self.phase = Phase::Ended;
        self.outputs.push_back(Output::Event(Event::Status(Status::Closed)));
    }

    fn not_now(&mut self) -> Sent {
        self.wants_drain = true;
        Sent::NotNow
    }

    /// The room does not know the session any more: start over under a new number.
    fn start_over(&mut self, outcome: Outcome, same_incarnation: bool) {
        let uncertain = self.pending.iter().filter(|pending| pending.counter.is_some()).count();
        self.ordered = 0;
        self.numbered = 0;
        for pending in &mut self.pending {
            pending.counter = None;
            pending.sent = false;
        }
        self.channels.iter_mut().for_each(|channel| channel.index = 0);
        if !same_incarnation {
            self.position = 0;
            self.covered = 0;
            self.delivered.clear();
            self.seen.clear();
            for channel in &mut self.channels {
                channel.have = 0;
                channel.synced = false;
            }
        }
        if outcome == Outcome::Lost {
            let reason = if same_incarnation { GapReason::Session } else { GapReason::Incarnation };
            self.outputs.push_back(Output::Event(Event::Gap { reason, uncertain }));
        }
    }
}

/// Codes after which dialling again cannot help: version, unsupported, refused, replaced.
const HOPELESS: [u32; 4] = [1, 3, 9, 14];

fn check_size(what: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    if size > limit { Err(Error::TooLarge { what, size, limit }) } else { Ok(()) }
}
