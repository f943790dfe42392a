//! What the handles and the driver of a room share.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_session::Client;
use groupwire_session::client::{Event, Input, Output, Status};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::Error;

/// Bytes of events that may wait for the application, plus one packet's. About a minute of a busy room: 100 people
/// at 25 messages of 120 bytes per second make 0.7 MB/s with the bookkeeping.
pub const MAX_UNREAD_BYTES: usize = 4 << 20;

/// Octets of WebSocket headers, which come on top of the packets that [`Stats`](crate::Stats) count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Framing {
    /// Before packets sent: header and mask.
    pub bytes_out: u64,
    /// Before packets received.
    pub bytes_in: u64,
}

/// How joining goes.
#[derive(Debug, Clone)]
pub(crate) enum Progress {
    Connecting,
    /// The last attempt failed; there will be another.
    Unreachable(Error),
    Joined(u32),
    Ended(Error),
}

/// What the driver has to do next, besides sending.
#[derive(Debug)]
pub(crate) enum Next {
    Dial,
    Hangup,
    /// Wait for something to happen, or for this time.
    Wait(Option<Duration>),
    /// The session is over.
    End,
}

pub(crate) struct Shared {
    origin: Instant,
    state: Mutex<State>,
    /// Wakes the driver.
    pub(crate) wake: Notify,
    /// Wakes the reader of events.
    pub(crate) news: Notify,
    pub(crate) progress: watch::Sender<Progress>,
}

pub(crate) struct State {
    pub(crate) client: Client,
    pub(crate) framing: Framing,
    unread: VecDeque<Event>,
    unread_bytes: usize,
    /// The application dropped its end.
    deaf: bool,
    ended: bool,
}

impl Shared {
    pub(crate) fn new(client: Client) -> Self {
        Shared {
            origin: Instant::now(),
            state: Mutex::new(State {
                client,
                framing: Framing::default(),
                unread: VecDeque::new(),
                unread_bytes: 0,
                deaf: false,
                ended: false,
            }),
            wake: Notify::new(),
            news: Notify::new(),
            progress: watch::Sender::new(Progress::Connecting),
        }
    }

    /// The session's clock: time since the room was made.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(crate) fn instant(&self, at: Duration) -> Instant {
        self.origin + at
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere while it was locked is reported there; the machine has no half-made states.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One turn of the driving contract: takes in what happened, collects what to send, queues events.
    pub(crate) fn turn(&self, inputs: &mut Vec<Input<'_>>, packets: &mut Vec<Vec<u8>>) -> Next {
        let mut state = self.lock();
        let now = self.now();
        for input in inputs.drain(..) {
            if let Input::Packet(packet) = input {
                state.framing.bytes_in += header(packet.len());
            }
            state.client.handle_input(now, input);
        }
        let had_news = !state.unread.is_empty();
        let next = loop {
            match state.client.poll_output(now) {
                Output::Datagram(_) => {}
                Output::Send(packet) => {
                    state.framing.bytes_out += header(packet.len()) + MASK;
                    packets.push(packet);
                }
                Output::Event(event) => self.queue(&mut state, event),
                Output::Dial => break Next::Dial,
                Output::Hangup => break Next::Hangup,
                Output::Timeout(_) if state.ended => break Next::End,
                Output::Timeout(at) => break Next::Wait(at),
            }
        };
        if !had_news && !state.unread.is_empty() {
            self.news.notify_one();
        }
        next
    }

    fn queue(&self, state: &mut State, event: Event) {
        match &event {
            Event::Joined { participant, .. } => {
                self.progress.send_replace(Progress::Joined(*participant));
            }
            Event::Status(Status::Connecting | Status::Reconnecting) => {
                // An attempt that failed stays known until the next one.
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
        if !state.deaf {
            state.unread_bytes += cost(&event);
            state.unread.push_back(event);
        }
    }

    /// Says goodbye.
    pub(crate) fn leave(&self) {
        self.lock().client.leave();
        self.wake.notify_one();
    }

    /// Whether the application may be given more.
    pub(crate) fn has_credit(&self) -> bool {
        self.lock().unread_bytes < MAX_UNREAD_BYTES
    }

    /// Swaps all unread events for the empty `out`. `false`: there are none and will be none.
    pub(crate) fn take_unread(&self, out: &mut VecDeque<Event>) -> bool {
        let mut state = self.lock();
        std::mem::swap(&mut state.unread, out);
        if std::mem::take(&mut state.unread_bytes) >= MAX_UNREAD_BYTES {
            self.wake.notify_one();
        }
        !(out.is_empty() && state.ended)
    }

    /// The application wants no more events.
    pub(crate) fn stop_telling(&self) {
        let mut state = self.lock();
        state.deaf = true;
        state.unread = VecDeque::new();
        state.unread_bytes = 0;
        self.wake.notify_one();
    }
}

/// What an unread event holds on to.
fn cost(event: &Event) -> usize {
    let bytes = match event {
        Event::Message(message) => {
            message.bytes.len() + message.key.as_ref().map_or(0, |key| key.len())
        }
        Event::Participants { changes, .. } => {
            changes.iter().map(|change| size_of_val(change) + change.presence.len()).sum()
        }
        Event::Snapshot { bytes, .. } => bytes.len(),
        _ => 0,
    };
    size_of::<Event>() + bytes
}

/// Octets of the mask of a frame from a client (RFC 6455, section 5.2).
const MASK: u64 = 4;

/// Octets of a frame's header without mask (RFC 6455, section 5.2).
fn header(payload: usize) -> u64 {
    match payload {
        0..=125 => 2,
        126..=65_535 => 4,
        _ => 10,
    }
}
