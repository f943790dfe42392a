//! `groupwire admin` with stored rooms: what is published once is there once, whenever the server
//! is killed; and rooms are taken back, exported and imported.

#![cfg(unix)]

use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_client::{Event, Events, GapReason, Options, ParticipantId, Qos, Room, SendOptions};
use serde_json::Value;
use tokio::time::timeout;

use super::server::Server;
use super::visitor::FOREVER;

const SOCKET: &str = concat!("unix:", env!("CARGO_TARGET_TMPDIR"), "/admin-http.sock");
const OTHER: &str = concat!("unix:", env!("CARGO_TARGET_TMPDIR"), "/admin-http-2.sock");

fn start(name: &str, socket: &'static str) -> Server {
    let mut server = Server::start(name);
    server.options = vec!["--admin-listen", socket];
    restart(&mut server, socket);
    server
}

/// Kills the server, and starts it again. What is left of its socket is removed, as an operator or
/// a service manager does.
fn restart(server: &mut Server, socket: &str) {
    server.kill();
    let _ = std::fs::remove_file(socket.trim_start_matches("unix:"));
    server.restart();
}

fn command(socket: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.args(["admin", "--server", socket]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn admin(socket: &str, arguments: &[&str]) -> (bool, String) {
    let Output { status, stdout, stderr } = command(socket, arguments).output().unwrap();
    (status.success(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn done(socket: &str, arguments: &[&str]) -> String {
    let (is_done, said) = admin(socket, arguments);
    assert!(is_done, "{arguments:?}: {said}");
    said
}

async fn next(events: &mut Events, wanted: impl Fn(&Event) -> bool) -> Event {
    let searching = async {
        loop {
            let event = events.next().await.expect("the session goes on");
            if wanted(&event) {
                return event;
            }
        }
    };
    timeout(FOREVER, searching).await.expect("the event comes")
}

#[tokio::test]
async fn what_the_administration_publishes_is_there_once_whenever_the_server_is_killed() {
    const ROUNDS: u64 = 8;
    let mut server = start("admin-http", SOCKET);
    let (room, mut events) = Room::connect(&server.url(), Options::new("board")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("begin", SendOptions::default()).unwrap();
    next(&mut events, |event| matches!(event, Event::Message(_))).await;
    for round in 0..ROUNDS {
        let (text, key) = (format!("text {round}"), format!("key-{round}"));
        let arguments = ["publish", "board", "lines", &text, "--idempotency-key", &key];
        let asking = command(SOCKET, &arguments).spawn().unwrap();
        // In the first round the server is killed after its answer, in the others at about the
        // moment of the commit.
        sleep(Duration::from_millis(if round == 0 { 500 } else { 8 + 4 * round }));
        server.kill();
        drop(asking.wait_with_output().unwrap());
        restart(&mut server, SOCKET);
        let first = done(SOCKET, &arguments);
        assert_eq!(done(SOCKET, &arguments), first, "the same answer");
    }
    let contents = done(SOCKET, &["values", "board", "lines", "--limit", "200"]);
    let contents: Value = serde_json::from_str(&contents).unwrap();
    let all = contents["newest_transactions"].as_array().unwrap();
    let own: Vec<_> = all.iter().filter(|one| one["sender"] == 0).collect();
    let texts: Vec<_> = own.iter().rev().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, (0..ROUNDS).map(|round| format!("text {round}")).collect::<Vec<_>>());
    // The participant has received all publications, without a gap.
    for round in 0..ROUNDS {
        let event =
            next(&mut events, |event| matches!(event, Event::Message(_) | Event::Gap { .. }));
        match event.await {
            Event::Message(message) => {
                assert_eq!(message.bytes, format!("text {round}").into_bytes());
                assert_eq!(message.sender, ParticipantId(0));
            }
            other => panic!("{other:?}"),
        }
    }
    let (is_done, said) =
        admin(SOCKET, &["publish", "board", "lines", "other", "--idempotency-key", "key-0"]);
    assert!(!is_done && said.contains("another message") && said.contains("key-0"), "{said}");
}

#[tokio::test]
async fn a_room_is_reset_taken_back_exported_and_imported_by_commands() {
    let server = start("admin-http-2", OTHER);
    let (room, mut events) = Room::connect(&server.url(), Options::new("board")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("old", SendOptions::default()).unwrap();
    next(&mut events, |event| matches!(event, Event::Message(_))).await;
    let said = done(OTHER, &["channels", "board"]);
    assert!(said.contains("lines\ttransaction\t1\t1\t0\t-"), "{said}");
    let file = server.folder.with_extension("export");
    let file = file.to_str().unwrap();
    let _ = std::fs::remove_file(file);
    assert!(done(OTHER, &["export", file, "--room", "board"]).contains("bytes are in"));
    let (is_done, said) = admin(OTHER, &["export", file]);
    assert!(!is_done && said.contains("exists"), "{said}");

    let (is_done, said) = admin(OTHER, &["reset", "board", "lines"]);
    assert!(!is_done && said.contains("--yes"), "it asks: {said}");
    assert!(done(OTHER, &["reset", "board", "lines", "--yes"]).contains("position 2"));
    let is_reset = |event: &Event| matches!(event, Event::Gap { reason: GapReason::Reset, .. });
    next(&mut events, is_reset).await;
    // The reset is durable when it is answered. It is listed among the snapshots a little later.
    let start = Instant::now();
    loop {
        let said = done(OTHER, &["snapshots", "board"]);
        assert!(said.contains("each from 1 on"), "{said}");
        if said.contains("true") {
            break;
        }
        assert!(start.elapsed() < FOREVER, "{said}");
    }
    let (is_done, said) = admin(OTHER, &["restore", "board", "--position", "99", "--yes"]);
    assert!(!is_done && said.contains("no longer kept"), "{said}");
    done(OTHER, &["restore", "board", "--position", "1", "--yes"]);
    next(&mut events, |event| matches!(event, Event::Gap { .. })).await;
    let is_old = |event: &Event| matches!(event, Event::Message(one) if one.bytes == b"old");
    next(&mut events, is_old).await;

    let (is_done, said) = admin(OTHER, &["import", file]);
    assert!(!is_done && said.contains("exists"), "{said}");
    assert_eq!(done(OTHER, &["import", file, "--replace"]), "board\n");
    next(&mut events, is_old).await;
    std::fs::remove_file(file).unwrap();

    let said = done(OTHER, &["ban", "--user", "mallory", "--reason", "spam"]);
    assert!(said.contains("unban"), "{said}");
    assert!(done(OTHER, &["bans"]).contains("mallory\t-\t-\t*\t-\tspam"));
    done(OTHER, &["unban", "1"]);
    assert!(!done(OTHER, &["bans"]).contains("mallory"));
}
