//! One node of a cluster.

use alloc::vec::Vec;
use core::time::Duration;

use thiserror::Error;

use crate::beat::Beat;
use crate::config::{Config, Now};
use crate::cursor::Cursor;
use crate::limits::{MAX_ADDRESS, MAX_SHARDS};
use crate::nodes::{Nodes, Own, Plan};
use crate::outbox::{Asked, Asker, Outbox};
use crate::output::{Answer, BatchId, Output, ProposeError, Refused, Request, RequestId};
use crate::owner::{NodeName, Owner};
use crate::shard::{Env, Shard};

/// One node of a cluster: which shards it owns, and what it has to apply.
///
/// See the [crate's documentation](crate) for how it is driven.
#[derive(Debug)]
pub struct Cluster {
    config: Config,
    me: Owner,
    nodes: Nodes,
    shards: Vec<Shard>,
    out: Outbox,
    now: Now,
    /// When all shards were looked at last.
    stepped: Duration,
    beat: Timer,
    listing: Timer,
    /// The time of the engine's last answer that was not a failure.
    reached: Duration,
    draining: bool,
    /// The shard that is being handed over, and since when: one after the other, so that most rooms
    /// are served at any time.
    handing: Option<(u16, Duration)>,
    is_refused: bool,
}

/// A request that is made in intervals.
#[derive(Debug, Default)]
struct Timer {
    is_asked: bool,
    due: Duration,
}

/// The reason why a configuration is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are no shards, too many, or not one cursor for each.
    #[error("a deployment has 1 to 1024 shards, and a node has one cursor for each")]
    Shards,
    /// The address is too long.
    #[error("a node's address has at most 1024 bytes")]
    Address,
}

impl Cluster {
    /// A node that starts, with the cursors that it saved: [`Cursor::default`] for a shard of which
    /// it has nothing.
    pub fn new(config: Config, cursors: Vec<Cursor>, now: Now) -> Result<Self, ConfigError> {
        let has_right_shards = (1..=MAX_SHARDS).contains(&config.shards);
        if !has_right_shards || cursors.len() != usize::from(config.shards) {
            return Err(ConfigError::Shards);
        }
        if config.address.len() > MAX_ADDRESS {
            return Err(ConfigError::Address);
        }
        let shards = (0..config.shards)
            .zip(cursors)
            .map(|(no, cursor)| Shard::new(no, cursor, now.monotonic))
            .collect();
        let mut cluster = Self {
            me: config.owner(),
            nodes: Nodes::new(&config),
            config,
            shards,
            out: Outbox::default(),
            now,
            stepped: now.monotonic,
            beat: Timer::default(),
            listing: Timer::default(),
            reached: now.monotonic,
            draining: false,
            handing: None,
            is_refused: false,
        };
        cluster.step_all();
        Ok(cluster)
    }

    /// The engine's answer to a request.
    pub fn answered(&mut self, id: RequestId, answer: Answer, now: Now) {
        self.turn(now);
        let Some(Asked { by, at }) = self.out.answered(id) else { return };
        if answer != Answer::Failed {
            self.reached = now.monotonic;
        }
        match by {
            Asker::Shard(no) => {
                let (shard, mut env) = self.shard(no);
                shard.answered(id, answer, at, &mut env);
                self.step(no);
                if self.handing.is_some_and(|(handed, _)| handed == no) && self.is_handed_over(no) {
                    self.handing = None;
                    self.step_all();
                }
            }
            Asker::Beat => self.beat.is_asked = false,
            Asker::Nodes => {
                self.listing.is_asked = false;
                if let Answer::Nodes(beats) = answer {
                    self.nodes.list(beats, at);
                }
                self.step_all();
            }
        }
    }

    /// Proposes changes of a shard's rooms: [`Output::Apply`] names the batch when they are in the
    /// log, and [`Output::Lost`] drops all batches without one.
    pub fn propose(
        &mut self,
        shard: u16,
        payload: Vec<u8>,
        now: Now,
    ) -> Result<BatchId, ProposeError> {
        self.turn(now);
        if shard >= self.config.shards || self.is_refused {
            return Err(ProposeError::NotOwner);
        }
        let (state, mut env) = self.shard(shard);
        let batch = state.propose(payload, &mut env)?;
        self.step(shard);
        Ok(batch)
    }

    /// Proposes a base: `state` is all that is applied of the shard up to `cursor`, which was saved
    /// with it. The log is then trimmed up to the base before, so that nodes that are a little
    /// behind need none. A state above [`MAX_PAYLOAD`](crate::MAX_PAYLOAD) is refused with
    /// [`ProposeError::Size`], and the log grows on.
    pub fn base(
        &mut self,
        shard: u16,
        cursor: Cursor,
        state: Vec<u8>,
        now: Now,
    ) -> Result<(), ProposeError> {
        self.turn(now);
        if shard >= self.config.shards || self.is_refused {
            return Err(ProposeError::NotOwner);
        }
        self.shard(shard).0.base(cursor, state)?;
        self.step(shard);
        Ok(())
    }

    /// The driver has applied an [`Output::Apply`] or [`Output::Load`] whose cursor has this
    /// sequence, and all before.
    pub fn applied(&mut self, shard: u16, sequence: u64, now: Now) {
        self.turn(now);
        if shard < self.config.shards {
            self.shard(shard).0.applied(sequence);
            self.step(shard);
        }
    }

    /// The log of the shard may have new entries.
    pub fn hint(&mut self, shard: u16, now: Now) {
        self.turn(now);
        if shard < self.config.shards {
            self.shard(shard).0.hint(now.monotonic);
            self.step(shard);
        }
    }

    /// Hands all shards over, one after the other, and takes none.
    pub fn drain(&mut self, now: Now) {
        self.turn(now);
        self.draining = true;
        self.beat.due = now.monotonic;
        self.step_all();
    }

    /// Does all that is due; cheap if nothing is.
    pub fn handle_timeout(&mut self, now: Now) {
        self.turn(now);
        if self.poll_timeout().is_some_and(|due| self.now.monotonic >= due) {
            self.step_all();
        }
    }

    /// The next output, if there is one.
    pub fn poll(&mut self) -> Option<Output> {
        let output = self.out.pop();
        // A shard that reads a record of a newer version refuses by itself.
        if let Some(Output::Refused(_)) = output {
            self.stop();
        }
        output
    }

    /// When to call [`Self::handle_timeout`] next, on the monotonic clock.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.is_refused {
            return None;
        }
        let beat = Some(&self.beat).filter(|_| self.nodes.may_beat());
        let timers = beat.into_iter().chain([&self.listing]).filter(|timer| !timer.is_asked);
        let times = timers.map(|timer| timer.due.max(self.now.monotonic));
        // Also what depends on other nodes is looked at with each beat.
        let tick = self.stepped + self.config.timing.beat;
        let shards = self.shards.iter().map(|shard| shard.timeout(&self.config));
        times.chain(shards).chain([tick]).min()
    }

    /// The process that claimed the shard last, as far as this node has read.
    pub fn owner(&self, shard: u16) -> Option<&Owner> {
        self.shards.get(usize::from(shard))?.owner()
    }

    /// True while the driver may speak as the owner of the shard.
    pub fn owns(&self, shard: u16) -> bool {
        self.shards.get(usize::from(shard)).is_some_and(Shard::is_owned)
    }

    /// True if this node holds no shard: a drain is complete.
    pub fn is_drained(&self) -> bool {
        !self.shards.iter().any(Shard::is_held)
    }

    /// The other nodes that live, with their addresses.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeName, &[u8])> {
        self.nodes.live().map(|(name, beat)| (name, &beat.address[..]))
    }

    /// True if the engine answered nothing for the time after which owners say nothing more: the
    /// node is not ready for clients.
    pub fn is_cut_off(&self, now: Now) -> bool {
        now.monotonic.saturating_sub(self.reached) >= self.config.timing.cut_off
    }

    /// Sets the clock. If the node was paused for as long as others wait before they take its
    /// shards, it owns none until the log says so again.
    fn turn(&mut self, now: Now) {
        let paused = now.monotonic.saturating_sub(self.now.monotonic);
        self.now = Now { monotonic: now.monotonic.max(self.now.monotonic), wall: now.wall };
        if paused >= self.config.timing.dead {
            for no in 0..self.config.shards {
                let (shard, mut env) = self.shard(no);
                shard.doubt(true, &mut env);
            }
        }
    }

    fn shard(&mut self, no: u16) -> (&mut Shard, Env<'_>) {
        let env = Env { config: &self.config, me: &self.me, now: self.now, out: &mut self.out };
        (&mut self.shards[usize::from(no)], env)
    }

    fn step_all(&mut self) {
        if self.is_refused {
            return;
        }
        if self.nodes.is_taken() {
            let name = self.config.node.clone();
            self.out.put(Output::Refused(Refused::NameTaken(name)));
            return self.stop();
        }
        self.stepped = self.now.monotonic;
        self.step_nodes();
        for no in 0..self.config.shards {
            self.step(no);
        }
    }

    /// Beats, and lists the beats of others.
    fn step_nodes(&mut self) {
        let (now, interval) = (self.now.monotonic, self.config.timing.beat);
        if !self.listing.is_asked && now >= self.listing.due {
            self.listing = Timer { is_asked: true, due: now + interval };
            self.out.ask(Asker::Nodes, Request::Nodes, now);
        }
        if self.nodes.may_beat() && !self.beat.is_asked && now >= self.beat.due {
            self.beat = Timer { is_asked: true, due: now + interval };
            self.nodes.beats += 1;
            let beat = Beat {
                incarnation: self.config.incarnation,
                count: self.nodes.beats,
                draining: self.draining,
                address: self.config.address.clone(),
                unfit: self.shards.iter().filter_map(Shard::unfit).collect(),
            };
            self.out.ask(Asker::Beat, Request::Beat { bytes: beat.to_bytes() }, now);
        }
    }

    fn step(&mut self, no: u16) {
        if self.is_refused {
            return;
        }
        let plan = self.plan(no);
        let may_release = self.may_release(no);
        let (shard, mut env) = self.shard(no);
        shard.step(&plan, may_release, &mut env);
        if shard.is_releasing() && self.handing.is_none_or(|(handed, _)| handed != no) {
            self.handing = Some((no, self.now.monotonic));
        }
    }

    fn plan(&self, no: u16) -> Plan {
        let shard = &self.shards[usize::from(no)];
        let own = Own { draining: self.draining, unfit: shard.unfit() };
        self.nodes.plan(no, shard.owner(), own)
    }

    /// The next shard is released when the one before has a new owner, or waited for one for long.
    fn may_release(&self, no: u16) -> bool {
        self.handing.is_none_or(|(handed, since)| {
            let waited = self.now.monotonic.saturating_sub(since);
            handed == no || self.is_handed_over(handed) || waited >= self.config.timing.dead
        })
    }

    fn is_handed_over(&self, no: u16) -> bool {
        let shard = &self.shards[usize::from(no)];
        !shard.is_releasing() && shard.owner().is_some()
    }

    fn stop(&mut self) {
        self.is_refused = true;
        for no in 0..self.config.shards {
            let (shard, mut env) = self.shard(no);
            shard.stop(&mut env);
        }
    }
}
