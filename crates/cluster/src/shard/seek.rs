//! A log that does not continue what was applied: it was trimmed, damaged, or lost its tail.
//!
//! The node reads on without applying, for a base from which it can go on. Where there is none, it
//! reads the log from its beginning if another node can go on, and otherwise, after a while, takes
//! the shard with what it has: a claim that *mends*.

use alloc::vec::Vec;
use core::time::Duration;

use super::read::{Fetch, Use};
use super::{Env, Role, Shard};
use crate::cursor::Cursor;
use crate::nodes::Plan;
use crate::output::{Damage, Output};
use crate::record::{Body, Record, RecordError};

/// Between two attempts to read the log from its beginning, during which an owner makes a base.
const REBUILD_PAUSE: Duration = Duration::from_secs(30);

/// The beats of another node count as a promise that it can go on only after this many times
/// [`Timing::cut_off`]: a node that has just started learns within that time that the log lost what
/// it had applied.
///
/// [`Timing::cut_off`]: crate::Timing::cut_off
const NOTICES: u32 = 4;

/// The search for a base.
#[derive(Debug)]
pub(super) struct Seek {
    /// The sequence up to which was read.
    pub(super) position: u64,
    since: Duration,
    /// Since when another node can go on, without a break.
    others_since: Option<Duration>,
    damage: Damage,
    /// The log still has the last record that this node applied.
    is_here: bool,
    /// The log reaches back to records that this node applied: it was not trimmed behind them.
    overlaps: bool,
    /// The driver and the other nodes know.
    pub(super) told: bool,
    /// An owner has mended the log since they know.
    is_mended: bool,
    /// A record behind the last one that this node applied does not continue it, and no record in
    /// between is unreadable: others have gone on from another one.
    is_left: bool,
    /// The highest epoch that was read.
    epoch: u64,
    /// Records that could not be read, each of which may have been a claim.
    unread: u64,
    /// The number of them before the last record that this node applied.
    unread_before: u64,
}

impl Shard {
    /// Begins the search at the newest base that this node knows: on the way, the node sees whether
    /// the log still has what it applied.
    pub(super) fn begin_seek(&mut self, damage: Damage, last: u64, env: &mut Env<'_>) {
        self.hint(env.at());
        self.caught_up = false;
        self.role = Role::Seeking(Seek {
            position: self.cursor.base.sequence.min(last),
            since: env.at(),
            others_since: None,
            damage,
            is_here: false,
            overlaps: false,
            told: false,
            is_mended: false,
            is_left: false,
            epoch: self.cursor.epoch,
            unread: 0,
            unread_before: 0,
        });
    }

    /// Looks at a record on the way.
    pub(super) fn look_at(
        &mut self,
        record: Result<Record, RecordError>,
        sequence: u64,
        crc: u32,
        env: &mut Env<'_>,
    ) {
        let Role::Seeking(seek) = &mut self.role else { return };
        seek.position = sequence;
        seek.is_mended |= seek.told && record.as_ref().is_ok_and(is_mending);
        seek.overlaps |= sequence <= self.cursor.sequence;
        let Ok(record) = record else {
            seek.unread += 1;
            return;
        };
        seek.epoch = seek.epoch.max(record.epoch);
        seek.overlaps |= record.number <= self.cursor.number;
        if record.number == self.cursor.number && crc == self.cursor.crc {
            seek.is_here = true;
            seek.unread_before = seek.unread;
            self.cursor.sequence = sequence;
            return;
        }
        // A record whose blob is missing continues it all the same.
        let may_leave = seek.damage != Damage::Blob;
        seek.is_left |= may_leave && seek.is_here && seek.unread == seek.unread_before;
        if let Body::Base { blob, cursor } = record.body
            && sequence > self.loaded
            && cursor.sequence < sequence
            // The base at which the search began is older than what was applied.
            && cursor.place() != self.cursor.base
        {
            // A base covers what is missing, and not what the log has lost.
            match &self.role {
                Role::Seeking(seek) if self.waits(seek) => self.report(env),
                _ => self.fetch(blob, Use::Base(cursor), sequence, env),
            }
        }
    }

    /// True if this node has applied records that the log has lost, or from which the owner did not
    /// go on, and no owner has mended the log yet. This node keeps them until then, because maybe
    /// nobody else knows.
    pub(super) fn waits(&self, seek: &Seek) -> bool {
        let is_lost = !seek.is_here && (seek.overlaps || seek.damage == Damage::LostTail);
        let knows_more = self.cursor.number > 0 && !self.is_copy;
        knows_more && (is_lost || seek.is_left) && !seek.is_mended
    }

    /// Goes on from a base, or from the beginning.
    pub(super) fn load(
        &mut self,
        cursor: Cursor,
        state: Option<Vec<u8>>,
        sequence: u64,
        env: &mut Env<'_>,
    ) {
        (self.loaded, self.missing) = (sequence, 0);
        self.role = Role::Following;
        (self.caught_up, self.was_caught_up) = (false, false);
        self.is_copy = true;
        self.moved = env.at();
        self.cursor = cursor.clone();
        self.set_owner(cursor.owner.clone(), env);
        let bytes = state.as_ref().map_or(0, Vec::len);
        self.put_unapplied(Output::Load { shard: self.no, cursor, state }, bytes, env);
    }

    /// A blob is missing.
    pub(super) fn missed(&mut self, fetch: Fetch, env: &mut Env<'_>) {
        match fetch.use_for {
            Use::Payload(..) => {
                self.missing = fetch.sequence;
                self.begin_seek(Damage::Blob, self.cursor.sequence, env);
            }
            Use::Base(_) => self.loaded = fetch.sequence,
        }
    }

    /// At the end of a log without a base, tells the driver, and then chooses a way out.
    pub(super) fn seek_on(&mut self, plan: &Plan, env: &mut Env<'_>) {
        let Role::Seeking(seek) = &mut self.role else { return };
        let (now, timing) = (env.now.monotonic, &env.config.timing);
        let lasted = now.saturating_sub(seek.since);
        let others_since = seek.others_since.filter(|_| plan.others_can);
        seek.others_since = plan.others_can.then_some(others_since.unwrap_or(now));
        let others_can = others_since.is_some_and(|since| now >= since + NOTICES * timing.cut_off);
        // The end that was read may be a stale one.
        let is_due = seek.damage == Damage::LostTail || lasted >= timing.cut_off;
        if !(self.caught_up && is_due && self.append.is_none() && self.fetch.is_none()) {
            return;
        }
        let damage = seek.damage;
        if damage == Damage::LostTail && seek.is_here {
            self.role = Role::Following;
            return;
        }
        let epoch = seek.epoch + 1 + seek.unread;
        self.report(env);
        // The owner of a log that lost its tail has everything that it confirmed.
        let was_owner = self.cursor.owner.as_ref().is_some_and(|owner| owner.is_same(env.me));
        let has_waited = lasted >= timing.mend;
        if plan.mends && has_waited || was_owner && damage == Damage::LostTail {
            let body = Body::Claim { owner: env.me.clone(), mends: true };
            self.begin(body, epoch, env);
        } else if others_can && self.may_rebuild(env) {
            self.rebuilt = Some(env.at());
            self.load(Cursor::default(), None, 0, env);
        }
    }

    fn report(&mut self, env: &mut Env<'_>) {
        let Role::Seeking(seek) = &mut self.role else { return };
        if !core::mem::replace(&mut seek.told, true) {
            let (shard, sequence, damage) = (self.no, seek.position, seek.damage);
            let cursor = self.cursor.clone();
            env.out.put(Output::Damaged { shard, cursor, sequence, damage });
        }
    }

    fn may_rebuild(&self, env: &Env<'_>) -> bool {
        let waits = matches!(&self.role, Role::Seeking(seek) if self.waits(seek));
        let is_due = self.rebuilt.is_none_or(|last| env.at() >= last + REBUILD_PAUSE);
        self.cursor.number > 0 && !waits && is_due
    }
}

fn is_mending(record: &Record) -> bool {
    matches!(record.body, Body::Claim { mends: true, .. })
}
