//! Who leads, and how far auto is from it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::page::Tile;
use super::super::saved::Row;
use super::super::table::{Cell as Field, Table, Tone};
use super::super::text;
use super::cells::{AUTO, Cell, Cells, Link, NONE, Place, behind, best, family, gain};

/// How far auto may be from the best.
const NEAR: f64 = -0.02;

/// What a person wants to know first.
pub(super) fn tiles(cells: &Cells) -> Vec<Tile> {
    let mut tiles = Vec::new();
    tiles.extend(auto_tile(cells));
    let all = cells.cells.values().filter_map(gain);
    let gains: Vec<f64> = all.collect();
    if !gains.is_empty() {
        let most = gains.iter().copied().fold(0.0, f64::max);
        tiles.push(Tile {
            what: "Compression pays".to_owned(),
            figure: of(gains.iter().filter(|&&gain| gain > 1.0).count(), gains.len()),
            note: format!("cells; at most {} times the throughput of none", text::number(most)),
            tone: Tone::Plain,
        });
    }
    tiles.extend(fastest_tile(cells));
    tiles
}

fn auto_tile(cells: &Cells) -> Option<Tile> {
    let behinds = cells.cells.iter().filter_map(|(place, cell)| Some((behind(cell)?, place)));
    let behinds: Vec<(f64, &Place)> = behinds.collect();
    let worst = behinds.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let near = behinds.iter().filter(|(behind, _)| *behind >= NEAR).count();
    let place = worst.1;
    Some(Tile {
        what: "auto is within 2 % of the best fixed codec".to_owned(),
        figure: of(near, behinds.len()),
        note: format!(
            "cells; the worst: {}, {} Mbit/s, {}, {}, {} octets",
            text::signed_percent(worst.0),
            place.link.mbit(),
            place.link.path(),
            cells.payloads[place.payload],
            place.size
        ),
        tone: if near == behinds.len() { Tone::Good } else { Tone::Bad },
    })
}

/// The paper found no codec that pays on its fastest link.
fn fastest_tile(cells: &Cells) -> Option<Tile> {
    let fastest = cells.cells.keys().map(|place| place.link.mbit()).max_by(f64::total_cmp)?;
    let largest = cells.cells.keys().map(|place| place.size).max()?;
    let here = |place: &Place| place.link.mbit() == fastest && place.size == largest;
    let gains: Vec<f64> = cells
        .cells
        .iter()
        .filter(|(place, _)| here(place))
        .filter_map(|(_, cell)| gain(cell))
        .collect();
    (!gains.is_empty()).then(|| Tile {
        what: format!("A codec wins at {fastest} Mbit/s, {largest} octets"),
        figure: of(gains.iter().filter(|&&gain| gain > 1.0).count(), gains.len()),
        note: "cells; in the paper none at 1000 Mbit/s".to_owned(),
        tone: Tone::Plain,
    })
}

fn of(some: usize, all: usize) -> String {
    format!("{some} of {all}")
}

/// A line per link, over all payloads and sizes.
pub(super) fn links(cells: &Cells) -> Table {
    let mut table = Table::default();
    let head = ["link", "cells led", "gain over none", "auto from the best", "in the paper"];
    table.head = head.map(str::to_owned).to_vec();
    let links: BTreeSet<Link> = cells.cells.keys().map(|place| place.link).collect();
    for link in links {
        let here: Vec<&Cell> = cells
            .cells
            .iter()
            .filter(|(place, _)| place.link == link)
            .map(|(_, cell)| cell)
            .collect();
        table.rows.push(vec![
            Field::new(&format!("{} Mbit/s", link.mbit())).with(&link.path(), Tone::Plain),
            led(&here),
            spread(here.iter().filter_map(|cell| gain(cell)), |gain| {
                format!("×{}", text::number(gain))
            }),
            distance(&here),
            Field::new(papers_word(link)),
        ]);
    }
    table
}

/// Who leads in how many cells.
fn led(cells: &[&Cell]) -> Field {
    let mut led: BTreeMap<&str, usize> = BTreeMap::new();
    for (leader, _) in cells.iter().filter_map(|cell| best(cell)) {
        *led.entry(leader).or_default() += 1;
    }
    let mut led: Vec<_> = led.into_iter().collect();
    led.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let words: Vec<String> =
        led.iter().map(|(name, count)| format!("{name}\u{a0}{count}")).collect();
    let (first, more) = words.split_at(words.len().min(4));
    match more.len() {
        0 => Field::new(&first.join(", ")),
        _ => Field::new(&first.join(", ")).with(&more.join(", "), Tone::Plain),
    }
}

fn distance(cells: &[&Cell]) -> Field {
    let behinds: Vec<f64> = cells.iter().filter_map(|cell| behind(cell)).collect();
    let Some(worst) = behinds.iter().copied().min_by(f64::total_cmp) else {
        return Field::new("–");
    };
    let tone = if worst >= NEAR { Tone::Good } else { Tone::Bad };
    let near = behinds.iter().filter(|&&behind| behind >= NEAR).count();
    let field = Field::new(&format!("{} at worst", text::signed_percent(worst)));
    field.with(&format!("within 2 % in {}", of(near, behinds.len())), tone)
}

/// The median, and below it the range.
fn spread(values: impl Iterator<Item = f64>, say: impl Fn(f64) -> String) -> Field {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
        return Field::new("–");
    };
    let field = Field::new(&say(values[values.len() / 2]));
    field.with(&format!("{} to {}", say(least), say(most)), Tone::Plain)
}

/// What the paper says of a link (section 10).
fn papers_word(link: Link) -> &'static str {
    match link.papers_figure() {
        Some(6 | 9) => "no codec pays",
        Some(_) => "LZ4, LZO lead, then LZFX",
        None => "–",
    }
}

/// A line per link, a column per size.
pub(super) fn leaders(cells: &Cells, payload: &str) -> Table {
    let mut table = Table::default();
    let sizes: BTreeSet<u64> = cells.of(payload).map(|(place, _)| place.size).collect();
    let links: BTreeSet<Link> = cells.of(payload).map(|(place, _)| place.link).collect();
    table.head = vec!["link".to_owned()];
    table.head.extend(sizes.iter().map(|size| format!("{size} octets")));
    for link in links {
        let name = Field::new(&format!("{} Mbit/s", link.mbit())).with(&link.path(), Tone::Plain);
        let mut row = vec![name];
        for &size in &sizes {
            let here = |place: &Place| place.link == link && place.size == size;
            let cell = cells.of(payload).find(|(place, _)| here(place));
            row.push(cell.map_or(Field::new("–"), |(_, cell)| leader(cell)));
        }
        table.rows.push(row);
    }
    table
}

fn leader(cell: &Cell) -> Field {
    let Some((name, figure)) = best(cell) else {
        return Field::new("–");
    };
    let gain = match gain(cell) {
        Some(gain) if name != NONE => format!(" (×{})", text::number(gain)),
        _ => String::new(),
    };
    let field = Field::new(&format!("{name} {}{gain}", text::number(figure.effective)));
    match behind(cell) {
        Some(behind) => {
            let tone = if behind >= NEAR { Tone::Good } else { Tone::Bad };
            let picked = cell.get(AUTO).and_then(|auto| auto.picked.as_ref());
            let picked = picked.map(|choice| format!(", mostly {choice}")).unwrap_or_default();
            field.with(&format!("auto {}{picked}", text::signed_percent(behind)), tone)
        }
        None => field,
    }
}

/// Rows of streams: what TCP carries, and what large messages in a row get.
pub(super) fn streams(rows: &[Row]) -> Option<Table> {
    let mut figures: BTreeMap<(u64, u64, &str, &str), f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_wrong()) {
        let part = row.text("part");
        if let ("bandwidth" | "throughput", Some(mbit), Some(hops), Some(effective)) =
            (part, row.number("link_mbit"), row.number("hops"), row.number("effective_mbit"))
        {
            let key = ((mbit * 1e3).round() as u64, hops as u64, part, row.text("codec"));
            figures.insert(key, effective);
        }
    }
    let columns: BTreeSet<(&str, &str)> = figures.keys().map(|key| (key.2, key.3)).collect();
    let links: BTreeSet<(u64, u64)> = figures.keys().map(|key| (key.0, key.1)).collect();
    let mut columns: Vec<(&str, &str)> = columns.into_iter().collect();
    columns.sort_by_key(|(part, codec)| (*part, *codec != NONE, family(codec).to_owned()));
    let mut table = Table::numbers("Mbit/s of messages as they were");
    table.head = vec!["link".to_owned()];
    table.head.extend(columns.iter().map(|(part, codec)| match *part {
        "bandwidth" => "TCP alone".to_owned(),
        _ => (*codec).to_owned(),
    }));
    for (kbit, hops) in links {
        let path = if hops == 0 { "point to point".to_owned() } else { format!("{hops} switch") };
        let mut row = vec![Field::new(&format!("{} Mbit/s, {path}", kbit as f64 / 1e3))];
        row.extend(columns.iter().map(|(part, codec)| {
            let figure = figures.get(&(kbit, hops, *part, *codec));
            Field::new(&figure.map_or("–".to_owned(), |&figure| text::number(figure)))
        }));
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then_some(table)
}
