//! Ratio against ratio, and time against ratio (Figure 1 and section 4.2), with the paper's codecs
//! and today's.

use std::fmt::Display;

use groupwire_codecs::Choice;
use groupwire_papers::ace2005::{Bench, LinearFit, Point, Training};
use serde_json::{Value, json};

use super::row::{Part, row};
use super::simulated::cpu;
use super::{ALL, Files, Options};
use crate::{Error, Result, Row, Update};

/// The paper's codecs, then newer ones.
const CODECS: [&str; 7] = ["lzo", "zlib", "bzip2", "lz4", "zstd-1", "zstd-3", "zstd-9"];
/// How many of them are the paper's.
const PAPERS: usize = 3;
/// Pairs of codecs whose ratios are compared: the paper's three, then newer ones.
const PAIRS: [(usize, usize); 8] = [(0, 1), (0, 2), (1, 2), (0, 3), (3, 4), (3, 5), (3, 6), (5, 6)];
/// The number of times that a block is packed; the paper's 100 times gain little.
const REPEAT: u32 = 3;
/// A quick experiment takes one block of this number.
const QUICK: usize = 40;
/// The most points of a row.
const POINTS: usize = 250;

/// Packs and unpacks blocks of the training files, and fits lines to sizes and times.
pub(super) fn run(options: &Options, files: &Files, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let broken =
        |why: &dyn Display| -> Error { format!("a codec cannot be measured: {why}").into() };
    let bytes: usize = files.training.iter().map(|sample| sample.bytes.len()).sum();
    if options.is_paper() {
        let trained = files.trained(options.training_time()).map_err(|error| broken(&error))?;
        report(options, &trained.bench, bytes, PAPERS, emit);
        return Ok(());
    }
    let choices: Vec<Choice> = CODECS.iter().filter_map(|name| name.parse().ok()).collect();
    let (repeat, every) = options.common.quick_or((1, QUICK), (REPEAT, 1));
    let mut bench = Bench::new(&choices, repeat).map_err(|error| broken(&error))?;
    let total = files.training.len();
    for (done, sample) in files.training.iter().enumerate() {
        emit(Update::Progress { done, total, what: format!("blocks of {}", sample.name) });
        for block in Training::blocks(&sample.bytes).step_by(every) {
            bench.block(block, &mut cpu).map_err(|error| broken(&error))?;
        }
    }
    report(options, &bench, bytes, CODECS.len(), emit);
    Ok(())
}

/// Emits the lines of the first `count` codecs.
fn report(
    options: &Options,
    bench: &Bench,
    bytes: usize,
    count: usize,
    emit: &mut dyn FnMut(Update),
) {
    let row = |codec: usize, fit: Value| -> Row {
        let row = row((Part::Fits, &options.common), "training", ALL, CODECS[codec]);
        row.with("bytes_in", bytes).with("fit", fit)
    };
    let mut rows = Vec::new();
    for (x, y) in PAIRS.into_iter().filter(|(x, y)| *x.max(y) < count) {
        let points = bench.points(x).iter().zip(bench.points(y));
        let points = points.map(|(x, y)| (x.ratio, y.ratio)).collect();
        let names = [format!("{} ratio", CODECS[x]), format!("{} ratio", CODECS[y])];
        rows.push(row(y, fit(names, bench.ratio_line(x, y), points)));
    }
    for (codec, name) in CODECS.iter().enumerate().take(count) {
        let mut time = |what: &str, line: LinearFit, time: fn(&Point) -> f64| {
            let points = bench.points(codec).iter();
            let points = points.map(|point| (point.ratio, 1e3 * time(point))).collect();
            let line = LinearFit { at_zero: 1e3 * line.at_zero, slope: 1e3 * line.slope, ..line };
            let names = [format!("{name} ratio"), format!("{name} {what} ms")];
            rows.push(row(codec, fit(names, line, points)));
        };
        time("packing", bench.packing_line(codec), |point| point.packing);
        time("unpacking", bench.unpacking_line(codec), |point| point.unpacking);
    }
    rows.into_iter().for_each(|row| emit(Update::Row(row)));
}

/// A line through points, each of a block: `y = intercept + slope * x`, the share of the variance
/// that it explains, and some of the points, evenly chosen.
fn fit([x, y]: [String; 2], line: LinearFit, points: Vec<(f64, f64)>) -> Value {
    let every = points.len().div_ceil(POINTS).max(1);
    let points: Vec<_> = points.into_iter().step_by(every).collect();
    json!({ "x": x, "y": y, "slope": line.slope, "intercept": line.at_zero, "r2": line.r2, "points": points })
}
