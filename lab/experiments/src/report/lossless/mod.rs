//! The experiment `lossless`: the paper's Figures 4 to 10, memory, and who leads where.

mod cells;
mod charts;
mod summary;
#[cfg(test)]
mod tests;

use cells::Cells;

use super::page::{Block, Section};
use super::saved::Row;
use super::text;

const LEAD: &str = "Single messages go there and back over a TCP connection, one at a time, each packed by a codec. \
    Effective throughput is what is left of the link for the messages as they were: the time without compression over \
    the time with it, times the throughput without (the paper's equations 4 to 6). More is better.";

pub(super) fn section(rows: &[Row]) -> Section {
    let cells = Cells::new(rows);
    let mut blocks = vec![Block::Text(LEAD.to_owned()), Block::Text(conditions(rows, &cells))];
    if cells.wrong > 0 {
        blocks.push(Block::Warning(format!(
            "Left out, because what came was not what was sent: {} of all rows.",
            cells.wrong
        )));
    }
    if !cells.cells.is_empty() {
        blocks.push(Block::Tiles(summary::tiles(&cells)));
        blocks.push(Block::Heading("Who leads on which link".to_owned()));
        blocks.push(Block::Table(summary::links(&cells)));
        let panel = |payload: &String| (payload.clone(), panel(&cells, payload));
        blocks.push(Block::Choice {
            what: "Payload",
            panels: cells.payloads.iter().map(panel).collect(),
        });
    }
    if let Some(streams) = summary::streams(rows) {
        blocks.push(Block::Heading("As much as goes over a link".to_owned()));
        blocks.push(Block::Text(
            "In one direction, without waiting for answers: beside the paper's Table 8, which has 265 Mbit/s point to \
             point and 261 Mbit/s through a switch, on links of 1000 Mbit/s, without compression."
                .to_owned(),
        ));
        blocks.push(Block::Table(streams));
    }
    if let Some(chart) = charts::memory(&cells) {
        blocks.push(Block::Heading("Memory".to_owned()));
        blocks.push(Block::Charts(vec![chart]));
    }
    Section { name: "lossless", title: "Which codec under each message?", blocks }
}

/// Everything about a payload: leaders first.
fn panel(cells: &Cells, payload: &str) -> Vec<Block> {
    let mut blocks = vec![
        Block::Text(
            "The best fixed codec of each cell with its effective throughput in Mbit/s and how many times that of no \
             compression it is; below, how far auto is from it and what \
             it chose for most messages."
                .to_owned(),
        ),
        Block::Table(summary::leaders(cells, payload)),
    ];
    blocks.push(Block::Text(
        "Levels of a codec share its colour; at first, the best of each is shown. Click on a name to hide or show it. \
             Scales are for what is shown at first; what lies beyond them is among the numbers."
            .to_owned(),
    ));
    blocks.push(Block::Charts(charts::throughput(cells, payload)));
    blocks.extend(charts::ratios(cells, payload).map(|chart| Block::Charts(vec![chart])));
    blocks
}

fn conditions(rows: &[Row], cells: &Cells) -> String {
    let messages = rows.iter().filter_map(|row| row.number("messages"));
    let (least, most) = messages.fold((f64::MAX, 0.0), |(least, most), count| {
        (f64::min(least, count), f64::max(most, count))
    });
    let count = text::number(rows.len() as f64);
    let mut text = format!("{count} rows, {} payloads", cells.payloads.len());
    if most > 0.0 {
        text.push_str(&format!(", {} to {} messages each", text::tick(least), text::tick(most)));
    }
    let quick = rows.iter().filter(|row| row.is("quick")).count();
    if quick > 0 {
        text.push_str(&format!("; {quick} rows are of quick runs, whose figures are rough"));
    }
    text.push('.');
    text
}
