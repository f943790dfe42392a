//! A node: its disk, and the process that runs on it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use groupwire_cluster::{BatchId, Cluster, Config, Cursor, NodeName, Now, ProposeError, Timing};

/// A payload: the client, and its number of it.
pub(crate) type Payload = (u8, u64);

/// The applied state of a shard.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) applied: Vec<Payload>,
    pub(crate) cursor: Cursor,
    /// The highest number of each client.
    pub(crate) highest: BTreeMap<u8, u64>,
}

impl State {
    pub(crate) fn apply(&mut self, change: &Change, cursor: Cursor) {
        match change {
            Change::Nothing => {}
            Change::Payload(payload) => self.push(*payload),
            Change::Replace(all) => {
                *self = Self::default();
                all.iter().for_each(|payload| self.push(*payload));
            }
        }
        self.cursor = cursor;
    }

    fn push(&mut self, payload: Payload) {
        self.applied.push(payload);
        let highest = self.highest.entry(payload.0).or_default();
        *highest = payload.1.max(*highest);
    }

    pub(crate) fn has(&self, (client, number): Payload) -> bool {
        self.highest.get(&client).is_some_and(|highest| *highest >= number)
    }
}

pub(crate) struct Node {
    pub(crate) name: String,
    /// What survives a crash, and what was applied since.
    pub(crate) disk: Vec<State>,
    pub(crate) unsaved: Vec<Vec<(Change, Cursor)>>,
    pub(crate) process: Option<Process>,
    pub(crate) paused_until: Duration,
    /// The wall clock is off by this many milliseconds.
    pub(crate) skew: u64,
    /// A second machine that was given the name of another one.
    pub(crate) is_double: bool,
    /// Requests and answers are lost.
    pub(crate) cut: (bool, bool),
}

pub(crate) struct Process {
    pub(crate) cluster: Cluster,
    pub(crate) incarnation: u64,
    pub(crate) state: Vec<State>,
    /// The epoch in which it owns each shard, as it was told.
    pub(crate) owned: Vec<Option<u64>>,
    pub(crate) pending: BTreeMap<(u16, BatchId), Payload>,
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
    pub(crate) change: Change,
    pub(crate) own: Option<BatchId>,
}

#[derive(Clone)]
pub(crate) enum Change {
    Nothing,
    Payload(Payload),
    Replace(Vec<Payload>),
}

impl Node {
    pub(crate) fn now(&self, now: Duration) -> Now {
        let wall = (now.as_millis() as u64).wrapping_add(self.skew);
        // Each process has a clock of its own that begins anywhere.
        let start = self.process.as_ref().map_or(0, |process| process.incarnation % 1000);
        Now { monotonic: now + Duration::from_secs(start), wall }
    }

    pub(crate) fn start(&mut self, incarnation: u64, now: Duration) {
        let shards = u16::try_from(self.disk.len()).expect("a few");
        let config = Config {
            node: NodeName::new(&self.name).expect("a short name"),
            address: self.name.clone().into_bytes(),
            incarnation,
            shards,
            timing: Timing { mend: Duration::from_secs(20), ..Timing::default() },
        };
        self.unsaved.iter_mut().for_each(Vec::clear);
        let state = self.disk.clone();
        let saved = |state: &State| Cursor::parse(&state.cursor.to_bytes()).expect("a cursor");
        let cursors = state.iter().map(saved).collect();
        let monotonic = now + Duration::from_secs(incarnation % 1000);
        let cluster = Cluster::new(config, cursors, Now { monotonic, wall: self.skew });
        self.process = Some(Process {
            cluster: cluster.expect("the configuration is right"),
            incarnation,
            state,
            owned: vec![None; usize::from(shards)],
            pending: BTreeMap::new(),
            to_apply: VecDeque::new(),
            applying: false,
            timer: Duration::MAX,
            refused: false,
            resumes: Duration::ZERO,
            told: vec![Duration::ZERO; usize::from(shards)],
        });
    }
}

impl Process {
    /// What a client is told that asks the owner of `shard` to store a payload.
    pub(crate) fn submit(&mut self, shard: u16, payload: Payload, pad: usize, now: Now) -> Said {
        if self.owned[usize::from(shard)].is_none() {
            return Said::NotOwner;
        }
        if self.state[usize::from(shard)].has(payload) {
            return Said::Stored;
        }
        if self.pending.iter().any(|((of, _), other)| *of == shard && *other == payload) {
            return Said::Waits;
        }
        let mut bytes = vec![payload.0];
        bytes.extend_from_slice(&payload.1.to_le_bytes());
        bytes.resize(bytes.len() + pad, 7);
        match self.cluster.propose(shard, bytes, now) {
            Ok(batch) => {
                self.pending.insert((shard, batch), payload);
                Said::Waits
            }
            Err(ProposeError::NotNow) => Said::Waits,
            Err(error) => {
                assert_eq!(error, ProposeError::NotOwner, "owner by its outputs");
                panic!("a process that was told that it owns shard {shard} does not")
            }
        }
    }
}

/// The answer to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    NotOwner,
    Waits,
    Stored,
}

/// The payload of bytes that [`Process::submit`] made.
pub(crate) fn payload(bytes: &[u8]) -> Payload {
    (bytes[0], u64::from_le_bytes(bytes[1..9].try_into().expect("eight bytes")))
}

/// A state as a base holds it.
pub(crate) fn base_of(applied: &[Payload]) -> Vec<u8> {
    applied
        .iter()
        .flat_map(|(client, number)| [&[*client], &number.to_le_bytes()[..]].concat())
        .collect()
}

/// The state of a base.
pub(crate) fn of_base(bytes: &[u8]) -> Vec<Payload> {
    bytes.chunks_exact(9).map(payload).collect()
}
