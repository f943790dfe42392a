//! The settings of the datagrams of one transport.

use crate::ModelMemory;
use crate::wire::record::Direction;

/// The values that stay the same as long as a transport is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Bytes of the largest datagram.
    pub(crate) max: usize,
    /// The direction of this end's datagrams.
    pub(crate) sends: Direction,
    /// The memory of each model, if both ends agreed on coded payloads.
    pub(crate) coded: Option<ModelMemory>,
    /// True if both ends support copies of transactions (wire W81).
    pub(crate) copies: bool,
    /// Bytes of the largest message that is accepted.
    pub(crate) max_message: usize,
    pub(crate) redundancy: Redundancy,
}

/// Which messages in datagrams are repeated, in case they were lost. The values other than the
/// default are for measuring the benefit of repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redundancy {
    /// As many repeats as each channel's loss target needs, each coded together with other
    /// messages.
    #[default]
    Adaptive,
    /// As many repeats as each channel's loss target needs, each coded alone.
    Alone,
    /// No repeats: a lost message stays lost.
    Off,
}
