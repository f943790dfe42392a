//! Snapshots, late-joiner state and large messages as packed blocks (wire W52 to W55), over links
//! of some rate.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config as ClientConfig, Outgoing};
use groupwire_session::codecs::{ALL, Choice, Codec, Packer};
use groupwire_session::{Limits, Qos, room};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::path::{Paths, Way, document};

const DRAW: Qos = Qos::transaction();
const MS: Duration = Duration::from_millis(1);
/// A local network.
const LAN: Way = Way { rate: 1.25e8, delay: Duration::from_micros(200) };
/// 71 Mbit/s, and 1.7 Mbit/s over a long distance.
const FAST: Way = Way { rate: 8.875e6, delay: Duration::from_millis(1) };
const SLOW: Way = Way { rate: 2.125e5, delay: Duration::from_millis(40) };

/// The codecs that the browser's core always has.
static SMALL: &[&dyn Codec] = &[ALL[0], ALL[1]];

/// Frame types.
const MESSAGES: u8 = 0x06;
const CODED: u8 = 0x07;
const SNAPSHOT: u8 = 0x0b;
const PACKED_SNAPSHOT: u8 = 0x1b;
const PART: u8 = 0x29;
const PACKED_MESSAGES: u8 = 0x1c;

fn client(codecs: &'static [&'static dyn Codec]) -> ClientConfig {
    ClientConfig { codecs, ..ClientConfig::new("demo") }
}

/// A room with a snapshot of this state, and the participant that uploaded it.
fn room_with(state: &[u8]) -> (Paths, ChannelId) {
    let limits = Limits { snapshot_after: 10, ..Limits::default() };
    filled(Paths::new(room::Config { limits, ..room::Config::new("demo", 7) }), state)
}

fn filled(mut paths: Paths, state: &[u8]) -> (Paths, ChannelId) {
    let ann = paths.add(client(ALL), LAN);
    paths.people[ann].state = state.to_vec();
    let draw = paths.channel(ann, "draw", DRAW);
    paths.run(500 * MS);
    for _ in 0..11 {
        send(&mut paths, ann, draw, b"a stroke");
        paths.run(50 * MS);
    }
    paths.run(3000 * MS);
    assert!(paths.log.iter().any(|event| matches!(event, room::Event::Snapshot { .. })));
    (paths, draw)
}

fn send(paths: &mut Paths, person: usize, channel: ChannelId, bytes: &[u8]) {
    let now = paths.now;
    let message = Outgoing { bytes, ..Outgoing::default() };
    paths.people[person].client.send(now, channel, message).unwrap();
}

/// Joins and waits until it has all; returns the time, and bytes down and up.
fn join(paths: &mut Paths, config: ClientConfig, way: Way) -> (usize, Duration, [usize; 2]) {
    let start = paths.now;
    let bob = paths.add(config, way);
    paths.channel(bob, "draw", DRAW);
    let done = |paths: &Paths| paths.people[bob].synced().is_some();
    assert!(paths.run_until(Duration::from_secs(120), done), "never joined");
    let one = &paths.people[bob];
    assert!(one.errors().is_empty(), "{:?}", one.errors());
    (bob, one.synced().unwrap() - start, one.bytes())
}

#[test]
fn w53_a_snapshot_is_packed_for_who_can_read_it() {
    let state = document(500_000, 1);
    for (codecs, most) in [(ALL, 200_000), (SMALL, 330_000), (&ALL[..1], 510_000), (&[], 510_000)] {
        let (mut paths, _) = room_with(&state);
        let (bob, _, [down, _]) = join(&mut paths, client(codecs), SLOW);
        let one = &paths.people[bob];
        assert!(one.snapshot().unwrap().1 == state);
        assert!(down < most, "{down} bytes with {} codecs", codecs.len());
        let [packed, _] = one.frames(PACKED_SNAPSHOT);
        assert_eq!(packed > 5, codecs.len() > 1);
        assert_eq!(one.frames(SNAPSHOT)[0] > 20, codecs.len() < 2);
        assert!(one.largest() <= 40_000, "{}", one.largest());
    }
}

#[test]
fn w52_a_room_that_lacks_codecs_sends_as_it_did() {
    let state = document(200_000, 2);
    for compress in [false, true] {
        let limits = Limits { snapshot_after: 10, ..Limits::default() };
        let codecs = if compress { &ALL[..1] } else { ALL };
        let config = room::Config { limits, compress, codecs, ..room::Config::new("demo", 7) };
        let (mut paths, _) = filled(Paths::new(config), &state);
        let (bob, _, [down, _]) = join(&mut paths, client(ALL), FAST);
        assert!(paths.people[bob].snapshot().unwrap().1 == state);
        assert!(down > state.len());
        assert_eq!(paths.people[bob].frames(PACKED_SNAPSHOT), [0, 0]);
        // The room is sent no packed snapshot either, because it cannot read one.
        assert_eq!(paths.people[0].frames(PACKED_SNAPSHOT), [0, 0]);
    }
}

#[test]
fn w53_what_does_not_become_smaller_travels_as_it_is() {
    let mut state = 1u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    let noise: Vec<u8> = noise.take(300_000).collect();
    let (mut paths, _) = room_with(&noise);
    let (bob, _, [down, _]) = join(&mut paths, client(ALL), SLOW);
    assert!(paths.people[bob].snapshot().unwrap().1 == noise);
    assert!((300_000..302_000).contains(&down), "{down}");
    assert!(paths.people[bob].largest() < 20_000, "{}", paths.people[bob].largest());
}

#[test]
fn w55_the_slower_the_link_the_smaller_the_snapshot() {
    let state = document(1_000_000, 3);
    let mut least = usize::MAX;
    for way in [LAN, FAST, SLOW] {
        let (mut paths, _) = room_with(&state);
        let (bob, _, [down, _]) = join(&mut paths, client(ALL), way);
        assert!(paths.people[bob].snapshot().unwrap().1 == state);
        assert!(down <= least.saturating_add(1000), "{down} after {least}");
        least = down;
    }
    assert!(least < state.len() * 33 / 100, "{least}");
}

#[test]
fn w55_many_are_sent_the_same_chunks() {
    let state = document(400_000, 4);
    let (mut paths, _) = room_with(&state);
    let before = paths.room.stats().memory;
    let joined: Vec<usize> = (0..10)
        .map(|_| {
            let person = paths.add(client(ALL), SLOW);
            paths.channel(person, "draw", DRAW);
            person
        })
        .collect();
    paths.run(Duration::from_secs(8));
    for &person in &joined {
        assert!(paths.people[person].snapshot().unwrap().1 == state);
        let same = paths.people[joined[0]].bytes()[0];
        assert!(paths.people[person].bytes()[0].abs_diff(same) < 2000);
    }
    // A form for each of a few codecs, not for each participant.
    let held = paths.room.stats().memory - before;
    assert!(held < state.len() + (10 << 20), "{held}");
    // The memory is freed when it is not used.
    paths.run(Duration::from_secs(30));
    assert!(paths.room.stats().memory < before + 100_000);
}

#[test]
fn w53_a_break_in_the_middle_of_a_snapshot() {
    let state = document(600_000, 5);
    let (mut paths, _) = room_with(&state);
    let bob = paths.add(client(ALL), SLOW);
    paths.channel(bob, "draw", DRAW);
    for _ in 0..3 {
        paths.run(700 * MS);
        assert!(paths.people[bob].snapshot().is_none());
        paths.cut(bob);
    }
    let done = |paths: &Paths| paths.people[bob].synced().is_some();
    assert!(paths.run_until(Duration::from_secs(60), done));
    assert!(paths.people[bob].snapshot().unwrap().1 == state);
    assert!(paths.people[bob].errors().is_empty(), "{:?}", paths.people[bob].errors());
}

#[test]
fn w53_a_link_that_closes_in_the_middle_of_a_snapshot() {
    let state = document(2_000_000, 6);
    let (mut paths, _) = room_with(&state);
    let bob = paths.add(client(ALL), LAN);
    paths.channel(bob, "draw", DRAW);
    paths.run(6 * MS);
    paths.change(bob, SLOW.rate);
    let done = |paths: &Paths| paths.people[bob].synced().is_some();
    assert!(paths.run_until(Duration::from_secs(60), done));
    assert!(paths.people[bob].snapshot().unwrap().1 == state);
    let [down, _] = paths.people[bob].bytes();
    assert!(down < 800_000, "{down}");
}

#[test]
fn w54_the_log_is_packed_for_a_late_joiner() {
    let text = document(300_000, 7);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    for (codecs, packed) in [(ALL, true), (&ALL[..1], false)] {
        let limits =
            Limits { snapshot_after: 10_000, snapshot_after_bytes: 1 << 20, ..Limits::default() };
        let mut paths = Paths::new(room::Config { limits, ..room::Config::new("demo", 7) });
        let ann = paths.add(client(ALL), LAN);
        let draw = paths.channel(ann, "draw", DRAW);
        paths.run(500 * MS);
        for line in &lines[..600] {
            send(&mut paths, ann, draw, line);
            paths.run(5 * MS);
        }
        let (bob, _, _) = join(&mut paths, client(codecs), FAST);
        let one = &paths.people[bob];
        let state = one.messages(draw);
        assert!(state == lines[..600], "{} messages", state.len());
        assert_eq!(one.frames(PACKED_MESSAGES)[0] > 0, packed, "{codecs:?}", codecs = codecs.len());
        // Later messages are coded by gmc again.
        send(&mut paths, ann, draw, lines[600]);
        paths.run(500 * MS);
        assert_eq!(paths.people[bob].messages(draw).last(), Some(&lines[600]));
        assert!(paths.people[bob].frames(CODED)[0] > 0);
    }
}

#[test]
fn w54_large_messages_are_packed() {
    let mut paths = Paths::new(room::Config::new("demo", 7));
    let (ann, bob) = (paths.add(client(ALL), SLOW), paths.add(client(ALL), SLOW));
    let draw = paths.channel(ann, "draw", DRAW);
    paths.channel(bob, "draw", DRAW);
    paths.run(1000 * MS);
    let all: Vec<Vec<u8>> = (0..12).map(|nth| document(40_000, nth)).collect();
    for message in &all {
        send(&mut paths, ann, draw, message);
        paths.run(2000 * MS);
    }
    assert!(paths.people[bob].messages(draw) == all);
    let frames = [ann, bob].map(|person| paths.people[person].frames(PACKED_MESSAGES));
    assert_eq!([frames[0][1], frames[1][0]], [12, 12]);
    // The sender is sent only the positions of its own transactions.
    assert!(paths.people[ann].bytes()[0] < 5000);
    for bytes in [paths.people[ann].bytes()[1], paths.people[bob].bytes()[0]] {
        assert!(bytes < 480_000 * 34 / 100, "{bytes}");
    }
}

#[test]
fn w47_other_channels_keep_to_their_compression() {
    let text = document(30_000, 8);
    let mut paths = Paths::new(room::Config::new("demo", 7));
    let (ann, bob) = (paths.add(client(ALL), SLOW), paths.add(client(ALL), SLOW));
    let secret = paths.channel(ann, "secret", DRAW.private());
    paths.channel(bob, "secret", DRAW.private());
    paths.run(1000 * MS);
    send(&mut paths, ann, secret, &text);
    paths.run(2000 * MS);
    assert!(paths.people[bob].messages(secret) == [&text]);
    assert_eq!(paths.people[bob].frames(PACKED_MESSAGES), [0, 0]);
    assert!(paths.people[bob].frames(MESSAGES)[0] > 0);
}

/// A frame of this type, with bit 7 set.
fn last(kind: u8, payload: &[&[u8]]) -> Vec<u8> {
    [&[0x80 | kind][..], &payload.concat()].concat()
}

/// The form of these bytes that LZ4 packed.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    Packer::new(ALL).pack(Choice::codec(1), bytes, &mut packed).unwrap();
    packed
}

/// The error with which the room closed the last transport.
fn away(paths: &Paths) -> Option<String> {
    paths.log.iter().rev().find_map(|event| match event {
        room::Event::Away { error: Some(error), .. } => Some(error.to_string()),
        _ => None,
    })
}

#[test]
fn w53_w54_a_room_stands_whatever_is_packed() {
    let bomb = packed(&vec![0; 10 << 20]);
    assert!(bomb.len() < 65_000);
    let chunk = |total: u8, offset: u8| [0, 11, total, offset];
    let good = packed(&document(2000, 1));
    let twice =
        [&[1, 0, 128, 1, 0, 0, 0][..], &[good.len() as u8 | 128, (good.len() >> 7) as u8], &good];
    for (packet, why) in [
        (last(PACKED_MESSAGES, &[&bomb]), "does not decode"),
        (last(PACKED_MESSAGES, &[&good[..good.len() / 2]]), "does not decode"),
        (last(PACKED_MESSAGES, &[&[]]), "does not decode"),
        (last(PACKED_MESSAGES, &[&[15, 1, 2, 3]]), "does not decode"),
        (last(PACKED_MESSAGES, &[&packed(&twice.concat())]), "malformed record"),
        (last(PACKED_SNAPSHOT, &[&chunk(100, 0), &good]), "not asked for"),
        (last(PACKED_SNAPSHOT, &[&[11, 0]]), "malformed"),
    ] {
        let mut paths = Paths::new(room::Config::new("demo", 7));
        let ann = paths.add(client(ALL), LAN);
        paths.channel(ann, "draw", DRAW);
        paths.run(500 * MS);
        paths.inject(ann, &packet);
        let told = away(&paths).unwrap_or_default();
        assert!(told.contains(why), "{told:?} instead of {why:?}");
        // The room still admits others, and the same participant.
        paths.run(5000 * MS);
        join(&mut paths, client(ALL), LAN);
    }
}

#[test]
fn w53_a_client_stands_whatever_is_packed() {
    let bomb = packed(&vec![0; 10 << 20]);
    let good = packed(&[7; 100]);
    let chunk = |total: u8, offset: u8| [0, 11, total, offset];
    for (packet, why) in [
        (last(PACKED_MESSAGES, &[&bomb]), "does not decode"),
        (last(PACKED_SNAPSHOT, &[&chunk(127, 0), &bomb]), "does not decode"),
        // More bytes than the snapshot has left; then a chunk without the chunks before it.
        (last(PACKED_SNAPSHOT, &[&chunk(99, 0), &good]), "does not decode"),
        (last(PACKED_SNAPSHOT, &[&chunk(127, 5), &good]), "do not fit together"),
        (last(PACKED_SNAPSHOT, &[&chunk(10, 100), &good]), "does not decode"),
        (last(PACKED_SNAPSHOT, &[&[0, 11, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], &good]), "limit"),
        (last(PACKED_SNAPSHOT, &[&chunk(100, 0), &[31, 1]]), "does not decode"),
        (last(PACKED_SNAPSHOT, &[&[1, 11, 100, 0], &good]), "not announced"),
    ] {
        let mut paths = Paths::new(room::Config::new("demo", 7));
        let ann = paths.add(client(ALL), LAN);
        paths.channel(ann, "draw", DRAW);
        paths.run(500 * MS);
        // W95: part 0, named x, of channel 1.
        paths.inject_down(ann, &[PART, 5, 0, 0, 1, b'x', 1]);
        paths.inject_down(ann, &packet);
        let told = paths.people[ann].errors().join(", ");
        assert!(told.contains(why), "{told:?} instead of {why:?}");
    }
}

#[test]
fn w52_what_was_not_agreed_on_is_malformed() {
    let mut paths = Paths::new(room::Config::new("demo", 7));
    let ann = paths.add(client(&[]), LAN);
    paths.channel(ann, "draw", DRAW);
    paths.run(500 * MS);
    let body = last(PACKED_MESSAGES, &[&packed(&document(5000, 1))]);
    paths.inject_down(ann, &body);
    assert!(
        paths.people[ann].errors()[0].contains("not agreed"),
        "{:?}",
        paths.people[ann].errors()
    );
    paths.run(3000 * MS);
    paths.inject(ann, &body);
    assert!(away(&paths).unwrap().contains("not agreed"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_blocks_never_panic(kind in 0x1bu8..0x1d, head in vec(0u8..128, 0..5), rest: Vec<u8>) {
        let mut paths = Paths::new(room::Config::new("demo", 7));
        let ann = paths.add(client(ALL), LAN);
        paths.channel(ann, "draw", DRAW);
        paths.run(100 * MS);
        let packet = last(kind, &[&head, &rest]);
        paths.inject(ann, &packet);
        paths.inject_down(ann, &packet);
        paths.run(100 * MS);
    }
}
