//! Rows by cell: what was measured under the same conditions.

use std::collections::BTreeMap;

use super::super::chart::{Colour, Look};
use super::super::saved::Row;

/// Codecs in the order in which they get colours: the paper's first.
const FAMILIES: [&str; 12] = [
    "lz4", "lzo", "zstd", "lzf", "zlib", "lzma", "brotli", "snappy", "bzip2", "lzw", "rle", "null",
];
/// What everything is compared with.
pub(super) const NONE: &str = "none";
/// What chooses for each message.
pub(super) const AUTO: &str = "auto";

/// A link and what goes over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    /// Its rate.
    kbit: u64,
    /// Switches between that store and forward.
    pub(super) hops: u64,
}

/// Where a figure belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) link: Link,
    /// An index.
    pub(super) payload: usize,
    /// Of a message, in octets.
    pub(super) size: u64,
}

/// What a codec did in a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub(super) effective: f64,
    pub(super) ratio: Option<f64>,
    /// Whether it is rough.
    quick: bool,
    /// Of auto: what it chose for most messages.
    pub(super) picked: Option<String>,
}

/// Figures by codec.
pub(super) type Cell = BTreeMap<String, Figure>;

/// All that was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Cells {
    /// The generated one first, files as they came.
    pub(super) payloads: Vec<String>,
    /// Codecs with levels, auto and none, in the order of families.
    pub(super) choices: Vec<String>,
    pub(super) cells: BTreeMap<Place, Cell>,
    /// Of each codec, the most that it held.
    pub(super) memory: BTreeMap<String, f64>,
    /// Rows that were left out.
    pub(super) wrong: usize,
}

impl Link {
    pub(super) fn mbit(self) -> f64 {
        self.kbit as f64 / 1e3
    }

    /// In words.
    pub(super) fn path(self) -> String {
        match self.hops {
            0 => "point to point".to_owned(),
            1 => "one switch".to_owned(),
            hops => format!("{hops} switches"),
        }
    }

    /// The paper's figure for it.
    pub(super) fn papers_figure(self) -> Option<u32> {
        let rate =
            [10_000, 100_000, 1_000_000].into_iter().position(|kbit| kbit == self.kbit)? as u32;
        match self.hops {
            0 => Some(7 + rate),
            1 => Some(4 + rate),
            _ => None,
        }
    }
}

impl Cells {
    pub(super) fn new(rows: &[Row]) -> Self {
        let mut cells = Cells::default();
        for row in rows {
            if row.is_wrong() {
                cells.wrong += 1;
                continue;
            }
            cells.add(row);
        }
        cells.choices.sort_by_cached_key(|choice| rank(choice));
        cells
    }

    fn add(&mut self, row: &Row) {
        let codec = row.text("codec");
        if let Some(memory) = row.number("memory_bytes") {
            let most = self.memory.entry(codec.to_owned()).or_default();
            *most = most.max(memory);
        }
        // Rows of other parts are no cells; rows of none are all of this one.
        if !matches!(row.text("part"), "" | "pingpong") {
            return;
        }
        let (Some(mbit), Some(hops), Some(size), Some(effective)) = (
            row.number("link_mbit").filter(|&mbit| mbit > 0.0),
            row.number("hops"),
            row.number("size"),
            row.number("effective_mbit"),
        ) else {
            return;
        };
        let link = Link { kbit: (mbit * 1e3).round() as u64, hops: hops as u64 };
        let place = Place { link, payload: self.payload(row.text("payload")), size: size as u64 };
        if !self.choices.iter().any(|known| known == codec) {
            self.choices.push(codec.to_owned());
        }
        let figure = Figure {
            effective,
            ratio: row.number("ratio"),
            quick: row.is("quick"),
            picked: row.most("picked").map(str::to_owned),
        };
        let cell = self.cells.entry(place).or_default();
        // What was measured last counts, but a quick run never instead of a full one.
        if figure.quick && cell.get(codec).is_some_and(|known| !known.quick) {
            return;
        }
        cell.insert(codec.to_owned(), figure);
    }

    fn payload(&mut self, name: &str) -> usize {
        let known = self.payloads.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.payloads.push(name.to_owned());
            self.payloads.len() - 1
        })
    }

    /// Cells of a payload.
    pub(super) fn of(&self, payload: &str) -> impl Iterator<Item = (&Place, &Cell)> {
        let payload = self.payloads.iter().position(|known| known == payload);
        self.cells.iter().filter(move |(place, _)| Some(place.payload) == payload)
    }

    /// How each choice looks, everywhere.
    pub(super) fn look(&self, choice: &str) -> Look {
        match choice {
            AUTO => return Look::ACCENT,
            NONE => return Look::REFERENCE,
            _ => {}
        }
        let mut families: Vec<&str> = Vec::new();
        for known in self.choices.iter().filter(|known| !matches!(known.as_str(), AUTO | NONE)) {
            if !families.contains(&family(known)) {
                families.push(family(known));
            }
        }
        let number = families.iter().position(|&known| known == family(choice)).unwrap_or_default();
        let levels = self.choices.iter().filter(|known| family(known) == family(choice));
        let level = levels.take_while(|&known| known != choice).count();
        Look {
            colour: Colour::Number((number % 7) as u8),
            variant: (2 * (number / 7) + level) as u8,
        }
    }

    /// The choices of a payload, the best first, and whether each is shown at first: the best of its family, unless
    /// that is one of the two that only suppress runs.
    pub(super) fn ranked(&self, payload: &str) -> Vec<(String, bool)> {
        let mut gains: Vec<(f64, &String)> = Vec::new();
        for choice in &self.choices {
            let shares = self.of(payload).filter_map(|(_, cell)| {
                Some((cell.get(choice)?.effective / best(cell)?.1.effective).ln())
            });
            let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
            if !shares.is_empty() {
                gains.push((shares.iter().sum::<f64>() / shares.len() as f64, choice));
            }
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        gains.sort_by_key(|(_, choice)| match choice.as_str() {
            AUTO => 0,
            NONE => 1,
            _ => 2,
        });
        let mut families = vec!["rle", "null"];
        let shown = gains.into_iter().map(|(_, choice)| {
            let is_first = !families.contains(&family(choice));
            families.push(family(choice));
            (choice.clone(), is_first)
        });
        let mut ranked: Vec<(String, bool)> = shown.collect();
        ranked.sort_by_key(|(_, is_shown)| !is_shown);
        ranked
    }
}

/// The fixed choice with the highest effective throughput, none included.
pub(super) fn best(cell: &Cell) -> Option<(&String, &Figure)> {
    let fixed = cell.iter().filter(|(choice, _)| *choice != AUTO);
    fixed.max_by(|a, b| a.1.effective.total_cmp(&b.1.effective))
}

/// How far auto is from the best fixed choice, as a share.
pub(super) fn behind(cell: &Cell) -> Option<f64> {
    let (auto, best) = (cell.get(AUTO)?.effective, best(cell)?.1.effective);
    (best > 0.0).then(|| auto / best - 1.0)
}

/// How many times the effective throughput of no compression the best one is.
pub(super) fn gain(cell: &Cell) -> Option<f64> {
    let (none, best) = (cell.get(NONE)?.effective, best(cell)?.1.effective);
    (none > 0.0).then(|| best / none)
}

/// The codec of a choice, without filter and level.
pub(super) fn family(choice: &str) -> &str {
    let codec = choice.rsplit_once('+').map_or(choice, |(_, codec)| codec);
    codec.split_once('-').map_or(codec, |(name, _)| name)
}

/// By family, then by name.
fn rank(choice: &str) -> (usize, String) {
    let known = FAMILIES.iter().position(|&known| known == family(choice));
    (known.unwrap_or(FAMILIES.len()), choice.to_owned())
}
