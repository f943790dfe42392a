//! Seeds that are independent of each other.

/// Derives a seed for a part of a simulation from the seed of the whole and the part's number. Uses
/// the finalizer of SplitMix64 (Steele and others, 2014), so that the seeds of consecutive parts
/// are unrelated.
pub fn derive(seed: u64, part: u64) -> u64 {
    let mut mixed = seed ^ part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
