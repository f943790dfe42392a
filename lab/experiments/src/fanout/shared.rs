//! What all clients of a room share: where the server is, when to send, when it is over.

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

/// What clients do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// They join, and are silent.
    Joining,
    /// Those who send do, from this time of the ledger on.
    Sending(u64),
    /// They listen for what is still to come.
    Listening,
    Over,
}

pub(super) struct Shared {
    pub(super) ledger: Ledger,
    pub(super) clients: Clients,
    pub(super) port: u16,
    /// How clients of WebTransport connect, with what they are.
    pub(super) quic: Option<quinn::ClientConfig>,
    /// What classes are sent, for those who follow them.
    pub(super) reference: Mutex<Reference>,
    /// Nanoseconds between two messages of a sender.
    pub(super) interval: u64,
    pub(super) stage: watch::Sender<Stage>,
    pub(super) joining: Semaphore,
    ready: AtomicUsize,
    /// Octets that came over WebSocket.
    heard: AtomicU64,
    failure: Mutex<Option<String>>,
    connections: Mutex<Vec<quinn::Connection>>,
}

impl Shared {
    pub(super) fn new(ledger: Ledger, clients: Clients, port: u16, interval: u64) -> Self {
        Shared {
            ledger,
            clients,
            port,
            quic: None,
            reference: Mutex::default(),
            interval,
            stage: watch::Sender::new(Stage::Joining),
            joining: Semaphore::new(JOINING),
            ready: AtomicUsize::new(0),
            heard: AtomicU64::new(0),
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

    pub(super) fn heard(&self, octets: usize) {
        self.heard.fetch_add(octets as u64, Ordering::Relaxed);
    }

    /// Something went wrong; the first counts.
    pub(super) fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn watch(&self, connection: quinn::Connection) {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// What came until now; on the wire only where that is known without asking the kernel.
    pub(super) fn received(&self) -> Left {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let octets = self.heard.load(Ordering::Relaxed);
        connections.iter().fold(Left { octets, wire: 0 }, |sum, connection| {
            let udp = connection.stats().udp_rx;
            Left {
                octets: sum.octets + udp.bytes,
                wire: sum.wire + udp.bytes + UDP * udp.datagrams,
            }
        })
    }
}
