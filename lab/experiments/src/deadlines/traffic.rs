//! The traffic of a shared workspace by type and user, as in Figures 2 and 3 of the AFEC paper.
//!
//! The paper took both figures from sessions with a drawing program. The session here is the
//! generated one of the experiment `gmc`.

use std::collections::BTreeMap;

use super::Options;
use super::row::Part;
use crate::Row;
use crate::drawing::generate;

/// Messages of the session, as in the GMC paper.
const MESSAGES: usize = 12_850;
const QUICK_MESSAGES: usize = 1285;

/// lab/README.md says what each field means.
const FIELDS: &str = "part user type messages share times_s";

/// A row for each type of messages of each user.
pub(super) fn rows(options: &Options, started: &mut dyn FnMut()) -> Vec<Row> {
    started();
    let common = &options.common;
    let events = generate(common.seed, common.quick_or(QUICK_MESSAGES, MESSAGES));
    let start = events.first().map_or(0, |event| event.time_ms);
    let mut times: BTreeMap<(u32, &str), Vec<f64>> = BTreeMap::new();
    let mut totals: BTreeMap<u32, usize> = BTreeMap::new();
    for event in &events {
        // A tenth of a second is less than a figure of 47 minutes shows.
        let at = ((event.time_ms - start) / 100) as f64 / 10.0;
        times.entry((event.sender, event.kind.name())).or_default().push(at);
        *totals.entry(event.sender).or_default() += 1;
    }
    let row = |((user, kind), times): ((u32, &str), Vec<f64>)| {
        Row::new("afec-traffic", FIELDS, common)
            .with("part", Part::Paper)
            .with("user", user)
            .with("type", kind)
            .with("messages", times.len())
            .with("share", times.len() as f64 / totals[&user] as f64)
            .with("times_s", times)
    };
    times.into_iter().map(row).collect()
}
