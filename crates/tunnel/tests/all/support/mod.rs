//! Helpers of the tests.

use std::future::Future;
use std::time::Duration;

/// The tests take some seconds on a slow machine; one that takes longer than this hangs.
const HANGS_AFTER: Duration = Duration::from_secs(120);

/// Panics if `work` hangs.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANGS_AFTER, work).await.expect("it hangs")
}

/// Pieces of text and of random bytes in turns.
pub(crate) fn mixed(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::with_capacity(length + 100_000);
    while bytes.len() < length {
        let piece = 1000 + random() as usize % 60_000;
        if random() % 2 == 0 {
            bytes.extend((0..piece).map(|_| random() as u8));
        } else {
            let end = bytes.len() + piece;
            while bytes.len() < end {
                let (number, word) = (random() % 1000, random() % 7);
                bytes.extend(format!("<item n=\"{number}\">{word} and more</item>\n").bytes());
            }
        }
    }
    bytes.truncate(length);
    bytes
}
