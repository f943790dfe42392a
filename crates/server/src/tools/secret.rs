//! Secrets and other random numbers that clients must not guess.

/// Compares two secrets in constant time, so that a secret cannot be guessed byte by byte from the
/// duration.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |sum, (one, two)| sum | (one ^ two)) == 0
}

/// Random bytes from the operating system, for secrets and incarnations, which must not be guessed.
#[must_use]
pub fn random_secret<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has a random source");
    bytes
}

/// A random number from the operating system, such as a new incarnation of a room.
#[must_use]
pub fn random_number() -> u64 {
    u64::from_le_bytes(random_secret())
}
