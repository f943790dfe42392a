//! `groupwire store` beside a running server, and what applications are told of what is saved.

use std::path::Path;
use std::process::Command;

use groupwire_client::{Durability, Event, Options, Qos, Room, SendOptions};
use tokio::time::timeout;

use super::operator::store;
use super::server::Server;
use super::visitor::FOREVER;

/// Waits until the application is told that the room began anew, and then for this text.
#[cfg(unix)]
async fn gap_and(events: &mut groupwire_client::Events, text: &str) {
    let mut has_gap = false;
    let wanted = async {
        loop {
            match events.next().await.expect("the session goes on") {
                Event::Gap { .. } => has_gap = true,
                Event::Message(message) if has_gap && message.bytes == text.as_bytes() => return,
                _ => {}
            }
        }
    };
    timeout(FOREVER, wanted).await.unwrap_or_else(|_| panic!("no gap, or no {text:?}"));
}

#[cfg(unix)]
#[tokio::test]
async fn an_operator_lists_deletes_and_imports_rooms_in_use_while_the_server_runs() {
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    let mut server = Server::start("administered");
    let folder = server.folder.to_str().unwrap().to_owned();
    let socket = server.folder.join("admin.sock");
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (room, mut events) = Room::connect(&server.url(), Options::new("in use")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("old", SendOptions::default()).unwrap();
    while !matches!(events.next().await, Some(Event::Message(_))) {}
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains("in use") && said.contains(" 1 "), "{said}");
    let file = format!("{folder}.export");
    let _ = std::fs::remove_file(&file);
    assert!(store(&["export", &folder, &file]).0);

    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    stream.write_all(b"no request\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("the request cannot be read"), "{reply}");

    let (is_fine, said) = store(&["delete", &folder, "no such"]);
    assert!(!is_fine && said.contains("there is no room"), "{said}");
    let (is_fine, said) = store(&["delete", &folder, "in use", "--now"]);
    assert!(is_fine, "{said}");
    lines.send("new", SendOptions::default()).unwrap();
    gap_and(&mut events, "new").await;
    assert_eq!(room.position().get(), 1, "the room is a new one");

    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(!is_fine && said.contains("replac"), "{said}");
    let (is_fine, said) = store(&["import", &folder, &file, "--replace"]);
    assert!(is_fine && said.contains("imported rooms: 1"), "{said}");
    gap_and(&mut events, "old").await;

    // A server that was killed leaves its socket behind. The next one listens again, and removes it
    // when it ends.
    server.kill();
    assert!(socket.exists());
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains("in use"), "{said}");
    server.restart();
    assert!(store(&["list", &folder]).0);
    let end = format!("kill {}", server.process());
    assert!(Command::new("sh").args(["-c", &end]).status().unwrap().success());
    assert_eq!(server.wait(), Some(0));
    assert!(!socket.exists());
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_process_that_is_no_server_is_named_if_it_uses_the_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("taken");
    let _ = std::fs::remove_dir_all(&folder);
    let options = groupwire_server::store::Options::default();
    let taken = groupwire_server::store::Store::open(&folder, options).unwrap();
    let (is_fine, said) = store(&["list", folder.to_str().unwrap()]);
    let process = format!("in use by process {}", std::process::id());
    assert!(!is_fine && said.contains(&process) && said.contains("could not be asked"), "{said}");
    drop(taken);
    assert!(store(&["list", folder.to_str().unwrap()]).0);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn an_application_is_told_what_is_saved() {
    let server = Server::start("saved");
    let (room, mut events) = Room::connect(&server.url(), Options::new("saved")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("one", SendOptions::default()).unwrap();
    assert_eq!((room.pending(), room.durability()), (1, None));
    let mut told = Vec::new();
    while told.last() != Some(&0) {
        let event = timeout(FOREVER, events.next()).await.expect("it is saved");
        if let Some(Event::Pending { count }) = event {
            told.push(count);
        }
    }
    assert_eq!(told, [1, 0]);
    assert_eq!((room.pending(), room.durability()), (0, Some(Durability::Local)));
}
