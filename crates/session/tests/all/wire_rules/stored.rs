//! What a stored room tells and believes before its transactions are durable (wire W92).

use super::*;

/// A stored room in which two transactions were sent, of which only the first one is durable. After that one a snapshot was
/// wanted of Ann.
fn half_durable() -> ByHand {
    let mut room = ByHand::new("compress=0 stored=1 snapshot_after=1");
    join(&mut room, ANN);
    let part = Fields::default().num("part", 0).num("counter", 0);
    let part = part.with("name", Value::Text("all".into())).with("rest", Value::Octets(vec![1]));
    room.say(ANN, &[Frame::new("PART", part)]);
    say(&mut room, ANN, record(1, 0, 0, None, "one"));
    room.run(100);
    assert!(records(&room.hear(ANN)).is_empty(), "her own record before it is durable");
    room.tell("durable 1");
    room.run(2500);
    let frames = room.hear(ANN);
    assert_eq!(records(&frames).len(), 1);
    assert!(find(&frames, "SNAPSHOT_WANTED").is_some(), "{frames:?}");
    say(&mut room, ANN, record(1, 0, 0, None, "two"));
    room.run(100);
    assert!(records(&room.hear(ANN)).is_empty());
    room
}

#[test]
fn w92_no_position_in_welcome_and_none_is_believed_beyond_what_is_durable() {
    let mut room = half_durable();
    join(&mut room, BOB);
    assert_eq!(room.hear(BOB).remove(0).number("position"), 1);
    room.cut(ANN);
    room.say(3, &[resume(1, ANN, 7, 2, 1), open(1, "draw", false, 2)]);
    assert_eq!(find(&room.hear(3), "ERROR").unwrap().number("code"), 2);
    room.tell("durable 2");
    room.say(4, &[resume(1, ANN, 7, 2, 2), open(1, "draw", false, 2)]);
    assert_eq!(room.hear(4).remove(0).number("position"), 2);
}

#[test]
fn w92_no_snapshot_is_taken_beyond_what_is_durable() {
    for (as_of, code) in [(1, None), (2, Some(8))] {
        let mut room = half_durable();
        let chunk = Fields::default()
            .num("part", 0)
            .num("as_of", as_of)
            .num("total", 5)
            .num("offset", 0)
            .with("rest", Value::Octets(b"state".to_vec()));
        room.say(ANN, &[Frame::new("SNAPSHOT", chunk)]);
        let frames = room.hear(ANN);
        let error = find(&frames, "ERROR").map(|error| error.number("code"));
        assert_eq!(error, code, "as of {as_of}");
    }
}
