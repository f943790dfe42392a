//! Who may share bodies (DESIGN law 5: a compression model never spans audiences).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::Channel;
use super::participant::Opened;
use super::thinning::Thinned;
use crate::Kind;
use crate::ids::ChannelNo;
use crate::wire::body::Coding;

/// The channels of awareness that a participant is sent in bodies which it may share: all who have the same ones see the same
/// messages, so that nobody can learn from a model what another one was sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Audience(Arc<[ChannelNo]>);

impl Audience {
    /// Of a participant that has these channels open: those of awareness, but none of which it wants fewer values.
    pub(super) fn of(
        opened: &BTreeMap<ChannelNo, Opened>,
        channels: &[Channel],
        thinned: &BTreeMap<ChannelNo, Thinned>,
    ) -> Self {
        let shareable = opened.iter().filter(|(channel, opened)| {
            let qos = &channels[channel.place()].qos;
            opened.access.subscribe
                && qos.kind == Kind::Awareness
                && opened.compress.coding(qos) == Coding::Shared
                && !thinned.contains_key(channel)
        });
        Audience(shareable.map(|(channel, _)| *channel).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, channel: ChannelNo) -> bool {
        self.0.binary_search(&channel).is_ok()
    }

    /// Its channels' numbers, in order.
    pub(super) fn channels(&self) -> impl Iterator<Item = ChannelNo> + '_ {
        self.0.iter().copied()
    }
}
