//! Bans hold on all servers of a cluster: they are in the control log of the engine, and each
//! server carries out the changes in it, in their order. From time to time a server writes a
//! *base*, which has all bans, and trims the log before the base before: a server that is a little
//! behind reads on, and one that is far behind goes on from a base.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_engine::{Appended, Engine, MAX_ENTRY, Unavailable};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::hints::next_hint;
use crate::access::{Ban, BanChange, Gate, NewBan, NotChanged};
use crate::tools::secret::random_number;

/// Requests that may wait for the log.
const MAX_WAITING: usize = 64;

/// How long a request may take, while the engine does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An engine that did not answer is asked again after this time.
const AGAIN: Duration = Duration::from_millis(200);

/// The log is looked at in this interval, because hints can be lost.
const LOOK: Duration = Duration::from_secs(5);

/// Bytes of entries that are read at once.
const MAX_READ: usize = 1 << 20;

/// After this number of entries without a base, the server that wrote the last one makes a base.
const ENTRIES_PER_BASE: u64 = 128;

/// A change that is to be in the log.
enum Wanted {
    Ban(NewBan),
    Unban(u64),
}

struct Ask {
    wanted: Wanted,
    answer: oneshot::Sender<Result<BanChange, NotChanged>>,
}

/// Asks for changes that hold on all servers.
#[derive(Clone)]
pub(crate) struct Control(mpsc::Sender<Ask>);

/// The requests for changes.
pub(super) struct Asks(mpsc::Receiver<Ask>);

impl Control {
    pub(super) fn new() -> (Self, Asks) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        (Control(sender), Asks(receiver))
    }

    /// Adds a ban. It is in force on this server, and in the log, from which all others take it.
    ///
    /// # Errors
    /// Why there is no new ban.
    pub(crate) async fn ban(&self, wanted: NewBan) -> Result<Ban, NotChanged> {
        match self.ask(Wanted::Ban(wanted)).await? {
            BanChange::Ban(ban) => Ok(ban),
            BanChange::Unban(_) | BanChange::All { .. } => Err(NotChanged::Unknown),
        }
    }

    /// Removes a ban.
    ///
    /// # Errors
    /// Why it is not removed.
    pub(crate) async fn unban(&self, id: u64) -> Result<(), NotChanged> {
        self.ask(Wanted::Unban(id)).await.map(drop)
    }

    async fn ask(&self, wanted: Wanted) -> Result<BanChange, NotChanged> {
        let ended = || NotChanged::NotShared("the server stops".to_owned());
        let (answer, answered) = oneshot::channel();
        self.0.send(Ask { wanted, answer }).await.map_err(|_| ended())?;
        answered.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// An entry of the log. Its number tells it from all others.
#[derive(Serialize, Deserialize)]
struct Record {
    nonce: u64,
    change: BanChange,
}

/// Follows the log.
pub(super) struct ControlLog {
    engine: Arc<dyn Engine>,
    gate: Arc<Gate>,
    log: u16,
    /// The sequence of the last entry that was carried out.
    position: u64,
    /// The sequence of the last base; 0 before the first one.
    base: u64,
    /// Entries since then.
    since_base: u64,
}

impl ControlLog {
    pub(super) fn new(engine: Arc<dyn Engine>, gate: Arc<Gate>) -> Self {
        let log = engine.deployment().shards;
        ControlLog { engine, gate, log, position: 0, base: 0, since_base: 0 }
    }

    /// Carries changes out, and writes those that are asked for, until nobody can ask any more.
    pub(super) async fn run(mut self, Asks(mut asks): Asks) {
        while let Err(error) = self.load().await {
            tracing::warn!(%error, "the bans of the cluster cannot be read, those of before hold");
            sleep(AGAIN).await;
        }
        let engine = Arc::clone(&self.engine);
        let mut hints = engine.hints().await.ok();
        loop {
            tokio::select! {
                ask = asks.recv() => match ask {
                    Some(Ask { wanted, answer }) => {
                        drop(answer.send(self.write(wanted).await));
                        self.keep_short().await;
                    }
                    None => return,
                },
                hint = next_hint(&mut hints) => match hint {
                    Some(log) if log != self.log => continue,
                    Some(_) => {}
                    None => hints = engine.hints().await.ok(),
                },
                () = sleep(LOOK) => {}
            }
            if let Err(error) = self.follow().await {
                tracing::debug!(%error, "the control log cannot be read");
            }
        }
    }

    /// Reads the whole log, and replaces the bans by those in it.
    async fn load(&mut self) -> Result<(), Unavailable> {
        let last = self.engine.last(self.log).await?;
        let (mut position, mut changes) = (0, Vec::new());
        (self.base, self.since_base) = (0, 0);
        while position < last {
            let entries = self.engine.read(self.log, position, MAX_READ).await?;
            if entries.is_empty() {
                sleep(AGAIN).await;
            }
            for entry in entries {
                position = entry.sequence;
                if let Some(change) = parse(position, &entry.bytes) {
                    self.count(position, &change);
                    changes.push(change);
                }
            }
        }
        self.gate.bans.replace(changes);
        self.position = position;
        self.store().await;
        Ok(())
    }

    /// Carries out what is new in the log. Returns the first new entry.
    async fn follow(&mut self) -> Result<Option<Bytes>, Unavailable> {
        let mut first = None;
        loop {
            let entries = self.engine.read(self.log, self.position, MAX_READ).await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                self.position = entry.sequence;
                if let Some(change) = parse(entry.sequence, &entry.bytes) {
                    self.count(entry.sequence, &change);
                    self.gate.bans.apply(change);
                }
                first.get_or_insert(entry.bytes);
            }
        }
        if first.is_some() {
            self.store().await;
        }
        Ok(first)
    }

    fn count(&mut self, sequence: u64, change: &BanChange) {
        match change {
            BanChange::All { .. } => (self.base, self.since_base) = (sequence, 0),
            BanChange::Ban(_) | BanChange::Unban(_) => self.since_base += 1,
        }
    }

    /// Stores the bans for the next start, before which the engine may not answer.
    async fn store(&self) {
        let gate = Arc::clone(&self.gate);
        // An error is logged there, and the log has the bans all the same.
        let _ = spawn_blocking(move || gate.bans.store()).await;
    }

    /// Writes a change into the log, and carries it out.
    async fn write(&mut self, wanted: Wanted) -> Result<BanChange, NotChanged> {
        let until = Instant::now() + PATIENCE;
        loop {
            let change = match &wanted {
                Wanted::Ban(wanted) => BanChange::Ban(self.gate.bans.new_ban(wanted.clone())?),
                Wanted::Unban(id) if self.gate.bans.has(*id) => BanChange::Unban(*id),
                Wanted::Unban(_) => return Err(NotChanged::Unknown),
            };
            if self.append(&entry(&change), until).await? {
                return Ok(change);
            }
            // Another server has written meanwhile, and its change may bear upon this one.
        }
    }

    /// Makes a base and trims the log, if it has become long.
    async fn keep_short(&mut self) {
        if self.since_base < ENTRIES_PER_BASE {
            return;
        }
        let base = entry(&self.gate.bans.as_change());
        if base.len() > MAX_ENTRY {
            tracing::warn!(bytes = base.len(), "too many bans for a base: the control log grows");
            self.since_base = 0;
            return;
        }
        let before = self.base;
        // Whatever fails here, the next server that writes tries again.
        match self.append(&base, Instant::now() + PATIENCE).await {
            Ok(true) if before > 0 => {
                if let Err(error) = self.engine.trim(self.log, before).await {
                    tracing::debug!(%error, "the control log was not trimmed");
                }
            }
            Ok(_) => {}
            Err(why) => tracing::debug!(?why, "no base of the control log was made"),
        }
    }

    /// Appends an entry. Returns false if the log has another one in its place. Everything new in
    /// the log is carried out.
    async fn append(&mut self, bytes: &Bytes, until: Instant) -> Result<bool, NotChanged> {
        let expected = self.position;
        let mut is_decided = false;
        loop {
            let why = match is_decided {
                true => match self.follow().await {
                    Ok(Some(first)) => return Ok(first == *bytes),
                    // The engine has read an older state of the log than it has written.
                    Ok(None) => "it is behind".to_owned(),
                    Err(error) => error.to_string(),
                },
                false => match self.engine.append(self.log, expected, bytes.clone()).await {
                    Appended::Stored(_) | Appended::Fenced(_) => {
                        is_decided = true;
                        continue;
                    }
                    Appended::Unknown(why) => why,
                },
            };
            if Instant::now() >= until {
                return Err(NotChanged::NotShared(why));
            }
            sleep(AGAIN).await;
        }
    }
}

/// An entry of the log, unlike all others.
fn entry(change: &BanChange) -> Bytes {
    let record = Record { nonce: random_number(), change: change.clone() };
    serde_json::to_vec(&record).expect("a record has a form as JSON").into()
}

/// The change in an entry of the log. What a newer version wrote is left out.
fn parse(sequence: u64, bytes: &[u8]) -> Option<BanChange> {
    serde_json::from_slice(bytes)
        .inspect_err(
            |error| tracing::warn!(sequence, %error, "an entry of the control log is not known"),
        )
        .ok()
        .map(|Record { change, .. }| change)
}
