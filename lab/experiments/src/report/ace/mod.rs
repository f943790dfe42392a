//! The experiment `ace`: which codec for which block, over simulated and real links.

mod fits;
mod model;
mod real;
mod steps;
#[cfg(test)]
mod tests;

use super::chart::Look;
use super::page::{Block, Section};
use super::saved::Row;

/// What the page is about, and what everything is compared with.
const OURS: &str = "groupwire";
const NEVER: &str = "never";
/// What adapts, and what cannot be had.
const NOT_STATIC: [&str; 5] = [OURS, "ace-2005", "zstd-adapt", "oracle", "bound"];
const LEAD: &str = "A stream of files goes from a server to a client, each block by whichever codec a policy chooses: \
    always the same one, none at all, or one that is chosen by forecasts. Less time is better.";

pub(super) fn section(rows: &[Row]) -> Section {
    let right: Vec<&Row> = rows.iter().filter(|row| !row.is_wrong()).collect();
    let part = |name: &str| -> Vec<&Row> {
        right.iter().copied().filter(|row| row.text("part") == name).collect()
    };
    let (simulated, real) = (part("simulated"), part("real"));
    let mut blocks = vec![Block::Text(LEAD.to_owned())];
    let wrong = rows.len() - right.len();
    if wrong > 0 {
        blocks.push(Block::Warning(format!("{wrong} rows failed and are left out.")));
    }
    if rows.iter().any(|row| row.is("quick")) {
        blocks.push(Block::Text("Rows of quick runs are rough.".to_owned()));
    }
    blocks.extend(model::blocks(&simulated));
    blocks.extend(real::blocks(&real));
    let steps: Vec<&Row> = simulated.iter().copied().chain(part("steps")).collect();
    blocks.extend(steps::blocks(&steps));
    blocks.extend(fits::blocks(&part("fits")));
    Section { name: "ace", title: "Which codec for which block of a stream?", blocks }
}

fn is_static(policy: &str) -> bool {
    !NOT_STATIC.contains(&policy)
}

/// Of a policy, the n-th of those that are shown.
fn look(policy: &str, number: usize) -> Look {
    match policy {
        OURS => Look::ACCENT,
        NEVER => Look::REFERENCE,
        _ => Look::number(number),
    }
}

/// Different values, in the order in which they come.
fn different<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
