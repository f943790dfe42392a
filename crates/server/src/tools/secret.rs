//! Secrets and other random numbers that clients must not guess.

/// Compares two secrets in constant time, so that a secret cannot be guessed byte by byte from the
/// duration.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |sum, (one, two)| sum | (one ^ two)) == 0
}

/// Random bytes from the operating system, for secrets and incarnations, which must not be guessed.
pub(crate) fn random_secret() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has a random source");
    bytes
}

/// A random number from the operating system, such as a new incarnation of a room.
#[must_use]
pub fn random_number() -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = random_secret();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
