//! Random and damaged bytes: they are refused, or everything works with them.

use std::time::{Duration, Instant};

use groupwire_yjs::{
    Awareness, Document, Error, MAX_DEPTH, MAX_UPDATE, Message, Pieces, StateVector, Update, diff,
    merge, reply, without_deleted,
};
use oorandom::Rand32;

use crate::vectors::{canonical, vectors};

/// Checks that nothing panics, and that updates which are made of an accepted update are accepted,
/// too.
fn holds(input: &[u8]) {
    if let Ok(since) = StateVector::parse(input) {
        assert_eq!(StateVector::parse(&since.encode()), Ok(since));
    }
    let Ok(update) = Update::parse(input) else { return };
    let merged = merge(&[update.clone(), update.clone()]);
    assert!(merged.len() <= input.len() + 64, "{} of {}", merged.len(), input.len());
    let again = Update::parse(&merged).expect("what was merged is an update");
    assert_eq!(again.state_vector(), update.state_vector());
    assert_eq!(again.delete_set(), update.delete_set());
    assert_eq!(canonical(&merged), merged);
    for clock in 0..4 {
        let since = StateVector::parse(&[1, 1, clock]).expect("a state vector");
        let rest = diff(&update, &since);
        let rest = Update::parse(&rest).expect("what is left is an update");
        assert_eq!(rest.delete_set(), update.delete_set());
    }
    let collected = without_deleted(&again);
    let [before, after] = [&merged, &collected].map(|one| Document::of([&one[..]]).expect("one"));
    assert!(after.is_alike(&before));
    let all = update.state_vector();
    let rest = diff(&update, &all);
    assert_eq!(Update::parse(&rest).expect("an update").delete_set(), update.delete_set());
}

/// Checks the same for messages of clients, and for parts of a room's snapshot.
fn messages_hold(input: &[u8], document: &mut Document, awareness: &mut Awareness) {
    let mut pieces = Pieces::default();
    if let Ok(update) = pieces.decode(input) {
        let mut again = Pieces::default();
        assert_eq!(again.decode(&pieces.encode(update)), Ok(update));
    }
    match Message::parse(input) {
        Ok(Message::AskDocument(since)) => {
            Update::parse(&document.diff(&since)).expect("an answer is an update");
        }
        Ok(Message::Update(update)) => {
            let Ok(update) = Update::parse(update) else { return };
            let Some(news) = document.news(&update) else { return };
            document.add(news).expect("what is new is an update");
            assert_eq!(document.news(&update), None);
        }
        Ok(Message::Awareness(states)) => {
            let Ok(applied) = awareness.apply(1, &states) else { return };
            let told = reply::awareness(awareness.states(applied.changed));
            Message::parse(&told).expect("what others are told is a message");
        }
        _ => {}
    }
}

/// Changes some bytes: single ones, numbers of several bytes, runs that are cut out, repeated, or
/// come from another input.
fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Rand32) {
    for _ in 0..=random.rand_range(0..4) {
        let at = random.rand_range(0..input.len() as u32 + 1) as usize;
        let end = (at + random.rand_range(0..12) as usize).min(input.len());
        match random.rand_range(0..7) {
            0 if at < input.len() => input[at] = random.rand_u32() as u8,
            1 if at < input.len() => input[at] ^= 1 << random.rand_range(0..8),
            2 if at < input.len() => {
                input[at] = COMMON[random.rand_range(0..COMMON.len() as u32) as usize];
            }
            3 => drop(input.drain(at..end)),
            4 => {
                let run = input[at..end].to_vec();
                input.splice(at..at, run);
            }
            5 => {
                let from = random.rand_range(0..other.len() as u32 + 1) as usize;
                let to = (from + random.rand_range(0..40) as usize).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            // The largest numbers.
            _ => drop(input.splice(at..end, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f])),
        }
    }
}

/// Damages what Yjs has made, again and again, for a minute, or for as many seconds as
/// GROUPWIRE_FUZZ_SECONDS says.
#[test]
#[ignore = "it takes as long as it is told"]
fn damage_for_long() {
    let seconds = std::env::var("GROUPWIRE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(60));
    let mut random = Rand32::new(u64::from(std::process::id()));
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    for vector in vectors() {
        let document = vector.one("document");
        inputs.extend([reply::document(&document), reply::update(&document), document]);
        inputs.extend(vector.all("updates"));
        inputs.extend([vector.one("since"), vector.one("part")]);
    }
    let state = |client, json| groupwire_yjs::State { client, clock: 1, json: Some(json) };
    inputs.push(reply::awareness([state(7, r#"{"a":[1,"x",null]}"#), state(8, "1")]));
    inputs.push([&[1, 7, 1, 2, 1, 2, 1, 2][..], &inputs[2]].concat());
    let (mut runs, mut accepted) = (0_u64, 0_u64);
    while Instant::now() < end {
        let (mut document, mut awareness) = (Document::default(), Awareness::default());
        for _ in 0..200 {
            let [at, other] = [0, 1].map(|_| random.rand_range(0..inputs.len() as u32) as usize);
            let mut input = inputs[at].clone();
            mutate(&mut input, &inputs[other], &mut random);
            holds(&input);
            messages_hold(&input, &mut document, &mut awareness);
            runs += 1;
            accepted += u64::from(Update::parse(&input).is_ok());
        }
        let whole = document.diff(&StateVector::default());
        assert!(Document::of([&whole[..]]).expect("an update").is_alike(&document));
        drop(awareness.leave(1));
        assert_eq!(awareness.here().count(), 0);
    }
    println!("{runs} inputs, of which {accepted} are updates");
}

/// Bytes that structs and values are made of.
const COMMON: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x28, 0x44, 0x61, 0x75, 0x76, 0x77, 0x7d, 0x7e, 0x81, 0x84,
    0xc4,
];

#[test]
fn any_bytes() {
    let mut random = Rand32::new(1);
    for _ in 0..30_000 {
        let mut input: Vec<u8> =
            (0..random.rand_range(0..40)).map(|_| random.rand_u32() as u8).collect();
        holds(&input);
        for byte in &mut input {
            *byte = COMMON[usize::from(*byte) % COMMON.len()];
        }
        holds(&input);
    }
}

#[test]
fn damaged_updates() {
    let mut random = Rand32::new(2);
    for vector in vectors() {
        let document = vector.one("document");
        let mut below = |limit: usize| random.rand_range(0..limit as u32) as usize;
        for _ in 0..300 {
            let mut input = document.clone();
            for _ in 0..=below(3) {
                input[below(document.len())] = below(256) as u8;
            }
            if below(4) == 0 {
                input.truncate(below(document.len()));
            }
            holds(&input);
        }
    }
}

#[test]
fn an_update_that_is_cut_off_is_refused() {
    for vector in vectors().into_iter().take(4) {
        let input = vector.one("document");
        for end in 0..input.len() {
            assert!(Update::parse(&input[..end]).is_err());
        }
        let longer = [input.as_slice(), &[0]].concat();
        assert_eq!(Update::parse(&longer).err(), Some(Error::TooLong { at: input.len() }));
    }
}

/// An update of client 1 with one struct.
fn one(parts: &[&[u8]]) -> Vec<u8> {
    [&[1, 1, 1, 0], parts.concat().as_slice(), &[0]].concat()
}

#[test]
fn what_yjs_would_fail_on_is_refused() {
    let refused: &[(&str, Vec<u8>)] = &[
        ("nothing", vec![]),
        ("bytes after the end", vec![0, 0, 0]),
        (
            "a number of 54 bits",
            vec![0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 0, 1],
        ),
        ("an endless number", vec![0x80; 100]),
        ("more structs than bytes", vec![1, 0xff, 0xff, 0xff, 0x7f, 1, 0, 0, 1, 0]),
        ("more clients than bytes", vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        ("more deletions than bytes", vec![0, 1, 1, 0xff, 0xff, 0x7f, 0, 1]),
        ("a struct of no length", one(&[&[0, 0]])),
        ("a text of no length", one(&[&[4, 1, 1, b't', 0]])),
        ("a deletion of no length", vec![0, 1, 1, 1, 0, 0]),
        ("a client twice", vec![2, 1, 1, 0, 0, 1, 1, 1, 5, 0, 1, 0]),
        ("a client without structs", vec![1, 0, 1, 0, 0]),
        ("an unknown content", one(&[&[11, 1, 1, b't', 0]])),
        ("an unknown type", one(&[&[7, 1, 1, b't', 9]])),
        ("an unknown parent", one(&[&[4, 2, 1, b't', 1, b'a']])),
        ("an unknown value", one(&[&[8, 1, 1, b't', 1, 5]])),
        ("its own origin", one(&[&[0x84, 1, 0, 1, b'a']])),
        ("a later right origin of its own", one(&[&[0x44, 1, 9, 1, b'a']])),
        ("its own parent", one(&[&[4, 0, 1, 0, 1, b'a']])),
        ("text that is no UTF-8", one(&[&[4, 1, 1, b't', 1, 0xff]])),
        ("JSON that is none", one(&[&[5, 1, 1, b't', 1, b'{']])),
        ("a subdocument without options", one(&[&[9, 1, 1, b't', 1, b'g', 126]])),
        (
            "clocks beyond 53 bits",
            one(&[&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0, 1]]),
        ),
    ];
    for (what, input) in refused {
        assert!(Update::parse(input).is_err(), "{what}");
    }
    for (what, input) in [
        ("garbage", one(&[&[0, 5]])),
        (
            "old JSON",
            one(&[&[
                2, 1, 1, b't', 2, 9, b'u', b'n', b'd', b'e', b'f', b'i', b'n', b'e', b'd', 1, b'1',
            ]]),
        ),
        ("a gap", one(&[&[10, 5]])),
        ("nothing at all", vec![0, 0]),
    ] {
        assert!(Update::parse(&input).is_ok(), "{what}");
        holds(&input);
    }
}

#[test]
fn values_do_not_nest_without_an_end() {
    let nested = |depth: usize| one(&[&[8, 1, 1, b't', 1], &[117, 1].repeat(depth), &[126]]);
    assert!(Update::parse(&nested(MAX_DEPTH)).is_ok());
    let error = Error::TooDeep { at: 9, limit: MAX_DEPTH };
    assert_eq!(Update::parse(&nested(MAX_DEPTH + 1)).err(), Some(error));
    assert_eq!(Update::parse(&nested(1_000_000)).err(), Some(error));
}

#[test]
fn an_update_has_a_largest_size() {
    let input = vec![0; MAX_UPDATE + 1];
    let error = Error::TooLarge { bytes: MAX_UPDATE + 1, limit: MAX_UPDATE };
    assert_eq!(Update::parse(&input).err(), Some(error));
}

#[test]
fn half_a_character_is_replaced_as_yjs_does() {
    // "😀a" at clocks 0 to 2.
    let update = one(&[&[4, 1, 1, b't', 5], "😀a".as_bytes()]);
    let since = StateVector::parse(&[1, 1, 1]).expect("a state vector");
    let rest = diff(&Update::parse(&update).expect("an update"), &since);
    let expected = [&[1, 1, 1, 1, 0x84, 1, 0, 4], "\u{fffd}a".as_bytes(), &[0]].concat();
    assert_eq!(rest, expected);
}

#[test]
fn letters_become_one_text() {
    let letter = |clock: u8| match clock {
        0 => vec![1, 1, 1, 0, 4, 1, 1, b't', 1, b'a', 0],
        _ => vec![1, 1, 1, clock, 0x84, 1, clock - 1, 1, b'a' + clock, 0],
    };
    let letters: Vec<_> = (0..26).rev().map(letter).collect();
    let updates: Vec<_> =
        letters.iter().map(|update| Update::parse(update).expect("an update")).collect();
    let expected = one(&[&[4, 1, 1, b't', 26], b"abcdefghijklmnopqrstuvwxyz"]);
    assert_eq!(merge(&updates), expected);
}
