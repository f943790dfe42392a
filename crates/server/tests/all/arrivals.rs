//! What clients are answered when more come than are taken in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use groupwire_server::session::goodbye;
use groupwire_server::{Admission, Answer, ArrivalLimits, Authenticator, Config, JoinRequest};
use tokio::time::timeout;

use crate::support::person::Person;
use crate::support::wire::{Wire, socket};
use crate::support::{PATIENCE, opening, servers_with, status};

/// Admits everybody, and counts the requests.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Authenticator for Counting {
    fn authenticate<'a>(&'a self, _: JoinRequest<'a>) -> Answer<'a> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Admission::default()) })
    }
}

fn limited(joins_per_second: u32) -> Config {
    let arrivals = ArrivalLimits { joins_per_second, ..ArrivalLimits::default() };
    Config { arrivals, ..Config::default() }
}

/// The time in a goodbye that is the answer to an opening (W36); `None` if the packet is another
/// one.
fn told(packet: &[u8]) -> Option<Duration> {
    // The version, the tag of BYE, a length of one byte, and the reason 0.
    let is_goodbye = packet.starts_with(&goodbye(Duration::from_secs(1))[..2]);
    let digits = packet.get(4..).filter(|_| is_goodbye)?;
    let bytes = digits.iter().enumerate();
    Some(Duration::from_millis(
        bytes.fold(0, |ms, (at, &byte)| ms | u64::from(byte & 0x7f) << (7 * at)),
    ))
}

#[tokio::test]
async fn w36_who_comes_too_early_is_told_another_time_than_the_others_and_nobody_looks_at_its_token()
 {
    const CLIENTS: usize = 12;
    let asked = Arc::new(Counting::default());
    let authenticator = Arc::clone(&asked) as Arc<dyn Authenticator>;
    let (http, address) = servers_with(Config { authenticator, ..limited(2) }).await;
    let mut wires: Vec<Wire> = Vec::new();
    for _ in 0..CLIENTS {
        let wire = socket(address).await;
        wire.outgoing.send(opening("demo")).await.unwrap();
        wires.push(wire);
    }
    let mut times = Vec::new();
    for wire in &mut wires {
        let answer = timeout(PATIENCE, wire.incoming.recv()).await.unwrap().unwrap();
        times.extend(told(&answer));
    }
    assert!(times.len() >= CLIENTS - 4, "{times:?}");
    assert!(times.iter().all(|time| *time >= Duration::from_secs(1)), "{times:?}");
    times.sort();
    // 2.5 clients per second are told to come back.
    assert!(times.windows(2).all(|two| two[1] - two[0] >= Duration::from_millis(300)), "{times:?}");
    assert_eq!(asked.0.load(Ordering::Relaxed), CLIENTS - times.len());
    assert_eq!(status(http, "deferred_joins").await, times.len() as u64);
    assert_eq!(status(http, "admitted_joins").await, (CLIENTS - times.len()) as u64);
}

#[tokio::test]
async fn a_few_who_come_together_wait_on_their_connections_and_join() {
    let (http, address) = servers_with(limited(20)).await;
    let people = (0..10).map(async |_| Person::join(socket(address).await, "demo").await);
    let people = futures_util::future::join_all(people).await;
    assert_eq!(people.len(), 10);
    assert_eq!(status(http, "deferred_joins").await, 0);
    assert!(status(http, "held_joins").await > 0);
}
