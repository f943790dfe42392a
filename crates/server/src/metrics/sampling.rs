//! Takes the samples of the [history](crate::metrics::history), and answers the page that asks for
//! them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};

use super::history::{History, Sample, StoreSample};
use super::sources::Sources;
use super::status::Report;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// The time between two samples. Every room is asked for each one, as `GET /metrics` does, which
/// monitoring requests at a similar interval.
const EVERY: Duration = Duration::from_secs(10);

/// The answer to `GET /api/history`.
#[derive(Serialize)]
struct Answer {
    every_seconds: u64,
    /// The oldest first.
    samples: Vec<Sample>,
}

impl From<Report> for Sample {
    fn from(Report { process, connections, totals, store, .. }: Report) -> Self {
        Sample {
            uptime_seconds: process.uptime_seconds,
            cpu_seconds: process.cpu_seconds,
            rss_bytes: process.rss_bytes,
            connections,
            rooms: process.rooms,
            participants: totals.here,
            messages_in: totals.messages_in,
            deliveries: totals.deliveries,
            bytes_in_before: totals.bytes_in_before,
            bytes_in_after: totals.bytes_in_after,
            bytes_out_before: totals.bytes_out_before,
            bytes_out_after: totals.bytes_out_after,
            room_memory_bytes: totals.memory,
            store: store.map(|store| StoreSample { commits: store.figures.commits }),
        }
    }
}

/// Takes a sample now and at each interval, if there is a history. Never ends.
pub(crate) async fn keep(sources: Arc<Sources>) {
    let Some(history) = &sources.history else { return std::future::pending().await };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        history.add(Report::of(&sources).await.into());
    }
}

/// Answers `GET /api/history`.
pub(crate) async fn answer(State(sources): State<Arc<Sources>>) -> impl IntoResponse {
    let samples = sources.history.as_ref().map(History::samples).unwrap_or_default();
    ([NO_SNIFF, NO_STORE], Json(Answer { every_seconds: EVERY.as_secs(), samples }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin_http::config::AdminConfig;
    use crate::durable::DurableConfig;
    use crate::metrics::history::KEPT;
    use crate::server::config::Config;
    use crate::server::services::Services;

    /// Starts sampling on a paused clock, and returns the samples after this time.
    async fn samples_after(config: Config, time: Duration) -> Vec<serde_json::Value> {
        let Services { sources, .. } = Services::new(config, None, None).unwrap();
        let keeping = tokio::spawn(keep(Arc::clone(&sources)));
        tokio::time::sleep(time + Duration::from_millis(1)).await;
        keeping.abort();
        let samples = sources.history.as_ref().map(History::samples).unwrap_or_default();
        samples.iter().map(|sample| serde_json::to_value(sample).unwrap()).collect()
    }

    fn administered() -> Config {
        Config { admin: Some(AdminConfig::default()), ..Config::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn samples_begin_with_the_server_and_are_those_of_the_last_minutes() {
        assert_eq!(samples_after(administered(), Duration::ZERO).await.len(), 1);
        assert_eq!(samples_after(administered(), 3 * EVERY).await.len(), 4);
        let samples = samples_after(administered(), 500 * EVERY).await;
        assert_eq!(samples.len(), KEPT);
        let spans = EVERY * (KEPT - 1) as u32;
        assert_eq!(spans, Duration::from_secs(600), "the ten minutes of the page");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_without_administration_asks_no_rooms() {
        assert!(samples_after(Config::default(), 10 * EVERY).await.is_empty());
    }

    #[tokio::test]
    async fn a_sample_has_the_names_and_values_of_the_status() {
        let folder = tempfile::tempdir().unwrap();
        let durable = Some(DurableConfig::new(folder.path()));
        let config = Config { durable, ..administered() };
        let services = Services::new(config, None, None).unwrap();
        let report = Report::of(&services.sources).await;
        let status = serde_json::to_value(&report).unwrap();
        let sample = serde_json::to_value(Sample::from(report)).unwrap();
        for (name, value) in sample.as_object().unwrap() {
            let expected = match name.as_str() {
                "store" => &serde_json::json!({"commits": status["store"]["commits"]}),
                name => &status[name],
            };
            assert!(!value.is_null() && value == expected, "{name}");
        }
    }
}
