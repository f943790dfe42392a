//! Kills the real server at random times under load. `KILLS=1000` kills it 1,000 times; the default
//! is 20.

use std::time::Duration;

use tokio::time::sleep;

use super::people::People;
use super::server::Server;

/// The number of confirmations between two kills.
const CONFIRMED: usize = 100;

#[tokio::test]
async fn whenever_the_server_is_killed_nothing_confirmed_is_lost_repeated_or_moved() {
    let kills = std::env::var("KILLS").map_or(20, |kills| kills.parse().unwrap());
    let mut server = Server::start("killed");
    let people = People::join(&server.url());
    let mut between = 0;
    for kill in 0..kills {
        people.progress(CONFIRMED).await;
        // Each kill is at another moment of the tick and of the commit.
        sleep(Duration::from_micros(kill as u64 * 977 % 10_000)).await;
        server.kill();
        between += usize::from(is_stored_and_not_confirmed(&server, &people).await);
        server.restart();
    }
    let outcome = people.finish().await;
    println!("{kills} kills, {between} of them between a commit and its confirmation; {outcome}");
    assert!(between * 2 >= kills, "too few kills between a commit and its confirmation");
}

/// True if the server, which has ended, stored transactions and had not confirmed them to their
/// senders.
pub(super) async fn is_stored_and_not_confirmed(server: &Server, people: &People) -> bool {
    let stored = server.stored();
    // What the server had sent before its end still arrives.
    sleep(Duration::from_millis(20)).await;
    assert!(
        stored >= people.confirmed(),
        "{} were confirmed, and {stored} are stored",
        people.confirmed()
    );
    stored > people.confirmed()
}
