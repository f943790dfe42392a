//! Any bytes as messages of two clients of y-websocket, as the server takes them: nothing panics,
//! what clients would be sent is well-formed, and nobody is there whose connection has ended.

#![no_main]

use groupwire_yjs::{Awareness, Document, Message, StateVector, Update, reply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (mut document, mut awareness) = (Document::default(), Awareness::default());
    let mut rest = data;
    // Each message has its connection and its length before it.
    while let Some((&[head, length], after)) = rest.split_first_chunk() {
        let connection = u64::from(head & 1);
        if head & 2 != 0 {
            let departed = awareness.leave(connection);
            assert!(awareness.states(departed.gone).all(|state| state.json.is_none()));
        }
        let (bytes, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        match Message::parse(bytes) {
            Ok(Message::AskDocument(since)) => {
                Update::parse(&document.diff(&since)).expect("an answer is an update");
            }
            Ok(Message::Update(update)) => {
                let Ok(update) = Update::parse(update) else { continue };
                let Some(news) = document.news(&update) else { continue };
                document.add(news).expect("what is new is an update");
                assert_eq!(document.news(&update), None);
            }
            Ok(Message::Awareness(states)) => {
                let Ok(applied) = awareness.apply(connection, &states) else { continue };
                let told = reply::awareness(awareness.states(applied.changed));
                Message::parse(&told).expect("what others are told is a message");
            }
            _ => {}
        }
    }
    let whole = document.diff(&StateVector::default());
    assert!(Document::of([&whole[..]]).expect("an update").is_alike(&document));
    (0..2).for_each(|connection| drop(awareness.leave(connection)));
    assert_eq!(awareness.here().count(), 0);
});
