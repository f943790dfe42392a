use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use groupwire_codecs::Costs;

use super::player::{Failure, Player};
use super::*;
use crate::emulator::tests::{namespace_for, skip};
use crate::options::parsed;

/// Both ends of a connection on loopback.
fn connections() -> [Connection; 2] {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    [client, listener.accept().unwrap().0].map(|stream| Connection::new(stream).unwrap())
}

#[test]
fn every_contender_brings_messages_there_and_back() {
    let mut connections = connections();
    let telecom = &Payload::chosen(&[], None, 1).unwrap()[0];
    let mut messages = telecom.messages(700, 5, 1);
    messages.extend([vec![], vec![0; 60_000], (0..=255).cycle().take(1400).collect()]);
    let mut names = Vec::new();
    let contenders = Contender::all().into_iter().chain(Contender::papers());
    for contender in contenders.filter(|one| one.check().is_ok()) {
        let mut player = Player::new(contender, &Costs::reference());
        let (mut packed, mut bytes) = (0, 0);
        for message in &messages {
            packed += player.exchange(&mut connections, message).unwrap().packed;
            bytes += 2 * message.len();
        }
        assert!(packed <= bytes + 2 * messages.len(), "{contender}");
        names.push(contender.to_string());
    }
    assert!(
        ["none", "lz4", "auto", "lzw-2013", "lzma-2013"]
            .iter()
            .all(|name| names.iter().any(|one| one == name))
    );
}

#[test]
fn who_cannot_be_made_is_told_and_leaves_the_connection_alone() {
    let mut connections = connections();
    let wrong: Contender = "lz4-3".parse().unwrap();
    assert!(wrong.check().is_err());
    let mut player = Player::new(wrong, &Costs::reference());
    let failure = player.exchange(&mut connections, b"a message").unwrap_err();
    assert!(matches!(failure, Failure::Contender(why) if why.contains("level")));
    let mut player = Player::new(Contender::NONE, &Costs::reference());
    assert_eq!(player.exchange(&mut connections, b"a message").unwrap().packed, 20);
}

#[test]
fn rows_have_what_the_equations_say() {
    let Some(namespace) = namespace_for("lossless::tests::rows_have_what_the_equations_say") else {
        return;
    };
    let options = parsed(
        "--part pingpong --sizes 1000 --rates 10 --hops 1 --codecs lz4,auto --payload telecom --messages 20 --quick",
    );
    let mut rows = Vec::new();
    measure(&namespace, &options, &mut |update| {
        if let Update::Row(row) = update {
            rows.push(row);
        }
    })
    .unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row.text("codec")).collect();
    assert_eq!(names, ["none", "none", "lz4", "auto"]);
    assert_eq!(rows[0].text("part"), "baseline");
    for row in &rows {
        assert!(row.is("verified") && row.number("messages") == Some(20.0), "{row:?}");
    }
    let [none, lz4] = [&rows[1], &rows[2]];
    let number = |row: &Row, field: &str| row.number(field).unwrap();
    let rtt = |row: &Row| number(row, "rtt_us");
    let (q, effective) = (number(lz4, "q"), number(none, "effective_mbit"));
    assert_eq!(number(none, "q"), 1.0);
    assert!((q - rtt(none) / rtt(lz4)).abs() < 1e-9);
    assert!((effective - 16_000.0 / rtt(none)).abs() < 1e-9);
    assert!((number(lz4, "effective_mbit") - effective * q).abs() < 1e-9);
    assert!(number(lz4, "ratio") > 1.0 && number(none, "ratio") < 1.0);
    // The bytes of IP, TCP with timestamps, the length and the packer's byte; both ways over two
    // cables.
    let wire = 4.0 * 8.0 * (1000 + 3 + 52 + 38) as f64 / 10.0;
    assert!((number(none, "wire_us") - wire).abs() < 0.02 * wire, "{none:?}");
    // No message is faster than its bits on the wire.
    assert!(rtt(none) > wire && rtt(lz4) > number(lz4, "wire_us"), "{none:?} {lz4:?}");
}

#[test]
fn streams_fill_a_link_and_no_more() {
    let Some(namespace) = namespace_for("lossless::tests::streams_fill_a_link_and_no_more") else {
        return;
    };
    let options =
        parsed("--part bandwidth,throughput --rates 20 --codecs lz4 --payload telecom --quick");
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    measure(&namespace, &options, &mut |update| match update {
        Update::Row(row) => rows.push(row),
        Update::Skipped { why, .. } => skipped.push(why),
        Update::Progress { .. } => {}
    })
    .unwrap();
    if !skipped.is_empty() {
        // The machine has no tc, or no bridges.
        skip("lossless::tests::streams_fill_a_link_and_no_more", &skipped.join(", "));
        return;
    }
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.is("verified")), "{rows:?}");
    assert!(rows.iter().all(|row| row.number("wire_mbit") < Some(24.0)), "{rows:?}");
}

#[test]
fn the_papers_conditions_are_its_codecs_its_payload_and_all_its_links() {
    let options: Options = parsed("--part paper");
    let names: Vec<_> = contenders(&options, &mut |_| panic!("none is skipped"))
        .iter()
        .map(ToString::to_string)
        .collect();
    let papers = ["none", "lzo", "lzf", "lzw-2013", "lzma-2013", "bzip2", "lz4"];
    assert_eq!(names[..papers.len()], papers);
    assert!(names.iter().any(|name| name == "auto"));
    let payloads = Payload::chosen(&[payload::TELECOM.to_owned()], None, 1).unwrap();
    let plan = Plan { options: &options, payloads, contenders: vec![Contender::NONE] };
    assert_eq!((plan.cells().len(), plan.streams().len()), (28, 6));
    assert_eq!("lzw-2013".parse::<Contender>().unwrap().to_string(), "lzw-2013");
    assert!("lz4-2013".parse::<Contender>().is_ok_and(|one| one.check().is_err()));
}

#[test]
fn quick_keeps_every_row() {
    let plan = |quick| {
        let options = parsed(if quick { "--quick" } else { "" });
        let payloads = Payload::chosen(&[], None, 1).unwrap();
        let plan = Plan { options: &options, payloads, contenders: vec![Contender::NONE] };
        let cells: Vec<String> = plan.cells().iter().map(ToString::to_string).collect();
        let messages: usize = plan.cells().iter().map(|cell| cell.messages).sum();
        (cells, messages, plan.streams())
    };
    let ((quick, few, streams), (full, many, same)) = (plan(true), plan(false));
    // A baseline and six links for each of four sizes.
    assert_eq!((&quick, quick.len(), streams), (&full, 28, same));
    assert!(few * 100 < many);
    assert!(QUICK_STREAM_TIME < Duration::from_secs(1));
}
