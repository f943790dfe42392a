//! What lasts of a carrier from one request to the next.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::Error;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::form::Id;
use crate::transport::Gone;

/// What is kept for whoever has to be sent it again, at most (T10).
const KEPT_BYTES: usize = 256 << 10;
const KEPT_PACKETS: usize = 1024;

/// A transport made of requests.
pub(super) struct Carrier {
    pub(super) id: Id,
    /// How long it may be without a down request (T18).
    alone: Duration,
    state: Mutex<State>,
    /// Wakes everybody who waits for the state to change: five at most.
    changed: Notify,
}

struct State {
    /// Towards the client, from the first that it does not have.
    kept: VecDeque<Bytes>,
    kept_bytes: usize,
    /// The number of the last packet that the client has.
    acknowledged: u64,
    /// The number of the last that the present response, or the last one, has taken.
    sent: u64,
    /// The highest that this ever was.
    sent_ever: u64,
    /// The response that runs, and the number of its first packet.
    running: Option<(Turn, u64)>,
    last_turn: Turn,
    alone_since: Instant,
    /// No more packets will come from the room.
    ends: bool,
    over: bool,
    /// The number of the last upload that was taken in.
    uploaded: u64,
    is_uploading: bool,
    /// Packets, length-prefixed, that were not read yet.
    upload: Option<Bytes>,
    /// Some were, and not all of them have gone to the room.
    is_busy: bool,
    /// The client broke a rule.
    fault: Option<Error>,
}

/// A down response's number.
pub(super) type Turn = u64;

/// What a response is to do.
pub(super) enum Step {
    Packet(Bytes),
    End,
}

/// Where an upload stands in their order (T16).
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    Next,
    /// It was taken in already; its answer was lost.
    Repeated,
    /// The carrier is over now.
    Wrong,
    /// It is over already.
    Gone,
}

impl Carrier {
    pub(super) fn new(id: Id, alone: Duration) -> Self {
        let state = State {
            kept: VecDeque::new(),
            kept_bytes: 0,
            acknowledged: 0,
            sent: 0,
            sent_ever: 0,
            running: None,
            last_turn: 0,
            alone_since: Instant::now(),
            ends: false,
            over: false,
            uploaded: 0,
            is_uploading: false,
            upload: None,
            is_busy: false,
            fault: None,
        };
        Carrier { id, alone, state: Mutex::new(state), changed: Notify::new() }
    }

    /// Begins a response for a client that has so many packets, and answers the number of its first. `None`: the
    /// carrier is over.
    pub(super) fn begin(&self, received: u64) -> Option<(Turn, u64)> {
        self.change(|state| {
            if state.over || !state.acknowledge(received) {
                state.over = true;
                return None;
            }
            // T11: the client reads the older response to its end, unless something before that is missing.
            let goes_on =
                state.running.is_some_and(|(_, first)| first <= received.saturating_add(1));
            if !goes_on {
                state.sent = state.acknowledged;
            }
            state.last_turn += 1;
            let (turn, first) = (state.last_turn, state.sent + 1);
            state.running = Some((turn, first));
            Some((turn, first))
        })
    }

    /// What a response is to do next.
    pub(super) async fn step(&self, turn: Turn) -> Step {
        self.when(|state| {
            if state.over || state.running.is_none_or(|(running, _)| running != turn) {
                return Some(Step::End);
            }
            let Some(packet) = state.kept.get((state.sent - state.acknowledged) as usize) else {
                return state.ends.then_some(Step::End);
            };
            let packet = packet.clone();
            state.sent += 1;
            state.sent_ever = state.sent_ever.max(state.sent);
            Some(Step::Packet(packet))
        })
        .await
    }

    /// The response is over, as it should be or not.
    pub(super) fn finish(&self, turn: Turn) {
        self.change(|state| {
            if state.running.is_some_and(|(running, _)| running == turn) {
                state.running = None;
                state.alone_since = Instant::now();
            }
        });
    }

    /// Keeps a packet for the client, once there is room, and waits until a response has taken it.
    pub(super) async fn send(&self, packet: Bytes) -> Result<(), Gone> {
        let number = self
            .when(|state| {
                if state.over {
                    return Some(Err(Gone));
                }
                state.has_room_for(packet.len()).then(|| Ok(state.push(packet.clone())))
            })
            .await?;
        self.when(|state| match state.sent_ever >= number {
            true => Some(Ok(())),
            false => state.over.then_some(Err(Gone)),
        })
        .await
    }

    /// Sends a last packet, which may be empty, and waits until the response that has it is over.
    pub(super) async fn end(&self, packet: Bytes) {
        let last = self.change(|state| {
            if !packet.is_empty() {
                state.push(packet);
            }
            state.ends = true;
            state.acknowledged + state.kept.len() as u64
        });
        self.when(|state| {
            let is_through = state.sent_ever >= last && state.running.is_none();
            (is_through || state.over).then_some(())
        })
        .await;
    }

    /// Ends it for everybody.
    pub(super) fn stop(&self) {
        self.change(|state| state.over = true);
    }

    /// The client broke a rule: its connection is told, and says so.
    pub(super) fn fail(&self, error: Error) {
        self.change(|state| {
            state.fault.get_or_insert(error);
        });
    }

    /// An upload begins to be read; with [`Place::Next`], [`Carrier::let_go`] is due.
    pub(super) fn begin_upload(&self, number: u64, received: u64) -> Place {
        self.change(|state| {
            if state.over {
                return Place::Gone;
            }
            let is_repeated = number > 0 && number == state.uploaded;
            let is_next = number == state.uploaded.saturating_add(1);
            let is_right = !state.is_uploading && (is_repeated || is_next);
            if !is_right || !state.acknowledge(received) {
                state.over = true;
                return Place::Wrong;
            }
            state.is_uploading = is_next;
            if is_next { Place::Next } else { Place::Repeated }
        })
    }

    /// The upload is read no longer.
    pub(super) fn let_go(&self) {
        self.change(|state| state.is_uploading = false);
    }

    /// Takes the upload's packets in, once those of the one before have gone to the room.
    pub(super) async fn take_in(&self, number: u64, packets: Bytes) -> Result<(), Gone> {
        self.when(|state| {
            if state.over {
                return Some(Err(Gone));
            }
            if state.is_busy || state.upload.is_some() {
                return None;
            }
            state.upload = Some(packets.clone());
            state.uploaded = number;
            Some(Ok(()))
        })
        .await
    }

    /// The packets of the next upload, asked for when those of the one before have gone to the room. `None`: it is over.
    pub(super) async fn next_upload(&self) -> Result<Option<Bytes>, Error> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let deadline = {
                let mut state = self.lock();
                if let Some(error) = state.fault.take() {
                    return Err(error);
                }
                if state.over {
                    return Ok(None);
                }
                state.is_busy = state.upload.is_some();
                self.changed.notify_waiters();
                if let Some(upload) = state.upload.take() {
                    return Ok(Some(upload));
                }
                state.running.is_none().then(|| state.alone_since + self.alone)
            };
            match deadline {
                None => changed.await,
                Some(deadline) if deadline <= Instant::now() => return Ok(None),
                Some(deadline) => drop(tokio::time::timeout_at(deadline, changed).await),
            }
        }
    }

    /// Waits until `look` finds something.
    async fn when<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let found = look(&mut self.lock());
            if let Some(found) = found {
                self.changed.notify_waiters();
                return found;
            }
            changed.await;
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let outcome = change(&mut self.lock());
        self.changed.notify_waiters();
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets what the client has. `false`: it cannot have that.
    fn acknowledge(&mut self, received: u64) -> bool {
        if received > self.sent_ever {
            return false;
        }
        // An older word may come later, over another connection.
        while self.acknowledged < received {
            let Some(packet) = self.kept.pop_front() else { return false };
            self.kept_bytes -= packet.len();
            self.acknowledged += 1;
        }
        self.sent = self.sent.max(self.acknowledged);
        true
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        let fits = self.kept_bytes + bytes <= KEPT_BYTES && self.kept.len() < KEPT_PACKETS;
        self.kept.is_empty() || fits
    }

    fn push(&mut self, packet: Bytes) -> u64 {
        self.kept_bytes += packet.len();
        self.kept.push_back(packet);
        self.acknowledged + self.kept.len() as u64
    }
}
