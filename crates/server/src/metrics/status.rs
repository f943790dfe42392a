//! `GET /status`: totals of the server for operators and monitoring. It names no rooms, as a room's
//! name may be a secret.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::sources::Sources;
use crate::addresses::AddressRefusals;
use crate::arrivals::ArrivalFigures;
use crate::durable::{Durable, StoreReport};
use crate::figures::figure::figures;
use crate::rooms::context::RoomContext;
use crate::rooms::totals::Totals;
use crate::webhook::WebhookFigures;
use crate::yjs::figures::DocumentFigures;

/// The answer to `GET /status`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) version: &'static str,
    #[serde(flatten)]
    pub(crate) process: Process,
    /// Open connections, over all transports.
    pub(crate) connections: usize,
    #[serde(flatten)]
    pub(crate) totals: Totals,
    #[serde(flatten)]
    pub(crate) addresses: AddressRefusals,
    #[serde(flatten)]
    pub(crate) arrivals: ArrivalFigures,
    /// The documents of Yjs.
    pub(crate) yjs: DocumentFigures,
    /// The store of rooms; `null` if rooms end with the server.
    pub(crate) store: Option<StoreReport>,
    /// The events for the webhook; `null` if there is none.
    pub(crate) webhook: Option<WebhookFigures>,
}

figures! {
    /// Figures of the process.
    struct Process {
        /// Seconds since the server started.
        Gauge uptime_seconds as "uptime_seconds": f64;
        /// User and system CPU time of this process.
        Counter cpu_seconds as "cpu_seconds": Option<f64>;
        /// Resident memory of this process.
        Gauge rss_bytes as "rss_bytes": Option<u64>;
        /// The end of the validity of the certificate that clients check, in seconds since 1970.
        Gauge certificate_expiry as "certificate_expiry_timestamp_seconds": Option<i64>;
        /// Open rooms.
        Gauge rooms as "rooms": usize;
    }
}

pub(crate) async fn report(State(sources): State<Arc<Sources>>) -> Json<Report> {
    Json(Report::of(&sources).await)
}

impl Report {
    /// The figures of a server at present.
    pub(crate) async fn of(sources: &Sources) -> Self {
        let transports = &sources.transports;
        let RoomContext { arrivals, durable, webhook, .. } = sources.rooms();
        let (rooms, totals) = transports.rooms.stats().await;
        let process = Process {
            uptime_seconds: sources.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds(),
            rss_bytes: rss_bytes(),
            certificate_expiry: sources.certificate_expiry(),
            rooms,
        };
        Report {
            version: env!("CARGO_PKG_VERSION"),
            process,
            connections: transports.connections.open(),
            totals,
            addresses: transports.addresses.refusals(),
            arrivals: arrivals.figures(),
            yjs: sources.documents.figures(),
            store: durable.as_deref().map(Durable::report),
            webhook: webhook.as_ref().map(|queue| queue.figures()),
        }
    }
}

/// CPU time of this process. Linux counts it in clock ticks, 100 per second on every platform it
/// supports (proc(5), USER_HZ).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets and may contain blanks; user and system
    // time are the 12th and 13th fields after it.
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
    use crate::durable::DurableConfig;
    use crate::server::config::Config;
    use crate::server::services::Services;
    use crate::webhook::WebhookConfig;

    #[tokio::test]
    async fn the_documentation_lists_every_field() {
        let durable = Some(DurableConfig::in_memory());
        let webhook = Some(WebhookConfig::example());
        let config = Config { durable, webhook, ..Config::default() };
        let services = Services::new(config, None, None).unwrap();
        let report = Report::of(&services.sources).await;
        let report = serde_json::to_value(report).unwrap();
        let documentation = include_str!("../../../../docs/operations/monitoring.md");
        for field in report.as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`{field}`")), "{field}");
        }
        for part in ["store", "webhook", "yjs"] {
            for field in report[part].as_object().unwrap().keys() {
                assert!(documentation.contains(&format!("`{part}.{field}`")), "{part}.{field}");
            }
        }
    }
}
