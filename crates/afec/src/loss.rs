//! What a receiver learns of how a path loses packets.

/// How far apart two packets may be for their losses to be compared.
pub const LAGS: usize = 12;

/// What is believed of a path's losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossModel {
    /// The share of packets that are lost (PER).
    pub rate: f64,
    /// `again[d - 1]`: the probability that packet i + d is lost, given that packet i was.
    pub again: [f64; LAGS],
    /// How many packets this is drawn from, old ones counting less. Small just after a change.
    pub weight: f64,
}
