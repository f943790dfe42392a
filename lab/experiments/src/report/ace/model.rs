//! Simulated cells: how far policies are from the best static one and from the oracle, and the three scenarios.

use std::collections::BTreeMap;

use super::super::chart::{Axis, Chart, Marks, Name, Series};
use super::super::page::{Block, Tile};
use super::super::saved::Row;
use super::super::table::{Cell, Table, Tone};
use super::super::text;
use super::{OURS, different, is_static, look};

/// What is to be reached: so near the best static policy, in so many cells, and nowhere further than that.
const NEAR: f64 = 0.05;
const OFTEN: f64 = 0.9;
const FAR: f64 = 0.15;
/// The geometric mean over the oracle.
const MEAN: f64 = 1.10;
/// Policies that are shown at first, beside the best of the static ones.
const SHOWN: [&str; 5] = [OURS, "never", "lz4", "zstd-3", "ace-2005"];

pub(super) fn blocks(rows: &[&Row]) -> Vec<Block> {
    let cells: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("scenario").starts_with("link-")).collect();
    let mut blocks = Vec::new();
    if !cells.is_empty() {
        blocks.push(Block::Heading("Links and processors in simulated time".to_owned()));
        blocks.push(Block::Tiles(tiles(&cells)));
        blocks.push(Block::Table(means(&cells)));
        let panels = shares(&cells)
            .into_iter()
            .map(|(name, rows)| (name, vec![Block::Charts(vec![chart(&rows)])]));
        let panels = panels.collect();
        blocks.push(Block::Choice { what: "Processors", panels });
    }
    let scenarios: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("scenario").starts_with("scenario")).collect();
    if !scenarios.is_empty() {
        blocks.push(Block::Heading("Changing scenarios (the paper's Figure 4)".to_owned()));
        blocks.push(Block::Charts(vec![gains(&scenarios)]));
    }
    blocks
}

fn tiles(cells: &[&Row]) -> Vec<Tile> {
    let ours = cells.iter().filter(|row| row.text("policy") == OURS);
    let overs: Vec<(f64, &Row)> =
        ours.filter_map(|row| Some((row.number("over_best")?, *row))).collect();
    let mut tiles = Vec::new();
    if let Some((worst, row)) = overs.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        let near = overs.iter().filter(|(over, _)| *over <= NEAR).count();
        let is_good = near as f64 >= OFTEN * overs.len() as f64;
        tiles.push(Tile {
            what: "Within 5 % of the best static policy".to_owned(),
            figure: format!("{near} of {}", overs.len()),
            note: "cells: links, processors, files; 90 % are asked for".to_owned(),
            tone: if is_good { Tone::Good } else { Tone::Bad },
        });
        tiles.push(Tile {
            what: "The worst cell".to_owned(),
            figure: text::signed_percent(*worst),
            note: format!("{}, {}", row.text("scenario"), row.text("file")),
            tone: if *worst <= FAR { Tone::Good } else { Tone::Bad },
        });
    }
    let means = geometric(cells);
    if let Some(mean) = means.get(OURS) {
        let fixed = means.iter().filter(|(policy, _)| is_static(policy));
        let best = fixed.min_by(|a, b| a.1.total_cmp(b.1));
        let note =
            best.map(|(policy, mean)| format!("best static: {policy}, {}", text::number(*mean)));
        tiles.push(Tile {
            what: "Times the oracle, all files, mean over cells".to_owned(),
            figure: text::number(*mean),
            note: note.unwrap_or_default(),
            tone: if *mean <= MEAN { Tone::Good } else { Tone::Bad },
        });
    }
    tiles
}

/// Of all files together: the geometric mean over links and processors of the time over the oracle's.
fn geometric<'a>(cells: &[&'a Row]) -> BTreeMap<&'a str, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for row in cells.iter().filter(|row| row.text("file") == "all") {
        if let Some(over) = row.number("over_oracle").filter(|over| *over > -1.0) {
            let sum = sums.entry(row.text("policy")).or_default();
            *sum = (sum.0 + (1.0 + over).ln(), sum.1 + 1.0);
        }
    }
    sums.into_iter().map(|(policy, (sum, count))| (policy, (sum / count).exp())).collect()
}

fn means(cells: &[&Row]) -> Table {
    let mut table = Table::numbers("all files, over all links and processors");
    table.head = ["policy", "times the oracle, mean", "over the best static, at worst"]
        .map(str::to_owned)
        .to_vec();
    let mut means: Vec<_> = geometric(cells).into_iter().collect();
    means.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (policy, mean) in means {
        let here =
            cells.iter().filter(|row| row.text("policy") == policy && row.text("file") == "all");
        let worst = here.filter_map(|row| row.number("over_best")).max_by(f64::total_cmp);
        let worst = worst.map_or("–".to_owned(), text::signed_percent);
        table.rows.push(vec![Cell::new(policy), Cell::new(&text::number(mean)), Cell::new(&worst)]);
    }
    table
}

/// Rows of all files together, by what is left of the processors.
fn shares<'a>(cells: &[&'a Row]) -> Vec<(String, Vec<&'a Row>)> {
    let mut all: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in cells.iter().filter(|row| row.text("file") == "all") {
        let left = |end: &str| text::tick(100.0 * row.number(end).unwrap_or(1.0));
        let name = format!(
            "server {} %, client {} % left",
            left("server_cpu_left"),
            left("client_cpu_left")
        );
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => all.push((name, vec![row])),
        }
    }
    all
}

fn chart(rows: &[&Row]) -> Chart {
    let policies = different(rows.iter().map(|row| row.text("policy")));
    let series = policies.iter().filter(|policy| **policy != "oracle").enumerate().map(
        |(number, &policy)| {
            let here = rows.iter().filter(|row| row.text("policy") == policy);
            let points = here.filter_map(|row| {
                Some((row.number("network_mbit")?, 1.0 + row.number("over_oracle")?))
            });
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let shown = SHOWN.contains(&policy);
            Series { name: policy.to_owned(), look: look(policy, number), shown, points }
        },
    );
    Chart {
        title: "Time over the oracle's".to_owned(),
        caption: "All files. The oracle knows everything and takes what is best for each block."
            .to_owned(),
        x: Axis::log("link", "Mbit/s"),
        y: Axis::log("times as long", ""),
        marks: Marks::Lines,
        series: series.collect(),
        level: None,
    }
}

/// By how much choosing shortens what each static policy takes.
fn gains(rows: &[&Row]) -> Chart {
    let seconds = |scenario: &str, policy: &str| {
        let is_it = |row: &&&Row| row.text("scenario") == scenario && row.text("policy") == policy;
        rows.iter().find(is_it).and_then(|row| row.number("seconds"))
    };
    let policies: Vec<&str> = different(rows.iter().map(|row| row.text("policy")))
        .into_iter()
        .filter(|policy| is_static(policy) || *policy == "ace-2005")
        .collect();
    let scenarios = different(rows.iter().map(|row| row.text("scenario")));
    let series = scenarios.iter().enumerate().map(|(number, &scenario)| {
        let gain = |(at, policy): (usize, &&str)| {
            Some((at as f64, 100.0 * (1.0 - seconds(scenario, OURS)? / seconds(scenario, policy)?)))
        };
        let points = policies.iter().enumerate().filter_map(gain).collect();
        let look = super::super::chart::Look::number(number);
        Series { name: scenario.to_owned(), look, shown: true, points }
    });
    Chart {
        title: "What choosing gains over each policy alone".to_owned(),
        caption: "The paper: 89 to 93 % over bzip2, 52 to 79 % over zlib, 8 to 16 % over LZO, 9 to 20 % over never."
            .to_owned(),
        x: Axis::linear("policy", ""),
        y: Axis::linear("less time", "%"),
        marks: Marks::Bars(
            policies.iter().map(|policy| Name { name: (*policy).to_owned(), strong: false }).collect(),
        ),
        series: series.collect(),
        level: None,
    }
}
