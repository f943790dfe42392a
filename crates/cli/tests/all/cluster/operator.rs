//! What an operator is told who sets a cluster up.

use std::time::Instant;

use super::member::Member;
use super::nats::Nats;
use super::{FOREVER, folder};
use crate::durable::visitor::Visitor;

#[test]
fn an_engine_that_cannot_be_reached_is_named() {
    let folder = folder("unreachable");
    let engine = "--engine=nats://127.0.0.1:9".to_owned();
    let said = Member::new("a", &folder, &[engine]).refused();
    assert!(said.contains("--engine") && said.contains("127.0.0.1:9"), "{said}");
}

#[test]
fn an_engine_that_syncs_lazily_is_refused_unless_it_is_for_a_trial() {
    let folder = folder("lazy");
    let Some(nats) = Nats::start(folder.join("nats"), false) else { return };
    let options = nats.options();
    let said = Member::new("a", &folder, &options).refused();
    assert!(said.contains("sync_interval: always"), "{said}");
    assert!(said.contains("--engine-accepts-lazy-sync"), "{said}");
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
