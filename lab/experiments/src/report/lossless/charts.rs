//! The paper's figures from our rows.

use std::collections::{BTreeMap, BTreeSet};

use super::super::chart::{Axis, Chart, Level, Look, Marks, Name, Series};
use super::cells::{AUTO, Cells, Link, NONE};

/// Bars for more choices than that would be a wall.
const MANY: usize = 18;

/// Figures 4 to 9: a chart per link, a line per codec.
pub(super) fn throughput(cells: &Cells, payload: &str) -> Vec<Chart> {
    let ranked = cells.ranked(payload);
    let mut links: Vec<Link> = cells.of(payload).map(|(place, _)| place.link).collect();
    links.sort_by(|a, b| a.hops.cmp(&b.hops).then(a.cmp(b)));
    links.dedup();
    let chart = |link: Link| Chart {
        title: format!("{} Mbit/s, {}", link.mbit(), link.path()),
        caption: match link.papers_figure() {
            Some(figure) => format!("{payload}. Beside the paper's Figure {figure}."),
            None => format!("{payload}."),
        },
        x: Axis::linear("size of messages", "octets").at_values(),
        y: Axis::linear("effective throughput", "Mbit/s"),
        marks: Marks::Lines,
        series: series(cells, payload, link, &ranked),
        level: Some(Level { name: format!("link: {} Mbit/s", link.mbit()), value: link.mbit() }),
    };
    links.into_iter().map(chart).collect()
}

/// The legend has the best first; on top are auto and none, which are drawn last.
fn series(cells: &Cells, payload: &str, link: Link, ranked: &[(String, bool)]) -> Vec<Series> {
    let one = |(choice, shown): &(String, bool)| Series {
        name: choice.clone(),
        look: cells.look(choice),
        shown: *shown,
        points: cells
            .of(payload)
            .filter(|(place, _)| place.link == link)
            .filter_map(|(place, cell)| Some((place.size as f64, cell.get(choice)?.effective)))
            .collect(),
    };
    ranked.iter().map(one).collect()
}

/// Figure 10: how many times smaller each codec makes messages of each size.
pub(super) fn ratios(cells: &Cells, payload: &str) -> Option<Chart> {
    let mut ratios: BTreeMap<(&str, u64), f64> = BTreeMap::new();
    for (place, cell) in cells.of(payload) {
        for (choice, figure) in
            cell.iter().filter(|(choice, _)| !matches!(choice.as_str(), AUTO | NONE))
        {
            if let Some(ratio) = figure.ratio {
                ratios.entry((choice, place.size)).or_insert(ratio);
            }
        }
    }
    let sizes: BTreeSet<u64> = ratios.keys().map(|key| key.1).collect();
    let largest = *sizes.last()?;
    let ratio = |choice: &str, size: u64| ratios.get(&(choice, size)).copied();
    let ranked = cells.ranked(payload).into_iter();
    let mut names: Vec<(String, bool)> =
        ranked.filter(|(name, _)| ratio(name, largest).is_some()).collect();
    if names.len() > MANY {
        names.retain(|(_, shown)| *shown);
    }
    names.sort_by(|a, b| {
        ratio(&b.0, largest).partial_cmp(&ratio(&a.0, largest)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let series = sizes.iter().enumerate().map(|(number, &size)| Series {
        name: format!("{size} octets"),
        look: Look::step(if sizes.len() > 4 { number * 4 / sizes.len() } else { number }),
        shown: true,
        points: names
            .iter()
            .enumerate()
            .filter_map(|(row, (choice, _))| Some((row as f64, ratio(choice, size)?)))
            .collect(),
    });
    Some(Chart {
        title: "Compression ratio".to_owned(),
        caption: format!(
            "{payload}. Octets before over octets after: more is smaller. Beside the paper's Figure 10, in which LZMA \
             makes messages smallest and bzip2 hardly smaller."
        ),
        x: Axis::linear("codec", ""),
        y: Axis::linear("ratio", ""),
        marks: Marks::Bars(
            names.iter().map(|(name, _)| Name { name: name.clone(), strong: false }).collect(),
        ),
        series: series.collect(),
        level: Some(Level { name: "no smaller".to_owned(), value: 1.0 }),
    })
}

/// What one end holds, per codec.
pub(super) fn memory(cells: &Cells) -> Option<Chart> {
    let mut memory: Vec<(&String, f64)> =
        cells.memory.iter().map(|(name, &most)| (name, most)).collect();
    memory.sort_by(|a, b| a.1.total_cmp(&b.1));
    let points = memory.iter().enumerate();
    let points: Vec<_> = points.map(|(row, (_, most))| (row as f64, most / 1024.0)).collect();
    let name = |(name, _): &(&String, f64)| Name { name: (*name).clone(), strong: *name == AUTO };
    (!memory.is_empty()).then(|| Chart {
        title: "Memory of one end".to_owned(),
        caption: "To pack and to unpack, as each codec reckons it; the most of all sizes. The paper left it to the \
                  future."
            .to_owned(),
        x: Axis::linear("codec", ""),
        y: Axis::log("memory", "KB"),
        marks: Marks::Bars(memory.iter().map(name).collect()),
        series: vec![Series { name: "memory".to_owned(), look: Look::ACCENT, shown: true, points }],
        level: None,
    })
}
