//! Helpers of the tests.

use std::future::Future;
#[cfg(target_os = "linux")]
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use groupwire_tunnel::{Connections, Status};

/// The tests take some seconds on a slow machine; one that takes longer than this hangs.
const HANGS_AFTER: Duration = Duration::from_secs(120);

/// Panics if `work` hangs.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANGS_AFTER, work).await.expect("it hangs")
}

/// Waits for a connection to end at one end of a tunnel and returns its status.
pub(crate) async fn ended(connections: &Connections) -> Status {
    let ended = async {
        loop {
            match connections.take_ended().pop() {
                Some(status) => return status,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    in_time(ended).await
}

/// True if both ends of a tunnel compress what `exchange` sends, false if neither does. What may be
/// compressed is not while plain bytes are forecast to arrive sooner, as on a busy machine: it gets
/// chances for a while.
pub(crate) async fn is_packed(
    ends: [&Connections; 2],
    may_pack: bool,
    exchange: impl AsyncFn(),
) -> bool {
    let mut is_packed = [false; 2];
    let begin = Instant::now();
    loop {
        exchange().await;
        for (end, is_packed) in ends.into_iter().zip(&mut is_packed) {
            let status = ended(end).await;
            assert_eq!(status.may_pack, may_pack);
            let report = status.report.unwrap();
            *is_packed |= report.wire_out < report.plain_out;
        }
        if !may_pack || is_packed == [true; 2] || begin.elapsed() > HANGS_AFTER / 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(is_packed[0], is_packed[1]);
    is_packed[0]
}

/// A file for the certificate of a listening end, which does not exist yet.
pub(crate) fn identity() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("identity-{}-{number}.pem", std::process::id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

/// Says that this test cannot run: in its output, and in the file that scripts/skipped.mjs reads.
#[cfg(target_os = "linux")]
pub(crate) fn skip(need: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    println!("skipped: {test} needs {need}");
    if let Some(file) = std::env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = std::fs::File::options().append(true).create(true).open(file).unwrap();
        // The text is written in one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {need}\n").as_bytes()).unwrap();
    }
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
