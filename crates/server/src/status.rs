//! Totals for people and monitors. No names of rooms: those may be secrets.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::hub::Hub;
use crate::totals::Totals;

/// What `/status` answers.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    version: &'static str,
    uptime_seconds: f64,
    /// User and system time of this process; absent where the system does not say.
    cpu_seconds: Option<f64>,
    /// Resident memory of this process, likewise.
    rss_bytes: Option<u64>,
    connections: usize,
    rooms: usize,
    #[serde(flatten)]
    totals: Totals,
}

pub(crate) async fn report(State(hub): State<Arc<Hub>>) -> Json<Report> {
    let (rooms, totals) = hub.stats().await;
    Json(Report {
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: hub.started.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds(),
        rss_bytes: rss_bytes(),
        connections: hub.connections.load(Ordering::Relaxed),
        rooms,
        totals,
    })
}

/// Linux counts in clock ticks, 100 to the second on every platform it supports (proc(5), USER_HZ).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in brackets and may hold blanks; user and system time are the 12th and 13th after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / 100.0)
}

fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}
