//! Rooms that survive the server: their transactions are stored before anybody sees them (wire W92).

mod modes;
mod report;
mod secrets;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use groupwire_session::Durability;
use groupwire_store::{
    Forget, Keys, OpenError, Options, OutboxLimits, RoomLog, Store, close_store_to_others,
};
use tokio::sync::watch;

pub use modes::{Modes, ModesError};
pub(crate) use report::StoreReport;
pub(crate) use secrets::HmacSecrets;

use crate::error::Error;
use crate::tools::rights::log_loose;

/// Where rooms are stored, and which.
#[derive(Debug, Clone)]
pub struct DurableConfig {
    /// The folder of the store. It is made if it is missing. Only one server can use it at a time.
    pub folder: PathBuf,
    /// Which rooms are stored.
    pub modes: Modes,
    /// The store's quotas and times. The server sets `gather` itself: half a tick, and 20 ms at most; and `outbox`, for its webhook.
    pub options: Options,
    /// Which rooms are deleted when nobody has written to them for a time.
    pub forget: Vec<Forget>,
}

impl DurableConfig {
    /// All rooms are stored in this folder, within the default quotas.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        DurableConfig {
            folder: folder.into(),
            modes: Modes::default(),
            options: Options::default(),
            forget: Vec::new(),
        }
    }
}

/// Commits of the store are at most this far apart. A transaction waits for the next tick anyway, so this delays none by more than a
/// tick, and at 1,000 transactions per second 20 of them share a commit, which costs as much processor time as 20 records.
const GATHER: Duration = Duration::from_millis(20);

/// The longest wait for the end of the server whose place this one takes. It ends within some 5 s.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The time between two checks whether that server has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The open store of a server.
#[derive(Debug)]
pub(crate) struct Durable {
    pub(crate) store: Arc<Store>,
    modes: Modes,
    forget: Vec<Forget>,
    /// Why the store failed; `None` while it works. The server ends after a failure.
    failed: watch::Sender<Option<String>>,
}

impl Durable {
    /// Opens the store and reads all of its log. This takes seconds if the log is large. `tick`: the rooms' tick. `waits`: waits
    /// for another process that uses the folder to end. `outbox`: the webhook's events wait in the store.
    pub(crate) fn open(
        config: &DurableConfig,
        tick: Duration,
        waits: bool,
        outbox: Option<OutboxLimits>,
    ) -> Result<(Self, Keys), Error> {
        close_store_to_others(&config.folder).iter().for_each(log_loose);
        let keys = Keys::load_or_create(&config.folder)?;
        let gather = (tick / 2).min(GATHER);
        let options = Options { gather, outbox, ..config.options.clone() };
        let until = Instant::now() + if waits { LONGEST_WAIT } else { Duration::ZERO };
        let store = loop {
            match Store::open(&config.folder, options.clone()) {
                Err(OpenError::InUse { .. }) if Instant::now() < until => thread::sleep(LOOK_AGAIN),
                opened => break Arc::new(opened?),
            }
        };
        log_opened(&config.folder, &store);
        let failed = watch::Sender::new(None);
        Ok((
            Durable { store, modes: config.modes.clone(), forget: config.forget.clone(), failed },
            keys,
        ))
    }

    /// The durability of confirmed transactions in the room of this name.
    pub(crate) fn mode(&self, room: &str) -> Durability {
        self.modes.of(room)
    }

    /// Deletes the inactive rooms that the rules in `forget` name, except those for which `is_open` is true.
    pub(crate) fn forget(&self, is_open: impl Fn(&str) -> bool) {
        for room in self.store.inactive(&self.forget) {
            if is_open(&room) {
                continue;
            }
            tracing::info!(room, "room deleted, because nobody wrote to it for long");
            let done = |outcome: Result<(), groupwire_store::Error>| {
                if let Err(error) = outcome {
                    tracing::warn!(%error, "room not deleted");
                }
            };
            self.store.delete(room, Box::new(done));
        }
    }

    /// What `GET /status` tells of the store.
    pub(crate) fn report(&self) -> StoreReport {
        StoreReport::of(&self.store)
    }

    /// True if the store has failed, so that nothing is confirmed any more.
    pub(crate) fn is_poisoned(&self) -> bool {
        let refusal = self.store.refusal();
        self.failed.borrow().is_some()
            || refusal.is_some_and(|error| !matches!(error, groupwire_store::Error::NotNow(_)))
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

fn log_opened(folder: &Path, store: &Store) {
    let usage = store.usage();
    tracing::info!(folder = %folder.display(), rooms = usage.rooms, bytes = usage.live, "store opened");
}
