//! The result of a training run as tables.

use groupwire_tunnel::ace::{Bench, Line};

/// Bytes of a block. Divided by microseconds they are MB/s.
const BLOCK: f64 = 32_768.0;

pub(super) fn print(bench: &Bench, files: &[&str], repeat: u32) {
    let names: Vec<String> = bench.choices().map(|choice| choice.to_string()).collect();
    let blocks = bench.points(0).len();
    let word = if repeat == 1 { "time" } else { "times" };
    let files = files.join(", ");
    println!("{blocks} blocks of 32 KiB, each packed {repeat} {word}, of {files}\n");
    println!("{:10}{:>8}{:>14}{:>14}", "codec", "ratio", "packs MB/s", "unpacks MB/s");
    for (place, name) in names.iter().enumerate() {
        let points = bench.points(place);
        let mean = |of: &dyn Fn(usize) -> f64| {
            (0..points.len()).map(of).sum::<f64>() / points.len().max(1) as f64
        };
        println!(
            "{name:10}{:>8.3}{:>14.1}{:>14.1}",
            mean(&|nth| points[nth].ratio),
            BLOCK / 1e6 / mean(&|nth| points[nth].packing),
            BLOCK / 1e6 / mean(&|nth| points[nth].unpacking),
        );
    }
    println!("\n{:26}{:>12}{:>12}{:>8}", "time against ratio, µs", "at 0", "at 1", "R²");
    for (place, name) in names.iter().enumerate() {
        print_times(&format!("{name} packs"), &bench.packing_line(place));
        print_times(&format!("{name} unpacks"), &bench.unpacking_line(place));
    }
    println!("\n{:26}{:>12}{:>12}{:>8}", "ratio against ratio", "at 0", "slope", "R²");
    for (from, of) in names.iter().enumerate() {
        for (to, what) in names.iter().enumerate().filter(|(to, _)| *to != from) {
            let Line { at_zero, slope, r2 } = bench.ratio_line(from, to);
            println!("{:26}{at_zero:>12.3}{slope:>12.3}{r2:>8.3}", format!("{what} from {of}"));
        }
    }
}

fn print_times(what: &str, line: &Line) {
    println!("{what:26}{:>12.1}{:>12.1}{:>8.3}", 1e6 * line.at(0.0), 1e6 * line.at(1.0), line.r2);
}
