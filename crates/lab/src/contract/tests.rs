use std::time::Duration;

use super::*;

fn rows(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut tell = |update| {
        if let Update::Row(row) = update {
            rows.push(*row);
        }
    };
    run(options, &mut tell).unwrap();
    rows
}

fn options(setup: Setup, seconds: u64) -> Options {
    let length = Some(Duration::from_secs(seconds));
    Options { setups: vec![setup], length, seed: 1, ..Options::default() }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let options = Options { ablations: vec![Ablation::None], ..options(Setup::Table1, 8) };
    let first = rows(&options);
    assert_eq!(first.len(), 2 * 11);
    assert_eq!(first, rows(&options));
    assert_ne!(first, rows(&Options { seed: 2, ..options }));
}

#[test]
fn without_loss_every_contract_is_met() {
    let losses = vec![Loss::NONE];
    for row in rows(&Options { losses, ..options(Setup::Table1, 30) }) {
        assert!(row.verified, "{row:?}");
        assert!(row.met && row.feasible, "{row:?}");
    }
}

#[test]
fn rooms_are_judged_by_transport_and_loss() {
    let options = options(Setup::Rooms, 1);
    let hands = Hands::generated(1);
    let rows = setups::Job::Room(10).rows(&hands, &options);
    let classes: Vec<_> = rows.iter().filter_map(|row| row.class.clone()).collect();
    assert_eq!(classes.len(), 6, "{classes:?}");
    assert!(rows.iter().all(|row| row.verified && row.wire_bytes_per_message > 5.0), "{rows:?}");
}

#[test]
fn what_is_no_recording_is_said() {
    let data = Some(PathBuf::from("/nonexistent"));
    let error = run(&Options { data, ..Options::default() }, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("nonexistent"));
}
