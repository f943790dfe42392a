//! The rows of the experiment `durable`.

use super::verdict::Verdict;
use super::{Mode, Options, Part};
use crate::Row;

/// lab/README.md says what each field means.
const FIELDS: &str = "part mode store rooms people writers rate bytes tick_ms seconds repetitions transactions deliveries \
    delivered confirm_p50_ms confirm_p99_ms fdatasync_p50_ms fdatasync_p99_ms commits_per_s fsyncs_per_s write_amplification \
    server_us_per_delivery cpu_over_memory server_cpu generator_cpu cores fault rounds confirmed lost repeated reordered \
    listen_s recover_s disk_mb cache rss_mb memory_bytes_per_room goals";

/// A row that has no figures yet.
pub(super) fn row(part: Part, mode: Mode, options: &Options) -> Row {
    Row::new("durable", FIELDS, &options.common)
        .with("part", part)
        .with("mode", mode)
        .with("store", (mode == Mode::Local).then_some("sqlite"))
        .with("bytes", options.bytes)
        .with("tick_ms", options.tick)
        .with("fault", part.fault())
        .with("cores", std::thread::available_parallelism().map_or(1, usize::from))
}

/// Adds the numbers of lost, repeated and reordered transactions to a row, which make it a wrong
/// one. `failure` is an earlier failure.
pub(crate) fn with_verdict(row: Row, verdict: &Verdict, failure: Option<String>) -> Row {
    let Verdict { confirmed, lost, repeated, reordered } = *verdict;
    row.with("confirmed", confirmed)
        .with("lost", lost)
        .with("repeated", repeated)
        .with("reordered", reordered)
        .failed(verdict.failure().or(failure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    #[test]
    fn a_transaction_that_was_lost_makes_a_row_wrong() {
        let row = row(Part::Kill, Mode::Local, &parsed(""));
        let fine = Verdict { confirmed: 9, ..Verdict::default() };
        assert!(!with_verdict(row.clone(), &fine, None).is_wrong());
        for fault in [
            Verdict { lost: 1, ..fine },
            Verdict { repeated: 1, ..fine },
            Verdict { reordered: 1, ..fine },
        ] {
            assert!(with_verdict(row.clone(), &fault, None).is_wrong());
        }
        assert_eq!((row.text("fault"), row.text("store")), ("kill", "sqlite"));
    }
}
