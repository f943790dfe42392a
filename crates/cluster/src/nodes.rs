//! Which nodes live, and which of them should own a shard.
//!
//! A node lives as long as its beat changes, judged on this node's monotonic clock. That decides
//! only who claims a shard and when, never who owns it: the log does.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use crate::beat::{Beat, Unfit};
use crate::config::{Config, Timing};
use crate::limits::MAX_NODES;
use crate::output::ListedBeat;
use crate::owner::{NodeName, Owner};

/// A process beats still if its count has grown so often: replicas of the engine that are behind
/// may list beats of a dead one in turn.
const LATE_BEATS: u32 = 4;

/// The nodes of the cluster, as this node sees them.
#[derive(Debug)]
pub(crate) struct Nodes {
    me: NodeName,
    incarnation: u64,
    timing: Timing,
    others: BTreeMap<NodeName, Node>,
    /// Beats of this process so far.
    pub(crate) beats: u64,
    /// The first and the last listing.
    listed: Option<(Duration, Duration)>,
    name: Name,
}

/// Another node.
#[derive(Debug)]
struct Node {
    revision: u64,
    beat: Beat,
    /// When the revision was seen first.
    changed: Duration,
    /// Since when the node lives without a break.
    since: Duration,
}

/// Whether this process has its name for itself.
#[derive(Debug)]
enum Name {
    /// A beat of another process stands under the name: it may be dead. It has not grown since.
    Watched { rival: Option<Rival>, since: Duration },
    /// This process beats, and another one beats, too, or has beaten.
    Ours { rival: Option<Rival> },
    /// Another process that lives has the name.
    Taken,
}

/// A process that beats, or has beaten, under the name of this one.
#[derive(Clone, Copy, Debug)]
struct Rival {
    incarnation: u64,
    /// The highest count of its beats.
    count: u64,
    /// How often that has grown.
    grown: u32,
}

impl Rival {
    /// The rival after one more beat was listed, which a replica that is behind may show late.
    fn after(rival: Option<Self>, beat: &Beat) -> Self {
        match rival {
            Some(Self { incarnation, count, grown }) if incarnation == beat.incarnation => {
                let grown = grown + u32::from(beat.count > count);
                Self { incarnation, count: count.max(beat.count), grown }
            }
            _ => Self { incarnation: beat.incarnation, count: beat.count, grown: 0 },
        }
    }

    /// True if it beats still.
    fn lives(self) -> bool {
        self.grown >= LATE_BEATS
    }
}

/// What this node should do about a shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The place of this node among those that should claim the shard; none if it should not.
    pub(crate) rank: Option<u32>,
    /// The process that claimed the shard lives and can serve it.
    pub(crate) owner_lives: bool,
    /// The node to which this one should hand the shard over.
    pub(crate) move_to: Option<NodeName>,
    /// This node hands all shards over.
    pub(crate) drains: bool,
    /// No node can go on, and this one has applied the most.
    pub(crate) mends: bool,
    /// Another node can go on.
    pub(crate) others_can: bool,
    /// A node waits for a base.
    pub(crate) base_wanted: bool,
    /// A node has applied records that the log has lost.
    pub(crate) has_lost: bool,
}

/// What this node can do for a shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    pub(crate) draining: bool,
    pub(crate) unfit: Option<Unfit>,
}

impl Nodes {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            me: config.node.clone(),
            incarnation: config.incarnation,
            timing: config.timing,
            others: BTreeMap::new(),
            beats: 0,
            listed: None,
            name: Name::Watched { rival: None, since: Duration::ZERO },
        }
    }

    /// Takes a listing in that was asked for at `now`: after a pause the answer is as old as the
    /// pause, and says nothing of nodes that beat since.
    pub(crate) fn list(&mut self, beats: Vec<ListedBeat>, now: Duration) {
        let (first, last) = self.listed.map_or((now, now), |(first, _)| (first, now));
        self.listed = Some((first, last));
        let mut present = Vec::new();
        let mut own = None;
        for listed in beats.into_iter().take(MAX_NODES) {
            let (Some(name), Ok(beat)) = (NodeName::new(&listed.node), Beat::parse(&listed.bytes))
            else {
                continue;
            };
            if name == self.me {
                own = Some(beat);
            } else {
                self.see(&name, listed.revision, beat, now);
                present.push(name);
            }
        }
        self.others.retain(|name, _| present.contains(name));
        self.see_own(own, now);
    }

    fn see(&mut self, name: &NodeName, revision: u64, beat: Beat, now: Duration) {
        let dead = self.timing.dead;
        let Some(node) = self.others.get_mut(name) else {
            let node = Node { revision, beat, changed: now, since: now };
            self.others.insert(name.clone(), node);
            return;
        };
        // Replicas of the engine that are behind list older beats.
        let is_same = node.beat.incarnation == beat.incarnation;
        let is_newer =
            if is_same { beat.count > node.beat.count } else { revision > node.revision };
        if is_newer {
            if now.saturating_sub(node.changed) >= dead || !is_same {
                node.since = now;
            }
            *node = Node { revision, beat, changed: now, since: node.since };
        }
    }

    fn see_own(&mut self, own: Option<Beat>, now: Duration) {
        let foreign = own.filter(|beat| beat.incarnation != self.incarnation);
        match (&mut self.name, foreign) {
            (Name::Watched { .. }, None) => self.name = Name::Ours { rival: None },
            (Name::Watched { rival, since }, Some(beat)) => {
                let seen = Rival::after(*rival, &beat);
                let is_silent = rival.is_some_and(|before| {
                    before.incarnation == seen.incarnation && before.grown == seen.grown
                });
                *rival = Some(seen);
                if seen.lives() {
                    self.name = Name::Taken;
                } else if !is_silent {
                    *since = now;
                } else if now.saturating_sub(*since) >= self.timing.dead {
                    self.name = Name::Ours { rival: None };
                }
            }
            (Name::Ours { rival }, Some(beat)) => {
                let seen = Rival::after(*rival, &beat);
                *rival = Some(seen);
                let is_older = (seen.count, Reverse(seen.incarnation))
                    > (self.beats, Reverse(self.incarnation));
                if seen.lives() && is_older {
                    self.name = Name::Taken;
                }
            }
            (Name::Ours { .. } | Name::Taken, _) => {}
        }
    }

    /// True if this process may beat.
    pub(crate) fn may_beat(&self) -> bool {
        matches!(self.name, Name::Ours { .. })
    }

    /// True if another process that lives has this node's name.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self.name, Name::Taken)
    }

    /// The nodes that live, with their incarnations and addresses; this one is not among them.
    pub(crate) fn live(&self) -> impl Iterator<Item = (&NodeName, &Beat)> {
        self.living().map(|(name, node)| (name, &node.beat))
    }

    fn living(&self) -> impl Iterator<Item = (&NodeName, &Node)> {
        let listed = self.listed.map_or(Duration::ZERO, |(_, last)| last);
        let dead = self.timing.dead;
        self.others.iter().filter(move |(_, node)| listed.saturating_sub(node.changed) < dead)
    }

    /// True if `owner` lives and can serve `shard`.
    fn serves(&self, shard: u16, owner: &Owner) -> bool {
        self.living().any(|(name, node)| {
            *name == owner.node
                && node.beat.incarnation == owner.incarnation
                && !unfit(&node.beat, shard).is_some_and(|unfit| unfit.is_stuck)
        })
    }

    /// What this node should do about `shard`, which `owner` claimed last.
    pub(crate) fn plan(&self, shard: u16, owner: Option<&Owner>, own: Own) -> Plan {
        let Some((first, last)) = self.listed.filter(|_| self.beats > 0 && !self.is_taken()) else {
            return Plan::default();
        };
        let here = score(shard, &self.me);
        let serving = self.living().filter(|(_, node)| !node.beat.draining);
        let (mut rank, mut best) = (0, None);
        let drains = own.draining;
        let mut plan = Plan { mends: !drains, drains, ..Plan::default() };
        for (name, node) in serving {
            let unfit = unfit(&node.beat, shard);
            let there = score(shard, name);
            let is_stuck = unfit.is_some_and(|unfit| unfit.is_stuck);
            plan.base_wanted |= is_stuck;
            plan.has_lost |= unfit.is_some_and(|unfit| unfit.has_lost);
            plan.others_can |= !is_stuck;
            let order = |unfit: Option<Unfit>, score| (unfit.map(|unfit| unfit.number), score);
            plan.mends &= is_stuck && order(unfit, there) < order(own.unfit, here);
            if unfit.is_some() {
                continue;
            }
            rank += u32::from(there > here);
            let has_settled = last.saturating_sub(node.since) >= self.timing.settle;
            if (has_settled || own.draining) && best.is_none_or(|(best, _)| there > best) {
                best = Some((there, name));
            }
        }
        // All nodes that start together see each other before one claims.
        let has_looked_around = last.saturating_sub(first) >= self.timing.dead;
        plan.mends &= has_looked_around;
        plan.rank = (has_looked_around && !own.draining && own.unfit.is_none()).then_some(rank);
        plan.move_to =
            best.filter(|(there, _)| own.draining || *there > here).map(|(_, name)| name.clone());
        plan.owner_lives = owner.is_some_and(|owner| self.serves(shard, owner));
        plan
    }
}

fn unfit(beat: &Beat, shard: u16) -> Option<Unfit> {
    beat.unfit.iter().find(|unfit| unfit.shard == shard).copied()
}

/// The weight of a node for a shard. Of some nodes, the one with the highest should own the shard:
/// rendezvous hashing, in which a node that comes or goes moves only its own shards.
fn score(shard: u16, node: &NodeName) -> (u64, &NodeName) {
    // FNV-1a, and the finalizer of SplitMix64, without which names of which only the last digit
    // differs would have scores in order.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in shard.to_le_bytes().iter().chain(node.as_str().as_bytes()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31), node)
}

#[cfg(test)]
mod tests;
