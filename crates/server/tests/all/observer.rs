//! A server calls its `Observer` once for each transaction of a room, in the order of the room.

use std::sync::{Arc, Mutex};

use groupwire_server::session::room::Ordered;
use groupwire_server::{Config, Observer};

use crate::support::person::Person;
use crate::support::servers_with;
use crate::support::wire::socket;

/// Keeps room, position, channel and text of each transaction.
#[derive(Default)]
struct Keeper(Mutex<Vec<(String, u64, String, String)>>);

impl Observer for Keeper {
    fn ordered(&self, room: &str, transaction: &Ordered<'_>) {
        let text = String::from_utf8(transaction.bytes.to_vec()).unwrap();
        let Ordered { position, channel, .. } = *transaction;
        self.0.lock().unwrap().push((room.to_owned(), position.get(), channel.to_owned(), text));
    }
}

#[tokio::test]
async fn the_observer_is_told_of_each_transaction_before_the_participants() {
    let keeper = Arc::new(Keeper::default());
    let config = Config { observer: Some(keeper.clone()), ..Config::default() };
    let (_, address) = servers_with(config).await;
    let mut ann = Person::join(socket(address).await, "demo").await;
    for n in 1..=20 {
        ann.send(&n.to_string()).await;
    }
    ann.receive(20).await;
    let expected: Vec<_> =
        (1..=20).map(|n| ("demo".to_owned(), n, "draw".to_owned(), n.to_string())).collect();
    assert_eq!(*keeper.0.lock().unwrap(), expected);
}
