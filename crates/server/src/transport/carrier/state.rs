//! The state of an HTTP transport between requests.

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

/// Most bytes and packets kept until the client acknowledges them, so that they can be sent again (T10).
const KEPT_BYTES: usize = 256 << 10;
const KEPT_PACKETS: usize = 1024;

/// A transport made of HTTP requests.
pub(super) struct Carrier {
    pub(super) id: Id,
    /// How long the transport may be without a down request (T18).
    alone: Duration,
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
    /// Number of the last packet that the current response, or the last one, has sent.
    sent: u64,
    /// The highest value that `sent` ever had.
    sent_ever: u64,
    /// The current response, and the number of its first packet.
    running: Option<(Turn, u64)>,
    last_turn: Turn,
    alone_since: Instant,
    /// True if the room sends no more packets.
    ends: bool,
    over: bool,
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
pub(super) type Turn = u64;

/// What a response has to do next.
pub(super) enum Step {
    Packet(Bytes),
    End,
}

/// How an upload's number relates to those before it (T16).
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    Next,
    /// The number of the last upload: the client repeats it, because the answer was lost.
    Repeated,
    /// Any other number, which closes the transport.
    Wrong,
    /// The transport is closed already.
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

    /// Begins a response for a client that has received `received` packets. Returns the response's number and that of
    /// its first packet; `None` if the transport is closed.
    pub(super) fn begin(&self, received: u64) -> Option<(Turn, u64)> {
        self.change(|state| {
            if state.over || !state.acknowledge(received) {
                state.over = true;
                return None;
            }
            // T11: the client reads the older response to its end, so this one continues after it, unless a packet
            // before the older response is missing.
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

    /// Waits for the next step of a response.
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

    /// Ends a response, completed or broken.
    pub(super) fn finish(&self, turn: Turn) {
        self.change(|state| {
            if state.running.is_some_and(|(running, _)| running == turn) {
                state.running = None;
                state.alone_since = Instant::now();
            }
        });
    }

    /// Queues a packet for the client, once there is space, and waits until a response has sent it.
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

    /// Queues a last packet, which may be empty, and waits until the response that sends it has ended.
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

    /// Closes the transport.
    pub(super) fn stop(&self) {
        self.change(|state| state.over = true);
    }

    /// Records that the client broke a rule; the connection's task reports it and closes the transport.
    pub(super) fn fail(&self, error: Error) {
        self.change(|state| {
            state.fault.get_or_insert(error);
        });
    }

    /// Announces an upload. After [`Place::Next`], [`Carrier::let_go`] has to be called.
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

    /// The upload has been read, or given up.
    pub(super) fn let_go(&self) {
        self.change(|state| state.is_uploading = false);
    }

    /// Accepts the packets of an upload, once the room has those of the upload before.
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

    /// The packets of the next upload; `None` if the transport is closed. The connection's task calls this when the
    /// room has the packets of the upload before.
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
                let upload = state.upload.take();
                if std::mem::replace(&mut state.is_busy, upload.is_some()) || upload.is_some() {
                    self.changed.notify_waiters();
                }
                if upload.is_some() {
                    return Ok(upload);
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

    /// Waits until `look` returns a value.
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
    /// Drops the packets that the client has received. Returns false if it cannot have received as many.
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use proptest::prelude::*;

    /// A response in the test: packets that the server sent and the client has not read.
    struct Response {
        turn: Turn,
        next: u64,
        under_way: VecDeque<Bytes>,
        has_ended: bool,
    }

    /// A client that keeps the rules (T10, T11), and the network between it and the server.
    struct Model {
        carrier: Carrier,
        pushed: u64,
        received: u64,
        older: Option<Response>,
        newer: Response,
        uploads: u64,
    }

    impl Model {
        fn new() -> Self {
            let carrier = Carrier::new(Id::random(), Duration::from_secs(5));
            let newer = ask(&carrier, 0);
            Model { carrier, pushed: 0, received: 0, older: None, newer, uploads: 0 }
        }

        fn step(&mut self, what: u8, lag: u64) {
            match what {
                0 | 1 => self.push(),
                2..=4 => self.take(),
                5..=7 => self.read(),
                // Renew the response, unless the older one is still being read.
                8 if self.older.is_none() => {
                    let newer = ask(&self.carrier, self.received);
                    self.older = Some(std::mem::replace(&mut self.newer, newer));
                }
                // The response breaks, and the server notices.
                9 => {
                    self.carrier.finish(self.newer.turn);
                    self.ask_again();
                }
                // The response breaks, and the server does not notice. All packets under way are lost.
                10 => self.ask_again(),
                // The older response breaks: its packets are missing.
                11 => self.older = None,
                // An acknowledgement arrives late.
                12 => {
                    self.uploads += 1;
                    let received = self.received.saturating_sub(lag);
                    assert_eq!(self.carrier.begin_upload(self.uploads, received), Place::Next);
                    self.carrier.let_go();
                    let taken = self.carrier.take_in(self.uploads, Bytes::new()).now_or_never();
                    assert!(matches!(taken, Some(Ok(()))));
                    assert!(matches!(self.carrier.next_upload().now_or_never(), Some(Ok(Some(_)))));
                    assert!(self.carrier.next_upload().now_or_never().is_none());
                }
                _ => {}
            }
        }

        fn push(&mut self) {
            let packet = Bytes::from((self.pushed + 1).to_string());
            let is_kept = self.carrier.change(|state| {
                let has_room = state.has_room_for(packet.len());
                has_room.then(|| state.push(packet))
            });
            self.pushed = is_kept.unwrap_or(self.pushed);
        }

        fn take(&mut self) {
            for response in self.older.iter_mut().chain([&mut self.newer]) {
                match self.carrier.step(response.turn).now_or_never() {
                    Some(Step::Packet(packet)) => {
                        assert!(!response.has_ended);
                        response.under_way.push_back(packet);
                    }
                    Some(Step::End) => response.has_ended = true,
                    None => {}
                }
            }
        }

        fn read(&mut self) {
            let is_older = self.older.is_some();
            let response = self.older.as_mut().unwrap_or(&mut self.newer);
            let Some(packet) = response.under_way.pop_front() else {
                if response.has_ended && is_older {
                    self.older = None;
                }
                return;
            };
            let number = response.next;
            response.next += 1;
            assert_eq!(packet, number.to_string(), "the packet has the stated number");
            if number == self.received + 1 {
                self.received = number;
            } else if number > self.received {
                self.older = None;
                self.ask_again();
            }
        }

        fn ask_again(&mut self) {
            self.older = None;
            self.newer = ask(&self.carrier, self.received);
        }
    }

    fn ask(carrier: &Carrier, received: u64) -> Response {
        let (turn, next) = carrier.begin(received).expect("the transport is open");
        Response { turn, next, under_way: VecDeque::new(), has_ended: false }
    }

    proptest! {
        #[test]
        fn every_packet_arrives_once_and_in_order_whatever_breaks(
            steps in proptest::collection::vec((0..13u8, 0..20u64), 1..400),
        ) {
            let mut model = Model::new();
            for (what, lag) in steps {
                model.step(what, lag);
            }
            for _ in 0..4 * model.pushed + 8 {
                model.take();
                model.read();
                model.read();
            }
            // Packets of a response that broke unnoticed are missed when the next packet shows the gap.
            model.ask_again();
            for _ in 0..model.pushed + 1 {
                model.take();
                model.read();
            }
            prop_assert_eq!(model.received, model.pushed);
        }
    }

    #[test]
    fn no_more_is_kept_than_the_limit() {
        let carrier = Carrier::new(Id::random(), Duration::from_secs(5));
        let (turn, _) = carrier.begin(0).unwrap();
        let packet = || Bytes::from(vec![0; 60_000]);
        let mut sent = 0;
        loop {
            let mut sending = pin!(carrier.send(packet()));
            if sending.as_mut().now_or_never().is_some() {
                panic!("no response has sent it");
            }
            if !matches!(carrier.step(turn).now_or_never(), Some(Step::Packet(_))) {
                break;
            }
            sent += 1;
        }
        assert_eq!(sent, 4, "T10: 256 KiB");
        // The acknowledgement frees space.
        assert_eq!(carrier.begin_upload(1, 4), Place::Next);
        carrier.let_go();
        assert!(carrier.send(packet()).now_or_never().is_none());
        assert!(matches!(carrier.step(turn).now_or_never(), Some(Step::Packet(_))));
    }
}
