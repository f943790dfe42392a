//! The model of a participant's application: the messages that it sent, and what it received.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::{ChannelId, Status};
use groupwire_session::{PresenceState, Receipt};

use crate::world::fnv;

/// A message that the client accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said {
    pub(crate) at: Duration,
    pub(crate) channel: usize,
    pub(crate) key: u64,
    pub(crate) content: u64,
    /// The number of transactions that the same application had sent before.
    pub(crate) after: usize,
}

/// The part of a participant's packets that may be garbled, so that the laws say nothing about it.
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
    /// Whether it ever closed a channel.
    pub(crate) has_closed: bool,
    /// Whether it lost a session: the room did not know it any more, or lost its state.
    pub(crate) has_lost: bool,
    /// The channels that it closed, each with its former right to write.
    pub(crate) closed: Vec<Option<bool>>,
    /// The time of its first WELCOME.
    pub(crate) joined_at: Option<Duration>,
    pub(crate) is_gone: bool,
    pub(crate) taint: Taint,
    /// Its user, if the server knows it: every second person's.
    pub(crate) user: Option<String>,
    pub(crate) presence: Vec<u8>,
    pub(crate) said: Vec<Said>,
    /// For each content, its indices in `said`.
    pub(crate) known: BTreeMap<u64, Vec<usize>>,
    /// The channel and the content of each transaction that it sent.
    pub(crate) transactions: Vec<(usize, u64)>,
    /// The direct transactions that it sent, by tag.
    pub(crate) whispers: BTreeMap<u32, Whisper>,
    /// For each channel, the number of its own transactions that were ordered.
    pub(crate) settled: BTreeMap<usize, usize>,
    /// Own transactions that were ordered without a position: a part of the snapshot or a gap
    /// covers them.
    pub(crate) unplaced: BTreeSet<(usize, u64)>,
    pub(crate) participant: u32,
    pub(crate) status: Option<Status>,
    pub(crate) broke_at: Option<Duration>,
    /// Messages from before this time may be lost with a session or with the room's state.
    pub(crate) fresh_since: Duration,
    pub(crate) uncertain: usize,
    pub(crate) errors: Vec<String>,
    pub(crate) people: BTreeMap<u32, Other>,
    /// True if it is told of everybody: the room is not large (W103).
    pub(crate) everybody: bool,
    /// The last reported number of participants of a large room.
    pub(crate) count: u32,
    /// The participants of the pages that it was sent since it asked for the first one, and whether
    /// the last one came.
    pub(crate) pages: (BTreeSet<u32>, bool),
    /// Transactions by position, each with its channel.
    pub(crate) document: BTreeMap<u64, (usize, u64)>,
    pub(crate) position: u64,
    /// For each channel, the position of its last gap.
    pub(crate) gap: BTreeMap<usize, u64>,
    /// By channel, up to where a part of the snapshot stands for its transactions.
    pub(crate) covered: BTreeMap<usize, u64>,
    pub(crate) filled: BTreeMap<usize, u64>,
    /// For each sender, the least and the greatest number of transactions that it can have sent up
    /// to the last one that came. They differ because equal messages cannot be told apart.
    pub(crate) heard_of: BTreeMap<u32, (usize, usize)>,
    /// For each sender, channel and key, the index and the content of the newest value.
    pub(crate) newest: BTreeMap<(u32, usize, u64), (u32, u64)>,
    pub(crate) came: BTreeSet<(u32, usize, u32)>,
}

/// A direct transaction (W114).
#[derive(Debug)]
pub(crate) struct Whisper {
    pub(crate) to: u32,
    pub(crate) channel: usize,
    pub(crate) content: u64,
    pub(crate) incarnation: u64,
    pub(crate) at: Duration,
    /// How often it came back as an own one, and how often it came to its receiver.
    pub(crate) confirmed: usize,
    pub(crate) came: usize,
    pub(crate) receipts: Vec<Receipt>,
}

/// The last state, user and presence of another participant.
pub(crate) type Other = (PresenceState, Option<String>, Vec<u8>);

impl App {
    pub(crate) fn new(channels: usize, user: Option<String>, presence: Vec<u8>) -> Self {
        App {
            channels: Vec::new(),
            ids: vec![None; channels],
            reads: vec![false; channels],
            writes: vec![false; channels],
            opened_at: vec![None; channels],
            has_closed: false,
            has_lost: false,
            closed: vec![None; channels],
            joined_at: None,
            is_gone: false,
            taint: Taint::None,
            user,
            presence,
            said: Vec::new(),
            known: BTreeMap::new(),
            transactions: Vec::new(),
            whispers: BTreeMap::new(),
            settled: BTreeMap::new(),
            unplaced: BTreeSet::new(),
            participant: 0,
            status: None,
            broke_at: None,
            fresh_since: Duration::ZERO,
            uncertain: 0,
            errors: Vec::new(),
            people: BTreeMap::new(),
            everybody: true,
            count: 0,
            pages: (BTreeSet::new(), false),
            document: BTreeMap::new(),
            position: 0,
            gap: BTreeMap::new(),
            covered: BTreeMap::new(),
            filled: BTreeMap::new(),
            heard_of: BTreeMap::new(),
            newest: BTreeMap::new(),
            came: BTreeSet::new(),
        }
    }

    /// Forgets everything about a room that lost its state.
    pub(crate) fn forget(&mut self) {
        self.document.clear();
        self.position = 0;
        self.gap.clear();
        self.covered.clear();
        self.filled.clear();
        self.heard_of.clear();
        self.newest.clear();
        self.came.clear();
        self.people.clear();
    }

    /// Forgets the values of a channel: they come again when the channel is opened again.
    pub(crate) fn forget_values(&mut self, channel: usize) {
        self.newest.retain(|(_, other, _), _| *other != channel);
    }

    pub(crate) fn forget_sender(&mut self, sender: u32) {
        self.heard_of.remove(&sender);
        self.newest.retain(|(other, ..), _| *other != sender);
        self.came.retain(|(other, ..)| *other != sender);
    }

    /// The part of the snapshot with its state of these channels; a quarter of the parts are large.
    pub(crate) fn part(&self, channels: &[usize]) -> Vec<u8> {
        let mut words: Vec<u64> =
            channels.iter().map(|channel| self.gap.get(channel).copied().unwrap_or(0)).collect();
        for (position, (channel, place)) in &self.document {
            if channels.contains(channel) {
                words.extend([*position, *channel as u64, *place]);
            }
        }
        let mut state: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let check = fnv(0, &state);
        if check.is_multiple_of(4) {
            // The padding is zero, which is no position.
            state.resize(state.len() + 24 * (check % 2000) as usize, 0);
        }
        state
    }

    pub(crate) fn take_part(&mut self, channels: &[usize], as_of: u64, state: &[u8]) {
        let words: Vec<u64> = state
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let (gaps, words) = words.split_at(channels.len());
        self.document.retain(|_, (channel, _)| !channels.contains(channel));
        for (channel, gap) in channels.iter().zip(gaps) {
            let before = self.covered.insert(*channel, as_of);
            assert!(before < Some(as_of), "W32: a part of {as_of} after one of {before:?}");
            self.gap.insert(*channel, *gap);
            self.filled.remove(channel);
        }
        for triple in words.chunks_exact(3).filter(|triple| triple[0] > 0) {
            let [position, channel, place] = triple.try_into().unwrap();
            assert!(position <= as_of, "law 2: a part of {as_of} that knows {position}");
            let before = self.document.insert(position, (channel as usize, place));
            assert_eq!(before, None, "law 2: {position} is in a part and of another channel");
        }
    }
}
