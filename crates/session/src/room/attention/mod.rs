//! Which participants the room has to look at. It does not look at those that have nothing to do,
//! so that idle ones cost nothing.

pub(super) mod resting;
pub(super) mod skipped;

use alloc::collections::BTreeSet;

use crate::ParticipantId;
use resting::Resting;
use skipped::Skipped;

/// See the [module](self).
#[derive(Default)]
pub(super) struct Attention {
    pub(super) resting: Resting,
    pub(super) skipped: Skipped,
    /// The participants that asked for a lower rate of a channel. Some may have left since.
    pub(super) rate_limited: BTreeSet<ParticipantId>,
    /// How often a timer or an event of another participant made the room look at a participant,
    /// outside of ticks.
    pub(super) visits: u64,
}
