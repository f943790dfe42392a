//! Sessions after a restart: a client that resumes keeps its number, and no new client is given
//! that number.

use super::operator::store;
use super::server::Server;
use super::visitor::Visitor;

#[tokio::test]
async fn a_number_is_given_out_once_however_often_the_server_is_killed() {
    let mut server = Server::start("numbers");
    let mut ada = Visitor::join(&server.url(), "board").await;
    ada.say("stored");
    ada.hear(1).await;
    let mut people = vec![ada];
    for _ in 0..2 {
        server.kill();
        server.restart();
        // A new visitor says nothing, so that nothing is stored for it.
        people.push(Visitor::join(&server.url(), "board").await);
    }
    people[0].say("again");
    for person in &mut people {
        person.hear(2).await;
        assert_eq!((person.numbers.len(), person.gaps), (1, 0), "{:?}", person.numbers);
    }
    let mut numbers: Vec<u32> = people.iter().map(|person| person.numbers[0]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 3, "{numbers:?}");
}

#[tokio::test]
async fn sessions_of_the_key_before_are_resumed() {
    let mut server = Server::start("rotated");
    let mut ada = Visitor::join(&server.url(), "board").await;
    ada.say("stored");
    ada.hear(1).await;
    for round in 1..3 {
        server.kill();
        let (is_fine, said) = store(&["rotate-key", server.folder.to_str().unwrap()]);
        assert!(is_fine, "{said}");
        server.restart();
        ada.come_back().await;
        ada.say("again");
        ada.hear(1 + round).await;
        assert_eq!((ada.numbers.len(), ada.gaps), (1, 0), "round {round}");
    }
}
