//! The transactions and parts in a mirror's copy of a room's log, and what a room tells mirrors of
//! the bounds of its own.

use alloc::sync::Arc;

use super::super::copy::Bounds;
use super::{Extent, Part, Transaction, Transactions};
use crate::{ChannelNo, Position};

impl Transactions {
    /// The bounds of all channels that have or had transactions.
    pub(in crate::room::log) fn bounds(&self) -> impl Iterator<Item = (ChannelNo, Bounds)> {
        self.extents.iter().map(|(&channel, extent)| {
            let &Extent { trimmed, covered, reset, .. } = extent;
            (channel, Bounds { trimmed, covered, reset })
        })
    }

    /// In a copy: drops what the room no longer has of a channel.
    pub(in crate::room::log) fn copy_bounds(&mut self, channel: ChannelNo, bounds: Bounds) {
        let Transactions { window, bytes, extents, parts, .. } = self;
        let extent = extents.entry(channel).or_default();
        let is_reset = bounds.reset > extent.reset;
        let is_deep = is_reset || bounds.covered > extent.covered;
        extent.trimmed = bounds.trimmed.max(extent.trimmed);
        extent.covered = bounds.covered.max(extent.covered);
        extent.reset = bounds.reset.max(extent.reset);
        self.trimmed = self.trimmed.max(bounds.trimmed);
        if is_reset {
            parts.retain(|_, part| !part.has(channel));
        }
        if is_deep {
            (extent.uncovered, extent.uncovered_bytes) = (0, 0);
            window.retain(|one| {
                if one.message.channel != channel {
                    return true;
                }
                let (is_kept, cost) = (one.position > extent.trimmed, one.message.cost());
                if !is_kept {
                    *bytes -= cost;
                } else if one.position > extent.covered {
                    extent.uncovered += 1;
                    extent.uncovered_bytes += cost;
                }
                is_kept
            });
            return;
        }
        // A room in memory drops the oldest transactions of all channels.
        let is_trimmed = |one: &Transaction| {
            let extent = extents.get(&one.message.channel);
            extent.is_some_and(|extent| one.position <= extent.trimmed)
        };
        while window.front().is_some_and(is_trimmed)
            && let Some(front) = window.pop_front()
        {
            *bytes -= front.message.cost();
        }
    }

    /// In a copy: keeps a part. What it replaces is dropped by [`Transactions::copy_bounds`].
    pub(in crate::room::log) fn copy_part(&mut self, part: Part) {
        self.parts.insert(part.name.clone(), Arc::new(part));
    }

    /// In a copy: the room has transactions up to this position, which may go to participants.
    pub(in crate::room::log) fn copy_head(&mut self, position: Position) {
        self.head = self.head.max(position);
        self.set_durable(position);
    }
}
