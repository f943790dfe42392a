//! What an operator does with `groupwire store`.

use std::path::Path;
use std::process::Command;

use groupwire_client::{Event, Options, Qos, Room, SendOptions};

use super::server::Server;

/// Runs `groupwire store`, and returns whether it succeeded and what it said.
pub(super) fn store(arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    let output = command.arg("store").args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[tokio::test]
async fn an_operator_exports_while_the_server_runs_and_imports_into_another_folder() {
    let mut server = Server::start("operated");
    let (room, mut events) = Room::connect(&server.url(), Options::new("..")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("kept", SendOptions::default()).unwrap();
    while !matches!(events.next().await, Some(Event::Message(_))) {}
    let folder = server.folder.to_str().unwrap().to_owned();
    let file = format!("{folder}.export");
    let _ = std::fs::remove_file(&file);
    let (is_fine, said) = store(&["export", &folder, &file]);
    assert!(is_fine && said.contains("rooms: 1, transactions: 1"), "{said}");
    server.kill();
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains(".."), "{said}");
    let (is_fine, said) = store(&["delete", &folder, "..", "--now"]);
    assert!(is_fine && said == "deleted: ..\n", "{said}");
    let unknown: [&[&str]; 3] = [
        &["delete", &folder, "nobody's"],
        &["import", &folder, &file, "--room", "nobody's"],
        &["export", &folder, &format!("{file}ed"), "--room", "nobody's"],
    ];
    for arguments in unknown {
        let (is_fine, said) = store(arguments);
        assert!(!is_fine && said.contains("there is no room \"nobody's\""), "{said}");
    }
    std::fs::remove_file(format!("{file}ed")).unwrap();
    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(is_fine && said.contains("imported rooms: 1"), "{said}");
    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(!is_fine && said.contains("--replace"), "{said}");
    server.restart();
    // The imported room has another incarnation: a client that had received more than the import
    // holds is told so, and receives the room's state.
    let mut has_gap = false;
    loop {
        match events.next().await {
            Some(Event::Gap { .. }) => has_gap = true,
            Some(Event::Message(message)) if message.bytes == b"kept" => break,
            Some(_) => {}
            None => panic!("the session ended"),
        }
    }
    assert!(has_gap);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_wrong_folder_or_file_is_named_and_nothing_is_made() {
    let nothing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-rooms");
    let nothing = nothing.to_str().unwrap();
    for command in ["check", "list", "repair"] {
        let (is_fine, said) = store(&[command, nothing]);
        assert!(!is_fine && said.contains(nothing), "{command}: {said}");
        assert_eq!(said.lines().count(), 1, "{command}: {said}");
    }
    let (is_fine, said) = store(&["export", nothing, &format!("{nothing}.export")]);
    assert!(!is_fine && said.contains("holds no stored rooms"), "{said}");
    assert!(!Path::new(nothing).exists());
    let (is_fine, said) = store(&["check", file!().rsplit('/').next().unwrap()]);
    assert!(!is_fine && said.contains("is no export of rooms"), "{said}");
}
