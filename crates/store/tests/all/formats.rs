//! Folders of all formats, which stay in the repository, are opened by this version.
//!
//! `tests/format-1` was made by `fill`, a start, and `continue_filling`, after which the files were
//! copied from under the running store. It never changes. A new format gets a folder of its own.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use groupwire_store::{Append, Keys, Loaded, Monitor, Options, Part, Store, check};
use tempfile::TempDir;

use crate::support::{Waiting, append, part, record};

/// Some time in 2024.
const NOW: u64 = 1_710_000_000_000;

fn open(folder: &Path) -> Store {
    let options = Options { clock: Arc::new(|| NOW), ..Options::default() };
    Store::open(folder, options).unwrap()
}

/// Stores what the folder of format 1 holds in its database.
fn fill(store: &Store) {
    let meta = Append {
        meta: Some(b"meta".to_vec()),
        reserved: Some(9),
        ..append("board", vec![record(1, "one"), record(2, vec![2; 5000])])
    };
    store.add(meta).unwrap();
    let other = Part { name: "other".into(), channels: vec![2, 70_000], ..part(1, "") };
    store.save("board", part(1, vec![7; 6000])).unwrap();
    store.save("board", other).unwrap();
    store.put("Räume/ü", vec![record(1, "")]).unwrap();
}

/// Stores what is only in its write-ahead log, as the process was killed.
fn continue_filling(store: &Store) {
    store.put("board", vec![record(3, "three")]).unwrap();
}

fn rooms(store: &Store) -> [Loaded; 2] {
    ["board", "Räume/ü"].map(|room| store.get(room))
}

#[test]
fn a_folder_of_format_1_is_opened_and_continued() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format-1"), old.path());
    let keys = Keys::load_or_create(old.path()).unwrap();
    assert_eq!(*keys.current(), [0x11; 32]);
    assert!(keys.accepted(NOW + 1).eq([&[0x11; 32], &[0x22; 32]]));

    let store = open(old.path());
    let fresh = open(new.path());
    fill(&fresh);
    continue_filling(&fresh);
    assert_eq!(rooms(&store), rooms(&fresh));
    assert_eq!(store.get("board").records.len(), 2, "the third record is in the write-ahead log");
    assert_eq!(store.usage().live, fresh.usage().live);
    store.put("board", vec![record(4, "four")]).unwrap();
    store.remove("Räume/ü").unwrap();
    drop(store);
    let summary = check(old.path()).unwrap();
    assert_eq!((summary.rooms, summary.records, summary.parts, summary.damaged), (1, 4, 2, 0));
    assert_eq!(open(old.path()).get("board").head, 4);
}

/// Copies the folder, whose keys only the user may read.
fn copy(from: &Path, to: &Path) {
    for file in ["rooms.db", "rooms.db-wal", "keys"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(to.join("keys"), fs::Permissions::from_mode(0o600)).unwrap();
    }
}
