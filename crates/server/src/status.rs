//! `GET /status`: totals of the server for operators and monitoring. It names no rooms, as a room's name may be a
//! secret.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::durable::{Durable, StoreReport};
use crate::hub::Hub;
use crate::totals::Totals;

/// The answer to `GET /status`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    version: &'static str,
    /// Time since the server started.
    uptime_seconds: f64,
    /// User and system CPU time of this process; `null` if the operating system does not report it.
    cpu_seconds: Option<f64>,
    /// Resident memory of this process; `null` if the operating system does not report it.
    rss_bytes: Option<u64>,
    /// Open connections, over all transports.
    connections: usize,
    /// Open rooms.
    rooms: usize,
    #[serde(flatten)]
    totals: Totals,
    /// The store of rooms; `null` if rooms end with the server.
    store: Option<StoreReport>,
}

pub(crate) async fn report(State(hub): State<Arc<Hub>>) -> Json<Report> {
    let (rooms, totals) = hub.stats().await;
    Json(Report::new(&hub, rooms, totals))
}

impl Report {
    fn new(hub: &Hub, rooms: usize, totals: Totals) -> Self {
        Report {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds: hub.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds(),
            rss_bytes: rss_bytes(),
            connections: hub.connections.load(Ordering::Relaxed),
            rooms,
            totals,
            store: hub.durable.as_deref().map(Durable::report),
        }
    }
}

/// CPU time of this process. Linux counts it in clock ticks, 100 per second on every platform it supports (proc(5),
/// USER_HZ).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets and may contain blanks; user and system time are the 12th and
    // 13th fields after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / 100.0)
}

/// Resident memory of this process.
fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::durable::DurableConfig;

    #[tokio::test]
    async fn the_documentation_lists_every_field() {
        let folder = tempfile::tempdir().unwrap();
        let durable = Some(DurableConfig::new(folder.path()));
        let hub = Hub::new(Config { durable, ..Config::default() }, None).unwrap();
        let report = Report::new(&hub, 0, Totals::default());
        let report = serde_json::to_value(report).unwrap();
        let documentation = include_str!("../../../docs/operations.md");
        for field in report.as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`{field}`")), "{field}");
        }
        for field in report["store"].as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`store.{field}`")), "store.{field}");
        }
    }
}
