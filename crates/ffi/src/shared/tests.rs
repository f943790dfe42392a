//! Shared data without a server: changes show at once, and wait for a connection.

use std::time::{Duration, Instant};

use super::*;
use crate::event::{Event, SharedChange, SharedKind};
use crate::options::Options;

/// Where no server can be.
const NOWHERE: &str = "tcp://127.0.0.1:1";

fn room() -> (Room, u32) {
    let room = Room::connect(NOWHERE, Options::new("test")).unwrap();
    let data = room.shared(&SharedOptions::default()).unwrap();
    (room, data)
}

/// The changes that the queue tells now.
fn changes(room: &Room) -> Vec<SharedChange> {
    let mut told = Vec::new();
    while let Some(event) = room.poll().unwrap() {
        if let Event::SharedChanged { changes, .. } = event {
            told.extend(changes);
        }
    }
    told
}

fn text(value: Option<Json>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[test]
fn own_changes_show_at_once_and_are_told() {
    let (room, data) = room();
    room.map_set(data, "shapes", "a", json("`value`", r#"{"x":1,"y":2}"#).unwrap()).unwrap();
    room.map_patch(data, "shapes", "a", Json::object([("x", 5.into())]), &["y"]).unwrap();
    assert_eq!(text(room.map_get(data, "shapes", "a").unwrap()), r#"{"x":5}"#);
    let id = room.list_insert(data, "tasks", usize::MAX, "milk".into()).unwrap();
    let first = room.list_insert(data, "tasks", 0, "bread".into()).unwrap();
    room.list_move(data, "tasks", &id, 0).unwrap();
    room.list_set(data, "tasks", &first, "rolls".into()).unwrap();
    assert_eq!(text(room.list_values(data, "tasks").ok()), r#"["milk","rolls"]"#);
    assert_eq!(room.list_ids(data, "tasks").unwrap(), [id.clone(), first]);
    room.counter_add(data, "likes", -3).unwrap();
    assert_eq!(room.counter_value(data, "likes"), Ok(-3));
    // Nobody holds a lock before the room has ordered that.
    room.lock_acquire(data, "pen").unwrap();
    room.turns_join(data, "game").unwrap();
    assert_eq!(room.lock_holder(data, "pen"), Ok(None));
    assert_eq!(room.turns_participants(data, "game"), Ok(vec![]));
    assert_eq!(room.shared_state(data).unwrap().pending, 9);
    let told = changes(&room);
    let shapes = told.iter().find(|change| change.name == "shapes").unwrap();
    assert_eq!((shapes.kind, &shapes.keys[..]), (SharedKind::Cells, &["a".to_owned()][..]));
    let likes = told.iter().find(|change| change.name == "likes").unwrap();
    assert_eq!((likes.kind, likes.keys.len()), (SharedKind::Counter, 0));
    room.map_delete(data, "shapes", "a").unwrap();
    room.list_delete(data, "tasks", &id).unwrap();
    assert_eq!(text(room.map_entries(data, "shapes").ok()), "{}");
    assert_eq!(room.list_get(data, "tasks", &id), Ok(None));
}

#[test]
fn a_batch_is_one_operation_and_events_wait_for_its_end() {
    let (room, data) = room();
    room.begin_batch(data).unwrap();
    room.map_set(data, "shapes", "a", 1.into()).unwrap();
    room.counter_add(data, "moves", 1).unwrap();
    assert_eq!(room.map_get(data, "shapes", "a"), Ok(Some(1.into())));
    assert_eq!(room.poll().unwrap(), None);
    assert_eq!(room.begin_batch(data).unwrap_err().code, Code::Busy);
    assert_eq!(room.undo(data).unwrap_err().code, Code::Busy);
    room.end_batch(data).unwrap();
    assert_eq!(changes(&room).len(), 2);
    assert_eq!(room.shared_state(data).unwrap().pending, 1);
    assert_eq!(room.undo(data), Ok(true));
    assert_eq!(room.counter_value(data, "moves"), Ok(0));
    assert_eq!((room.undo(data), room.redo(data)), (Ok(false), Ok(true)));
    assert_eq!(room.map_get(data, "shapes", "a"), Ok(Some(1.into())));
    room.begin_batch(data).unwrap();
    room.map_delete(data, "shapes", "a").unwrap();
    room.abort_batch(data).unwrap();
    assert_eq!(room.map_get(data, "shapes", "a"), Ok(Some(1.into())));
}

/// An event that is passed to the data takes an open batch back, and `Queue::next` looks for open
/// batches before it passes one.
#[test]
fn no_thread_can_poll_while_a_batch_begins() {
    let (room, data) = room();
    let shared = room.find_shared(data).unwrap();
    let is_locked = || room.inner().unwrap().queue.try_lock().is_err();
    std::thread::scope(|scope| {
        // This thread has locked the data, so `begin_batch` stops where it locks the data, too.
        let held = shared.lock();
        let begun = scope.spawn(|| room.begin_batch(data));
        // The queue may be locked for a moment by any function: only `begin_batch` keeps it locked.
        let limit = Instant::now() + Duration::from_secs(60);
        let mut times_locked = 0;
        while times_locked < 50 {
            times_locked = if is_locked() { times_locked + 1 } else { 0 };
            assert!(Instant::now() < limit, "begin_batch leaves the queue to threads that poll");
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(held);
        assert_eq!(begun.join().unwrap(), Ok(()));
    });
    assert!(shared.lock().is_batch());
}

#[test]
fn what_is_wrong_has_a_code_and_changes_nothing() {
    let (room, data) = room();
    let code = |result: Result<(), Error>| result.unwrap_err().code;
    assert_eq!(code(room.map_set(data, "a/b", "k", 1.into())), Code::BadName);
    assert_eq!(code(room.map_set(data, "m", &"k".repeat(129), 1.into())), Code::BadKey);
    assert_eq!(code(room.map_set(data, "m", "k", f64::NAN.into())), Code::NotJson);
    assert_eq!(code(room.map_patch(data, "m", "k", 1.into(), &[])), Code::BadArgument);
    assert_eq!(code(room.counter_add(data, "c", i64::MIN)), Code::BadArgument);
    assert_eq!(code(room.counter_add(data + 1, "c", 1)), Code::InvalidArgument);
    assert_eq!(code(json("`value`", "{").map(drop)), Code::NotJson);
    let long = SharedOptions { author: "a".repeat(129), ..SharedOptions::default() };
    assert_eq!(code(room.shared(&long).map(drop)), Code::InvalidArgument);
    let nameless = SharedOptions { name: String::new(), ..SharedOptions::default() };
    assert_eq!(code(room.shared(&nameless).map(drop)), Code::InvalidArgument);
    assert_eq!(room.shared_state(data).unwrap().pending, 0);
}

#[test]
fn data_of_one_name_is_opened_once_and_leaves_the_numbers_of_channels_alone() {
    let (room, data) = room();
    let again = SharedOptions { author: "another".to_owned(), ..SharedOptions::default() };
    assert_eq!(room.shared(&again), Ok(data));
    let other = SharedOptions { name: "other".to_owned(), ..SharedOptions::default() };
    assert_ne!(room.shared(&other), Ok(data));
    room.map_set(data, "m", "k", 1.into()).unwrap();
    assert_eq!(room.map_get(data + 1, "m", "k"), Ok(None));
    let options = crate::options::ChannelOptions::default();
    let chat = room.channel("chat", crate::options::Qos::transaction(), &options).unwrap();
    assert!(room.send(chat, b"x", &Default::default()).is_ok());
    assert_eq!(room.close_channel(0).unwrap_err().code, Code::UnknownChannel);
}
