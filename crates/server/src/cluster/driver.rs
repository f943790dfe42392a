//! The task that drives the state machine of a cluster: it carries out its requests at the engine,
//! applies records of the logs to the local store, and tells the rest of the server which shards it
//! has.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use groupwire_cluster::{Answer, Cluster, Cursor, ListedBeat, Now, Output, Owner, ProposeError};
use groupwire_engine::Engine;
use groupwire_store::{Change, Done, Error, NotNow, Replica, Stores, parse_changes};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::account::{Shard, Waiting, What};
use super::asks::ask;
use super::blobs::sweep;
use super::clocks::Clocks;
use super::copy::CopyFolder;
use super::cursors::{empty_base, to_stored};
use super::event::Event;
use super::figures::{Counters, count};
use super::hints::next_hint;
use super::http::mark;
use super::routes::{Node, Route, Routes};
use crate::figures::seldom::Seldom;
use crate::rooms::directory::Directory;
use crate::tools::secret::random_number;
use crate::tools::wall::wall_ms;

/// Most events handled in one turn.
const BATCH: usize = 256;

/// A record that the local store cannot take, because its disk is full, is applied again after this
/// time.
const APPLY_AGAIN: Duration = Duration::from_millis(200);

/// Changes that the state machine did not take are proposed again after this time.
const PROPOSE_AGAIN: Duration = Duration::from_millis(50);

/// A base of a shard is made when its log has this many records since the last one, so that a new
/// server begins within seconds. Tests make bases sooner.
const RECORDS_PER_BASE: u64 = if cfg!(test) { 40 } else { 20_000 };

/// How long a server that stops waits until its shards are handed over.
pub(super) const HANDING_OVER: Duration = Duration::from_secs(10);

/// See the [module](self).
pub(super) struct Driver {
    pub(super) cluster: Cluster,
    pub(super) engine: Arc<dyn Engine>,
    /// The name of this server.
    pub(super) node: String,
    /// The local store, which applies the records of logs.
    pub(super) replica: Arc<dyn Replica>,
    /// The same store, for reading.
    pub(super) local: Stores,
    /// The folder of this store.
    pub(super) copy: CopyFolder,
    pub(super) routes: Arc<Routes>,
    pub(super) counters: Arc<Counters>,
    pub(super) directory: Arc<Directory>,
    /// When the process began: the monotonic clock of the state machine.
    pub(super) began: Instant,
    /// The shards; as many as there are routes once it runs.
    pub(super) shards: Vec<Shard>,
    pub(super) clocks: Clocks,
    /// When the operator is told that the local store cannot take records.
    pub(super) told_of_waiting: Seldom,
    pub(super) ends: Ends,
}

/// Where the driver sends things to.
pub(super) struct Ends {
    /// Events for itself.
    pub(super) events: UnboundedSender<Event>,
    /// Is set once the shards are handed over.
    pub(super) drained: watch::Sender<bool>,
    /// True once the server stops.
    pub(super) is_draining: bool,
    /// What is damaged of the copy, if this server hands its shards over because of that.
    pub(super) damaged: Option<String>,
    /// True once the engine has listed the servers.
    pub(super) has_listed: bool,
    /// Why the server has to end, for its operator.
    pub(super) refused: Option<String>,
}

impl Driver {
    /// Drives the cluster until the server has to end. Returns why.
    pub(super) async fn run(mut self, mut events: UnboundedReceiver<Event>) -> String {
        let shards = self.routes.count();
        self.shards.resize_with(usize::from(shards), Shard::default);
        // Owners that are known from before are told about only when they change.
        for shard in 0..shards {
            let owner = self.cluster.owner(shard).cloned();
            self.moved(shard, owner);
        }
        let engine = Arc::clone(&self.engine);
        // Without hints, logs are only read from time to time.
        let mut hints = engine.hints().await.ok();
        let mut batch = Vec::new();
        self.carry_out();
        loop {
            if let Some(why) = self.ends.refused {
                return why;
            }
            let due = self.cluster.poll_timeout();
            let alarm = async {
                match due {
                    Some(due) => sleep_until(self.began + due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                count = events.recv_many(&mut batch, BATCH) => if count == 0 { return String::new() },
                hint = next_hint(&mut hints) => match hint {
                    Some(log) => self.cluster.hint(log, self.now()),
                    None => hints = engine.hints().await.ok(),
                },
                () = alarm => {}
            }
            // The process may have been paused: the state machine learns it before it hears
            // anything else.
            self.cluster.handle_timeout(self.now());
            self.carry_out();
            for event in batch.drain(..) {
                self.handle(event);
                self.carry_out();
            }
            self.note_state();
        }
    }

    /// Tells the rest of the server how far the cluster is.
    fn note_state(&mut self) {
        let owned = self.shards.iter().filter(|shard| shard.is_owned).count();
        self.counters.shards.store(owned, Ordering::Relaxed);
        let is_cut_off = self.cluster.is_cut_off(self.now());
        self.counters.is_cut_off.store(is_cut_off, Ordering::Relaxed);
        self.ends.drained.send_if_modified(|drained| {
            // A server that is alone hands its shards over to nobody.
            let is_alone = self.cluster.nodes().next().is_none();
            let is_drained = self.ends.is_draining && (is_alone || self.cluster.is_drained());
            let was = std::mem::replace(drained, is_drained);
            was != *drained
        });
        if *self.ends.drained.borrow()
            && let Some(why) = &self.ends.damaged
        {
            self.ends.refused.get_or_insert_with(|| why.clone());
        }
    }

    /// The server has to end.
    fn refuse(&mut self, why: String) {
        self.ends.refused.get_or_insert(why);
    }

    fn now(&self) -> Now {
        Now { monotonic: self.began.elapsed(), wall: wall_ms() }
    }

    fn handle(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Change { shard, change, done } => self.change(shard, change, done),
            Event::Answered(id, answer) => {
                let lists_nodes = matches!(answer, Answer::Nodes(_));
                if let Answer::Nodes(beats) = &answer
                    && let Some(other) = self.alike(beats)
                {
                    return self.refuse(format!(
                        "--node: the names {} and {other} have the same hash, so that servers could not tell whose \
                         transports over HTTP are whose: give this server another name",
                        self.node
                    ));
                }
                self.cluster.answered(id, answer, now);
                if lists_nodes {
                    let nodes = self.cluster.nodes().map(|(name, address)| Node::of(name, address));
                    self.routes.set_nodes(nodes.collect());
                }
            }
            Event::Applied(shard, outcome) => self.applied(shard, outcome),
            Event::ApplyAgain(shard) => self.apply_next(shard),
            Event::Propose(shard) => self.propose(shard),
            Event::Copied(shard, copy) => self.copied(shard, copy),
            Event::Drain => {
                self.ends.is_draining = true;
                self.cluster.drain(now);
            }
            Event::Damaged(why) => self.give_up_copy(why),
            Event::End(why) => self.refuse(why),
        }
    }

    /// Hands the shards over to servers whose copies are not damaged. Then this server has to end,
    /// and makes its copy again at the next start.
    fn give_up_copy(&mut self, why: String) {
        if self.ends.damaged.is_some() {
            return;
        }
        tracing::error!(
            why,
            "the copy of the rooms is damaged: this server hands them over and ends"
        );
        self.copy.give_up(&why);
        self.later(HANDING_OVER, Event::End(why.clone()));
        self.ends.damaged = Some(why);
        self.ends.is_draining = true;
        self.cluster.drain(self.now());
    }

    /// Another server whose mark is that of this one, and which stays. A server that begins makes
    /// way for those that were there before, and of two that begin together one does.
    fn alike<'a>(&mut self, beats: &'a [ListedBeat]) -> Option<&'a str> {
        let is_first = !std::mem::replace(&mut self.ends.has_listed, true);
        let stays = |name: &str| is_first || name < &self.node[..];
        let names = beats.iter().map(|beat| &beat.node[..]).filter(|name| *name != self.node);
        names.filter(|name| stays(name)).find(|name| mark(name) == mark(&self.node))
    }

    /// Sends an event to this driver after a time.
    fn later(&self, pause: Duration, event: Event) {
        let events = self.ends.events.clone();
        tokio::spawn(async move {
            sleep(pause).await;
            let _ = events.send(event);
        });
    }

    fn change(&mut self, shard: u16, change: Change, done: Done) {
        match self.shards.get_mut(usize::from(shard)) {
            Some(state) if state.is_owned => {
                state.queue.push(change, done);
                self.propose(shard);
            }
            _ => done(Err(Error::Moved)),
        }
    }

    /// Proposes the changes of a shard that wait.
    fn propose(&mut self, shard: u16) {
        let now = self.now();
        let Driver { cluster, shards, replica, .. } = self;
        let Some(state) = shards.get_mut(usize::from(shard)) else { return };
        let Some(mut checked) = state.queue.next(&**replica) else { return };
        let payload = std::mem::take(&mut checked.payload);
        match cluster.propose(shard, payload, now) {
            Ok(id) => state.queue.proposed(id, checked),
            // The shard is about to move to another server. It may stay after all, and nobody says
            // so, hence the proposals are repeated.
            Err(ProposeError::NotNow) => {
                state.queue.put_back(checked);
                self.later(PROPOSE_AGAIN, Event::Propose(shard));
            }
            Err(ProposeError::Size) => {
                let limit = groupwire_cluster::MAX_PAYLOAD as u64;
                checked.refuse(&Error::TooLarge { what: "a change", limit });
            }
            Err(_) => checked.refuse(&Error::Moved),
        }
    }

    /// Carries out what the state machine asks for.
    fn carry_out(&mut self) {
        if self.ends.refused.is_some() {
            return;
        }
        // Many shards may be left at once, and finding their rooms looks at all open ones.
        let mut left = Vec::new();
        while let Some(output) = self.cluster.poll() {
            match output {
                Output::Ask(id, request) => {
                    let (engine, node) = (Arc::clone(&self.engine), self.node.clone());
                    let (events, counters) = (self.ends.events.clone(), Arc::clone(&self.counters));
                    tokio::spawn(async move {
                        let answer = ask(&*engine, &node, request, &counters).await;
                        let _ = events.send(Event::Answered(id, answer));
                    });
                }
                Output::Apply { shard, cursor, time, payload, own } => {
                    self.compare_clocks(shard, time);
                    self.wait(
                        shard,
                        Waiting { cursor, what: What::Changes { time, payload }, own },
                    );
                }
                Output::Load { shard, cursor, state } => {
                    self.wait(shard, Waiting { cursor, what: What::Base(state), own: None });
                }
                Output::Owned { shard, mended, epoch } => self.owned(shard, epoch, mended),
                Output::Lost { shard, owner } => {
                    count(&self.counters.fenced);
                    tracing::info!(
                        shard,
                        owner = owner.as_ref().map(|it| it.as_str()),
                        "shard lost"
                    );
                    self.leave(shard);
                    left.push(shard);
                    if let Some(state) = self.shards.get_mut(usize::from(shard)) {
                        state.queue.give_up_batch();
                    }
                }
                Output::CutOff { shard } => {
                    count(&self.counters.cut_offs);
                    tracing::warn!(shard, "this server cannot be sure of a shard any more");
                    self.leave(shard);
                    left.push(shard);
                }
                Output::Moved { shard, owner } => self.moved(shard, owner),
                Output::BaseWanted { shard } => self.copy(shard),
                Output::Trimmed { shard, number } => {
                    let engine = Arc::clone(&self.engine);
                    tokio::spawn(async move { sweep(&*engine, shard, number).await });
                }
                Output::Damaged { shard, cursor, sequence, damage } => tracing::error!(
                    shard, number = cursor.number, sequence, %damage,
                    "the log of a shard does not continue what this server has of it"
                ),
                Output::Refused(why) => self.refuse(why.to_string()),
                // A newer state machine may have outputs that this server does not know.
                _ => debug_assert!(false, "an unknown output"),
            }
        }
        if !left.is_empty() {
            self.directory.end_moved(|room| left.contains(&self.routes.shard_of(room)));
        }
    }

    fn compare_clocks(&mut self, shard: u16, written_ms: u64) {
        if let Some(seconds) = self.clocks.ahead(written_ms, wall_ms(), Instant::now()) {
            tracing::warn!(
                shard,
                seconds,
                "the clock of another server is ahead of this one's: set both over the network"
            );
        }
    }

    /// This server has the shard: its rooms open here from now on.
    fn owned(&mut self, shard: u16, epoch: u64, mended: bool) {
        tracing::info!(shard, epoch, mended, "shard owned");
        count(&self.counters.takeovers);
        let rooms = if mended { self.local.directory.rooms() } else { Vec::new() };
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        state.is_owned = true;
        // What clients have confirmed may be missing, which a new incarnation tells them.
        for room in rooms.into_iter().filter(|room| self.routes.shard_of(&room.name) == shard) {
            let change = Change::BeginAgain { room: room.name, incarnation: random_number() };
            state.queue.push(change, Box::new(log_failure));
        }
        self.propose(shard);
        self.open(shard);
    }

    /// Lets the rooms of a shard of this server open, once nothing is on its way that would change
    /// them.
    fn open(&self, shard: u16) {
        let Some(state) = self.shards.get(usize::from(shard)) else { return };
        if state.is_owned && state.queue.is_idle() && !self.routes.has(shard) {
            self.routes.set(shard, Route::Here);
        }
    }

    /// This server does not have the shard any more, or cannot be sure that it has. The caller ends
    /// its rooms.
    fn leave(&mut self, shard: u16) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        state.is_owned = false;
        self.routes.set(shard, Route::Nowhere);
        state.queue.give_up();
    }

    fn moved(&mut self, shard: u16, owner: Option<Owner>) {
        let is_owned = self.shards.get(usize::from(shard)).is_some_and(|state| state.is_owned);
        if is_owned {
            return;
        }
        let route = match owner {
            Some(owner) if owner.node.as_str() != self.node => {
                Route::There(Node::of(&owner.node, &owner.address))
            }
            _ => Route::Nowhere,
        };
        self.routes.set(shard, route);
    }

    /// Lets a record or a base wait for the local store.
    fn wait(&mut self, shard: u16, waiting: Waiting) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        state.waiting.push_back(waiting);
        if state.waiting.len() == 1 {
            self.apply_next(shard);
        }
    }

    /// Applies the oldest record that waits.
    fn apply_next(&mut self, shard: u16) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        let Some(Waiting { cursor, what, own }) = state.waiting.front_mut() else { return };
        let stored = to_stored(shard, cursor);
        let events = self.ends.events.clone();
        match what {
            What::Base(base) => {
                let (replica, routes) = (Arc::clone(&self.replica), Arc::clone(&self.routes));
                let base = base.clone();
                tokio::task::spawn_blocking(move || {
                    let of_shard = |room: &str| routes.shard_of(room) == shard;
                    let outcome = match base {
                        Some(base) => replica.import_shard(stored, &base, &of_shard),
                        None => empty_base(shard)
                            .and_then(|base| replica.import_shard(stored, &base, &of_shard)),
                    };
                    let _ = events.send(Event::Applied(shard, outcome));
                });
            }
            What::Changes { time, payload } => {
                let batch = own.take().and_then(|id| state.queue.stored(id));
                let changes = match batch {
                    Some(batch) => {
                        state.answers = batch.answers;
                        Ok(batch.changes)
                    }
                    None if payload.is_empty() => Ok(Vec::new()),
                    None => parse_changes(payload),
                };
                match changes {
                    Ok(changes) => {
                        let done = move |outcome| drop(events.send(Event::Applied(shard, outcome)));
                        self.replica.apply(stored, *time, changes, Box::new(done));
                    }
                    Err(error) => self.refuse(format!("the log of shard {shard}: {error}")),
                }
            }
        }
    }

    /// The local store has answered.
    fn applied(&mut self, shard: u16, outcome: Result<(), Error>) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        match outcome {
            Ok(()) => {}
            Err(error @ Error::NotNow(NotNow::Disk | NotNow::Busy)) => {
                self.tell_of_waiting(&error);
                return self.later(APPLY_AGAIN, Event::ApplyAgain(shard));
            }
            Err(error) => {
                if matches!(error, Error::Contradiction { .. } | Error::Damaged(_)) {
                    self.copy.give_up(&error.to_string());
                }
                return self.refuse(error.to_string());
            }
        }
        let Some(Waiting { cursor, .. }) = state.waiting.pop_front() else { return };
        let sequence = cursor.sequence;
        state.cursor = cursor;
        for done in std::mem::take(&mut state.answers) {
            done(Ok(()));
        }
        self.cluster.applied(shard, sequence, self.now());
        self.apply_next(shard);
        self.propose(shard);
        self.open(shard);
        let Some(state) = self.shards.get(usize::from(shard)) else { return };
        let since = state.cursor.base.number.max(state.copied_at);
        if state.is_owned && state.cursor.number >= since + RECORDS_PER_BASE {
            self.copy(shard);
        }
    }

    /// Tells the operator from time to time that the local store cannot take records.
    fn tell_of_waiting(&self, error: &Error) {
        if self.told_of_waiting.turn(Instant::now()).is_some() {
            tracing::error!(%error, "the copy of the rooms waits, and people whose rooms are here");
        }
    }

    /// Copies the state of a shard for a base.
    fn copy(&mut self, shard: u16) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        if std::mem::replace(&mut state.is_copying, true) {
            return;
        }
        state.copied_at = state.cursor.number;
        let (replica, routes) = (Arc::clone(&self.replica), Arc::clone(&self.routes));
        let events = self.ends.events.clone();
        tokio::task::spawn_blocking(move || {
            let copy = replica.export_shard(shard, &|room| routes.shard_of(room) == shard);
            let _ = events.send(Event::Copied(shard, copy));
        });
    }

    fn copied(&mut self, shard: u16, copy: Result<(groupwire_store::Cursor, Vec<u8>), Error>) {
        let Some(state) = self.shards.get_mut(usize::from(shard)) else { return };
        state.is_copying = false;
        let proposed = copy.map_err(|error| error.to_string()).and_then(|(cursor, bytes)| {
            let cursor = Cursor::parse(&cursor.state).map_err(|error| error.to_string())?;
            let proposed = self.cluster.base(shard, cursor, bytes, self.now());
            proposed.map_err(|error| error.to_string())
        });
        if let Err(why) = proposed {
            tracing::warn!(shard, why, "no base of a shard was made");
        }
    }
}

fn log_failure(outcome: Result<(), Error>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "a room did not get a new incarnation");
    }
}
