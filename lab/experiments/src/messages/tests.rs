//! Every technique on a small session.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;

use super::*;
use crate::TraceMessage;
use crate::options::{name, parsed};

/// A session in which two people move pointers, and sometimes one writes.
fn session(messages: u64, timed: bool) -> Session {
    let message = |n: u64| TraceMessage {
        at: Duration::from_millis(25 * n),
        sender: (n % 2) as u32,
        kind: usize::from(n % 50 == 49),
        bytes: match n % 50 {
            49 => format!(r#"{{"type":"chat","user":{},"text":"line {}"}}"#, n % 2, n * n),
            _ => format!(
                r#"{{"type":"pointer","user":{},"time":{},"x":{},"y":{}}}"#,
                n % 2,
                25 * n + n * n % 3,
                400 + n * 7 % 300,
                700 - n * 11 % 500
            ),
        }
        .into_bytes()
        .into(),
    };
    let messages = (0..messages).map(message).collect();
    let kinds = vec!["pointer".to_owned(), "chat".to_owned()];
    Session::new("small", Trace { messages, kinds, timed })
}

fn rows(session: Session, options: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    measure(&[session], &parsed(options), &mut |update| match update {
        Update::Row(row) => rows.push(row),
        Update::Skipped { what, why, .. } => panic!("{what} was skipped: {why}"),
        Update::Progress { done, total, .. } => assert!(done < total),
    });
    rows
}

#[test]
fn every_technique_has_its_rows_and_every_message_is_verified() {
    let rows = rows(session(1500, true), "--quick");
    let mut count: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in &rows {
        let number = |field| row.number(field).unwrap();
        assert!(row.is("verified"), "{row:?}");
        assert!(row.is("quick") && number("rounds") == 1.0 && number("messages") > 0.0);
        assert!(["encode_us", "encode_p99_us", "decode_us"].iter().all(|time| number(time) > 0.0));
        let arrives = if row.number("loss") == Some(0.2) { 0.6..0.95 } else { 1.0..1.001 };
        assert!(arrives.contains(&(number("messages_arrived") / number("messages"))), "{row:?}");
        *count.entry((row.text("technique"), row.text("mode"))).or_default() += 1;
    }
    for kind in &techniques::ALL {
        for mode in Mode::value_variants().iter().copied() {
            // Rows without loss and with it; techniques with acknowledgements have three more
            // delays of each.
            let expected = match mode {
                _ if !kind.runs_over(mode) || kind.codes_events => 0,
                Mode::Stream => 1,
                Mode::Datagram if kind.is_acknowledged => 8,
                _ => 2,
            };
            let found = count.get(&(kind.name, &*name(&mode))).copied().unwrap_or_default();
            assert_eq!(found, expected, "{} {mode}", kind.name);
        }
    }
}

#[test]
fn the_order_of_sizes_is_what_it_must_be() {
    let rows = rows(session(2000, true), "--quick --mode stream");
    let bytes = |name| {
        let row = rows.iter().find(|row| row.text("technique") == name).unwrap();
        row.number("bytes_per_message").unwrap()
    };
    // Techniques that remember earlier messages make smaller packets.
    assert!(bytes("groupwire") < bytes("permessage-deflate"));
    assert!(bytes("permessage-deflate") < bytes("deflate"));
    assert!(bytes("zstd-dict") < bytes("zstd"));
    assert!(bytes("zstd-stream") < bytes("zstd"));
    assert!(bytes("brotli-stream") < bytes("brotli"));
}

#[test]
fn without_recorded_times_there_are_no_delays_in_ms() {
    let rows = rows(session(300, false), "--quick");
    assert!(rows.iter().all(|row| row.get("ack_ms").is_null()));
}

#[test]
fn a_seed_repeats_what_arrives() {
    let arrived = |seed| {
        let options = format!("--technique lz4 --mode datagram --quick --seed {seed}");
        let rows = rows(session(1000, true), &options);
        rows.iter().map(|row| row.number("messages_arrived")).collect::<Vec<_>>()
    };
    assert_eq!(arrived(3), arrived(3));
    assert_ne!(arrived(3), arrived(4));
}

#[test]
fn a_message_of_nothing_and_one_of_anything_pass() {
    let message = |bytes: Vec<u8>| TraceMessage {
        at: Duration::ZERO,
        sender: 0,
        kind: 0,
        bytes: bytes.into(),
    };
    let messages = [vec![], vec![0], (0..=255).collect(), vec![7; 70_000]].map(message).into();
    let odd = Session::new("odd", Trace { messages, kinds: vec!["any".to_owned()], timed: false });
    for row in rows(odd, "--quick") {
        assert!(row.is("verified"), "{row:?}");
    }
}

#[test]
fn what_is_written_by_hand_decodes_to_the_events() {
    let text = Session::built_in(1, 600).remove(0);
    assert_eq!(text.name, "text");
    let rows = rows(text, "--quick");
    for kind in techniques::ALL.iter().filter(|kind| kind.codes_events) {
        let count = rows
            .iter()
            .filter(|row| row.text("technique") == kind.name && row.is("verified"))
            .count();
        let expected = if kind.runs_over(Mode::Datagram) { 7 } else { 1 };
        assert_eq!(count, expected, "{}", kind.name);
    }
    assert!(rows.iter().all(|row| row.is("verified")));
}

#[test]
fn what_comes_too_late_for_the_memory_of_groupwire_is_refused_and_counted() {
    let mut sessions = Session::built_in(1, PAPERS_MESSAGES as usize).into_iter();
    let jsonf = sessions.find(|session| session.name == "jsonf").unwrap();
    let rows = rows(jsonf, "--quick --technique groupwire --mode datagram");
    let refused: f64 = rows.iter().filter_map(|row| row.number("messages_refused")).sum();
    assert!((1.0..10.0).contains(&refused), "{refused}");
    assert!(rows.iter().all(|row| row.is("verified")));
}

#[test]
fn events_of_another_session_are_refused() {
    let events = crate::drawing::generate(1, 11);
    assert!(session(11, true).with_events(events.clone()).is_ok());
    let error = session(10, true).with_events(events).unwrap_err();
    assert!(error.to_string().contains("10 messages, but there are 11 events"), "{error}");
}
