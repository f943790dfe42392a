//! The state that the handles and the driver of a room share.

use std::collections::VecDeque;
use std::future::pending;
use std::hash::{BuildHasher, RandomState};
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_session::client::{Event, Input, Output, Status};
use groupwire_session::{Client, Owner, ParticipantId, PathNeeds};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use crate::address::Scheme;
use crate::error::Error;
use crate::timer::Timer;
use crate::transport::framing::prefix_len;
use crate::world::World;

/// Most bytes of events that may wait for the application; the events of the last packet may exceed
/// it. About 6 s of a busy room: 100 people at 25 messages of 120 bytes per second make 0.7 MB/s
/// with the bookkeeping.
pub const MAX_UNREAD_BYTES: usize = 4 << 20;

/// Bytes that the transport adds to packets, besides those that [`Stats`](crate::Stats) count:
/// headers of WebSocket, or lengths of packets on a stream. The overhead of TCP, TLS and QUIC is
/// not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes added to packets sent.
    pub bytes_out: u64,
    /// Bytes added to packets received.
    pub bytes_in: u64,
    /// Packets that were sent as datagrams, including those dropped because they could not be sent
    /// soon.
    pub datagrams_out: u64,
    /// Packets received as datagrams.
    pub datagrams_in: u64,
}

/// The progress of joining the room.
#[derive(Debug, Clone)]
pub(crate) enum Progress {
    Connecting,
    /// The last attempt failed; the client will try again.
    Unreachable(Error),
    Joined(ParticipantId),
    Ended(Error),
}

/// A packet or datagram that the driver has to send.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Packet(Vec<u8>),
    Datagram(Vec<u8>, PathNeeds),
}

/// The driver's next step, besides sending packets.
#[derive(Debug)]
pub(crate) enum Next {
    /// Open a transport.
    Dial,
    /// Close the transport.
    Hangup,
    /// Move to the server that has the room, if that is possible.
    Move(Owner),
    /// Wait for the transport or the application, until this time at most.
    Wait(Option<Duration>),
    /// The session is over.
    End,
}

/// A session, shared by the handles of its room and by its driver.
pub(crate) struct SharedSession {
    clock: Clock,
    /// `None` in a [`World`], whose links have no framing.
    scheme: Option<Scheme>,
    state: Mutex<State>,
    /// Wakes the driver.
    pub(crate) wake: Notify,
    /// Wakes the reader of events.
    pub(crate) event_ready: Notify,
    /// Wakes [`Room::joined`](crate::Room::joined) and [`Room::leave`](crate::Room::leave) when the
    /// progress changes.
    pub(crate) progress: watch::Sender<Progress>,
}

/// The session's clock, which is 0 when the room's handle is made.
pub(crate) enum Clock {
    /// Tokio's clock, and its time at 0.
    Tokio(Instant),
    /// The clock of a world, and its time at 0.
    World(Arc<dyn World>, Duration),
}

pub(crate) struct State {
    pub(crate) client: Client,
    /// The status that the application was told last.
    status: Status,
    pub(crate) framing: Framing,
    unread: VecDeque<Event>,
    unread_bytes: usize,
    /// True if the application dropped its [`Events`](crate::Events).
    drops_events: bool,
    ended: bool,
}

impl SharedSession {
    /// A session on tokio's clock.
    pub(crate) fn new(client: Client, scheme: Scheme) -> Self {
        SharedSession::with(client, Some(scheme), Clock::Tokio(Instant::now()))
    }

    /// A session on the clock of a world.
    pub(crate) fn within(client: Client, world: Arc<dyn World>) -> Self {
        let now = world.now();
        SharedSession::with(client, None, Clock::World(world, now))
    }

    fn with(client: Client, scheme: Option<Scheme>, clock: Clock) -> Self {
        SharedSession {
            clock,
            scheme,
            state: Mutex::new(State {
                client,
                status: Status::Connecting,
                framing: Framing::default(),
                unread: VecDeque::new(),
                unread_bytes: 0,
                drops_events: false,
                ended: false,
            }),
            wake: Notify::new(),
            event_ready: Notify::new(),
            progress: watch::Sender::new(Progress::Connecting),
        }
    }

    /// The time since the room's handle was made.
    pub(crate) fn now(&self) -> Duration {
        match &self.clock {
            Clock::Tokio(origin) => origin.elapsed(),
            Clock::World(world, origin) => world.now().saturating_sub(*origin),
        }
    }

    /// A random number, which in a world comes from there.
    pub(crate) fn random(&self) -> u64 {
        match &self.clock {
            Clock::Tokio(_) => RandomState::new().hash_one(0),
            Clock::World(world, _) => world.random(),
        }
    }

    /// True if the session runs on the operating system's time.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.clock, Clock::Tokio(_))
    }

    /// A timer of the session, which is not set.
    pub(crate) fn timer(&self) -> Timer {
        match &self.clock {
            Clock::Tokio(origin) => {
                Timer::Tokio { origin: *origin, sleep: Box::pin(sleep_until(*origin)) }
            }
            Clock::World(world, origin) => Timer::World {
                world: Arc::clone(world),
                origin: *origin,
                at: Duration::MAX,
                sleep: Box::pin(pending()),
            },
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock has reported that itself, and the session's
        // state is consistent between its calls.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One turn of the session's driving interface: handles the inputs, collects packets to send,
    /// and queues events.
    pub(crate) fn turn(&self, inputs: &mut Vec<Input<'_>>, outgoing: &mut Vec<Outgoing>) -> Next {
        let mut state = self.lock();
        let now = self.now();
        for input in inputs.drain(..) {
            match input {
                Input::Packet(packet) => state.framing.bytes_in += self.header(packet.len()),
                Input::Datagram(_) => state.framing.datagrams_in += 1,
                _ => {}
            }
            state.client.handle_input(now, input);
        }
        let had_unread = !state.unread.is_empty();
        let next = loop {
            match state.client.poll_output(now) {
                Output::Send(packet) => {
                    state.framing.bytes_out += self.header(packet.len()) + self.mask();
                    outgoing.push(Outgoing::Packet(packet));
                }
                Output::Datagram(packet) => {
                    state.framing.datagrams_out += 1;
                    let needs = state.client.path_needs(now);
                    outgoing.push(Outgoing::Datagram(packet, needs));
                }
                Output::Event(Event::Owner(owner)) => break Next::Move(owner),
                Output::Event(event) => self.queue(&mut state, event),
                Output::Dial => break Next::Dial,
                Output::Hangup => break Next::Hangup,
                Output::Timeout(_) if state.ended => break Next::End,
                Output::Timeout(at) => break Next::Wait(at),
            }
        };
        if !had_unread && !state.unread.is_empty() {
            self.event_ready.notify_one();
        }
        next
    }

    /// Bytes before a packet: a WebSocket header without mask (RFC 6455, section 5.2), or a length
    /// (docs/transports.md, T1).
    fn header(&self, payload: usize) -> u64 {
        let Some(scheme) = self.scheme else { return 0 };
        match (scheme, payload) {
            (Scheme::Tcp | Scheme::Https, payload) => prefix_len(payload) as u64,
            (Scheme::Ws | Scheme::Wss, 0..=125) => 2,
            (Scheme::Ws | Scheme::Wss, 126..=65_535) => 4,
            (Scheme::Ws | Scheme::Wss, _) => 10,
        }
    }

    /// Bytes of the mask of a WebSocket frame from a client.
    fn mask(&self) -> u64 {
        if matches!(self.scheme, Some(Scheme::Ws | Scheme::Wss)) { 4 } else { 0 }
    }

    fn queue(&self, state: &mut State, event: Event) {
        if let Event::Status(status) = event
            && std::mem::replace(&mut state.status, status) == status
        {
            // The session reports each attempt; the application is told only of changes.
            return;
        }
        match &event {
            Event::Joined { participant, .. } => {
                self.progress.send_replace(Progress::Joined(*participant));
            }
            Event::Status(Status::Connecting | Status::Reconnecting) => {
                // A failed attempt stays visible until the next one has an outcome.
                self.progress.send_if_modified(|progress| {
                    let joined = matches!(progress, Progress::Joined(_));
                    if joined {
                        *progress = Progress::Connecting;
                    }
                    joined
                });
            }
            Event::Error { error, fatal: true, .. } => {
                self.progress.send_replace(Progress::Ended(error.clone().into()));
            }
            Event::Status(Status::Closed) => {
                state.ended = true;
                self.progress.send_if_modified(|progress| {
                    let reason_known = matches!(progress, Progress::Ended(_));
                    if !reason_known {
                        *progress = Progress::Ended(Error::Over);
                    }
                    !reason_known
                });
            }
            _ => {}
        }
        if !state.drops_events {
            state.unread_bytes += cost(&event);
            state.unread.push_back(event);
        }
        state.check();
    }

    /// Leaves the room.
    pub(crate) fn leave(&self) {
        self.lock().client.leave();
        self.wake.notify_one();
    }

    /// True if more events may be queued for the application.
    pub(crate) fn has_credit(&self) -> bool {
        self.lock().unread_bytes < MAX_UNREAD_BYTES
    }

    /// Swaps all unread events for the empty `out`. Returns false if there are none and will be
    /// none.
    pub(crate) fn take_unread(&self, out: &mut VecDeque<Event>) -> bool {
        debug_assert!(out.is_empty(), "unread events are swapped for an empty queue");
        let mut state = self.lock();
        state.check();
        std::mem::swap(&mut state.unread, out);
        if std::mem::take(&mut state.unread_bytes) >= MAX_UNREAD_BYTES {
            self.wake.notify_one();
        }
        !(out.is_empty() && state.ended)
    }

    /// True if no event waits for the application, and all own transactions are confirmed.
    pub(crate) fn is_settled(&self) -> bool {
        let state = self.lock();
        state.unread.is_empty() && state.client.pending() == 0
    }

    /// True if the session has ended, so that no more events will be queued.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().ended
    }

    /// Called when the application drops its [`Events`](crate::Events): discards the queued events
    /// and queues no more.
    pub(crate) fn drop_events(&self) {
        let mut state = self.lock();
        state.drops_events = true;
        state.unread = VecDeque::new();
        state.unread_bytes = 0;
        self.wake.notify_one();
    }
}

impl State {
    /// Checks the invariants of the unread events in debug builds.
    fn check(&self) {
        debug_assert_eq!(
            self.unread.is_empty(),
            self.unread_bytes == 0,
            "the bytes of all unread events are counted"
        );
        debug_assert!(
            !self.drops_events || self.unread.is_empty(),
            "no event waits after the application dropped its receiver"
        );
    }
}

/// Approximate bytes of memory of an unread event.
fn cost(event: &Event) -> usize {
    let bytes = match event {
        Event::Message(message) | Event::Direct(message) => {
            message.bytes.len() + message.key.as_ref().map_or(0, |key| key.len())
        }
        Event::Participants { changes, .. } | Event::Page { participants: changes, .. } => changes
            .iter()
            .map(|change| {
                let user = change.user.as_ref().map_or(0, String::len);
                size_of_val(change) + user + change.presence.len()
            })
            .sum(),
        Event::Snapshot { bytes, .. } => bytes.len(),
        _ => 0,
    };
    size_of::<Event>() + bytes
}

#[cfg(test)]
mod tests {
    use groupwire_session::client::Config;

    use super::*;

    #[test]
    fn the_application_is_told_once_of_each_status() {
        let client = Client::new(Duration::ZERO, Config::new("room")).unwrap();
        let session = SharedSession::new(client, Scheme::Ws);
        let attempts = [
            Status::Connecting,
            Status::Connecting,
            Status::Connected,
            Status::Reconnecting,
            Status::Reconnecting,
            Status::Reconnecting,
            Status::Connected,
            Status::Reconnecting,
            Status::Closed,
        ];
        for status in attempts {
            session.queue(&mut session.lock(), Event::Status(status));
        }
        let mut told = VecDeque::new();
        session.take_unread(&mut told);
        let changes = [
            Status::Connected,
            Status::Reconnecting,
            Status::Connected,
            Status::Reconnecting,
            Status::Closed,
        ];
        assert_eq!(told, changes.map(Event::Status));
    }
}
