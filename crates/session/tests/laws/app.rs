//! An application of a participant, as the model has it: what it said, and what it knows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::PresenceState;
use groupwire_session::client::{ChannelId, Status};

use crate::model::Ordered;
use crate::world::fnv;

/// Something that was handed to `send` and taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said {
    pub(crate) at: Duration,
    pub(crate) channel: usize,
    pub(crate) key: u64,
    pub(crate) content: u64,
    /// How many transactions the same application had handed over before.
    pub(crate) after: usize,
}

/// What was garbled on the way to or from a participant: of that nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Taint {
    None,
    Datagrams,
    Stream,
}

pub(crate) struct App {
    /// By [`ChannelId`], which channel of the session it is; and the other way round.
    pub(crate) channels: Vec<usize>,
    pub(crate) ids: Vec<Option<ChannelId>>,
    pub(crate) reads: Vec<bool>,
    pub(crate) writes: Vec<bool>,
    pub(crate) opened_at: Vec<Option<Duration>>,
    /// Channels that it closed, with whether it could write on them.
    pub(crate) closed: Vec<Option<bool>>,
    /// When it was welcomed for the first time.
    pub(crate) joined_at: Option<Duration>,
    pub(crate) is_gone: bool,
    pub(crate) taint: Taint,
    pub(crate) presence: Vec<u8>,
    pub(crate) said: Vec<Said>,
    /// By content.
    pub(crate) known: BTreeMap<u64, Vec<usize>>,
    pub(crate) transactions: Vec<u64>,
    /// How many of them came back.
    pub(crate) settled: usize,
    pub(crate) participant: u32,
    pub(crate) status: Option<Status>,
    pub(crate) broke_at: Option<Duration>,
    /// What was said before may be lost with a session or with the room.
    pub(crate) fresh_since: Duration,
    pub(crate) uncertain: usize,
    pub(crate) errors: Vec<String>,
    pub(crate) people: BTreeMap<u32, (PresenceState, Vec<u8>)>,
    /// Transactions by position.
    pub(crate) document: BTreeMap<u64, u64>,
    /// Own ones that came last.
    pub(crate) held: Vec<(u64, Ordered)>,
    pub(crate) position: u64,
    /// Up to here it was told that transactions are missing.
    pub(crate) gap: u64,
    pub(crate) filled: BTreeMap<usize, u64>,
    /// By sender, how many transactions were handed over with the last one that came: at least and at most, as what was
    /// said twice cannot be told apart.
    pub(crate) heard_of: BTreeMap<u32, (usize, usize)>,
    /// By sender, channel and key: index and content.
    pub(crate) newest: BTreeMap<(u32, usize, u64), (u32, u64)>,
    pub(crate) came: BTreeSet<(u32, usize, u32)>,
}

impl App {
    pub(crate) fn new(channels: usize, presence: Vec<u8>) -> Self {
        App {
            channels: Vec::new(),
            ids: vec![None; channels],
            reads: vec![false; channels],
            writes: vec![false; channels],
            opened_at: vec![None; channels],
            closed: vec![None; channels],
            joined_at: None,
            is_gone: false,
            taint: Taint::None,
            presence,
            said: Vec::new(),
            known: BTreeMap::new(),
            transactions: Vec::new(),
            settled: 0,
            participant: 0,
            status: None,
            broke_at: None,
            fresh_since: Duration::ZERO,
            uncertain: 0,
            errors: Vec::new(),
            people: BTreeMap::new(),
            document: BTreeMap::new(),
            held: Vec::new(),
            position: 0,
            gap: 0,
            filled: BTreeMap::new(),
            heard_of: BTreeMap::new(),
            newest: BTreeMap::new(),
            came: BTreeSet::new(),
        }
    }

    /// The room lost its state.
    pub(crate) fn forget(&mut self) {
        self.document.clear();
        self.held.clear();
        self.position = 0;
        self.gap = 0;
        self.filled.clear();
        self.heard_of.clear();
        self.newest.clear();
        self.came.clear();
        self.people.clear();
    }

    /// The values that it knew of a channel come again once it opens the channel again.
    pub(crate) fn forget_values(&mut self, channel: usize) {
        self.newest.retain(|(_, other, _), _| *other != channel);
    }

    pub(crate) fn forget_sender(&mut self, sender: u32) {
        self.heard_of.remove(&sender);
        self.newest.retain(|(other, ..), _| *other != sender);
        self.came.retain(|(other, ..)| *other != sender);
    }

    /// All it knows, as somebody else can take it over; some of them large.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let mut state = self.gap.to_le_bytes().to_vec();
        for (position, place) in &self.document {
            state.extend(position.to_le_bytes());
            state.extend(place.to_le_bytes());
        }
        let check = fnv(0, &state);
        if check.is_multiple_of(4) {
            // Zeros are no positions.
            state.resize(state.len() + 16 * (check % 3000) as usize, 0);
        }
        state
    }

    pub(crate) fn take_snapshot(&mut self, as_of: u64, state: &[u8]) {
        self.held.clear();
        let (head, rest) = state.split_first_chunk().unwrap();
        let words = rest.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let words: Vec<u64> = words.collect();
        let pairs = words.chunks_exact(2).filter(|pair| pair[0] > 0);
        self.document = pairs.map(|pair| (pair[0], pair[1])).collect();
        let last = self.document.last_key_value().map_or(0, |(last, _)| *last);
        assert!(last <= as_of, "law 2: a snapshot of {as_of} that knows {last}");
        assert!(as_of >= self.position, "law 2: a snapshot of {as_of} at {}", self.position);
        self.gap = u64::from_le_bytes(*head);
        self.position = as_of;
    }
}
