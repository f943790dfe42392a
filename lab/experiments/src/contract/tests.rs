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
        assert!(row.verified && row.failure.is_none(), "{row:?}");
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
    assert!(rows.iter().all(|row| row.verified && row.failure.is_none()), "{rows:?}");
    assert!(rows.iter().all(|row| row.wire_bytes_per_message > 5.0), "{rows:?}");
}

#[test]
fn a_broken_connection_is_a_result_and_a_wrong_delivery_is_an_error() {
    let row = |ablation, played: &play::Played| {
        let conditions = row::Conditions {
            setup: Setup::Table1,
            loss: "pb10@4".to_owned(),
            rtt_ms: 50.0,
            participants: 4,
            transport: "webtransport",
            tick_ms: 40.0,
            browser_acks: false,
            ablation,
            seed: 1,
            quick: true,
        };
        let channel = &channels::table1()[0];
        conditions.row(channel, &judge::Verdict::default(), 0.0, played)
    };
    let text = |text: &str| Some(text.to_owned());
    let broken = play::Played { failure: text("a gap"), ..play::Played::default() };
    let wrong = play::Played { wrong: text("what came was never sent"), ..broken.clone() };
    for ablation in Ablation::ALL {
        let broken = row(ablation, &broken);
        assert!(broken.verified && !broken.is_wrong(), "{broken:?}");
        assert_eq!(broken.failure.as_deref(), Some("a gap"));
        let wrong = row(ablation, &wrong);
        assert_eq!((wrong.verified, wrong.is_wrong()), (false, ablation == Ablation::None));
        assert_eq!(wrong.failure.as_deref(), Some("what came was never sent"));
    }
}

#[test]
fn what_is_no_recording_is_said() {
    let data = Some(PathBuf::from("/nonexistent"));
    let error = run(&Options { data, ..Options::default() }, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("nonexistent"));
}
