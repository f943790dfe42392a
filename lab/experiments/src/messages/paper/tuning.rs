//! Section 4.1.1: the compressor under different time budgets.

use std::time::Duration;

use super::super::row::Mode;
use super::row::percent;
use super::trial::{Settings, Trial, technique};
use crate::{Result, Row};

/// The paper's budget, and shorter ones: today's machines take some hundredth of the time of the
/// paper's, so that a budget of 2 ms never binds.
const BUDGETS_US: [u64; 5] = [2000, 40, 20, 10, 5];

/// A row for each budget, beside one with a target ratio of 30 % throughout.
///
/// # Errors
/// A message cannot be encoded.
pub(super) fn rows(trial: &Trial<'_>) -> Result<Vec<Row>> {
    let tuned = BUDGETS_US.map(|budget| ("gmc-2006-tuned", Some(budget)));
    [("gmc-2006", None)].into_iter().chain(tuned).map(|(name, us)| row(trial, name, us)).collect()
}

fn row(trial: &Trial<'_>, name: &str, budget_us: Option<u64>) -> Result<Row> {
    let budget = Duration::from_micros(budget_us.unwrap_or_default());
    let settings = Settings { budget, ..Settings::usual(Mode::Stream) };
    let outcome = trial.run(technique(name), settings)?;
    let (bytes, messages) = (outcome.bytes_out as f64, trial.messages.len());
    Ok(trial
        .row("section-4.1.1")
        .with("technique", name)
        .with("budget_us", budget_us)
        .with("messages", messages)
        .with("bytes_per_message", bytes / messages as f64)
        .with("percent_of_original", percent(bytes, trial.bytes_in() as f64))
        .with("encode_us", outcome.encode_us)
        .with("encode_p99_us", outcome.encode_p99_us)
        .with("templates", outcome.overhead.map(|overhead| overhead.templates.count))
        .with("target_percent", outcome.target_percent)
        .failed(outcome.failure))
}
