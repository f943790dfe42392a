//! The server's end: one room with its participants, channels, late-joiner state and ticks.

mod audience;
mod change;
mod class;
mod contract;
mod copies;
mod datagrams;
mod flush;
#[cfg(feature = "describe")]
mod inspect;
mod join;
mod journal;
mod outgoing;
mod participant;
mod receive;
#[cfg(feature = "describe")]
mod record;
mod shared;
mod snapshot;
mod thinning;
#[cfg(feature = "describe")]
mod watched;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

pub use contract::{Config, Event, Input, Output, Stats, whole_packet};
#[cfg(feature = "describe")]
pub use inspect::{ChannelFacts, Inspection, Measured, ParticipantFacts, TransportFacts};
#[cfg(feature = "describe")]
pub use record::Recorded;

use crate::contract::Tally;
use crate::datagrams::Needs;
use crate::ids::{Counter, LinkId, Order, ParticipantId};
use crate::limits::DEFAULT_MAX_PACKET;
use crate::link::error_frame;
use crate::packing::{Cache, Forms, Packing};
use crate::trace::Trace;
use crate::wire::frame::Frame;
use crate::wire::handshake::Secret;
use crate::{Authority, Error, Limits, PresenceState, Qos, Timing};
use class::Classes;
use journal::Journal;
use participant::Participant;
use shared::Shared;

/// How often silence, stalls and absences are looked at: fine enough for "within 6 s".
const HOUSEKEEPING: Duration = Duration::from_millis(250);

/// A measuring ping is sent every so many `Timing::ping` (W35).
const MEASURE_EVERY: u32 = 5;

struct Channel {
    name: String,
    qos: Qos,
    /// What was sent on it lately and is judged.
    came: Tally,
    /// Of that, the share that did not come here in time, as receivers were told; in 1/1000.
    upstream: Option<u16>,
}

impl Channel {
    fn needs(&self) -> Needs {
        Needs { qos: self.qos, upstream: self.upstream }
    }
}

/// A participant that left, so that it can still resume without repeating itself.
struct Former {
    id: ParticipantId,
    secret: Secret,
    counter: Counter,
}

/// The room's state machine, driven as the [crate](crate#the-driving-contract) says.
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::room::{Config, Input, Output, Room};
/// use groupwire_session::AllowAll;
///
/// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
/// room.handle_input(Duration::ZERO, Input::Timeout);
/// assert!(matches!(room.poll_output(), Output::Timeout(None)));
/// ```
pub struct Room {
    config: Config,
    authority: Box<dyn Authority + Send>,
    channels: Vec<Channel>,
    participants: BTreeMap<ParticipantId, Participant>,
    links: BTreeMap<LinkId, ParticipantId>,
    former: VecDeque<Former>,
    last_id: ParticipantId,
    journal: Journal,
    next_tick: Option<Duration>,
    /// When a value goes that waits for a slot of a receiver who wants fewer.
    next_slot: Option<Duration>,
    last_tick: Option<Duration>,
    /// All up to this order was there at the last tick.
    ticked: Order,
    next_housekeeping: Option<Duration>,
    /// When somebody's datagrams are due, beside those of ticks.
    datagrams_due: BTreeSet<(Duration, ParticipantId)>,
    /// The newest order when the house was last kept: what is not replaced until the next time rests.
    resting: Order,
    /// Until when a participant may take to upload a snapshot before another is asked.
    snapshot_due: Option<Duration>,
    last_asked: ParticipantId,
    told_upstream: Option<Duration>,
    /// Whose news is to be spread at the next tick.
    changed: BTreeSet<ParticipantId>,
    outputs: VecDeque<Output>,
    stats: Stats,
    packing: Packing,
    forms: Forms,
    /// Chunks of snapshots, packed (W55).
    chunks: Cache,
    classes: Classes,
    trace: Trace,
    #[cfg(feature = "describe")]
    recorder: record::Recorder,
    shared: Shared,
}

impl Room {
    /// An empty room.
    pub fn new(mut config: Config, authority: Box<dyn Authority + Send>) -> Self {
        // A message has to fit a packet, whatever was configured.
        let largest = DEFAULT_MAX_PACKET - Limits::packet_for(0);
        config.limits.max_message = config.limits.max_message.min(largest);
        let codecs = if config.compress { config.codecs } else { &[] };
        let packing = Packing::new(codecs, config.costs.clone()).with_clock(config.clock);
        Room {
            config,
            authority,
            channels: Vec::new(),
            participants: BTreeMap::new(),
            links: BTreeMap::new(),
            former: VecDeque::new(),
            last_id: ParticipantId(0),
            journal: Journal::new(),
            next_tick: None,
            next_slot: None,
            last_tick: None,
            ticked: Order(0),
            next_housekeeping: None,
            datagrams_due: BTreeSet::new(),
            resting: Order(0),
            snapshot_due: None,
            last_asked: ParticipantId(0),
            told_upstream: None,
            changed: BTreeSet::new(),
            outputs: VecDeque::new(),
            stats: Stats::default(),
            packing,
            forms: Forms::default(),
            chunks: Cache::default(),
            classes: Classes::default(),
            trace: Trace::default(),
            #[cfg(feature = "describe")]
            recorder: record::Recorder::default(),
            shared: Shared::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Whether nobody is here or away.
    pub fn is_empty(&self) -> bool {
        self.participants.is_empty()
    }

    /// Totals since it was made.
    pub fn stats(&self) -> Stats {
        let here = self.participants.values().filter(|participant| participant.is_here()).count();
        let expired = self.journal.expired;
        let packed = self.forms.memory() + self.chunks.memory();
        let coded = self.shared.memory() + self.classes.memory();
        let memory = self.journal.memory() + packed + self.packing.memory() + coded;
        Stats { here, expired, memory, ..self.stats }
    }

    /// Whether nobody has ever joined it: such a room holds nothing worth keeping.
    pub fn is_untouched(&self) -> bool {
        self.last_id == ParticipantId(0)
    }

    /// Takes in what happened.
    pub fn handle_input(&mut self, now: Duration, input: Input<'_>) {
        match input {
            Input::Join { link, opening, secret, max_datagram } => {
                self.join(now, link, opening, secret, max_datagram);
            }
            Input::Packet { link, packet } => {
                if let Some(&id) = self.links.get(&link) {
                    let received = self.receive(now, id, packet);
                    #[cfg(feature = "describe")]
                    self.describe_received(now, id, packet);
                    match received {
                        Ok(()) => self.flush(now, id),
                        Err(error) => self.fail(now, id, error),
                    }
                }
            }
            Input::Sent { link } => {
                if let Some(&id) = self.links.get(&link) {
                    let Room { participants, shared, .. } = self;
                    let participant = participants.get_mut(&id);
                    let connection = participant.and_then(|one| one.connection.as_deref_mut());
                    // Nearly always there is nothing more for a member, and that is seen with one look at it.
                    let is_done = connection.is_some_and(|connection| {
                        connection.link.sent();
                        connection.has_all(shared)
                    });
                    if !is_done {
                        self.flush(now, id);
                    }
                }
            }
            Input::Fail { link, error } => {
                if let Some(&id) = self.links.get(&link) {
                    self.fail(now, id, error);
                }
            }
            Input::Closed { link } => {
                if let Some(id) = self.links.remove(&link) {
                    self.away(now, id, None);
                }
            }
            Input::Datagram { link, packet } => {
                if let Some(&id) = self.links.get(&link) {
                    self.receive_datagram(now, id, packet);
                }
            }
            Input::DatagramSent { link } => {
                if let Some(&id) = self.links.get(&link) {
                    let connection = self.connection(id);
                    if let Some(datagrams) = connection.and_then(|one| one.link.datagrams.as_mut())
                    {
                        datagrams.sent();
                    }
                    self.flush_datagrams(now, id);
                }
            }
            Input::Shutdown { retry } => self.shut_down(retry),
            Input::Timeout => {}
        }
        if self.next_tick.is_some_and(|at| at <= now) {
            self.tick(now);
        }
        if self.next_slot.is_some_and(|at| at <= now) {
            self.serve_slots(now);
        }
        if self.next_housekeeping.is_some_and(|at| at <= now) {
            self.keep_house(now);
        }
        self.flush_due_datagrams(now);
    }

    /// What to do next.
    pub fn poll_output(&mut self) -> Output {
        self.outputs.pop_front().unwrap_or_else(|| {
            let datagrams = self.datagrams_due.first().map(|(at, _)| *at);
            let timers = [self.next_tick, self.next_slot, self.next_housekeeping, datagrams];
            Output::Timeout(timers.into_iter().flatten().min())
        })
    }

    /// Something new is in the journal: mailboxes go out at the next tick, at once if the last one is long past.
    fn schedule_tick(&mut self, now: Duration) {
        let earliest = self.last_tick.map_or(now, |last| last + self.config.timing.tick);
        let at = earliest.max(now);
        self.next_tick = Some(self.next_tick.map_or(at, |planned| planned.min(at)));
    }

    fn tick(&mut self, now: Duration) {
        self.next_tick = None;
        self.last_tick = Some(now);
        let due = (self.journal.order(), self.journal.head());
        self.ticked = due.0;
        let changed = core::mem::take(&mut self.changed);
        self.share(now, due);
        self.flush_classes(now, due.0);
        for id in self.send_shared(now, due, &changed) {
            self.flush_datagrams(now, id);
            self.flush(now, id);
        }
        let (mut sent, mut next_slot) = (self.classes.needs_after(), None::<Duration>);
        for connection in self.participants.values().filter_map(|other| other.connection.as_deref())
        {
            sent = sent.min(connection.served());
            next_slot = next_slot.into_iter().chain(connection.next_slot()).min();
        }
        self.next_slot = next_slot;
        self.journal.expire(now, sent);
        self.forms.sent(sent);
        self.ask_for_snapshot(now);
        if let Some(at) = self.classes.next_round() {
            self.next_tick = Some(self.next_tick.map_or(at, |planned| planned.min(at)));
        }
    }

    fn keep_house(&mut self, now: Duration) {
        let Timing { ping, dead, away, .. } = self.config.timing;
        let rests = core::mem::replace(&mut self.resting, self.journal.order());
        self.share_rested(now, rests);
        self.arrange_classes(now);
        let ids: Vec<ParticipantId> = self.participants.keys().copied().collect();
        for id in ids {
            self.flush_datagrams(now, id);
            let Some(participant) = self.participants.get_mut(&id) else { continue };
            let Some(connection) = participant.connection.as_deref_mut() else {
                if now >= participant.away_since + away {
                    self.leave(id);
                }
                continue;
            };
            if let Some(fresh) = connection.fresh.as_mut() {
                fresh.rests = rests;
            }
            let silence = now.saturating_sub(connection.link.heard());
            let since_ping = now.saturating_sub(connection.link.pinged());
            if silence >= dead {
                self.fail(now, id, Error::Silent { ms: silence.as_millis() as u64 });
                continue;
            }
            if since_ping >= ping * MEASURE_EVERY || (silence >= ping && since_ping >= ping) {
                connection.link.ping(now);
            }
            let waiting = connection.has_anything();
            match if waiting { connection.link.check_stall(now, dead) } else { Ok(()) } {
                Ok(()) => self.flush(now, id),
                Err(error) => self.fail(now, id, error),
            }
        }
        self.review_shared(now);
        match self.participants.is_empty() {
            true => {
                self.packing.release();
                self.chunks.release();
            }
            false => {
                self.packing.rest(now);
                self.chunks.rest(now);
            }
        }
        self.tell_upstream(now);
        self.next_housekeeping = (!self.participants.is_empty()).then(|| now + HOUSEKEEPING);
        self.ask_for_snapshot(now);
    }

    /// Closes a participant's transport; it may come back.
    fn fail(&mut self, now: Duration, id: ParticipantId, error: Error) {
        let Some(connection) = self.connection(id) else { return };
        let link = connection.id;
        let mut packet = Vec::new();
        error_frame(&error, true, 0, &mut packet);
        self.links.remove(&link);
        self.outputs.push_back(Output::Close { link, packet, reason: Some(error.clone()) });
        self.away(now, id, Some(error));
    }

    fn away(&mut self, now: Duration, id: ParticipantId, error: Option<Error>) {
        let Some(participant) = self.participants.get_mut(&id) else { return };
        participant.connection = None;
        participant.away_since = now;
        participant.upload = None;
        participant.asked = None;
        participant.presence_state = PresenceState::Away;
        self.outputs.push_back(Output::Event(Event::Away { participant: id, error }));
        self.announce(now, id);
    }

    /// Takes a participant out of the room; its session can still be resumed.
    fn leave(&mut self, id: ParticipantId) {
        let Some(participant) = self.participants.remove(&id) else { return };
        if let Some(connection) = participant.connection {
            self.links.remove(&connection.id);
        }
        let Participant { secret, counter, .. } = participant;
        self.former.push_back(Former { id, secret, counter });
        if self.former.len() > self.config.limits.max_former {
            self.former.pop_front();
        }
        self.journal.forget(id);
        self.outputs.push_back(Output::Event(Event::Left { participant: id }));
        self.changed.insert(id);
        self.next_tick.get_or_insert(self.last_tick.unwrap_or_default());
    }

    /// The others are to be told of this participant.
    fn announce(&mut self, now: Duration, id: ParticipantId) {
        self.changed.insert(id);
        self.schedule_tick(now);
        self.next_housekeeping.get_or_insert(now + HOUSEKEEPING);
    }

    fn shut_down(&mut self, retry: Duration) {
        for (link, id) in core::mem::take(&mut self.links) {
            let mut packet = Vec::new();
            Frame::Bye { reason: 0, retry_ms: retry.as_millis() as u64 }.write(&mut packet);
            self.outputs.push_back(Output::Close { link, packet, reason: None });
            if let Some(participant) = self.participants.get_mut(&id) {
                participant.connection = None;
            }
        }
    }

    fn connection(&mut self, id: ParticipantId) -> Option<&mut participant::Connection> {
        self.participants.get_mut(&id)?.connection.as_deref_mut()
    }
}
