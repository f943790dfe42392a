use clap::ValueEnum;

use super::*;
use crate::Row;
use crate::options::parsed;

/// The rows of a run with generated input.
fn rows(options: &str) -> Vec<Row> {
    let options: Options = parsed(options);
    let mut rows = Vec::new();
    let mut emit = |update| {
        if let Update::Row(row) = update {
            rows.push(row);
        }
    };
    let jobs = setups::jobs(&options, &mut emit);
    measure(&jobs, &Hands::generated(options.common.seed), &options, &mut emit);
    rows
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let rows = |seed| rows(&format!("--setup table1 --ablation none --length 8 --seed {seed}"));
    let first = rows(1);
    assert_eq!(first.len(), 2 * 11);
    assert_eq!(first, rows(1));
    assert_ne!(first, rows(2));
}

#[test]
fn without_loss_every_contract_is_met() {
    for row in rows("--setup table1 --length 30 --loss rand0") {
        assert!(row.is("verified") && row.get("failure").is_null(), "{row:?}");
        assert!(row.is("met") && row.is("feasible"), "{row:?}");
    }
}

#[test]
fn what_a_narrow_link_cannot_hold_is_told_within_three_seconds() {
    for seed in 1..4 {
        for row in rows(&format!("--setup gprs --length 30 --seed {seed}")) {
            // No other channel is reported to all, and no channel whose contract is kept is
            // reported as soon.
            let is_hopeless = row.text("channel") == "move-object";
            assert_eq!(
                row.number("told_s").is_some_and(|told| told <= 3.0),
                is_hopeless,
                "{row:?}"
            );
            assert_eq!(row.number("told") == Some(1.0), is_hopeless, "{row:?}");
        }
    }
}

#[test]
fn rooms_are_judged_by_transport_and_loss() {
    let options = parsed("--setup rooms --length 1");
    let rows = setups::Job::Room(10).rows(&Hands::generated(1), &options);
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in rows {
        assert!(row.is("verified") && row.get("failure").is_null(), "{row:?}");
        assert!(row.number("wire_bytes_per_message") > Some(5.0), "{row:?}");
    }
}

#[test]
fn a_broken_connection_is_a_result_and_a_wrong_delivery_is_an_error() {
    let row = |ablation, played: &play::Played| {
        let conditions = row::Conditions {
            setup: Setup::Table1,
            real: false,
            chromium: 0,
            network: None,
            loss: "pb10@4".to_owned(),
            rtt_ms: 50.0,
            participants: 4,
            transport: "webtransport",
            tick_ms: 40.0,
            browser_acks: false,
            ablation,
            common: Common::default(),
        };
        let channel = &channels::table1()[0];
        conditions.row(channel, &judge::Verdict::default(), 0.0, played)
    };
    let text = |text: &str| Some(text.to_owned());
    let broken = play::Played { failure: text("a gap"), ..play::Played::default() };
    let wrong = play::Played { wrong: text("what came was never sent"), ..broken.clone() };
    for &ablation in Ablation::value_variants() {
        let broken = row(ablation, &broken);
        assert!(broken.is("verified") && !broken.is_wrong(), "{broken:?}");
        assert_eq!(broken.text("failure"), "a gap");
        let wrong = row(ablation, &wrong);
        assert_eq!((wrong.is("verified"), wrong.is_wrong()), (false, ablation == Ablation::None));
        assert_eq!(wrong.text("failure"), "what came was never sent");
    }
}

#[test]
fn what_is_no_recording_is_said() {
    let error = run(&parsed("--data /nonexistent"), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("nonexistent"));
}
