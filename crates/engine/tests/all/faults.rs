//! Servers that are killed or stopped in the middle of appends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use groupwire_engine::Engine;
use tokio::time::sleep;

use super::service::{append, read};

/// The logs that are written to, of all streams of NATS.
const LOGS: [u16; 6] = [0, 1, 2, 3, 4, 64];

/// Appends to several logs while a fault happens and ends. Every entry has to be there exactly once
/// and in order, at the sequence that its append reported; what was `Unknown` is decided by
/// reading. Returns the number of appends that were `Unknown`.
pub(crate) async fn survive(engine: &dyn Engine, fault: impl Future<Output = ()>) -> u32 {
    let is_over = AtomicBool::new(false);
    let writers = join_all(LOGS.map(|log| write(engine, log, &is_over)));
    let faults = async {
        sleep(Duration::from_millis(700)).await;
        fault.await;
        sleep(Duration::from_millis(700)).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(writers, faults);
    let mut sum = 0;
    for (log, (sequences, unknown)) in LOGS.into_iter().zip(written) {
        let entries = read(engine, log, 0, *sequences.last().unwrap()).await;
        let found: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!(found, sequences, "log {log}");
        for (number, entry) in entries.iter().enumerate() {
            assert_eq!(entry.bytes, line(log, number), "log {log}");
        }
        println!("log {log}: {} entries, {unknown} unknown", entries.len());
        sum += unknown;
    }
    sum
}

/// Appends until the fault is over; returns the sequences and how many were `Unknown`.
async fn write(engine: &dyn Engine, log: u16, is_over: &AtomicBool) -> (Vec<u64>, u32) {
    let (mut sequences, mut sum) = (Vec::new(), 0);
    while !is_over.load(Ordering::Relaxed) {
        let after = sequences.last().copied().unwrap_or(0);
        let (sequence, unknown) = append(engine, log, after, &line(log, sequences.len())).await;
        sequences.push(sequence);
        sum += unknown;
    }
    (sequences, sum)
}

fn line(log: u16, number: usize) -> Bytes {
    Bytes::from(format!("{number} of {log} {}", "x".repeat(300)))
}
