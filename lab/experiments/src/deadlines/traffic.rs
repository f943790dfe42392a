//! The traffic of a shared workspace by type and user, as in Figures 2 and 3 of the AFEC paper.
//!
//! The paper took both figures from sessions with a drawing program. The session here is the
//! generated one of the experiment `gmc`.

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::row::Part;
use crate::Row;
use crate::drawing::{Event, generate};

/// Messages of the session, as in the GMC paper.
const MESSAGES: usize = 12_850;

/// lab/README.md says what each field means.
const FIELDS: &str = "part user type messages share times_s";

/// A row for each type of messages and each user.
pub(super) fn rows(options: &Options, started: &mut dyn FnMut()) -> Vec<Row> {
    started();
    let common = &options.common;
    let events = generate(common.seed, MESSAGES);
    let start = events.first().map_or(0, |event| event.time_ms);
    let kinds: BTreeSet<&str> = events.iter().map(|event| event.kind.name()).collect();
    let mut users: BTreeMap<u32, Vec<&Event>> = BTreeMap::new();
    events.iter().for_each(|event| users.entry(event.sender).or_default().push(event));
    let row = |user: u32, all: &[&Event], kind: &str| {
        let of_kind = all.iter().filter(|event| event.kind.name() == kind);
        // A tenth of a second is less than a figure of 47 minutes shows.
        let at = |event: &&Event| ((event.time_ms - start) / 100) as f64 / 10.0;
        let times: Vec<f64> = of_kind.map(at).collect();
        Row::new("afec-traffic", FIELDS, common)
            .with("part", Part::Paper)
            .with("user", user)
            .with("type", kind)
            .with("messages", times.len())
            .with("share", times.len() as f64 / all.len() as f64)
            .with("times_s", times)
    };
    let mut rows = Vec::new();
    for (user, all) in &users {
        rows.extend(kinds.iter().map(|kind| row(*user, all, kind)));
    }
    rows
}
