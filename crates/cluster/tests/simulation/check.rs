//! The promises about owners, checked by what nodes say and by the logs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::engine::Log;
use super::node::Node;
use super::service::Service;

/// How long an owner may speak that has lost its shard without knowing: the time after which an
/// owner without an answer is silent, and the age of a stale read.
const STALE: Duration = Duration::from_millis(5_000 + 1_500 + 100);

#[derive(Default)]
pub(crate) struct Checker {
    /// The process that confirmed in an epoch of a shard.
    epochs: BTreeMap<(u16, u64), u64>,
    /// Damage and mending that nodes reported, per shard, and when last.
    pub(crate) reported: Vec<Option<Duration>>,
}

impl Checker {
    pub(crate) fn new(shards: u16) -> Self {
        Self { reported: vec![None; usize::from(shards)], ..Self::default() }
    }

    /// A process confirms what it appended itself.
    pub(crate) fn confirm_own(&mut self, log: &Log, shard: u16, epoch: u64, incarnation: u64) {
        let owner = *self.epochs.entry((shard, epoch)).or_insert(incarnation);
        if log.harmed.is_none() {
            assert_eq!(owner, incarnation, "two owners confirm in epoch {epoch} of shard {shard}");
        }
    }

    /// A process speaks as the owner of a shard.
    pub(crate) fn speaks<S: Service>(
        &self,
        (service, log): (&S, &Log),
        node: &Node<S>,
        shard: u16,
        now: Duration,
    ) {
        let process = node.process.as_ref().expect("it speaks");
        let index = usize::from(shard);
        let epoch = process.owned[index].expect("it says that it owns the shard");
        let is_proven = process.told[index] >= process.resumes;
        assert!(is_proven, "{} went on after a pause without a proof", node.name);
        if log.harmed.is_some() {
            return;
        }
        let own =
            log.claims.iter().position(|(of, by, _)| (*of, *by) == (epoch, process.incarnation));
        let own = own.unwrap_or_else(|| panic!("{} owns shard {shard} without a claim", node.name));
        if let Some((_, _, at)) = log.claims.get(own + 1) {
            let age = now.saturating_sub(*at);
            assert!(age <= STALE, "{} lost shard {shard} {age:?} ago and speaks", node.name);
        } else if let Err(why) = service.has_confirmed(&process.service, shard) {
            panic!("the owner of shard {shard}: {why}");
        }
    }
}
