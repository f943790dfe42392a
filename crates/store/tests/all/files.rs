//! Folders that cannot be opened, and exports.

use std::fs;
#[cfg(unix)]
use std::io::Write;

use groupwire_store::{
    Append, Directory, Error, Keys, Loaded, MemoryStore, Monitor, OpenError, Options, Store,
    Stores, Transfer, check, export, repair,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Waiting, append, part, record};

fn open(folder: &TempDir) -> Result<Store, OpenError> {
    Store::open(folder.path(), Options::default())
}

#[test]
fn a_folder_that_is_in_use_names_the_process() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder).unwrap();
    let error = open(&folder).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    drop(store);
    open(&folder).unwrap();
}

#[test]
fn a_folder_of_a_newer_version_and_a_foreign_database_are_refused() {
    let folder = TempDir::new().unwrap();
    drop(open(&folder).unwrap());
    let path = folder.path().join("rooms.db");
    let set = |pragma| Connection::open(&path).unwrap().pragma_update(None, pragma, 9).unwrap();
    set("user_version");
    let error = open(&folder).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 9, known: 1, .. }), "{error}");
    set("application_id");
    assert!(matches!(open(&folder).unwrap_err(), OpenError::Foreign(_)));
    fs::write(
        &path,
        "a file of something else, which is longer than the header of a database".repeat(9),
    )
    .unwrap();
    let error = open(&folder).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("groupwire store repair"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let store = open(&folder).unwrap();
    store.put("a", vec![record(1, "one")]).unwrap();
    drop(store);
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("lock", 0o444);
    if fs::File::options().append(true).open(folder.path().join("lock")).is_ok() {
        skip("a user that is not root");
        return;
    }
    set("lock", 0o644);
    for (name, read_only, writable) in
        [("lock", 0o444, 0o644), ("rooms.db", 0o444, 0o644), (".", 0o555, 0o755)]
    {
        set(name, read_only);
        let outcome = open(&folder);
        set(name, writable);
        let error = outcome.unwrap_err();
        assert!(matches!(error, OpenError::ReadOnly(_)), "{name}: {error}");
    }
    assert_eq!(open(&folder).unwrap().get("a").head, 1);
}

/// Says that this test cannot run: in its output, and in the file that scripts/skipped.mjs reads.
#[cfg(unix)]
fn skip(need: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    println!("skipped: {test} needs {need}");
    if let Some(file) = std::env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = fs::File::options().append(true).create(true).open(file).unwrap();
        // In one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {need}\n").as_bytes()).unwrap();
    }
}

fn fill(store: &impl Waiting) {
    let meta = Append {
        meta: Some(b"meta".to_vec()),
        reserved: Some(9),
        ..append("a", vec![record(1, "one")])
    };
    store.add(meta).unwrap();
    store.put("a", vec![record(2, vec![2; 1 << 20]), record(3, vec![3; 1 << 20])]).unwrap();
    store.put("b", vec![record(1, "b")]).unwrap();
    store.save("a", part(2, vec![7; 3 << 20])).unwrap();
}

#[test]
fn an_export_of_a_running_server_is_imported_elsewhere() {
    let (from, to, files) =
        (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = open(&from).unwrap();
    Keys::load_or_create(from.path()).unwrap();
    fill(&store);
    let file = files.path().join("rooms.export");
    let summary = export(from.path(), &file, |_| true).unwrap();
    assert_eq!((summary.rooms, summary.records, summary.parts, summary.damaged), (2, 4, 1, 0));
    assert_eq!(check(&file).unwrap(), summary);
    assert_eq!(check(from.path()).unwrap(), summary);
    assert!(
        matches!(export(from.path(), &file, |_| true), Err(Error::Io(_))),
        "an export overwrites nothing"
    );
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 1);

    let other = open(&to).unwrap();
    assert_eq!(other.import(&file, &|_| true, false, &mut || 8).unwrap(), ["a", "b"]);
    let mut expected = store.get("a");
    expected.incarnation = 8;
    let imported = other.get("a");
    expected.active = imported.active;
    assert_eq!(imported, expected);
    assert_eq!(other.read("a", 1, u64::MAX).unwrap(), store.read("a", 1, u64::MAX).unwrap());
    let next = Append { incarnation: 8, ..append("a", vec![record(4, "four")]) };
    other.add(next).unwrap();
    drop(other);
    assert_eq!(open(&to).unwrap().get("a").head, 4);
}

#[test]
fn stores_on_a_disk_and_in_memory_take_each_others_exports() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rooms.export");
    let both = |name| {
        let disk = Store::open(folder.path().join(name), Options::default()).unwrap();
        [Stores::new(disk), Stores::new(MemoryStore::new(Options::default()))]
    };
    let receivers = both("to");
    for from in both("from") {
        fill(&from);
        from.put("c", vec![record(1, "not wanted")]).unwrap();
        let export = || from.transfer.export(&file, &|name| name != "c");
        let summary = export().unwrap();
        assert_eq!((summary.rooms, summary.records, summary.parts, summary.damaged), (2, 4, 1, 0));
        assert_eq!(check(&file).unwrap(), summary);
        assert!(matches!(export(), Err(Error::Io(_))), "an export overwrites nothing");
        for to in &receivers {
            let import = |file, wanted: &dyn Fn(&str) -> bool, replace| {
                to.transfer.import(file, wanted, replace, &mut || 8)
            };
            assert_eq!(import(&file, &|_| true, true).unwrap(), ["a", "b"]);
            assert_eq!(import(&file, &|_| true, false), Err(Error::Exists("a".into())));
            assert_eq!(import(&file, &|name| name == "b", true).unwrap(), ["b"]);
            assert!(import(&folder.path().join("none"), &|_| true, true).is_err());
            let imported = to.get("a");
            let expected = Loaded { incarnation: 8, active: imported.active, ..from.get("a") };
            assert_eq!(imported, expected);
            assert_eq!(to.history.snapshots("a").unwrap().oldest, 0, "covered records came along");
            to.add(Append { incarnation: 8, ..append("a", vec![record(4, "four")]) }).unwrap();
        }
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn an_import_replaces_rooms_only_if_it_is_told_to() {
    let (folder, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = files.path().join("rooms.export");
    let store = open(&folder).unwrap();
    fill(&store);
    export(folder.path(), &file, |name| name == "b").unwrap();
    store.put("b", vec![record(2, "after the export")]).unwrap();
    let import = |replace| store.import(&file, &|_| true, replace, &mut || 8);
    assert_eq!(import(false), Err(Error::Exists("b".into())));
    assert_eq!(store.get("b").head, 2);
    assert_eq!(import(true).unwrap(), ["b"]);
    assert_eq!((store.get("b").head, store.get("b").incarnation), (1, 8));
    // An append of a server that still has the old room is refused.
    assert_eq!(store.put("b", vec![record(2, "")]), Err(Error::Incarnation));
    store.erase_all();
    let bytes = fs::read(folder.path().join("rooms.db")).unwrap();
    assert!(!bytes.windows(16).any(|window| window == b"after the export"));
    assert_eq!(store.usage().live, store.rooms().iter().map(|room| room.bytes).sum::<u64>());
}

#[test]
fn a_damaged_database_is_repaired_with_what_can_be_read() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder).unwrap();
    for position in 1..=200 {
        store.put("a", vec![record(position, format!("<{position}>{}", " ".repeat(500)))]).unwrap();
    }
    drop(store);
    let path = folder.path().join("rooms.db");
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(5).position(|window| window == b"<100>").unwrap();
    // The first byte of a page says what it is.
    bytes[place / 4096 * 4096] = 0;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(open(&folder).unwrap_err(), OpenError::Damaged { .. }));
    assert!(check(folder.path()).is_err());

    let summary = repair(folder.path(), || 8).unwrap();
    assert_eq!((summary.rooms, summary.damaged), (1, 1));
    assert!((180..200).contains(&summary.records), "{} records", summary.records);
    let store = open(&folder).unwrap();
    let loaded = store.get("a");
    assert_eq!((loaded.incarnation, loaded.head), (8, 200));
    assert_eq!(loaded.records.len() as u64, summary.records);
    assert!(!loaded.records.iter().any(|record| record.position == 100));
    let next = Append { incarnation: 8, ..append("a", vec![record(201, "")]) };
    store.add(next).unwrap();
}
