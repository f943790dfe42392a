//! The promise of stored rooms, kept by several real servers on a real engine: what was confirmed
//! is neither lost, repeated nor moved, whatever is killed.

mod balancer;
#[cfg(target_os = "linux")]
mod clocks;
mod damaged;
mod direct;
mod engine;
mod faults;
mod full_disk;
mod member;
mod mirrors;
mod nats;
mod network;
mod operator;
mod postgres;
mod power_cuts;

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
const FOREVER: Duration = Duration::from_secs(180);

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The number in an environment variable.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// Sends a signal to a process.
fn signal(process: &Child, signal: &str) {
    let command = format!("kill -{signal} {}", process.id());
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success(), "{command}");
}

/// Numbers that look random, and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}
