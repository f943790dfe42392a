//! New processes that take the place of a running server.
#![cfg(unix)]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::crowd::Crowd;
use super::operator::store;
use super::people::People;
use super::server::Server;
use super::visitor::Visitor;

/// The number of confirmations between two upgrades.
const CONFIRMED: usize = 100;

/// Connects again and again until `is_over`. Returns how often.
fn connect_always(address: SocketAddr, is_over: &AtomicBool) -> usize {
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        TcpStream::connect(address).expect("no connection attempt is refused");
        count += 1;
        thread::sleep(Duration::from_millis(1));
    }
    count
}

#[tokio::test]
async fn upgrades_under_load_refuse_no_connection_and_lose_repeat_or_move_nothing() {
    let mut server = Server::start("upgraded");
    let people = People::join(&server.url());
    people.progress(CONFIRMED).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let address = server.url().trim_start_matches("ws://").parse().unwrap();
    let connecting = {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || connect_always(address, &is_over))
    };
    for _ in 0..3 {
        let before = server.process();
        assert_eq!(server.upgrade(), Some(0));
        assert_ne!(server.process(), before);
        // The new process serves at the same address.
        assert_eq!(server.url(), format!("ws://{address}"));
        people.progress(CONFIRMED).await;
    }
    is_over.store(true, Ordering::Relaxed);
    let connections = connecting.join().unwrap();
    println!("{connections} connections, {}", people.finish().await);
    assert!(connections > 0);
}

/// `PEOPLE=1000 ROOMS=50` measures with 1,000 people in 50 rooms; the default is 40 in 5 rooms.
#[tokio::test]
async fn a_crowd_is_back_soon_after_an_upgrade() {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (people, rooms) = (number("PEOPLE", 40), number("ROOMS", 5));
    let mut server = Server::start("crowded");
    let crowd = Crowd::join(&server.url(), people, rooms).await;
    sleep(Duration::from_millis(500)).await;
    let began = Instant::now();
    assert_eq!(server.upgrade(), Some(0));
    let replaced = began.elapsed().as_secs_f32();
    crowd.joined(2 * people).await;
    let back = began.elapsed().as_secs_f32();
    assert_eq!(crowd.here(), people);
    let outcome = crowd.finish().await;
    println!(
        "{people} people in {rooms} rooms: {outcome}; new server {replaced:.2} s, all back {back:.2} s after the start"
    );
    server.kill();
    assert_eq!(server.stored(), outcome.sent);
}

#[tokio::test]
async fn people_over_webtransport_come_back_over_it() {
    let mut server = Server::start("upgraded-quic");
    server.kill();
    server.has_webtransport = true;
    server.restart();
    let url = server.url().replace("ws://", "https://");
    let mut ada = Visitor::join(&url, "board").await;
    ada.say("before");
    ada.hear(1).await;
    assert_eq!(server.upgrade(), Some(0));
    ada.say("after");
    assert_eq!(ada.hear(2).await, ["before", "after"]);
    assert_eq!((ada.own, ada.gaps, ada.numbers.len()), (2, 0, 1));
}

#[tokio::test]
async fn the_sockets_for_administration_are_handed_over_too() {
    let mut server = Server::start("upgraded-admin");
    server.kill();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgraded-admin.sock");
    server.options = vec!["--admin-listen", format!("unix:{}", path.display()).leak()];
    server.restart();
    let mut ada = Visitor::join(&server.url(), "board").await;
    ada.say("before");
    ada.hear(1).await;
    assert_eq!(server.upgrade(), Some(0));
    ada.say("after");
    assert_eq!(ada.hear(2).await, ["before", "after"]);
    assert_eq!((ada.own, ada.gaps), (2, 0));
    let address = format!("unix:{}", path.display());
    let mut admin = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    let rooms = admin.args(["admin", "--server", &address, "rooms"]).output().unwrap();
    assert!(String::from_utf8_lossy(&rooms.stdout).contains("board"), "{rooms:?}");
    assert!(store(&["list", server.folder.to_str().unwrap()]).1.contains("board"));
    // It is the new process that removes the files at its end.
    let end = format!("kill {}", server.process());
    assert!(Command::new("sh").args(["-c", &end]).status().unwrap().success());
    assert_eq!(server.wait(), Some(0));
    assert!(!path.exists() && !server.folder.join("admin.sock").exists());
    // Where no server runs, there is nothing to take over.
    server.options.push("--upgrade");
    server.restart();
    ada.say("at last");
    ada.hear(3).await;
}

#[tokio::test]
async fn while_the_new_process_cannot_start_the_old_one_goes_on() {
    let server = Server::start("not-upgraded");
    let mut ada = Visitor::join(&server.url(), "board").await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = server.folder.to_str().unwrap();
    let listen = server.url().replace("ws://", "");
    let refused = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        let output =
            command.args(["serve", "--log", "off", "--upgrade"]).args(more).output().unwrap();
        assert!(!output.status.success(), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let own = ["--listen", &listen, "--no-webtransport", "--data", folder];
    let other = taken.local_addr().unwrap().to_string();
    let error = refused(&[&own[..], &["--socket", &other]].concat());
    assert!(error.contains(&other), "{error}");
    let error = refused(&[&own[..], &["--cert", "/nope.pem", "--key", "/nope.key"]].concat());
    assert!(error.contains("/nope.pem"), "{error}");
    let error = refused(&["--listen", &listen]);
    assert!(error.contains("--data <FOLDER>"), "{error}");
    ada.say("it goes on");
    ada.hear(1).await;
    assert!(!ada.is_away() && ada.numbers.len() == 1);
    assert_eq!(ada.joins, 1, "it was never away");
}
