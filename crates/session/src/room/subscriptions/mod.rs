//! The channels that a participant has open, and sets of channels that several participants share.

pub(super) mod rate_limit;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::wire::frame::Access;
use crate::{ChannelNo, Compress};

/// A channel that a participant has open.
#[derive(Debug, Clone, Copy)]
pub(in crate::room) struct Opened {
    pub(in crate::room) access: Access,
    /// How the participant wants the channel's messages to be compressed.
    pub(in crate::room) compress: Compress,
}

/// The channels that a participant has open, on its present transport.
#[derive(Debug, Default)]
pub(in crate::room) struct Subscriptions(BTreeMap<ChannelNo, Opened>);

impl Subscriptions {
    pub(in crate::room) fn get(&self, channel: ChannelNo) -> Option<&Opened> {
        self.0.get(&channel)
    }

    pub(in crate::room) fn get_mut(&mut self, channel: ChannelNo) -> Option<&mut Opened> {
        self.0.get_mut(&channel)
    }

    /// The channel, if the participant receives its messages.
    pub(in crate::room) fn receives(&self, channel: ChannelNo) -> Option<Opened> {
        self.0.get(&channel).copied().filter(|opened| opened.access.subscribe)
    }

    /// The channels of which the participant receives messages.
    pub(in crate::room) fn received(&self) -> impl Iterator<Item = ChannelNo> + '_ {
        self.iter().filter(|(_, opened)| opened.access.subscribe).map(|(channel, _)| channel)
    }

    /// True if the participant receives the messages of all these channels.
    pub(in crate::room) fn receives_all(&self, channels: &[ChannelNo]) -> bool {
        channels.iter().all(|&channel| self.receives(channel).is_some())
    }

    /// The participant's compression for the channel. If the channel is not open, the default: own
    /// transactions from before a break are confirmed even then.
    pub(in crate::room) fn compress(&self, channel: ChannelNo) -> Compress {
        self.0.get(&channel).map_or(Compress::Template, |opened| opened.compress)
    }

    /// Opens the channel. Returns its former entry, if it was open.
    pub(in crate::room) fn insert(&mut self, channel: ChannelNo, opened: Opened) -> Option<Opened> {
        self.0.insert(channel, opened)
    }

    pub(in crate::room) fn remove(&mut self, channel: ChannelNo) -> Option<Opened> {
        self.0.remove(&channel)
    }

    pub(in crate::room) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::room) fn iter(&self) -> impl Iterator<Item = (ChannelNo, &Opened)> {
        self.0.iter().map(|(&channel, opened)| (channel, opened))
    }
}

/// The channels that the receivers of a fan-out group have in common. A compression model never
/// spans two of these sets (law 5 in docs/laws.md): all receivers with the same set see the same
/// messages, so that no receiver can learn from a shared model what only another one was sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::room) struct SubscriptionSet(Arc<[ChannelNo]>);

impl SubscriptionSet {
    pub(in crate::room) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::room) fn contains(&self, channel: ChannelNo) -> bool {
        self.0.binary_search(&channel).is_ok()
    }

    /// The channels in the order of their numbers.
    pub(in crate::room) fn iter(&self) -> impl Iterator<Item = ChannelNo> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<ChannelNo> for SubscriptionSet {
    /// `channels` come in the order of their numbers.
    fn from_iter<I: IntoIterator<Item = ChannelNo>>(channels: I) -> Self {
        let set = SubscriptionSet(channels.into_iter().collect());
        debug_assert!(set.0.is_sorted(), "contains() searches in a sorted list");
        set
    }
}
