//! A node: its disk, and the process that runs on it.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_cluster::{BatchId, Cluster, Config, Cursor, NodeName, Now, Timing};

use super::service::Service;

pub(crate) struct Node<S: Service> {
    pub(crate) name: String,
    /// What survives a crash.
    pub(crate) disk: S::Disk,
    pub(crate) process: Option<Process<S>>,
    pub(crate) paused_until: Duration,
    /// The wall clock is off by this many milliseconds.
    pub(crate) skew: u64,
    /// A second machine that was given the name of another one.
    pub(crate) is_double: bool,
    /// Requests and answers are lost.
    pub(crate) cut: (bool, bool),
}

pub(crate) struct Process<S: Service> {
    pub(crate) cluster: Cluster,
    pub(crate) incarnation: u64,
    pub(crate) service: S::Process,
    /// The epoch in which it owns each shard, as it was told.
    pub(crate) owned: Vec<Option<u64>>,
    pub(crate) to_apply: VecDeque<ToApply>,
    pub(crate) applying: bool,
    pub(crate) timer: Duration,
    pub(crate) refused: bool,
    /// When it goes on after a long pause; it owns no shard before the log shows that again.
    pub(crate) resumes: Duration,
    /// When it was told last that it owns a shard.
    pub(crate) told: Vec<Duration>,
}

/// An output that the node applies after the ones before it.
pub(crate) struct ToApply {
    pub(crate) shard: u16,
    pub(crate) cursor: Cursor,
    pub(crate) what: What,
    pub(crate) own: Option<BatchId>,
}

#[derive(Clone)]
pub(crate) enum What {
    /// The changes of a record, and its time.
    Changes { payload: Vec<u8>, time: u64 },
    /// A base replaces what was applied of the shard.
    Base(Option<Vec<u8>>),
}

impl<S: Service> Node<S> {
    pub(crate) fn now(&self, now: Duration) -> Now {
        let wall = (now.as_millis() as u64).wrapping_add(self.skew);
        // Each process has a clock of its own that begins anywhere.
        let start = self.process.as_ref().map_or(0, |process| process.incarnation % 1000);
        Now { monotonic: now + Duration::from_secs(start), wall }
    }

    pub(crate) fn start(&mut self, incarnation: u64, shards: u16, now: Duration) {
        let config = Config {
            node: NodeName::new(&self.name).expect("a short name"),
            address: self.name.clone().into_bytes(),
            incarnation,
            shards,
            timing: Timing { mend: Duration::from_secs(20), ..Timing::default() },
        };
        let (service, cursors) = S::start(&mut self.disk, shards);
        let saved = |cursor: &Cursor| Cursor::parse(&cursor.to_bytes()).expect("a cursor");
        let cursors = cursors.iter().map(saved).collect();
        let monotonic = now + Duration::from_secs(incarnation % 1000);
        let cluster = Cluster::new(config, cursors, Now { monotonic, wall: self.skew });
        self.process = Some(Process {
            cluster: cluster.expect("the configuration is right"),
            incarnation,
            service,
            owned: vec![None; usize::from(shards)],
            to_apply: VecDeque::new(),
            applying: false,
            timer: Duration::MAX,
            refused: false,
            resumes: Duration::ZERO,
            told: vec![Duration::ZERO; usize::from(shards)],
        });
    }

    /// The process, which runs.
    pub(crate) fn running(&mut self) -> &mut Process<S> {
        self.process.as_mut().expect("the node runs")
    }
}
