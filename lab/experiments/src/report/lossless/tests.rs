//! The section of `lossless`, from rows made up.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{Saved, page};
use super::cells::{Cells, behind, best, family, gain};
use crate::report::chart::Colour;
use crate::report::saved::Experiment;

fn row(codec: &str, size: u64, (mbit, hops): (f64, u64), effective: f64) -> Value {
    json!({
        "part": "pingpong", "codec": codec, "payload": "telecom", "size": size, "link_mbit": mbit, "hops": hops,
        "messages": 20000, "ratio": 1.5, "rtt_us": 1000.0, "effective_mbit": effective, "q": 1.0,
        "memory_bytes": 16384, "quick": false, "verified": true,
    })
}

fn saved(rows: &[Value]) -> Saved {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let mut saved = Saved::default();
    saved.add(Path::new("lossless.json"), lines.join("\n").as_bytes()).unwrap();
    saved
}

fn cells(rows: &[Value]) -> Cells {
    Cells::new(&saved(rows).rows[&Experiment::Lossless])
}

#[test]
fn the_best_is_fixed_and_auto_is_held_against_it() {
    let link = (10.0, 0);
    let rows =
        [row("none", 500, link, 8.0), row("lz4", 500, link, 10.0), row("auto", 500, link, 10.5)];
    let cells = cells(&rows);
    let cell = cells.cells.values().next().unwrap();
    assert_eq!(best(cell).unwrap().0, "lz4");
    assert!((behind(cell).unwrap() - 0.05).abs() < 1e-9);
    assert_eq!(gain(cell), Some(1.25));
}

#[test]
fn what_auto_chose_is_said() {
    let mut auto = row("auto", 500, (10.0, 0), 9.9);
    auto["picked"] = json!({ "lz4": 0.2, "zstd-1": 0.7, "none": 0.1 });
    let html = page(&saved(&[row("zstd-1", 500, (10.0, 0), 10.0), auto]));
    assert!(html.contains("auto −1.00 %, mostly zstd-1"), "{html}");
}

#[test]
fn a_cell_measured_again_counts_once() {
    let rows = [row("lz4", 500, (10.0, 0), 1.0), row("lz4", 500, (10.0, 0), 2.0)];
    let cells = cells(&rows);
    assert_eq!(cells.cells.len(), 1);
    assert_eq!(best(cells.cells.values().next().unwrap()).unwrap().1.effective, 2.0);
}

#[test]
fn a_quick_run_never_counts_instead_of_a_full_one() {
    let mut quick = row("lz4", 500, (10.0, 0), 2.0);
    quick["quick"] = json!(true);
    let cells = cells(&[quick.clone(), row("lz4", 500, (10.0, 0), 1.0), quick]);
    assert_eq!(best(cells.cells.values().next().unwrap()).unwrap().1.effective, 1.0);
}

#[test]
fn wrong_rows_are_left_out_and_said() {
    let mut wrong = row("lz4", 500, (10.0, 0), 99.0);
    wrong["verified"] = json!(false);
    let saved = saved(&[wrong, row("none", 500, (10.0, 0), 8.0)]);
    let html = page(&saved);
    assert!(html.contains("not what was sent: 1 of all rows"), "{html}");
    assert!(!html.contains(">99"), "{html}");
}

#[test]
fn other_parts_are_no_cells() {
    let mut baseline = row("none", 500, (10.0, 0), 99.0);
    baseline["part"] = json!("baseline");
    baseline["link_mbit"] = Value::Null;
    let mut stream = row("none", 60000, (1000.0, 1), 940.0);
    stream["part"] = json!("throughput");
    assert!(cells(&[baseline.clone(), stream.clone()]).cells.is_empty());
    let html = page(&saved(&[baseline, stream]));
    assert!(
        html.contains("As much as goes over a link") && html.contains("<td>940</td>"),
        "{html}"
    );
}

#[test]
fn levels_share_a_colour_and_the_best_is_shown() {
    let link = (10.0, 0);
    let rows = [
        row("zstd-1", 500, link, 9.0),
        row("zstd", 500, link, 9.5),
        row("delta4+zstd", 500, link, 9.1),
        row("lz4", 500, link, 9.2),
        row("rle", 500, link, 8.0),
    ];
    let cells = cells(&rows);
    assert_eq!(family("delta4+zstd-fast-3"), "zstd");
    let looks = ["zstd", "zstd-1", "delta4+zstd"].map(|choice| cells.look(choice));
    assert!(looks.iter().all(|look| look.colour == Colour::Number(1)), "{looks:?}");
    assert!(looks[0] != looks[1] && looks[1] != looks[2] && looks[0] != looks[2], "{looks:?}");
    let shown: Vec<_> =
        cells.ranked("telecom").into_iter().filter(|one| one.1).map(|one| one.0).collect();
    assert_eq!(shown, ["zstd", "lz4"]);
}

#[test]
fn charts_are_those_of_the_paper() {
    let mut rows = Vec::new();
    for mbit in [10.0, 100.0, 1000.0] {
        for hops in [0, 1] {
            for size in [500, 700, 1000, 1400] {
                for (codec, gain) in [("none", 1.0), ("lz4", 1.2), ("auto", 1.19)] {
                    rows.push(row(codec, size, (mbit, hops), 0.7 * mbit * gain));
                }
            }
        }
    }
    let html = page(&saved(&rows));
    for figure in 4..=10 {
        assert!(html.contains(&format!("Figure {figure}")), "Figure {figure}");
    }
    assert!(html.contains("<strong>24 of 24</strong>"), "{html}");
    assert_eq!(html, page(&saved(&rows)));
    assert!(!html.contains("src=") && !html.contains("url("), "the page is complete in itself");
}
