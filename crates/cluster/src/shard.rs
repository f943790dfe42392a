//! A shard as one node sees it: how much of the shard's log it has read, and whether it owns the
//! shard.
//!
//! Three rules carry all promises:
//!
//! - A record is appended at the sequence behind which its writer knows nothing, so the engine
//!   refuses it if anybody wrote in between. While it is undecided, the same bytes are appended at
//!   the same sequence again, and nothing else: whenever a late one lands, it is the one record
//!   that may be there.
//! - Only the log decides: an append is decided by the engine's acknowledgement, or by the record
//!   that is read at its place.
//! - A record is applied only if it continues the chain of numbers, epochs and CRCs.

mod append;
mod read;
mod seek;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::beat::Unfit;
use crate::config::{Config, Now};
use crate::cursor::Cursor;
use crate::limits::{
    MAX_PAYLOAD, MAX_QUEUED, MAX_QUEUED_BYTES, MAX_UNAPPLIED, MAX_UNAPPLIED_BYTES,
};
use crate::nodes::Plan;
use crate::outbox::{Asker, Outbox};
use crate::output::{Answer, BatchId, Output, ProposeError, Request, RequestId};
use crate::owner::{NodeName, Owner};
use append::Append;
use read::{EAGER_READS, Fetch, Poll, Short};
use seek::Seek;

/// Between two outputs that ask for a base: making one takes a large shard some seconds.
const BASE_PAUSE: Duration = Duration::from_secs(10);

/// Between two claims that mend the log for another node, which reads the first one meanwhile.
const MEND_PAUSE: Duration = Duration::from_secs(10);

/// A shard as one node sees it.
#[derive(Debug)]
pub(crate) struct Shard {
    no: u16,
    /// The end of what was read and follows.
    cursor: Cursor,
    /// When the cursor moved last.
    moved: Duration,
    role: Role,
    /// The driver was told that it owns the shard, and not that it lost it.
    held: bool,
    /// When it was told that first.
    held_since: Duration,
    /// When a request began that showed that the node owned the shard.
    proven: Duration,
    append: Option<Append>,
    waiting: VecDeque<(BatchId, Vec<u8>)>,
    waiting_bytes: usize,
    /// A base to be appended next.
    base: Option<(Cursor, Vec<u8>)>,
    base_wanted: Option<Duration>,
    /// Sequences and bytes of outputs that the driver has not applied.
    unapplied: VecDeque<(u64, usize)>,
    unapplied_bytes: usize,
    read: Poll,
    last: Poll,
    fetch: Option<Fetch>,
    /// The sequence of the record whose blob is missing, until a base is loaded; 0 without one.
    missing: u64,
    /// The last read had nothing new.
    caught_up: bool,
    /// A read had nothing new since the node started or loaded a base.
    was_caught_up: bool,
    /// All that is applied came from a base, or from reading the log anew: the node knows no more
    /// than the log has.
    is_copy: bool,
    /// The log seems to end before the cursor.
    short: Option<Short>,
    /// Since when no live node owns the shard.
    ownerless: Option<Duration>,
    /// The node for which the shard was released, and when that was read.
    heir: Option<(NodeName, Duration)>,
    /// The sequence of the base that was loaded last: an older one is of no use.
    loaded: u64,
    /// When all was dropped to read the log from its beginning.
    rebuilt: Option<Duration>,
    /// When this node began to claim the shard as mended, because another one had applied records
    /// that the log has lost.
    mended: Option<Duration>,
}

/// What the node is for the shard.
#[derive(Debug)]
enum Role {
    /// The node applies what others append.
    Following,
    /// The node appends a claim until that is decided.
    Claiming,
    /// The node's claim is in the log; the driver applies what came before.
    Claimed { mended: bool },
    /// The node owns the shard. While it is releasing, no proposals are taken.
    Owner { releasing: bool },
    /// The node appends a release until that is decided, and says nothing more.
    Releasing,
    /// The log does not continue at the cursor: it looks for a base.
    Seeking(Seek),
}

/// What a shard needs of its node.
pub(crate) struct Env<'a> {
    pub(crate) config: &'a Config,
    pub(crate) me: &'a Owner,
    pub(crate) now: Now,
    pub(crate) out: &'a mut Outbox,
}

impl Env<'_> {
    fn at(&self) -> Duration {
        self.now.monotonic
    }

    fn ask(&mut self, shard: u16, request: Request) -> RequestId {
        self.out.ask(Asker::Shard(shard), request, self.now.monotonic)
    }
}

impl Shard {
    pub(crate) fn new(no: u16, cursor: Cursor, now: Duration) -> Self {
        Self {
            no,
            cursor,
            moved: now,
            role: Role::Following,
            held: false,
            held_since: now,
            proven: now,
            append: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            base: None,
            base_wanted: None,
            unapplied: VecDeque::new(),
            unapplied_bytes: 0,
            read: Poll::new(now),
            last: Poll::new(now),
            fetch: None,
            missing: 0,
            caught_up: false,
            was_caught_up: false,
            is_copy: false,
            short: None,
            ownerless: None,
            heir: None,
            loaded: 0,
            rebuilt: None,
            mended: None,
        }
    }

    /// The process that claimed the shard last.
    pub(crate) fn owner(&self) -> Option<&Owner> {
        self.cursor.owner.as_ref()
    }

    /// True while the driver may speak as the shard's owner.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self.role, Role::Owner { .. })
    }

    /// True until a release, if there is one, is decided.
    pub(crate) fn is_held(&self) -> bool {
        self.held || matches!(self.role, Role::Releasing)
    }

    pub(crate) fn is_releasing(&self) -> bool {
        matches!(self.role, Role::Owner { releasing: true } | Role::Releasing)
    }

    /// The reason for which the node cannot claim the shard, if any.
    pub(crate) fn unfit(&self) -> Option<Unfit> {
        let is_stuck = matches!(&self.role, Role::Seeking(seek) if seek.told);
        let has_lost = matches!(&self.role, Role::Seeking(seek) if seek.told && self.waits(seek));
        let is_behind = matches!(self.role, Role::Seeking(_)) || !self.was_caught_up;
        (is_stuck || is_behind).then_some(Unfit {
            shard: self.no,
            number: self.cursor.number,
            is_stuck,
            has_lost,
        })
    }

    pub(crate) fn propose(
        &mut self,
        payload: Vec<u8>,
        env: &mut Env<'_>,
    ) -> Result<BatchId, ProposeError> {
        let Role::Owner { releasing } = self.role else { return Err(ProposeError::NotOwner) };
        if payload.is_empty() || payload.len() > MAX_PAYLOAD {
            return Err(ProposeError::Size);
        }
        let bytes = self.waiting_bytes + payload.len();
        let is_full = self.waiting.len() >= MAX_QUEUED || bytes > MAX_QUEUED_BYTES;
        if releasing || is_full && !self.waiting.is_empty() {
            return Err(ProposeError::NotNow);
        }
        let batch = env.out.next_batch();
        self.waiting_bytes = bytes;
        self.waiting.push_back((batch, payload));
        Ok(batch)
    }

    pub(crate) fn base(&mut self, cursor: Cursor, state: Vec<u8>) -> Result<(), ProposeError> {
        if !self.is_owned() {
            return Err(ProposeError::NotOwner);
        }
        // The engine takes no larger blob, and nothing else is appended before a base is.
        if cursor.sequence == 0 || state.len() > MAX_PAYLOAD {
            return Err(ProposeError::Size);
        }
        if self.base.is_some() {
            return Err(ProposeError::NotNow);
        }
        self.base = Some((cursor, state));
        Ok(())
    }

    /// The driver has applied everything up to `sequence`.
    pub(crate) fn applied(&mut self, sequence: u64) {
        // A base or a rebuild may have taken the sequence back.
        let Some(at) = self.unapplied.iter().position(|(next, _)| *next == sequence) else {
            return;
        };
        for (_, bytes) in self.unapplied.drain(..=at) {
            self.unapplied_bytes -= bytes;
        }
    }

    /// There may be new entries in the log.
    pub(crate) fn hint(&mut self, now: Duration) {
        self.read.due = self.read.due.min(now);
        self.read.is_hinted = self.read.request.is_some();
        self.read.eager = EAGER_READS;
    }

    pub(crate) fn answered(
        &mut self,
        id: RequestId,
        answer: Answer,
        at: Duration,
        env: &mut Env<'_>,
    ) {
        if self.append.as_ref().is_some_and(|append| append.request == Some(id)) {
            self.append_answered(answer, at, env);
        } else if self.read.request == Some(id) {
            self.read_answered(answer, at, env);
        } else if self.last.request == Some(id) {
            self.last_answered(&answer, at, env);
        } else if self.fetch.as_ref().is_some_and(|fetch| fetch.request == Some(id)) {
            self.fetch_answered(answer, env);
        }
    }

    /// Does all that is due.
    pub(crate) fn step(&mut self, plan: &Plan, may_release: bool, env: &mut Env<'_>) {
        self.doubt(false, env);
        if plan.owner_lives || self.is_held() {
            self.ownerless = None;
        } else {
            self.ownerless.get_or_insert(env.now.monotonic);
        }
        self.own(plan, env);
        self.mend(plan, env);
        self.seek_on(plan, env);
        if self.append.is_none() && self.fetch.is_none() && !self.is_full() {
            self.begin_append(plan, may_release, env);
        }
        self.push_append(env);
        self.push_fetch(env);
        self.poll_log(env);
    }

    /// The moment of the next thing to do that does not wait for an answer.
    pub(crate) fn timeout(&self, config: &Config) -> Duration {
        let mut next = self.last.timeout();
        if self.fetch.is_none() {
            next = next.min(self.read.timeout());
        }
        if let Some(append) = self.append.as_ref().filter(|append| append.request.is_none()) {
            next = next.min(append.due);
        }
        if let Some(fetch) = self.fetch.as_ref().filter(|fetch| fetch.request.is_none()) {
            next = next.min(fetch.due);
        }
        if self.is_owned() {
            next = next.min(self.proven + config.timing.cut_off);
        }
        next
    }

    /// An owner that was paused, or whose log does not answer, is one no more until a new claim
    /// shows that nobody else was. A read would not do, because it may be stale.
    pub(crate) fn doubt(&mut self, was_paused: bool, env: &mut Env<'_>) {
        let is_old = env.at().saturating_sub(self.proven) >= env.config.timing.cut_off;
        if !(is_old || was_paused) {
            return;
        }
        match self.role {
            Role::Owner { .. } => {
                self.role = Role::Claiming;
                env.out.put(Output::CutOff { shard: self.no });
            }
            Role::Claimed { .. } => self.role = Role::Claiming,
            _ => {}
        }
    }

    /// The driver learns that it owns the shard when everything before the claim is applied.
    fn own(&mut self, plan: &Plan, env: &mut Env<'_>) {
        if let Role::Claimed { mended } = self.role
            && self.unapplied.is_empty()
        {
            self.role = Role::Owner { releasing: false };
            if !core::mem::replace(&mut self.held, true) {
                self.held_since = env.at();
            }
            let epoch = self.cursor.epoch;
            env.out.put(Output::Owned { shard: self.no, epoch, mended });
        }
        let is_due = self.base_wanted.is_none_or(|asked| env.at() >= asked + BASE_PAUSE);
        if self.is_owned() && plan.base_wanted && is_due {
            self.base_wanted = Some(env.at());
            env.out.put(Output::BaseWanted { shard: self.no });
        }
    }

    /// An owner that took over before it had read what the log has lost claims the shard again,
    /// so that its rooms get new incarnations: their clients may know more than this node.
    fn mend(&mut self, plan: &Plan, env: &mut Env<'_>) {
        if self.is_owned() && self.should_mend(plan, env) {
            self.role = Role::Claiming;
            env.out.put(Output::CutOff { shard: self.no });
        }
    }

    /// True if a claim has to say that it mends.
    fn should_mend(&self, plan: &Plan, env: &Env<'_>) -> bool {
        plan.has_lost && self.mended.is_none_or(|mended| env.at() >= mended + MEND_PAUSE)
    }

    /// The node owns the shard no more, or never will by the claim that it appended.
    fn step_down(&mut self, owner: Option<&NodeName>, env: &mut Env<'_>) {
        if matches!(self.role, Role::Following | Role::Seeking(_)) {
            return;
        }
        self.role = Role::Following;
        self.lose(owner, env);
    }

    fn lose(&mut self, owner: Option<&NodeName>, env: &mut Env<'_>) {
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.base = None;
        if core::mem::take(&mut self.held) {
            env.out.put(Output::Lost { shard: self.no, owner: owner.cloned() });
        }
    }

    /// The process ends: the driver says nothing more.
    pub(crate) fn stop(&mut self, env: &mut Env<'_>) {
        self.append = None;
        self.step_down(None, env);
    }

    /// True if this node should claim the shard now.
    fn should_claim(&self, plan: &Plan, env: &Env<'_>) -> bool {
        let Some(rank) = plan.rank.filter(|_| self.caught_up && !plan.owner_lives) else {
            return false;
        };
        if let Some((heir, since)) = &self.heir {
            if *heir == env.me.node {
                return true;
            }
            if env.at().saturating_sub(*since) < env.config.timing.dead {
                return false;
            }
        }
        // The next in order claims if those before it live and still do not claim.
        let patience = 2 * rank * env.config.timing.dead;
        self.ownerless.is_some_and(|since| env.at().saturating_sub(since) >= patience)
    }

    fn is_full(&self) -> bool {
        self.unapplied.len() >= MAX_UNAPPLIED
            || self.unapplied.len() > 1 && self.unapplied_bytes > MAX_UNAPPLIED_BYTES
    }

    /// The sequence up to which the log was read.
    fn position(&self) -> u64 {
        if let Role::Seeking(seek) = &self.role { seek.position } else { self.cursor.sequence }
    }

    /// The driver is told to apply `output`, which ends at `cursor`.
    fn put_unapplied(&mut self, output: Output, bytes: usize, env: &mut Env<'_>) {
        self.unapplied.push_back((self.cursor.sequence, bytes));
        self.unapplied_bytes += bytes;
        env.out.put(output);
    }
}
