//! The state of an HTTP transport between requests. Rules such as *T10* are those of
//! docs/transports.md.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::Error;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::form::HttpTransportId;
use crate::ends::Gone;

/// Most bytes and packets kept until the client acknowledges them, so that they can be sent again
/// (T10). On a line of 5 Mbit/s down and 64 kbit/s up an acknowledgement waits 300 to 900 ms behind
/// those of TCP, so 256 KiB would halve the throughput. Only receivers on fast links fill this,
/// because a socket takes little more than what is in flight.
const KEPT_BYTES: usize = 1 << 20;
const KEPT_PACKETS: usize = 4096;

/// A transport made of HTTP requests.
pub(super) struct HttpTransport {
    pub(super) id: HttpTransportId,
    /// How long the transport may be without a down request (T18).
    idle_limit: Duration,
    state: Mutex<State>,
    /// Notifies all tasks that wait for a change of the state; there are five at most.
    changed: Notify,
}

struct State {
    /// Packets to the client that it has not acknowledged.
    kept: VecDeque<Bytes>,
    kept_bytes: usize,
    /// Number of the last packet that the client acknowledged.
    acknowledged: u64,
    /// Number of the last packet that the current response has sent; without a current response, of
    /// the last one that the previous response has sent.
    sent: u64,
    /// The highest value that `sent` ever had.
    sent_ever: u64,
    /// The current response, and the number of its first packet.
    current: Option<(ResponseNumber, u64)>,
    last_response: ResponseNumber,
    idle_since: Instant,
    /// True if the room sends no more packets.
    is_ending: bool,
    closed: bool,
    /// Number of the last upload that was accepted.
    uploaded: u64,
    is_uploading: bool,
    /// Length-prefixed packets of the last upload, not yet read by the connection's task.
    upload: Option<Bytes>,
    /// True if the connection's task is still passing the packets of an upload to the room.
    is_busy: bool,
    /// The rule that the client broke, for the connection's task to report.
    fault: Option<Error>,
}

/// Numbers the responses of one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResponseNumber(u64);

/// What a response has to do next.
pub(super) enum Step {
    Packet(Bytes),
    End,
}

/// How an upload's number relates to those before it (T16).
#[derive(Debug, PartialEq)]
pub(super) enum UploadOrder {
    Next,
    /// The number of the last upload: the client repeats it, because the answer was lost.
    Repeated,
    /// Any other number, which closes the transport.
    Wrong,
    /// The transport is closed already.
    Gone,
}

impl HttpTransport {
    pub(super) fn new(id: HttpTransportId, idle_limit: Duration) -> Self {
        let state = State {
            kept: VecDeque::new(),
            kept_bytes: 0,
            acknowledged: 0,
            sent: 0,
            sent_ever: 0,
            current: None,
            last_response: ResponseNumber(0),
            idle_since: Instant::now(),
            is_ending: false,
            closed: false,
            uploaded: 0,
            is_uploading: false,
            upload: None,
            is_busy: false,
            fault: None,
        };
        HttpTransport { id, idle_limit, state: Mutex::new(state), changed: Notify::new() }
    }

    /// Begins a response for a client that has received `received` packets. Returns the response's
    /// number and that of its first packet; `None` if the transport is closed.
    pub(super) fn begin(&self, received: u64) -> Option<(ResponseNumber, u64)> {
        self.change(|state| {
            if state.closed || !state.acknowledge(received) {
                state.closed = true;
                return None;
            }
            // T11: the client reads the older response to its end, so this one continues after it,
            // unless a packet before the older response is missing.
            let goes_on =
                state.current.is_some_and(|(_, first)| first <= received.saturating_add(1));
            if !goes_on {
                state.sent = state.acknowledged;
            }
            state.last_response.0 += 1;
            let (response, first) = (state.last_response, state.sent + 1);
            state.current = Some((response, first));
            Some((response, first))
        })
    }

    /// Waits for the next step of a response.
    pub(super) async fn step(&self, response: ResponseNumber) -> Step {
        self.wait_for(|state| {
            if state.closed || state.current.is_none_or(|(current, _)| current != response) {
                return Some(Step::End);
            }
            let Some(packet) = state.kept.get((state.sent - state.acknowledged) as usize) else {
                return state.is_ending.then_some(Step::End);
            };
            let packet = packet.clone();
            state.sent += 1;
            state.sent_ever = state.sent_ever.max(state.sent);
            Some(Step::Packet(packet))
        })
        .await
    }

    /// Ends a response, completed or broken.
    pub(super) fn finish(&self, response: ResponseNumber) {
        self.change(|state| {
            if state.current.is_some_and(|(current, _)| current == response) {
                state.current = None;
                state.idle_since = Instant::now();
            }
        });
    }

    /// Queues a packet for the client, once there is space, and waits until a response has sent it.
    pub(super) async fn send(&self, packet: Bytes) -> Result<(), Gone> {
        let number = self
            .wait_for(|state| {
                if state.closed {
                    return Some(Err(Gone));
                }
                state.has_space_for(packet.len()).then(|| Ok(state.push(packet.clone())))
            })
            .await?;
        self.wait_for(|state| match state.sent_ever >= number {
            true => Some(Ok(())),
            false => state.closed.then_some(Err(Gone)),
        })
        .await
    }

    /// Queues a last packet, which may be empty, and waits until the response that sends it has
    /// ended.
    pub(super) async fn end(&self, packet: Bytes) {
        let last = self.change(|state| {
            if !packet.is_empty() {
                state.push(packet);
            }
            state.is_ending = true;
            state.acknowledged + state.kept.len() as u64
        });
        self.wait_for(|state| {
            let is_through = state.sent_ever >= last && state.current.is_none();
            (is_through || state.closed).then_some(())
        })
        .await;
    }

    /// Closes the transport.
    pub(super) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    /// Records that the client broke a rule; the connection's task reports it and closes the
    /// transport.
    pub(super) fn fail(&self, error: Error) {
        self.change(|state| {
            state.fault.get_or_insert(error);
        });
    }

    /// Begins the upload with the number `number`, from a client that has received `received`
    /// packets. After [`UploadOrder::Next`], [`HttpTransport::end_upload`] has to be called.
    pub(super) fn begin_upload(&self, number: u64, received: u64) -> UploadOrder {
        self.change(|state| {
            if state.closed {
                return UploadOrder::Gone;
            }
            let is_repeated = number > 0 && number == state.uploaded;
            let is_next = number == state.uploaded.saturating_add(1);
            let is_right = !state.is_uploading && (is_repeated || is_next);
            if !is_right || !state.acknowledge(received) {
                state.closed = true;
                return UploadOrder::Wrong;
            }
            state.is_uploading = is_next;
            if is_next { UploadOrder::Next } else { UploadOrder::Repeated }
        })
    }

    /// Notes that the upload has been read, or that reading it has failed.
    pub(super) fn end_upload(&self) {
        self.change(|state| state.is_uploading = false);
    }

    /// Accepts the packets of an upload, once the room has those of the upload before.
    pub(super) async fn accept_upload(&self, number: u64, packets: Bytes) -> Result<(), Gone> {
        self.wait_for(|state| {
            if state.closed {
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

    /// The packets of the next upload; `None` if the transport is closed. The connection's task
    /// calls this when the room has the packets of the upload before.
    pub(super) async fn next_upload(&self) -> Result<Option<Bytes>, Error> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let deadline = {
                let mut state = self.lock();
                if let Some(error) = state.fault.take() {
                    return Err(error);
                }
                if state.closed {
                    return Ok(None);
                }
                let upload = state.upload.take();
                if std::mem::replace(&mut state.is_busy, upload.is_some()) || upload.is_some() {
                    self.changed.notify_waiters();
                }
                if upload.is_some() {
                    return Ok(upload);
                }
                state.current.is_none().then(|| state.idle_since + self.idle_limit)
            };
            match deadline {
                None => changed.await,
                Some(deadline) if deadline <= Instant::now() => return Ok(None),
                Some(deadline) => drop(tokio::time::timeout_at(deadline, changed).await),
            }
        }
    }

    /// Waits until `condition` returns a value.
    async fn wait_for<T>(&self, mut condition: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let found = condition(&mut self.lock());
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
    /// Drops the packets that the client has received. Returns false if `received` is more than the
    /// packets that were ever sent.
    fn acknowledge(&mut self, received: u64) -> bool {
        if received > self.sent_ever {
            return false;
        }
        // An older acknowledgement may arrive later, over another connection.
        while self.acknowledged < received {
            let Some(packet) = self.kept.pop_front() else { return false };
            self.kept_bytes -= packet.len();
            self.acknowledged += 1;
        }
        self.sent = self.sent.max(self.acknowledged);
        true
    }

    fn has_space_for(&self, bytes: usize) -> bool {
        let fits = self.kept_bytes + bytes <= KEPT_BYTES && self.kept.len() < KEPT_PACKETS;
        self.kept.is_empty() || fits
    }

    fn push(&mut self, packet: Bytes) -> u64 {
        self.kept_bytes += packet.len();
        self.kept.push_back(packet);
        self.acknowledged + self.kept.len() as u64
    }
}

#[cfg(test)]
mod tests;
