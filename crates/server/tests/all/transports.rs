//! Sessions over plain TCP and over every HTTP transport: no message is lost, repeated or
//! reordered, through renewals, breaks and repeated uploads.

use std::sync::atomic::Ordering;
use std::time::Duration;

use groupwire_server::{Config, HttpLimits};

use crate::support::http_transport::{Counts, Failures, Kind, http_transport};
use crate::support::person::Person;
use crate::support::wire::{Wire, socket};
use crate::support::{server_with, servers_with, status};

/// Transactions in each direction.
const COUNT: usize = 500;

/// Two clients send each other transactions for about a second.
pub(crate) async fn talk(ann: Wire, bob: Wire) {
    let mut ann = Person::join(ann, "demo").await;
    let mut bob = Person::join(bob, "demo").await;
    for n in 0..COUNT {
        ann.send(&format!("ann {n}")).await;
        bob.send(&format!("bob {n}")).await;
        if n % 5 == 0 {
            tokio::join!(
                ann.for_a_while(Duration::from_millis(8)),
                bob.for_a_while(Duration::from_millis(8))
            );
        }
    }
    tokio::join!(ann.receive(2 * COUNT), bob.receive(2 * COUNT));
    assert_eq!(ann.messages, bob.messages, "the same order for both");
    for sender in ["ann", "bob"] {
        let sent = ann.messages.iter().filter(|(_, text)| text.starts_with(sender));
        let expected = (0..COUNT).map(|n| format!("{sender} {n}"));
        assert!(sent.map(|(_, text)| text.clone()).eq(expected), "all of {sender}, once, in order");
    }
}

/// The same over an HTTP transport; returns counts of what happened on it.
async fn talk_over(kind: Kind, failures: Failures, http: HttpLimits) -> std::sync::Arc<Counts> {
    let address = server_with(Config { http, ..Config::default() }).await;
    let (ann, counts) = http_transport(address, kind, failures).await;
    let (bob, _) = http_transport(address, kind, failures).await;
    talk(ann, bob).await;
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_over_plain_tcp() {
    let (_, address) = servers_with(Config::default()).await;
    talk(socket(address).await, socket(address).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_over_http_transports_with_renewals() {
    for kind in Kind::ALL {
        let counts = talk_over(kind, Failures::default(), HttpLimits::default()).await;
        let responses = counts.responses.load(Ordering::Relaxed);
        assert!(responses > 3, "T11, T12: {kind:?} was renewed: {responses}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_response_is_requested_again() {
    let failures = Failures { break_after: 7, ..Failures::default() };
    for kind in Kind::ALL {
        let counts = talk_over(kind, failures, HttpLimits::default()).await;
        let breaks = counts.breaks.load(Ordering::Relaxed);
        assert!(breaks > 1, "T10: {kind:?} broke off: {breaks}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_repeated_if_its_answer_was_lost() {
    let failures = Failures { repeat: 3, ..Failures::default() };
    for kind in [Kind::Multipart, Kind::Longpoll] {
        let counts = talk_over(kind, failures, HttpLimits::default()).await;
        let repeats = counts.repeats.load(Ordering::Relaxed);
        assert!(repeats > 3, "T16: {kind:?} repeated: {repeats}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_ends_a_response_that_is_not_renewed() {
    let never = Failures { renewal: Duration::from_secs(3600), ..Failures::default() };
    let brief = HttpLimits { stream: Duration::from_millis(200), ..HttpLimits::default() };
    let small = HttpLimits { stream_bytes: 100, ..HttpLimits::default() };
    for (kind, http) in [(Kind::Multipart, brief), (Kind::Iframe, small)] {
        let counts = talk_over(kind, never, http).await;
        let responses = counts.responses.load(Ordering::Relaxed);
        assert!(responses > 2, "T12: {kind:?} was ended: {responses}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn different_transports_share_a_room_and_closed_ones_are_removed() {
    let (http, tcp) = servers_with(Config::default()).await;
    let (ann, _) = http_transport(http, Kind::Multipart, Failures::default()).await;
    let mut ann = Person::join(ann, "demo").await;
    let mut bob = Person::join(socket(tcp).await, "demo").await;
    let (cid, _) = http_transport(http, Kind::Longpoll, Failures::default()).await;
    let mut cid = Person::join(cid, "demo").await;
    ann.send("hello").await;
    tokio::join!(ann.receive(1), bob.receive(1), cid.receive(1));
    assert_eq!(status(http, "connections").await, 3);
    drop((bob, cid));
    let started = std::time::Instant::now();
    while status(http, "connections").await > 1 {
        assert!(started.elapsed() < crate::support::PATIENCE, "T18: connections are kept");
        ann.for_a_while(Duration::from_millis(50)).await;
    }
}
