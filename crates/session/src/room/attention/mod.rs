//! Which participants the room has to look at. It does not look at those that have nothing to do,
//! so that idle ones cost nothing.

pub(super) mod resting;
pub(super) mod skipped;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

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
    /// The participants that receive frames of sound. Some may have left since, or closed the
    /// channel; new ones are not among them before the next housekeeping.
    pub(super) listeners: Vec<ParticipantId>,
    /// How often a timer or an event of another participant made the room look at a participant,
    /// outside of ticks.
    pub(super) visits: u64,
}
