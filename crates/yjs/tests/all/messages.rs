//! Messages of y-websocket, as they are and damaged.

use groupwire_yjs::{Error, MAX_STATES, Message, State, StateVector, reply};
use oorandom::Rand32;

const ADA: State<'_> = State { client: 1 << 40, clock: 300, json: Some("{\"name\":\"Ada 😀\"}") };
const BOB: State<'_> = State { client: 2, clock: 1, json: None };

#[test]
fn what_a_server_sends_is_what_a_client_would_send() {
    let vector = StateVector::parse(&[1, 5, 7]).expect("a state vector");
    assert_eq!(Message::parse(&reply::ask_document(&vector)), Ok(Message::AskDocument(vector)));
    assert_eq!(Message::parse(&reply::document(&[0, 0])), Ok(Message::Update(&[0, 0])));
    assert_eq!(Message::parse(&reply::update(&[0, 0])), Ok(Message::Update(&[0, 0])));
    let states = vec![ADA, BOB];
    assert_eq!(
        Message::parse(&reply::awareness(states.iter().copied())),
        Ok(Message::Awareness(states))
    );
    assert_eq!(Message::parse(&[3]), Ok(Message::AskAwareness));
    assert_eq!(Message::parse(&reply::denied("no")), Ok(Message::Other(2)));
    assert_eq!(Message::parse(&[99, 1, 2]), Ok(Message::Other(99)), "of an application");
    // As Yjs's own decoder shows a text: 02 00 and the reason.
    assert_eq!(reply::denied("ü"), [2, 0, 2, 0xc3, 0xbc]);
}

#[test]
fn what_is_no_message_is_refused() {
    for (what, bytes) in [
        ("nothing", &[][..]),
        ("an unknown sync message", &[0, 3, 0]),
        ("a length beyond the end", &[0, 2, 5, 0, 0]),
        ("bytes after the end", &[0, 2, 2, 0, 0, 0]),
        ("a question with an answer behind it", &[3, 0]),
        ("a state vector that is none", &[0, 0, 1, 1]),
        ("a state that is no JSON", &[1, 5, 1, 1, 1, 1, b'{']),
        ("a state that is no text", &[1, 5, 1, 1, 1, 1, 0xff]),
        ("fewer states than announced", &[1, 1, 1]),
        ("more states than announced", &[1, 8, 0, 1, 1, 4, b'n', b'u', b'l', b'l']),
        ("an endless number", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    ] {
        assert!(Message::parse(bytes).is_err(), "{what}");
    }
    let many = reply::awareness((0..MAX_STATES as u64 + 1).map(|client| State { client, ..BOB }));
    assert!(matches!(Message::parse(&many), Err(Error::Malformed { .. })));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let deep = reply::awareness([State { json: Some(&deep), ..ADA }]);
    assert!(matches!(Message::parse(&deep), Err(Error::TooDeep { .. })));
}

#[test]
fn damaged_messages_do_no_harm() {
    let mut random = Rand32::new(3);
    let vector = StateVector::parse(&[2, 5, 7, 1, 9]).expect("a state vector");
    let messages =
        [reply::ask_document(&vector), reply::update(&[0, 0]), reply::awareness([ADA, BOB, ADA])];
    for _ in 0..30_000 {
        let mut below = |limit: usize| random.rand_range(0..limit as u32) as usize;
        let mut bytes = messages[below(messages.len())].clone();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            bytes[at] = below(256) as u8;
        }
        bytes.truncate(below(bytes.len()) + 1);
        if let Ok(Message::Awareness(states)) = Message::parse(&bytes) {
            let again = reply::awareness(states.iter().copied());
            assert_eq!(Message::parse(&again), Ok(Message::Awareness(states)));
        }
    }
}
