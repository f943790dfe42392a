//! Any bytes as what others send to a program of shared data: operations, previews and snapshots:
//! nothing panics, and a late joiner that begins with the program's snapshot has the same state.

#![no_main]

use std::convert::Infallible;

use groupwire_shared::{Definitions, Gap, Input, Json, Link, Operation, Shared, Taken};
use libfuzzer_sys::fuzz_target;

/// A room that takes everything.
struct Anywhere;

impl Link for Anywhere {
    type Error = Infallible;

    fn send(&mut self, operation: &str) -> Result<Taken, Infallible> {
        Operation::parse(operation).expect("what a program sends is an operation");
        Ok(Taken::Yes)
    }

    fn preview(&mut self, _key: &str, text: &str) {
        Json::parse(text).expect("a preview is JSON");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut program = Shared::new("me", Definitions::new(), Anywhere);
    let mut rest = data;
    // Each message has its kind and its length before it.
    while let Some((&[kind, low, high], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high]));
        let (bytes, after) = after.split_at(length.min(after.len()));
        rest = after;
        let text = std::str::from_utf8(bytes).ok();
        if let Some(json) = text.and_then(|text| Json::parse(text).ok()) {
            let again = Json::parse(&json.to_string()).expect("what is written is JSON");
            assert_eq!(again.to_string(), json.to_string());
        }
        let sender = u64::from(kind >> 4);
        program.handle_input(match kind & 7 {
            0..=3 => Input::Message { sender, text },
            4 => Input::Preview { sender, key: "shapes/one", text, is_stale: false },
            5 => Input::Snapshot(bytes),
            6 => Input::Departed(sender),
            _ => Input::Gap(if sender == 0 { Gap::Incarnation } else { Gap::Reset }),
        });
        drop(program.list("texts").values());
        while program.poll_event().is_some() {}
    }
    // A late joiner has the same state.
    let Some(snapshot) = program.snapshot() else { return };
    let mut late = Shared::new("late", Definitions::new(), Anywhere);
    late.handle_input(Input::Snapshot(snapshot.as_bytes()));
    assert!(late.is_complete(), "a snapshot is well-formed");
    assert_eq!(late.state().to_string(), program.state().to_string());
    drop(program.list("texts").push(1));
    program.undo().expect("the room takes everything");
});
