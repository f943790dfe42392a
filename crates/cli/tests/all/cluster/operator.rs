//! What an operator is told who sets a cluster up.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use groupwire_server::engine::{self, Options};

use super::member::Member;
use super::nats::{Nats, SERVERS};
use super::{FOREVER, folder, signal};
use crate::durable::visitor::Visitor;

/// The option for an engine at an address at which nobody listens.
const NOBODY: &str = "--engine=nats://127.0.0.1:9";

#[test]
fn an_engine_that_cannot_be_reached_is_named() {
    let folder = folder("unreachable");
    let said = Member::new("a", &folder, &[NOBODY, "--engine-wait=1"].map(str::to_owned)).refused();
    assert_eq!(said.matches("waiting for the engine").count(), 1, "{said}");
    let (_, last) = said.split_once("waiting for the engine").unwrap();
    assert!(last.contains("--engine: ") && last.contains("127.0.0.1:9"), "{said}");
}

#[test]
fn a_server_waits_for_an_engine_that_starts_later() {
    let folder = folder("early");
    let Some(mut nats) = Nats::start(folder.join("nats"), true) else { return };
    for at in 0..SERVERS {
        nats.kill(at);
    }
    let options = [&nats.options()[..], &["--engine-wait=180".to_owned()]].concat();
    let mut member = Member::new("a", &folder, &options);
    let reader = Member::new("a", &folder, &options);
    let starting = spawn(move || member.start());
    while !reader.log().contains("waiting for the engine") {
        sleep(Duration::from_millis(20));
    }
    for at in 0..SERVERS {
        nats.restart(at);
    }
    starting.join().unwrap();
}

#[test]
fn a_server_that_waits_for_its_engine_can_be_stopped() {
    let folder = folder("impatient");
    let secret = folder.join("secret");
    std::fs::write(&secret, "a secret of the tests of clusters").unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_groupwire"))
        .args(["serve", "--listen=127.0.0.1:0", "--no-webtransport", "--node=a", NOBODY])
        .arg("--engine-wait=3600")
        .arg(format!("--data={}", folder.display()))
        .arg(format!("--cluster-secret={}", secret.display()))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("waiting for the engine") {
        assert_ne!(log.read_line(&mut said).unwrap(), 0, "{said}");
    }
    signal(&server, "TERM");
    assert!(server.wait().unwrap().success());
}

#[test]
fn an_engine_that_syncs_lazily_is_refused_unless_it_is_for_a_trial() {
    let folder = folder("lazy");
    let Some(nats) = Nats::start(folder.join("nats"), false) else { return };
    let options = nats.options();
    let said = Member::new("a", &folder, &options).refused();
    assert!(said.contains("sync_interval: always"), "{said}");
    assert!(said.contains("--engine-accepts-lazy-sync"), "{said}");
    assert!(!said.contains("waiting for the engine"), "{said}");
    let trial = [&options[..], &["--engine-accepts-lazy-sync".to_owned()]].concat();
    Member::new("a", &folder, &trial).start();
}

#[test]
fn the_second_server_of_a_name_is_refused() {
    let folder = folder("twins");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let mut first = Member::new("a", &folder, &options);
    first.start();
    let other = folder.join("other");
    std::fs::create_dir_all(&other).unwrap();
    let said = Member::new("a", &other, &options).refused();
    assert!(said.contains("has the name a"), "{said}");
    first.stop();
}

#[test]
fn a_list_of_rooms_names_the_servers_that_did_not_answer() {
    let folder = folder("unanswered");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let admin = format!("unix:{}", folder.join("admin").display());
    // Nobody listens at the address of the other server, which lives all the same.
    let of_first = [&options[..], &[format!("--admin-listen={admin}")]].concat();
    let of_other = [&options[..], &["--advertise=127.0.0.1:9".to_owned()]].concat();
    let mut first = Member::new("a", &folder, &of_first);
    let mut other = Member::new("b", &folder, &of_other);
    first.start();
    other.start();
    let begin = Instant::now();
    loop {
        let listed = ask(&admin, "rooms");
        let said = String::from_utf8(listed.stderr).unwrap();
        assert!(listed.status.success(), "{said}");
        assert_eq!(listed.stdout, b"name\tparticipants\tstored_bytes\n");
        if said.contains("did not answer") {
            assert!(said.ends_with(": b\n"), "{said}");
            return;
        }
        assert!(begin.elapsed() < FOREVER, "{said}");
        sleep(Duration::from_millis(100));
    }
}

#[tokio::test]
async fn the_log_of_bans_is_trimmed_and_a_new_server_knows_them_all() {
    let folder = folder("bans");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let admins =
        ["a", "b"].map(|name| format!("unix:{}", folder.join(format!("admin-{name}")).display()));
    let mut members = [("a", &admins[0]), ("b", &admins[1])].map(|(name, admin)| {
        let options = [&options[..], &[format!("--admin-listen={admin}")]].concat();
        Member::new(name, &folder, &options)
    });
    members[0].start();
    for user in 0..300 {
        ban(&admins[0], user);
    }
    let address = options[0].trim_start_matches("--engine=");
    let engine = engine::open(address, Options::new("groupwire")).await.unwrap();
    let log = engine.deployment().shards;
    let begin = Instant::now();
    // 300 bans and two bases were written.
    loop {
        let entries = engine.read(log, 0, 1 << 20).await.unwrap();
        if (1..200).contains(&entries.len()) {
            break;
        }
        assert!(begin.elapsed() < FOREVER, "{} entries", entries.len());
        sleep(Duration::from_millis(100));
    }
    let bans = ask(&admins[0], "bans").stdout;
    assert_eq!(bans.split(|byte| *byte == b'\n').count(), 302, "a head, 300 bans, and an end");
    members[1].start();
    while ask(&admins[1], "bans").stdout != bans {
        assert!(begin.elapsed() < FOREVER, "{:?}", ask(&admins[1], "bans"));
        sleep(Duration::from_millis(100));
    }
}

/// Runs `groupwire admin`.
fn ask(admin: &str, command: &str) -> std::process::Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    program.args(["admin", "--server", admin, command]).output().unwrap()
}

/// Bans a user.
fn ban(admin: &str, user: u32) {
    let body = format!(r#"{{"user":"user {user}"}}"#);
    let mut stream = UnixStream::connect(admin.trim_start_matches("unix:")).unwrap();
    let head = "POST /api/bans HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.split(' ').nth(1), Some("201"), "{answer}");
}

#[tokio::test]
async fn a_server_that_comes_back_takes_clients_of_rooms_of_all_others() {
    let folder = folder("back");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let mut members = ["a", "b"].map(|name| Member::new(name, &folder, &options));
    members.iter_mut().for_each(Member::start);
    let visit = async |port: u16| {
        for room in 0..8 {
            let url = format!("ws://127.0.0.1:{port}");
            Visitor::join(&url, &format!("room {room}")).await;
        }
    };
    visit(members[0].port()).await;
    members[0].kill();
    // The other one takes its rooms.
    visit(members[1].port()).await;
    members[0].start();
    visit(members[0].port()).await;
}

#[tokio::test]
async fn a_folder_with_rooms_of_another_cluster_is_refused_and_kept() {
    let folder = folder("foreign");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let mut member = Member::new("a", &folder, &nats.options());
    member.start();
    let url = format!("ws://{}", member.address());
    let mut ada = Visitor::join(&url, "room").await;
    ada.say("kept");
    ada.hear(1).await;
    member.stop();
    let other = [&nats.options()[..], &["--cluster-name=another".to_owned()]].concat();
    let said = Member::new("a", &folder, &other).refused();
    assert!(said.contains("rooms of another cluster"), "{said}");
    assert!(said.contains("--cluster-name"), "{said}");
    member.start();
    assert_eq!(Visitor::join(&url, "room").await.hear(1).await, ["kept"]);
}

#[test]
fn a_server_starts_while_one_of_three_servers_of_nats_is_down() {
    let folder = folder("down");
    let Some(mut nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    Member::new("a", &folder, &options).start();
    nats.kill(2);
    let (mut member, start) = (Member::new("a", &folder, &options), Instant::now());
    // Another leader has to be found first, which has to miss the server that is down.
    while !member.starts() {
        assert!(start.elapsed() < FOREVER, "{}", member.log());
    }
    assert!(member.log().contains("a server of the engine is down"), "{}", member.log());
}
