//! Measures how many messages of participants reach the room late or not at all. Receivers need
//! these figures to judge a channel's QoS (wire W80), as they cannot measure them.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use crate::contract::{SenderProgress, Tally};
use crate::datagrams::Needs;
use crate::{ChannelNo, Index, Qos};

/// The time between two reports to receivers. More often is of no use, as the shares are averages
/// over some seconds.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A share is reported again only if it changed by at least this, in 1/1000.
const WORTH_TELLING: u16 = 10;

/// No share is computed from fewer messages than this.
const LEAST_JUDGED: u64 = 10;

/// The length in seconds of the spans in which messages are counted for the inspector.
const SPAN: u64 = 10;

/// For each channel, what share of its messages came to the room too late or not at all.
#[derive(Debug, Default)]
pub(in crate::room) struct Upstreams {
    channels: BTreeMap<ChannelNo, ChannelUpstream>,
    told: Option<Duration>,
}

#[derive(Debug, Default)]
struct ChannelUpstream {
    /// The recent messages of all senders. Older ones count less.
    tally: Tally,
    /// The share of missed messages, in 1/1000, that was last reported to receivers.
    share: Option<u16>,
}

impl Upstreams {
    /// The QoS that a channel's datagrams have to meet, and the share of messages that was already
    /// missed on the leg to the room. Both legs together then meet the QoS.
    pub(in crate::room) fn needs(&self, channel: ChannelNo, qos: Qos) -> Needs {
        Needs { qos, upstream: self.share(channel) }
    }

    /// The share of a channel's messages, in 1/1000, that reached the room late or not at all;
    /// `None` until enough messages came.
    pub(in crate::room) fn share(&self, channel: ChannelNo) -> Option<u16> {
        self.channels.get(&channel)?.share
    }

    /// Drops the channel's figures, as its QoS changed and they were judged by the old one.
    pub(in crate::room) fn forget(&mut self, channel: ChannelNo) {
        self.channels.remove(&channel);
    }

    /// True if a second has passed since this function last returned true.
    pub(in crate::room) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.told.is_none_or(|told| now >= told + TELL_EVERY);
        if is_due {
            self.told = Some(now);
        }
        is_due
    }

    /// The shares of all channels that have one.
    pub(in crate::room) fn shares(&self) -> impl Iterator<Item = (ChannelNo, u16)> {
        self.channels.iter().filter_map(|(&channel, one)| Some((channel, one.share?)))
    }

    /// In a mirror: keeps a share that the room has computed.
    pub(in crate::room) fn set_share(&mut self, channel: ChannelNo, share: u16) {
        self.channels.entry(channel).or_default().share = Some(share);
    }

    pub(in crate::room) fn add(&mut self, channel: ChannelNo, tally: Tally) {
        self.channels.entry(channel).or_default().tally.add(tally);
    }

    /// Computes the shares anew. Returns the channels whose share has to be reported to receivers.
    pub(in crate::room) fn news(&mut self) -> BTreeSet<ChannelNo> {
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

/// Counts how one participant's messages on one channel reach the room.
#[derive(Debug)]
pub(in crate::room) struct Upstream {
    progress: SenderProgress,
    /// Messages since the last call of [`Upstream::take`].
    tally: Tally,
    /// Messages before that call: those of the present span, and those of the span before.
    spans: [Tally; 2],
    /// The number of the present span.
    span: u64,
}

impl Upstream {
    /// Begins with a first message that has this index and was made at the time `born`.
    pub(in crate::room) fn at(index: Index, born: Duration) -> Self {
        Upstream {
            progress: SenderProgress::at(index, born),
            tally: Tally { judged: 1, ..Tally::default() },
            spans: [Tally::default(); 2],
            span: 0,
        }
    }

    /// Counts a message that reached the room at this age.
    pub(in crate::room) fn came(&mut self, now: Duration, index: Index, age: Duration, qos: &Qos) {
        self.progress.count(now, index, age, qos, &mut self.tally);
    }

    /// The counts since the last call. Has to be called every second.
    pub(in crate::room) fn take(&mut self, now: Duration) -> Tally {
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

    /// True if no messages were counted for so long that all counts are zero.
    pub(in crate::room) fn is_over(&self) -> bool {
        self.recent() == Tally::default()
    }

    /// The counts of the last ten to twenty seconds.
    pub(in crate::room) fn recent(&self) -> Tally {
        let mut recent = self.tally;
        self.spans.iter().for_each(|span| recent.add(*span));
        recent
    }
}
