//! The rows of the experiment `cluster`.

use super::usage::{Figures, Load};
use super::{Engine, Part, Plan};
use crate::Row;

/// lab/README.md says what each field means.
const FIELDS: &str = "engine part path servers rooms people senders rate bytes tick_ms seconds repetitions fault rounds \
    confirmed lost repeated reordered confirm_p50_ms confirm_p99_ms fdatasync_p50_ms fdatasync_p99_ms \
    takeover_p50_s takeover_p99_s takeover_max_s deliveries delivered p50_ms p99_ms us_per_delivery \
    owner_us_per_delivery edge_us_per_delivery follower_us_per_delivery over_direct over_alone owner_cpu \
    calm_cpu share_of_serving us_per_join owner_us_per_join edge_us_per_join three_over_one join_s rss_mb \
    edge_rss_mb edge_cpu engine_cpu generator_cpu cores goals";

/// A row that has no figures yet.
pub(super) fn row(part: Part, engine: &Engine, plan: &Plan<'_>) -> Row {
    Row::new("cluster", FIELDS, &plan.options.common)
        .with("engine", engine.name())
        .with("part", part)
        .with("fault", part.fault())
        .with("servers", super::deployment::SERVERS)
        .with("tick_ms", plan.options.tick)
        .with("cores", std::thread::available_parallelism().map_or(1, usize::from))
}

/// Adds figures to a row.
pub(super) fn with_figures(mut row: Row, figures: &Figures) -> Row {
    figures.iter().for_each(|(field, value)| row.set(field, value));
    row
}

/// The figures that all rows with deliveries have.
pub(super) fn of_load(load: &Load) -> Figures {
    Figures::from([
        ("deliveries", load.deliveries as f64),
        ("delivered", load.delivered),
        ("seconds", load.busy.seconds),
        ("engine_cpu", load.busy.engine),
        ("generator_cpu", load.busy.generator),
    ])
}
