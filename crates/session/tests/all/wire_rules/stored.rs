//! What a stored room tells and believes before its transactions are durable (wire W92).

use groupwire_session::{Durability, room};

use super::*;

/// A stored room that asks for a part of the snapshot after this many transactions.
fn stored(snapshot_after: usize) -> ByHand {
    let limits = Limits { snapshot_after, ..Limits::default() };
    ByHand::new(room::Config { durability: Durability::Local, ..plain_with(limits) })
}

/// Ann offers to make a part of the snapshot for the first channel.
fn offer_part(room: &mut ByHand) {
    let part = Fields::default().num("part", 0).num("counter", 0);
    let part = part.with("name", Value::Text("all".into())).with("rest", Value::Bytes(vec![1]));
    room.say(ANN, &[Frame::new("PART", part)]);
}

/// Ann uploads the part. Returns the code of the error that she is told.
fn upload_part(room: &mut ByHand, as_of: u64) -> Option<u64> {
    let chunk = Fields::default()
        .num("part", 0)
        .num("as_of", as_of)
        .num("total", 5)
        .num("offset", 0)
        .with("rest", Value::Bytes(b"state".to_vec()));
    room.say(ANN, &[Frame::new("SNAPSHOT", chunk)]);
    find(&room.hear(ANN), "ERROR").map(|error| error.number("code"))
}

/// A stored room with two transactions, of which only the first one is durable. After the first
/// one, the room asked Ann for a part of the snapshot.
fn half_durable() -> ByHand {
    let mut room = stored(1);
    join(&mut room, ANN);
    offer_part(&mut room);
    say(&mut room, ANN, record(1, 0, 0, None, "one"));
    room.run(100);
    assert!(records(&room.hear(ANN)).is_empty(), "her own record before it is durable");
    room.durable(1);
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
    room.durable(2);
    room.say(4, &[resume(1, ANN, 7, 2, 2), open(1, "draw", false, 2)]);
    assert_eq!(room.hear(4).remove(0).number("position"), 2);
}

#[test]
fn w92_no_snapshot_is_taken_beyond_what_is_durable() {
    for (as_of, code) in [(1, None), (2, Some(8))] {
        let mut room = half_durable();
        assert_eq!(upload_part(&mut room, as_of), code, "as of {as_of}");
    }
}

/// A record with these flags.
fn piece(flags: u64, text: &str) -> Fields {
    record(1, 0, 0, None, text).num("flags", 1 + flags)
}

#[test]
fn w97_pieces_are_ordered_together_when_the_last_one_has_come() {
    let mut room = stored(2000);
    join(&mut room, ANN);
    join(&mut room, BOB);
    say(&mut room, ANN, piece(256, "one "));
    say(&mut room, ANN, piece(256 + 512, "after "));
    say(&mut room, BOB, record(1, 0, 0, None, "meanwhile"));
    room.run(100);
    room.durable(9);
    room.run(100);
    assert_eq!(texts(&room.hear(ANN)), ["meanwhile"]);
    say(&mut room, ANN, piece(512, "another"));
    say(&mut room, ANN, record(1, 0, 0, None, "next"));
    room.run(100);
    room.durable(9);
    room.run(100);
    let heard = records(&room.hear(BOB));
    let flags: Vec<u64> = heard.iter().map(|record| record.number("flags")).collect();
    assert_eq!(flags, [16, 1 + 256, 1 + 256 + 512, 1 + 512, 1]);
    let stamps: Vec<u64> = heard.iter().map(|record| record.number("stamp")).collect();
    assert_eq!(stamps, [0; 5], "at positions that follow each other");
    let own: Vec<u64> =
        records(&room.hear(ANN)).iter().map(|record| record.number("flags")).collect();
    assert_eq!(own, [16; 4], "own records tell of no pieces");
}

#[test]
fn w97_pieces_do_not_outlive_their_transport_and_welcome_does_not_count_them() {
    let mut room = stored(2000);
    join(&mut room, ANN);
    say(&mut room, ANN, record(1, 0, 0, None, "first"));
    say(&mut room, ANN, piece(256, "never "));
    room.run(100);
    room.durable(9);
    room.run(100);
    room.cut(ANN);
    room.say(3, &[resume(1, ANN, 7, 1, 1), open(1, "draw", false, 1)]);
    assert_eq!(room.hear(3).remove(0).number("counter"), 1);
    say(&mut room, 3, record(1, 0, 0, None, "second"));
    room.run(100);
    room.durable(9);
    room.run(100);
    assert_eq!(records(&room.hear(3)).len(), 1);
}

#[test]
fn w97_pieces_that_do_not_follow_each_other_are_malformed() {
    let wrong: [&[Fields]; 6] = [
        &[piece(512, "of nothing")],
        &[piece(256, "one"), record(1, 0, 0, None, "two")],
        &[piece(256, "one"), piece(256, "two")],
        &[piece(256, "one"), piece(512, "two").num("channel", 3)],
        &[piece(256, "one"), piece(512, "two").num("flags", 512)],
        &[piece(256, "")],
    ];
    for records in wrong {
        let mut room = stored(2000);
        join(&mut room, ANN);
        room.say(ANN, &[open(3, "notes", false, 0)]);
        for record in records {
            say(&mut room, ANN, record.clone());
        }
        room.run(100);
        let frames = room.hear(ANN);
        let error = find(&frames, "ERROR").map(|error| error.number("code"));
        assert_eq!(error, Some(2), "{records:?}");
    }
}

#[test]
fn w97_no_part_ends_between_the_pieces_of_a_transaction() {
    for (as_of, code) in [(1, Some(2)), (2, None)] {
        let mut room = stored(1);
        join(&mut room, ANN);
        offer_part(&mut room);
        say(&mut room, ANN, piece(256, "one "));
        say(&mut room, ANN, piece(512, "after another"));
        room.run(100);
        room.durable(2);
        room.run(2500);
        assert!(find(&room.hear(ANN), "SNAPSHOT_WANTED").is_some());
        assert_eq!(upload_part(&mut room, as_of), code, "as of {as_of}");
    }
}
