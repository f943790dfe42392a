//! The state that all clients of a room share: the server's address, the current stage, failures.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use groupwire_quic::wtransport::quinn;
use tokio::sync::{Semaphore, watch};

use super::ledger::Ledger;
use super::reference::Reference;
use super::system::Clients;
use super::wire::{Left, UDP};

/// Clients that join at a time: a listening socket queues some hundreds.
const JOINING: usize = 64;

/// The stages of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Clients join, and send nothing.
    Joining,
    /// Senders send, from this time of the ledger on.
    Sending(u64),
    /// Clients only receive what is still under way.
    Listening,
    Over,
}

pub(super) struct FanoutState {
    pub(super) ledger: Ledger,
    pub(super) clients: Clients,
    pub(super) port: u16,
    /// The configuration with which clients of WebTransport connect.
    pub(super) quic: Option<quinn::ClientConfig>,
    /// The decoders of the packets of fan-out groups, for all clients that follow them.
    pub(super) reference: Mutex<Reference>,
    /// Nanoseconds between two messages of a sender.
    pub(super) interval: u64,
    pub(super) stage: watch::Sender<Stage>,
    pub(super) joining: Semaphore,
    ready: AtomicUsize,
    /// Bytes that arrived over WebSocket.
    received: AtomicU64,
    failure: Mutex<Option<String>>,
    connections: Mutex<Vec<quinn::Connection>>,
}

impl FanoutState {
    pub(super) fn new(ledger: Ledger, clients: Clients, port: u16, interval: u64) -> Self {
        FanoutState {
            ledger,
            clients,
            port,
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

    pub(super) fn count_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records a failure; only the first one is kept.
    pub(super) fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(super) fn failure(&self) -> Option<String> {
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
