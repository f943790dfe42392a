//! The state that all clients of a room share: the current stage, failures.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_quic::wtransport::quinn;
use tokio::sync::{Semaphore, watch};

use super::ledger::Ledger;
use super::reference::Reference;
use super::system::Clients;
use super::wire::{Left, UDP};
use crate::Result;

/// Clients that join at a time: a listening socket queues some hundreds.
const JOINING: usize = 64;
/// The interval of checks whether a condition holds.
const LOOK: Duration = Duration::from_millis(20);
/// The longest wait after the last message.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that a client may still receive in the end: keep-alives, but no message.
const MURMUR: u64 = 8;

/// The stages of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Clients join, and send nothing.
    Joining,
    /// Senders send, from this time of the ledger on.
    Sending(u64),
    /// Clients only receive what is still under way.
    Listening,
    Over,
}

pub(crate) struct FanoutState {
    pub(crate) ledger: Ledger,
    pub(super) clients: Clients,
    pub(super) room: String,
    /// The configuration with which clients of WebTransport connect.
    pub(super) quic: Option<quinn::ClientConfig>,
    /// The decoders of the packets of fan-out groups, for all clients that follow them.
    pub(super) reference: Mutex<Reference>,
    /// Nanoseconds between two messages of a sender.
    pub(super) interval: u64,
    pub(crate) stage: watch::Sender<Stage>,
    pub(super) joining: Semaphore,
    ready: AtomicUsize,
    /// Bytes that arrived over WebSocket.
    received: AtomicU64,
    failure: Mutex<Option<String>>,
    connections: Mutex<Vec<quinn::Connection>>,
}

impl FanoutState {
    pub(crate) fn new(ledger: Ledger, clients: Clients, room: &str, interval: u64) -> Self {
        FanoutState {
            ledger,
            clients,
            room: room.to_owned(),
            quic: None,
            reference: Mutex::default(),
            interval,
            stage: watch::Sender::new(Stage::Joining),
            joining: Semaphore::new(JOINING),
            ready: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            failure: Mutex::new(None),
            connections: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn one_is_ready(&self) {
        self.ready.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ready(&self) -> usize {
        self.ready.load(Ordering::Relaxed)
    }

    /// Waits until `count` clients are in the room.
    ///
    /// # Errors
    /// A client failed, or some were not in the room in time.
    pub(crate) fn await_ready(&self, count: usize, patience: Duration) -> Result<()> {
        let start = Instant::now();
        while self.ready() < count {
            if let Some(why) = self.failure() {
                return Err(why.into());
            }
            if start.elapsed() > patience {
                let ready = self.ready();
                return Err(
                    format!("only {ready} of {count} clients were in the room in time").into()
                );
            }
            sleep(LOOK);
        }
        Ok(())
    }

    /// Waits until nothing has arrived for this time.
    pub(crate) fn await_silence(&self, silence: Duration) {
        let start = Instant::now();
        let (mut received, mut since) = (self.received().bytes, Instant::now());
        while since.elapsed() < silence && start.elapsed() < PATIENCE {
            sleep(LOOK);
            let now = self.received().bytes;
            if now > received + MURMUR * self.ready() as u64 {
                (received, since) = (now, Instant::now());
            }
        }
    }

    pub(super) fn count_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records a failure; only the first one is kept.
    pub(super) fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn watch(&self, connection: quinn::Connection) {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// The bytes received so far. Those on the wire are only counted for QUIC, which knows them;
    /// for TCP the kernel would have to be asked.
    pub(super) fn received(&self) -> Left {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.received.load(Ordering::Relaxed);
        connections.iter().fold(Left { bytes, wire: 0 }, |sum, connection| {
            let udp = connection.stats().udp_rx;
            Left { bytes: sum.bytes + udp.bytes, wire: sum.wire + udp.bytes + UDP * udp.datagrams }
        })
    }
}
