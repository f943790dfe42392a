//! The part `paper` on a short session.

use super::*;
use crate::Row;
use crate::options::parsed;

fn rows() -> Vec<Row> {
    let sessions = Session::built_in(1, 600);
    let mut rows = Vec::new();
    let options: Options = parsed("--part paper --quick");
    measure(&sessions, "built-in", &options, &mut |update| match update {
        Update::Row(row) => rows.push(row),
        Update::Progress { done, total, .. } => assert!(done < total),
        Update::Skipped { what, why, .. } => panic!("{what} was skipped: {why}"),
    })
    .unwrap();
    rows
}

#[test]
fn every_table_has_its_rows_and_every_message_is_verified() {
    let rows = rows();
    let count = |figure| rows.iter().filter(|row| row.text("figure") == figure).count();
    // Each trace has the original and eight techniques, and XML two more.
    let sized = 3 * 9 + 2;
    assert_eq!(count("table-1"), 7);
    assert_eq!(count("table-3"), 7);
    assert_eq!(count("table-4"), sized);
    assert_eq!(count("table-4-types"), 7 * sized);
    assert_eq!(count("table-5"), 3 * 3 * 4);
    assert_eq!(count("table-6"), 3 * 4);
    assert_eq!(count("section-4.1.1"), 3 * 6);
    assert_eq!(count("section-5.3.1"), 3 * 4 * 7);
    assert_eq!(count("section-6.5"), 3 * 2 * 8);
    let known = 7 + 7 + sized * 8 + 36 + 12 + 18 + 84 + 48;
    assert_eq!(rows.len(), known);
    assert!(rows.iter().all(|row| row.is("verified") && row.text("part") == "paper"));
    let keys = rows[0].keys();
    let names: std::collections::BTreeSet<_> = rows
        .iter()
        .map(|row| {
            let fields = keys.group.iter().chain(&keys.subject);
            fields.map(|field| row.get(field).to_string()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(names.len(), rows.len(), "keys.json tells all rows apart");
}

#[test]
fn parts_add_up_to_the_whole() {
    let rows = rows();
    for whole in rows.iter().filter(|row| row.text("figure") == "table-4") {
        let is_part = |row: &&Row| {
            row.text("figure") == "table-4-types"
                && ["trace", "technique"].iter().all(|key| row.text(key) == whole.text(key))
        };
        for field in ["messages", "bytes_in", "bytes_out"] {
            let sum: f64 = rows.iter().filter(is_part).filter_map(|row| row.number(field)).sum();
            assert!((sum - whole.number(field).unwrap()).abs() < 1e-6, "{field} of {whole:?}");
        }
    }
    // Table 5's sizes: 6 bytes for an addition, 1026 for a frequency list.
    for row in rows.iter().filter(|row| row.text("figure") == "table-5") {
        let each = match row.text("announcement") {
            "dictionary addition" => 6.0,
            "frequency list" => 1026.0,
            _ => continue,
        };
        assert_eq!(row.number("bytes"), row.number("count").map(|count| each * count), "{row:?}");
    }
}

#[test]
fn bandwidth_counts_headers_as_the_paper_does() {
    // Section 5.3.1: 30 messages of 224.5 bytes are 6819 bytes a second where ten share 28 bytes of
    // headers.
    let rows = rows();
    let row = rows
        .iter()
        .find(|row| {
            row.text("packing") == "ten messages per datagram"
                && row.text("technique") == "original"
                && row.text("trace") == "xml"
        })
        .unwrap();
    let table_4 = rows
        .iter()
        .find(|row| {
            row.text("figure") == "table-4"
                && row.text("technique") == "original"
                && row.text("trace") == "xml"
        })
        .unwrap();
    let mean = table_4.number("bytes_per_message").unwrap();
    let found = row.number("bytes_per_second_as_paper").unwrap();
    assert!((found - 30.0 * (mean + 2.8)).abs() < 1e-6);
    assert!((30.0 * (224.5 + 2.8) - 6819.0_f64).abs() < 1e-9);
    // The length of each message, which the paper does not count, is one or two bytes.
    let more = row.number("bytes_per_second").unwrap() - found;
    assert!((30.0..=60.0).contains(&more), "{more}");
}

#[test]
fn recordings_of_other_formats_or_without_values_are_refused() {
    let options: Options = parsed("--part paper --quick");
    let mut emit = |_| {};
    let json = Session::built_in(1, 10).into_iter().filter(|one| one.name == "json");
    assert!(measure(&json.collect::<Vec<_>>(), "built-in", &options, &mut emit).is_err());
}
