//! Large rooms, of which the servers that do not have them open mirrors.

use super::folder;
use super::member::Member;
use super::nats::Nats;
use crate::durable::visitor::Visitor;

/// People at three servers hear each other in one order. A server with a mirror is killed, and then
/// the one that has the room: what was confirmed is neither lost nor repeated.
#[tokio::test]
async fn people_of_a_large_room_are_served_by_mirrors_whichever_server_is_killed() {
    let folder = folder("mirrors");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let mut options = nats.options();
    options.push("--large=stage*".to_owned());
    let mut members = ["a", "b", "c"].map(|name| Member::new(name, &folder, &options));
    members.iter_mut().for_each(Member::start);
    let addresses = members.iter().map(Member::address).collect();
    let balancer = super::balancer::balance(addresses).await;
    let mut visitors = Vec::new();
    for member in &members {
        let url = format!("ws://127.0.0.1:{}", member.port());
        visitors.push(Visitor::join(&url, "stage").await);
    }
    // These come back to any server.
    for _ in 0..3 {
        visitors.push(Visitor::join(&balancer, "stage").await);
    }
    let owner = members.iter().position(|member| member.log().contains("room opened")).unwrap();
    let mirrors = members.iter().filter(|member| member.log().contains("mirror opened")).count();
    assert_eq!(mirrors, 2, "both other servers have a mirror, and pass nobody on");
    let mut said = Vec::new();
    for (at, visitor) in visitors.iter_mut().enumerate() {
        visitor.say(&format!("first of {at}"));
        said.push(format!("first of {at}"));
    }
    hear_all(&mut visitors, &said, 0..6).await;
    let edge = (owner + 1) % 3;
    members[edge].kill();
    for (at, visitor) in visitors.iter_mut().enumerate().skip(3) {
        visitor.say(&format!("second of {at}"));
        said.push(format!("second of {at}"));
    }
    hear_all(&mut visitors, &said, 3..6).await;
    members[edge].start();
    members[owner].kill();
    for (at, visitor) in visitors.iter_mut().enumerate().skip(3) {
        visitor.say(&format!("third of {at}"));
        said.push(format!("third of {at}"));
    }
    hear_all(&mut visitors, &said, 3..6).await;
    members[owner].start();
    hear_all(&mut visitors, &said, 0..6).await;
}

/// Waits until these visitors have heard all that was said, each once, and in one order.
async fn hear_all(visitors: &mut [Visitor], said: &[String], who: std::ops::Range<usize>) {
    let mut expected = said.to_vec();
    expected.sort();
    let mut order: Option<Vec<String>> = None;
    for visitor in &mut visitors[who] {
        let heard = visitor.hear(said.len()).await;
        let heard: Vec<String> = heard.into_iter().map(str::to_owned).collect();
        let mut sorted = heard.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
        assert_eq!(*order.get_or_insert_with(|| heard.clone()), heard);
        assert_eq!(visitor.gaps, 0);
    }
}
