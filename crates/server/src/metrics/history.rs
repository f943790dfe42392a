//! The server's figures of the last minutes, for the charts of the administration's page: a page
//! that was just opened has no figures of its own yet.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// The most samples that are kept: those of the ten minutes that the page shows, and one more,
/// because a rate needs the sample before it. They take some 10 KB.
pub(crate) const KEPT: usize = 61;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<VecDeque<Sample>>);

/// The figures at one moment: those of `GET /status` that the page shows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) uptime_seconds: f64,
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) rss_bytes: Option<u64>,
    pub(crate) connections: usize,
    pub(crate) rooms: usize,
    pub(crate) participants: usize,
    pub(crate) messages_in: u64,
    pub(crate) deliveries: u64,
    pub(crate) bytes_in_before: u64,
    pub(crate) bytes_in_after: u64,
    pub(crate) bytes_out_before: u64,
    pub(crate) bytes_out_after: u64,
    pub(crate) room_memory_bytes: usize,
    pub(crate) store: Option<StoreSample>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct StoreSample {
    pub(crate) commits: u64,
}

impl History {
    pub(crate) fn add(&self, sample: Sample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        samples.truncate(KEPT - 1);
        samples.push_front(sample);
    }

    pub(crate) fn samples(&self) -> Vec<Sample> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        samples.iter().rev().cloned().collect()
    }
}
