//! The rows of the experiment `storm`.

use super::{Event, Plan};
use crate::Row;

/// lab/README.md says what each field means.
const FIELDS: &str = "event transport clients rooms tick_ms seconds joins_per_s packets_per_join bytes_per_join deferred held join_rate flooded_per_s \
    away_p50_s away_max_s server_cpu_s generator_cpu_s decoding rss_mb rss_after_mb rss_before_mb rss_left_mb kb_per_client bystander_before_p99_ms bystander_p99_ms failed tls tokens cores goals";

/// A row that has no figures yet.
pub(super) fn row(event: Event, plan: &Plan<'_>) -> Row {
    let clients = if event.is_flood() { plan.options.flooders } else { plan.clients };
    let rooms = if event.is_flood() { plan.options.flooders } else { plan.rooms };
    let (tls, tokens) = plan.door.is_guarded();
    Row::new("storm", FIELDS, &plan.options.common)
        .with("event", event)
        .with("transport", "websocket")
        .with("clients", clients)
        .with("rooms", rooms)
        .with("tick_ms", plan.options.tick)
        .with("tls", tls)
        .with("tokens", tokens)
        .with("cores", std::thread::available_parallelism().map_or(1, usize::from))
}
