//! The settings of the datagrams of one transport.

use crate::wire::record::Direction;

/// What stays the same for the life of a transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Bytes of the largest datagram.
    pub(crate) max: usize,
    /// The direction of this end's datagrams.
    pub(crate) sends: Direction,
    /// True if both ends have gmc.
    pub(crate) coded: bool,
    /// True if both ends support copies of transactions (wire W81).
    pub(crate) copies: bool,
    /// Bytes of the largest message that is accepted.
    pub(crate) max_message: usize,
    pub(crate) redundancy: Redundancy,
}

/// Which repeats there are. The values other than the default serve to measure what repeats are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redundancy {
    /// As many as each channel's target needs, each coded beside its neighbours.
    #[default]
    Adaptive,
    /// As many as each channel's target needs, each coded without its neighbours.
    Alone,
    /// None: a lost message stays lost.
    Off,
}
