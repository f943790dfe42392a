//! Clients that are connected to another server than the one that has their room.

use super::folder;
use super::member::Member;
use super::nats::Nats;
use crate::durable::visitor::Visitor;

/// W117: the other servers are killed in the end, which nobody notices who has moved.
#[tokio::test]
async fn w117_clients_move_to_the_server_that_has_their_room() {
    let folder = folder("direct");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let mut members =
        ["a", "b", "c"].map(|name| Member::new(name, &folder, &options).reached_alone());
    members.iter_mut().for_each(Member::start);
    let mut visitors = Vec::new();
    for member in &members {
        let url = format!("ws://127.0.0.1:{}", member.port());
        visitors.push(Visitor::join(&url, "plan").await);
    }
    let owner = members.iter().position(|member| member.log().contains("room opened")).unwrap();
    for (at, visitor) in visitors.iter_mut().enumerate().filter(|(at, _)| *at != owner) {
        visitor.until(|visitor| visitor.joins == 2).await;
        members[at].kill();
    }
    visitors[0].say("done");
    for visitor in &mut visitors {
        assert_eq!(visitor.hear(1).await, ["done"]);
        assert_eq!((visitor.numbers.len(), visitor.gaps), (1, 0));
    }
    let mut joins: Vec<usize> = visitors.iter().map(|visitor| visitor.joins).collect();
    joins.sort_unstable();
    assert_eq!(joins, [1, 2, 2]);
}
