//! How messages of participants come in at the room: what receivers cannot see of a contract (wire W80).

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use crate::contract::{SenderProgress, Tally};
use crate::datagrams::Needs;
use crate::{ChannelNo, Index, Qos};

/// Receivers are told once a second, as the shares are of some seconds.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A share that changed by less than this, in 1/1000, is no news.
const WORTH_TELLING: u16 = 10;

/// A share of fewer messages than this says nothing.
const LEAST_JUDGED: u64 = 10;

/// For the inspector, messages are counted in spans of this many seconds.
const SPAN: u64 = 10;

/// For each channel, what share of its messages came to the room too late or not at all.
#[derive(Debug, Default)]
pub(super) struct Upstreams {
    channels: BTreeMap<ChannelNo, ChannelUpstream>,
    told: Option<Duration>,
}

#[derive(Debug, Default)]
struct ChannelUpstream {
    /// The messages of all senders that were judged lately.
    tally: Tally,
    /// The share of them, in 1/1000, that receivers were told last.
    share: Option<u16>,
}

impl Upstreams {
    /// What datagrams of a channel need, so that both legs together meet its QoS.
    pub(super) fn needs(&self, channel: ChannelNo, qos: Qos) -> Needs {
        Needs { qos, upstream: self.share(channel) }
    }

    /// The share of a channel's messages, in 1/1000, that did not come in time; `None` as long as that is not known.
    pub(super) fn share(&self, channel: ChannelNo) -> Option<u16> {
        self.channels.get(&channel)?.share
    }

    /// The channel's QoS changed: what came before says nothing any more.
    pub(super) fn forget(&mut self, channel: ChannelNo) {
        self.channels.remove(&channel);
    }

    /// Whether a second has passed since receivers were last told. Then the next second begins.
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.told.is_none_or(|told| now >= told + TELL_EVERY);
        if is_due {
            self.told = Some(now);
        }
        is_due
    }

    pub(super) fn add(&mut self, channel: ChannelNo, tally: Tally) {
        self.channels.entry(channel).or_default().tally.add(tally);
    }

    /// The channels of which receivers are to be told another share.
    pub(super) fn news(&mut self) -> BTreeSet<ChannelNo> {
        let mut news = BTreeSet::new();
        for (&channel, upstream) in &mut self.channels {
            if upstream.tally.judged < LEAST_JUDGED {
                continue;
            }
            let share = upstream.tally.missed_per_mille();
            upstream.tally.age();
            if upstream.share.is_none_or(|told| share.abs_diff(told) >= WORTH_TELLING) {
                upstream.share = Some(share);
                news.insert(channel);
            }
        }
        news
    }
}

/// What a participant sends on one channel, as it comes in at the room.
#[derive(Debug)]
pub(super) struct Upstream {
    progress: SenderProgress,
    /// Since receivers were last told.
    tally: Tally,
    /// Before that: in the present span, and in the one before.
    spans: [Tally; 2],
    /// The number of the present span.
    span: u64,
}

impl Upstream {
    /// Begins with the message that has this index.
    pub(super) fn at(index: Index, born: Duration) -> Self {
        Upstream {
            progress: SenderProgress::at(index, born),
            tally: Tally { judged: 1, ..Tally::default() },
            spans: [Tally::default(); 2],
            span: 0,
        }
    }

    /// A message came that is this old.
    pub(super) fn came(&mut self, now: Duration, index: Index, age: Duration, qos: &Qos) {
        self.progress.count(now, index, age, qos, &mut self.tally);
    }

    /// What became of the messages since the last call. To be called every second.
    pub(super) fn take(&mut self, now: Duration) -> Tally {
        let span = now.as_secs() / SPAN;
        if span != self.span {
            let before = if span == self.span + 1 { self.spans[0] } else { Tally::default() };
            self.spans = [Tally::default(), before];
            self.span = span;
        }
        let tally = core::mem::take(&mut self.tally);
        self.spans[0].add(tally);
        tally
    }

    /// What became of the messages of the last ten to twenty seconds.
    pub(super) fn recent(&self) -> Tally {
        let mut recent = self.tally;
        self.spans.iter().for_each(|span| recent.add(*span));
        recent
    }
}
