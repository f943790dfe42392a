//! The rows of the experiment `yjs`.

use super::one::One;
use super::system::System;
use super::{Plan, Work, documents, one};
use crate::{Result, Row};

/// lab/README.md says what each field means.
const FIELDS: &str = "system version work clients rate changes tick_ms yjs_bytes bytes_per_update p50_ms p99_ms server_us_per_delivery deliveries \
    converged documents kb_per_open kb_per_closed seconds load_bytes rss_mb cores goals";

/// Measures a row. Failures are a part of the row.
pub(super) fn measure(system: System, work: Work, clients: usize, plan: &Plan<'_>) -> Row {
    let row = Row::new("yjs", FIELDS, &plan.options.common)
        .with("system", system)
        .with("work", work)
        .with("clients", clients)
        .with("rate", plan.options.rate)
        .with("tick_ms", system.tick_ms())
        .with("cores", std::thread::available_parallelism().map_or(1, usize::from));
    let measured = runtime().and_then(|runtime| {
        runtime.block_on(async {
            let one = One { system, clients, plan };
            match work {
                Work::Typing => one::typing(&one, row.clone()).await,
                Work::Awareness => one::awareness(&one, row.clone()).await,
                Work::Open => documents::open(system, plan, row.clone()).await,
                Work::Load => documents::load(system, plan, row.clone()).await,
                Work::Touch => documents::touch(system, plan, row.clone()).await,
            }
        })
    });
    measured.unwrap_or_else(|error| row.failed(Some(error)))
}

/// All clients share one thread, so that the server has the other processors.
fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
