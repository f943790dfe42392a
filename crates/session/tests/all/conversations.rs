//! Recorded conversations of each version of the wire, replayed against the cores: a room or a
//! client with the recorded inputs has exactly the recorded outputs.
//!
//! `RECORD=1 cargo test -p groupwire-session --test all conversations` records those of today's
//! wire anew.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs};

use crate::conversation::{replay, stories};

/// The wire that is spoken today: version 1, with capabilities 1 to 10.
const TODAY: &str = "version-1";

/// The limit for all recordings together, in bytes: people read them, and each test run replays
/// them.
const MOST_BYTES: u64 = 300_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversations")
}

/// Records if that is asked for, once for all tests.
fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if env::var_os("RECORD").is_some() {
            fs::create_dir_all(folder().join(TODAY)).unwrap();
            for (name, talk) in stories::all() {
                fs::write(folder().join(TODAY).join(format!("{name}.txt")), talk.text()).unwrap();
            }
        }
    });
}

#[test]
fn recorded_conversations_are_held_again_byte_by_byte() {
    record();
    let mut bytes = 0;
    for version in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        for file in fs::read_dir(&version).into_iter().flatten().map(|entry| entry.unwrap().path())
        {
            let text = fs::read_to_string(&file).unwrap();
            bytes += text.len() as u64;
            if let Err(error) = replay(&text) {
                panic!("{}: {error}", file.display());
            }
        }
    }
    assert!((1..=MOST_BYTES).contains(&bytes), "{bytes} bytes of recordings");
}

/// The recordings are those of the present stories: after changing a story, record it again.
#[test]
fn the_recordings_are_of_todays_stories() {
    record();
    for (name, talk) in stories::all() {
        let recorded =
            fs::read_to_string(folder().join(TODAY).join(format!("{name}.txt"))).unwrap();
        assert!(recorded == talk.text(), "{name} is another story now: RECORD=1 records it");
    }
}

#[test]
fn a_changed_byte_a_missing_line_and_one_too_many_are_noticed() {
    let text = stories::plain().text();
    assert_eq!(replay(&text), Ok(()));
    let lines: Vec<&str> = text.lines().collect();
    let of_room = lines.iter().rposition(|line| line.contains("room > packet")).unwrap();
    let of_client = lines.iter().position(|line| line.contains("c1 > packet")).unwrap();
    for at in [of_room, of_client] {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let last = changed[at].pop().unwrap();
        changed[at].push(if last == '0' { '1' } else { '0' });
        assert!(replay(&changed.join("\n")).is_err(), "a changed byte in line {at}");
    }
    let mut shorter = lines.clone();
    shorter.remove(of_room);
    assert!(replay(&shorter.join("\n")).is_err(), "a packet that was not recorded");
    let mut longer = lines.clone();
    longer.insert(of_room, lines[of_room]);
    assert!(replay(&longer.join("\n")).is_err(), "a packet that is not sent");
}
