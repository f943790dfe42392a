//! Folders with damaged bytes, of a newer version, or in use: what is kept, and what the operator
//! is told.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use groupwire_server::store;
use tokio::time::sleep;

use super::operator::store as run;
use super::server::Server;
use super::visitor::Visitor;

/// A server that was killed after three people said one line each, in a commit each.
async fn killed(name: &str) -> (Server, Vec<Visitor>) {
    let mut server = Server::start(name);
    let mut people = Vec::new();
    for (line, count) in ["the first line", "the second line", "the third line"].iter().zip(1..) {
        let mut person = Visitor::join(&server.url(), "board").await;
        person.say(line);
        person.hear(count).await;
        people.push(person);
    }
    server.kill();
    (server, people)
}

/// Moves what is in the write-ahead log to the database.
fn fold(server: &Server) {
    let (is_fine, said) = run(&["list", folder(server)]);
    assert!(is_fine && said.contains("board"), "{said}");
}

fn folder(server: &Server) -> &str {
    server.folder.to_str().unwrap()
}

/// Changes the bytes of a file in the folder.
fn edit(server: &Server, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let path = server.folder.join(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    path
}

/// Flips a bit in the middle of the first place that holds `marker`.
fn flip(bytes: &mut [u8], marker: &str) {
    let place = bytes.windows(marker.len()).position(|window| window == marker.as_bytes()).unwrap();
    bytes[place + marker.len() / 2] ^= 1;
}

#[tokio::test]
async fn a_flipped_bit_in_the_log_costs_one_transaction_and_everybody_is_told() {
    let (mut server, mut people) = killed("flipped-log").await;
    fold(&server);
    edit(&server, "rooms.db", |bytes| flip(bytes, "the second line"));
    let (is_fine, said) = run(&["check", folder(&server)]);
    assert!(!is_fine && said.contains("damaged: 1") && said.contains("store repair"), "{said}");
    server.restart();
    let mut late = Visitor::join(&server.url(), "board").await;
    late.say("a line afterwards");
    late.hear(3).await;
    let expected = [(1, "the first line"), (3, "the third line"), (4, "a line afterwards")];
    assert!(
        late.told.iter().map(|(at, line)| (*at, line.as_str())).eq(expected),
        "{:?}",
        late.told
    );
    for person in &mut people {
        person.until(|person| person.gaps > 0).await;
    }
    let log = server.log();
    assert!(log.contains("transaction 2 cannot be read"), "{log}");
    server.kill();
    assert_eq!(server.stored(), 3, "the damage is not met again");
}

#[tokio::test]
async fn a_flipped_bit_in_a_snapshot_costs_nothing() {
    let mut server = Server::start("flipped-part");
    let mut ada = Visitor::join(&server.url(), "board").await;
    // Enough lines for the server to want a snapshot.
    for count in 1..=7 {
        ada.say(&format!("{count} {}", "x".repeat(50_000)));
        ada.hear(count).await;
    }
    ada.until(|ada| ada.snapshots > 0).await;
    while store::check(&server.folder).unwrap().parts == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    server.kill();
    fold(&server);
    let (_, said) = run(&["check", folder(&server)]);
    assert!(said.contains("transactions: 7, snapshots: 1"), "{said}");
    // Only the snapshot has this marker, because it joins all lines.
    edit(&server, "rooms.db", |bytes| {
        let marker = format!("{}\n2 xx", "x".repeat(20));
        flip(bytes, &marker);
    });
    server.restart();
    let mut late = Visitor::join(&server.url(), "board").await;
    assert_eq!(late.hear(7).await.len(), 7);
    assert!(
        server.log().contains("cannot be read, and an older one replaces it"),
        "{}",
        server.log()
    );
    ada.say("8 afterwards");
    ada.hear(8).await;
    assert_eq!(ada.gaps, 0, "nothing is lost");
}

#[tokio::test]
async fn a_torn_tail_is_dropped_without_a_word() {
    let (mut server, _) = killed("torn").await;
    edit(&server, "rooms.db-wal", |bytes| bytes.truncate(bytes.len() - 1000));
    let (is_fine, said) = run(&["check", folder(&server)]);
    assert!(is_fine && said.contains("transactions: 2"), "{said}");
    server.restart();
    let mut late = Visitor::join(&server.url(), "board").await;
    assert_eq!(late.hear(2).await, ["the first line", "the second line"]);
    assert_eq!(server.log(), "");
}

#[tokio::test]
async fn a_damaged_database_is_refused_until_it_is_repaired() {
    let (mut server, _) = killed("flipped-wal").await;
    let wal = fs::read(server.folder.join("rooms.db-wal")).unwrap();
    edit(&server, "rooms.db-wal", |bytes| flip(bytes, "the first line"));
    refused_until_repaired(&mut server, "the write-ahead log is damaged before its end");
    fs::write(server.folder.join("rooms.db-wal"), wal).unwrap();

    let (mut server, _) = killed("flipped-page").await;
    fold(&server);
    // The first byte of the second page, which then tells no valid kind.
    edit(&server, "rooms.db", |bytes| bytes[4096] ^= 8);
    refused_until_repaired(&mut server, "ptrmap");
}

fn refused_until_repaired(server: &mut Server, why: &str) {
    for said in
        [server.refused(), run(&["check", folder(server)]).1, run(&["list", folder(server)]).1]
    {
        assert!(said.contains(why) && said.contains("run `groupwire store repair`"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (is_fine, said) = run(&["repair", folder(server)]);
    assert!(is_fine && said.contains("rooms.damaged"), "{said}");
    let (is_fine, said) = run(&["check", folder(server)]);
    assert!(is_fine, "{said}");
    server.restart();
}

#[tokio::test]
async fn a_folder_of_a_newer_version_is_left_alone() {
    let (server, _) = killed("newer").await;
    fold(&server);
    // The "user version" of SQLite's header.
    let path = edit(&server, "rooms.db", |bytes| bytes[60..64].copy_from_slice(&[0, 0, 0, 9]));
    let before = fs::read(&path).unwrap();
    let file = server.folder.with_extension("export");
    let file = file.to_str().unwrap();
    let outcomes = [
        server.refused(),
        run(&["check", folder(&server)]).1,
        run(&["list", folder(&server)]).1,
        run(&["export", folder(&server), file]).1,
        run(&["repair", folder(&server)]).1,
    ];
    for said in outcomes {
        assert!(said.contains("install the newer version that wrote it"), "{said}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
}

#[tokio::test]
async fn a_second_server_is_refused_with_the_number_of_the_first() {
    let server = Server::start("shared");
    let mut second = Server::start("sharing");
    second.kill();
    let own = std::mem::replace(&mut second.folder, server.folder.clone());
    let said = second.refused();
    second.folder = own;
    assert!(said.contains(&format!("is in use by process {}", server.process())), "{said}");
    assert!(said.contains("give this one a folder of its own"), "{said}");
}
