//! Rooms that survive the server: their transactions are stored before anybody sees them (wire
//! W92).

mod config;
mod data;
mod modes;
mod open;
mod report;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Durability;
use tokio::sync::watch;

pub use config::DurableConfig;
pub(crate) use data::{
    Append, Damage, Directory, Forget, Loaded, Moment, Outbox, OutboxEvent, OutboxLimits,
    OutboxState, RoomInfo, SnapshotInfo, StoreError, Stores, limits, wait,
};
pub use modes::{Modes, ModesError};
pub(crate) use open::outbox_in_memory;
pub(crate) use report::StoreReport;
pub(crate) use secrets::HmacSecrets;

use crate::error::Error;

/// The open store of a server.
#[derive(Debug)]
pub(crate) struct Durable {
    pub(crate) stores: Stores,
    modes: Modes,
    /// The mode of rooms for which there is no rule.
    stored: Durability,
    forget: Vec<Forget>,
    /// Why the store failed; `None` while it works. The server ends after a failure.
    failed: watch::Sender<Option<String>>,
}

impl Durable {
    /// Opens the store and reads all of its log. This takes seconds if the log is large. `tick`:
    /// the rooms' tick. `waits`: waits for another process that uses the folder to end. `outbox`:
    /// the webhook's events wait in the store.
    pub(crate) fn open(
        config: &DurableConfig,
        tick: Duration,
        waits: bool,
        outbox: Option<OutboxLimits>,
    ) -> Result<(Self, HmacSecrets), Error> {
        let (stores, secrets) = open::open(config, tick, waits, outbox)?;
        Ok((Durable::of(config, stores, Durability::Local), secrets))
    }

    /// As [`Durable::open`], with a store that is open. `stored`: the mode of stored rooms.
    pub(crate) fn of(config: &DurableConfig, stores: Stores, stored: Durability) -> Self {
        let (modes, forget) = (config.modes.clone(), config.forget.clone());
        Durable { stores, modes, stored, forget, failed: watch::Sender::new(None) }
    }

    /// The durability of confirmed transactions in the room of this name.
    pub(crate) fn mode(&self, room: &str) -> Durability {
        self.modes.of(room).unwrap_or(self.stored)
    }

    /// Deletes the inactive rooms that the rules in `forget` name, except those for which `is_open`
    /// is true.
    pub(crate) fn forget(&self, is_open: impl Fn(&str) -> bool) {
        for room in self.stores.directory.inactive(&self.forget) {
            if is_open(&room) {
                continue;
            }
            tracing::info!(room, "room deleted, because nobody wrote to it for long");
            let done = |outcome: Result<(), StoreError>| {
                if let Err(error) = outcome {
                    tracing::warn!(%error, "room not deleted");
                }
            };
            self.stores.directory.delete(room, Box::new(done));
        }
    }

    /// What `GET /status` tells of the store.
    pub(crate) fn report(&self) -> StoreReport {
        StoreReport::of(&*self.stores.monitor)
    }

    /// True if the store has failed, so that nothing is confirmed any more.
    pub(crate) fn is_poisoned(&self) -> bool {
        let refusal = self.stores.monitor.refusal();
        self.failed.borrow().is_some()
            || refusal.is_some_and(|error| !matches!(error, StoreError::NotNow(_)))
    }

    /// Lets the server end, because the store has failed.
    pub(crate) fn fail(&self, reason: String) {
        self.failed.send_if_modified(|failed| {
            let is_first = failed.is_none();
            failed.get_or_insert(reason);
            is_first
        });
    }

    /// Returns the reason once the store has failed.
    pub(crate) async fn failed(self: Arc<Self>) -> String {
        let mut failed = self.failed.subscribe();
        let reason = failed.wait_for(Option::is_some).await;
        reason.ok().and_then(|reason| reason.clone()).unwrap_or_default()
    }
}
