//! The part `floor` on a short session.

use super::*;
use crate::options::parsed;

fn rows() -> Vec<Row> {
    let sessions = Session::built_in(1, 1500);
    let mut rows = Vec::new();
    let options: Options = parsed("--part floor --quick");
    measure(&sessions, &options, &mut |update| match update {
        Update::Row(row) => rows.push(row),
        Update::Progress { done, total, .. } => assert!(done < total),
        Update::Skipped { what, why, .. } => panic!("{what} was skipped: {why}"),
    })
    .unwrap();
    rows
}

#[test]
fn shares_add_up_to_the_packets_and_bounds_are_ordered() {
    let rows = rows();
    assert!(rows.iter().all(|row| row.is("verified")));
    for (trace, loss) in ["text", "xml", "java", "json", "jsonf"]
        .iter()
        .flat_map(|trace| LOSSES.map(|loss| (trace, loss)))
    {
        let of = |figure: &str| {
            let figure = figure.to_owned();
            rows.iter().filter(move |row| {
                row.text("figure") == figure
                    && row.text("trace") == *trace
                    && row.number("loss") == Some(loss)
            })
        };
        let bits = |row: &Row| row.number("bits").unwrap();
        let (all, parts): (Vec<&Row>, Vec<&Row>) =
            of("account").partition(|row| row.text("spent_on") == "all");
        let sum: f64 = parts.into_iter().map(bits).sum();
        assert!((sum - bits(all[0])).abs() < 1e-6, "{sum} of {:?}", all[0]);
        let bound =
            |name: &str| of("floor").find(|row| row.text("bound") == name).map(bits).unwrap();
        assert!((bound("coded") - bits(all[0])).abs() < 1e-6);
        assert!(bound("content") < bound("coded"));
        assert!(bound("floor") < bound("floor-window"), "the sender does not know what arrived");
        assert!(bound("floor-window") < bound("coded"));
        assert!(bound("content-trained") < bound("content"));
    }
    // The younger the state, the smaller the content.
    let age = |age: f64| {
        rows.iter().find(|row| {
            row.number("state_age") == Some(age)
                && row.text("bound") == "content"
                && row.text("trace") == "text"
        })
    };
    assert!(age(0.0).unwrap().number("bits") < age(10.0).unwrap().number("bits"));
}

/// The packets of an encoder that keeps an account are those that users get.
#[test]
fn an_account_leaves_packets_as_they_are() {
    let session = Session::built_in(1, 1500).remove(0);
    let rows = rows();
    let options: Options = parsed("--technique groupwire --mode datagram --quick");
    let mut usual = Vec::new();
    super::super::measure(&[session], &options, &mut |update| {
        if let Update::Row(row) = update {
            usual.push(row);
        }
    });
    for loss in LOSSES {
        let coded = rows.iter().find(|row| {
            row.text("bound") == "coded"
                && row.text("trace") == "text"
                && row.number("loss") == Some(loss)
        });
        let same = usual
            .iter()
            .find(|row| row.number("loss") == Some(loss) && row.number("ack_delay") == Some(10.0));
        let bytes = |row: &Row| row.number("bytes_per_message").unwrap();
        assert!((bytes(coded.unwrap()) - bytes(same.unwrap())).abs() < 1e-6);
    }
}
