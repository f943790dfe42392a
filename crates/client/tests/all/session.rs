//! The native client and the real server, over real sockets and every transport.

use std::time::Duration;

use futures_util::FutureExt;
use groupwire_client::{
    Error, Event, GapReason, MAX_UNREAD_BYTES, Options, ParticipantId, PresenceState, Qos, Receipt,
    Recipient, Room, SendOptions, Sent, SessionError, Status,
};
use groupwire_server::session::Timing;
use groupwire_server::{Answer, Authenticator, Config, JoinRequest, Refusal};
use tokio::time::{sleep, timeout};

use crate::support::{
    Over, PATIENCE, Proxy, Running, any_port, over_every_transport, synced, texts, until,
    until_true,
};

over_every_transport! {
    two_clients_exchange_messages_and_one_leaves
    w113_who_left_stands_in_the_order
    w114_a_message_for_one_participant_comes_to_it_alone
    dropping_all_handles_leaves
    transactions_survive_broken_connections
    a_channel_may_be_opened_while_joining
    a_restarted_server_causes_a_gap_event
    the_client_waits_for_a_server_that_starts_later
    a_refusal_ends_the_session_with_its_reason
    an_application_that_does_not_read_stops_the_transport
    a_late_joiner_receives_everything_in_order
    a_snapshot_is_compressed_in_both_directions
}

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness();

async fn a_snapshot_is_compressed_in_both_directions(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "snapshot");
    let draw = ann.channel("draw", DRAW).unwrap();
    ann.provide("drawing", &[&draw]).unwrap();
    synced(&mut to_ann).await;
    let line =
        |nth: u32| format!("{{\"id\":{nth},\"x\":{},\"y\":{}}}\n", nth * 7919 % 2000, nth % 1201);
    let state = (0..40_000).map(line).collect::<String>();
    // Random bytes, so that enough is sent for the room to ask for a snapshot.
    let mut noise = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    })
    .take(60_000)
    .collect();
    for _ in 0..5 {
        draw.send(&noise[..], SendOptions::default()).unwrap();
    }
    let wanted = |event: &Event| match event {
        Event::SnapshotWanted { as_of, .. } => Some(*as_of),
        _ => None,
    };
    let as_of = until(&mut to_ann, wanted).await;
    ann.snapshot("drawing", as_of, state.as_bytes()).unwrap();
    // Every packet carries a chunk of the snapshot: after this number of messages the server has
    // all of it.
    for nth in 0..100 {
        draw.send("after it", SendOptions::default()).unwrap();
        until_true("ordered", || ann.position().get() >= 6 + nth).await;
    }

    let (bob, mut to_bob) = server.connect(over, "snapshot");
    bob.channel("draw", DRAW).unwrap();
    let came = |event: &Event| match event {
        Event::Snapshot { bytes, .. } => Some(bytes.clone()),
        _ => None,
    };
    assert!(until(&mut to_bob, came).await == state.as_bytes());
    // On loopback a fast codec is best, or none; at first the client does not know that.
    let bytes = bob.stats().bytes_in_after as usize;
    assert!(bytes < state.len(), "{bytes} of {}", state.len());
}

async fn w113_who_left_stands_in_the_order(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "departures");
    let (bob, mut to_bob) = server.connect(over, "departures");
    let qos = Qos::transaction().departures();
    let pen = ann.channel("pen", qos).unwrap();
    bob.channel("pen", qos).unwrap();
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;
    let ann_id = ann.joined().await.unwrap();
    pen.send("mine", SendOptions::default()).unwrap();
    let message = |event: &Event| match event {
        Event::Message(message) => Some(message.clone()),
        _ => None,
    };
    until(&mut to_ann, message).await;
    ann.leave().await;
    let (mine, entry) = (until(&mut to_bob, message).await, until(&mut to_bob, message).await);
    assert_eq!((mine.sender, mine.departed), (ann_id, None));
    assert_eq!((entry.sender.get(), entry.departed, entry.position.get()), (0, Some(ann_id), 2));
}

async fn w114_a_message_for_one_participant_comes_to_it_alone(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "alone");
    let (bob, mut to_bob) = server.connect(over, "alone");
    let (eve, mut to_eve) = server.connect(over, "alone");
    let draw = ann.channel("draw", DRAW).unwrap();
    for other in [&bob, &eve] {
        other.channel("draw", DRAW).unwrap();
    }
    for events in [&mut to_ann, &mut to_bob, &mut to_eve] {
        synced(events).await;
    }
    let participant = bob.joined().await.unwrap();
    let to = Some(Recipient { participant, tag: 7 });
    draw.send("for bob", SendOptions { to, ..SendOptions::default() }).unwrap();
    draw.send("for all", SendOptions::default()).unwrap();
    let any = |event: &Event| match event {
        Event::Direct(message) | Event::Message(message) => {
            Some((message.to, String::from_utf8(message.bytes.clone()).unwrap()))
        }
        _ => None,
    };
    for events in [&mut to_ann, &mut to_bob] {
        assert_eq!(until(events, any).await, (Some(participant), "for bob".into()));
        assert_eq!(until(events, any).await, (None, "for all".into()));
    }
    assert_eq!(until(&mut to_eve, any).await, (None, "for all".into()));
    let receipt = |event: &Event| match event {
        Event::Receipt { to, receipt, .. } => Some((to.tag, *receipt)),
        _ => None,
    };
    assert_eq!(until(&mut to_ann, receipt).await, (7, Receipt::Delivered));
}

async fn two_clients_exchange_messages_and_one_leaves(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "exchange");
    let (bob, mut to_bob) = server.connect(over, "exchange");
    let draw = ann.channel("draw", DRAW).unwrap();
    let pointer = bob.channel("pointer", POINTER).unwrap();
    bob.channel("draw", DRAW).unwrap();
    ann.channel("pointer", POINTER).unwrap();
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;
    let (ann_id, bob_id) = (ann.joined().await.unwrap(), bob.joined().await.unwrap());

    assert_eq!(draw.send("a line", SendOptions::default()), Ok(Sent::Accepted));
    let message = |event: &Event| match event {
        Event::Message(message) => Some(message.clone()),
        _ => None,
    };
    let line = until(&mut to_bob, message).await;
    assert_eq!((line.sender, &*line.bytes, line.text), (ann_id, &b"a line"[..], true));
    let own = until(&mut to_ann, message).await;
    assert_eq!((own.own, own.position.get()), (true, 1));
    assert_eq!(ann.pending(), 0);

    let options = SendOptions { key: Some(b"me"), ..SendOptions::default() };
    pointer.send(&[0, 255], options).unwrap();
    let at = until(&mut to_ann, message).await;
    assert_eq!((at.sender, &*at.bytes, at.text), (bob_id, &[0, 255][..], false));
    assert_eq!(at.key.as_deref(), Some(&b"me"[..]));
    assert!(bob.round_trip().is_some());
    assert!(ann.framing().bytes_out > 0 && ann.framing().bytes_in > 0);
    // T6: awareness goes in datagrams if the transport has them.
    let datagrams = (bob.framing().datagrams_out, ann.framing().datagrams_in);
    assert_eq!(datagrams.0 > 0 && datagrams.1 > 0, over == Over::Https, "{datagrams:?}");

    bob.leave().await;
    assert_eq!(bob.joined().await, Err(Error::Over));
    while let Some(event) = to_bob.next().await {
        assert!(!matches!(event, Event::Error { .. }), "{event:?}");
    }
    until(&mut to_ann, |event| left(event, bob_id)).await;
}

async fn dropping_all_handles_leaves(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "drop");
    let (bob, _to_bob) = server.connect(over, "drop");
    ann.joined().await.unwrap();
    let bob_id = bob.joined().await.unwrap();
    let draw = bob.channel("draw", DRAW).unwrap();
    drop(bob);
    sleep(Duration::from_millis(100)).await;
    draw.send("still here, by the channel", SendOptions::default()).unwrap();
    drop(draw);
    until(&mut to_ann, |event| left(event, bob_id)).await;
}

/// Every transaction arrives in order and once, through broken connections.
async fn transactions_survive_broken_connections(over: Over) {
    const COUNT: usize = 400;
    let ms = Duration::from_millis;
    // QUIC notices a broken path only by its timeout, which is short here.
    let timing = Timing { ping: ms(200), dead: ms(1000), ..Timing::default() };
    let mut config = any_port();
    config.room.timing = timing;
    let server = Running::start(config).await;
    let proxy = Proxy::start(&server, over, ms(2)).await;
    let (ann, mut to_ann) = proxy.connect("resume");
    let (bob, mut to_bob) = proxy.connect("resume");
    let draw = ann.channel("draw", DRAW).unwrap();
    bob.channel("draw", DRAW).unwrap();
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;

    let people = [ann.clone(), bob.clone()];
    let sending = tokio::spawn(async move {
        for number in 0..COUNT {
            draw.send(number.to_string().as_str(), SendOptions::default()).unwrap();
            sleep(ms(3)).await;
            if number % 80 == 40 {
                let before = people.each_ref().map(|one| one.stats().reconnects);
                proxy.cut();
                for late in 0..10 {
                    draw.send(format!("{number} {late}").as_str(), SendOptions::default()).unwrap();
                    sleep(ms(3)).await;
                }
                let are_back = || {
                    people.iter().zip(before).all(|(one, before)| one.stats().reconnects > before)
                };
                until_true("both clients reconnect", are_back).await;
            }
        }
        proxy
    });
    let expected: Vec<String> = (0..COUNT)
        .flat_map(|number| {
            let late = if number % 80 == 40 { 0..10 } else { 0..0 };
            let late = late.map(move |late| format!("{number} {late}"));
            std::iter::once(number.to_string()).chain(late)
        })
        .collect();
    let count = expected.len();
    let (at_bob, at_ann) = tokio::join!(texts(&mut to_bob, count), texts(&mut to_ann, count));
    assert_eq!(at_bob, expected);
    assert_eq!(at_ann, expected, "own transactions come back in order, once");
    let _proxy = sending.await.unwrap();
    assert!(ann.stats().reconnects >= 5, "{} breaks", ann.stats().reconnects);
    assert_eq!(ann.pending(), 0);
    // Nothing arrives twice afterwards either.
    bob.leave().await;
    while let Some(event) = to_bob.next().await {
        assert!(!matches!(event, Event::Message(_) | Event::Gap { .. }), "{event:?}");
    }
}

async fn a_late_joiner_receives_everything_in_order(over: Over) {
    const COUNT: usize = 300;
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "late");
    let draw = ann.channel("draw", DRAW).unwrap();
    let pointer = ann.channel("pointer", POINTER).unwrap();
    synced(&mut to_ann).await;
    for number in 0..COUNT {
        draw.send(number.to_string().as_str(), SendOptions::default()).unwrap();
        let options = SendOptions { key: Some(b"me"), ..SendOptions::default() };
        pointer.send(number.to_string().as_str(), options).unwrap();
    }
    until_true("all are ordered", || ann.pending() == 0).await;
    let (bob, mut to_bob) = server.connect(over, "late");
    bob.channel("draw", DRAW).unwrap();
    let expected: Vec<String> = (0..COUNT).map(|number| number.to_string()).collect();
    assert_eq!(texts(&mut to_bob, COUNT).await, expected);
}

/// A channel may be opened between HELLO and WELCOME. An earlier version never opened such a
/// channel.
async fn a_channel_may_be_opened_while_joining(over: Over) {
    let server = Running::start(any_port()).await;
    let proxy = Proxy::start(&server, over, Duration::from_millis(60)).await;
    let (ann, mut to_ann) = server.connect(over, "late");
    let draw = ann.channel("draw", DRAW).unwrap();
    synced(&mut to_ann).await;
    let (bob, mut to_bob) = proxy.connect("late");
    // Opening the WebSocket takes one round trip of 120 ms, HELLO and WELCOME another.
    sleep(Duration::from_millis(180)).await;
    let late = bob.channel("draw", DRAW).unwrap();
    bob.set_presence(b"Bob").unwrap();
    let channel = late.id();
    let opened = |event: &Event| match event {
        Event::Synced { channel: Some(synced) } => Some(*synced == channel),
        _ => None,
    };
    assert!(until(&mut to_bob, opened).await);
    draw.send("to Bob", SendOptions::default()).unwrap();
    assert_eq!(texts(&mut to_bob, 1).await, ["to Bob"]);
    let presence = |event: &Event| match event {
        Event::Participants { changes, .. } => {
            changes.iter().any(|change| change.presence == b"Bob").then_some(())
        }
        _ => None,
    };
    until(&mut to_ann, presence).await;
}

async fn a_restarted_server_causes_a_gap_event(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "restart");
    let draw = ann.channel("draw", DRAW).unwrap();
    synced(&mut to_ann).await;
    draw.send("a line", SendOptions::default()).unwrap();
    texts(&mut to_ann, 1).await;
    let place = server.stop().await;
    let reconnecting =
        |event: &Event| matches!(event, Event::Status(Status::Reconnecting)).then_some(());
    until(&mut to_ann, reconnecting).await;
    let _server = place.start_again().await;
    let gap = |event: &Event| match event {
        Event::Gap { reason, .. } => Some(*reason),
        _ => None,
    };
    assert_eq!(until(&mut to_ann, gap).await, GapReason::Incarnation);
    draw.send("again", SendOptions::default()).unwrap();
    assert_eq!(texts(&mut to_ann, 1).await, ["again"]);
}

async fn the_client_waits_for_a_server_that_starts_later(over: Over) {
    let server = Running::start(any_port()).await;
    let place = server.stop().await;
    let (ann, _events) = place.connect(over, "early");
    let error = ann.joined().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    let _server = place.start_again().await;
    let joining = async {
        while ann.joined().await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, joining).await.expect("the client joins");
}

/// An `Authenticator` that refuses everybody.
struct Closed;

impl Authenticator for Closed {
    fn authenticate<'a>(&'a self, _: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async { Err(Refusal::Refused("closed on Sundays".to_owned())) })
    }
}

async fn a_refusal_ends_the_session_with_its_reason(over: Over) {
    let config = Config { authenticator: std::sync::Arc::new(Closed), ..any_port() };
    let server = Running::start(config).await;
    let (ann, mut events) = server.connect(over, "closed");
    let error = ann.joined().await.unwrap_err();
    assert!(matches!(error, Error::Session(SessionError::Remote { code: 9, .. })), "{error:?}");
    assert!(error.to_string().contains("closed on Sundays"), "{error}");
    while events.next().await.is_some() {}
    ann.leave().await;
}

/// Unread events stay within their limit of memory, and none is lost, however long the application
/// does not read.
async fn an_application_that_does_not_read_stops_the_transport(over: Over) {
    const SIZE: usize = 50_000;
    const COUNT: usize = 150;
    let ms = Duration::from_millis;
    let timing = Timing { ping: ms(200), dead: ms(600), ..Timing::default() };
    let mut config = any_port();
    config.room.timing = timing;
    let server = Running::start(config).await;
    // Without compression, as the messages are random bytes.
    let options = || Options { compress: false, ..Options::new("slow") };
    let url = server.place.url(over);
    let (ann, mut to_ann) = Room::connect(&url, options()).unwrap();
    let (bob, mut to_bob) = Room::connect(&url, options()).unwrap();
    let draw = ann.channel("draw", DRAW).unwrap();
    bob.channel("draw", DRAW).unwrap();
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;
    for number in 0..COUNT {
        let message = noise(number as u64, SIZE);
        while draw.send(&message[..], SendOptions::default()).unwrap() == Sent::NotNow {
            until(&mut to_ann, |event| matches!(event, Event::Drain).then_some(())).await;
        }
    }
    while ann.pending() > 0 {
        to_ann.next().await;
    }
    // The bytes of the messages alone reach the limit of unread events, so from then on the client
    // reads nothing more.
    until_true("the queue of unread events is full", || {
        bob.stats().bytes_in_before as usize >= MAX_UNREAD_BYTES
    })
    .await;
    let held = bob.stats();
    let waiting = held.bytes_in_before as usize;
    assert!(waiting < MAX_UNREAD_BYTES + 2 * SIZE, "{waiting} bytes wait for an application");
    // The server closes the connection that is not read; the client opens no new one until the
    // application reads.
    until_true("the server closes the connection", || bob.joined().now_or_never().is_none()).await;
    let sent = bob.framing().bytes_out;
    sleep(ms(500)).await;
    assert_eq!(bob.framing().bytes_out, sent, "the client opened a new connection");
    let later = bob.stats();
    assert_eq!((later.bytes_in_before, later.reconnects), (held.bytes_in_before, held.reconnects));
    for number in 0..COUNT {
        let message = |event: &Event| match event {
            Event::Message(message) => Some(message.bytes.clone()),
            _ => None,
        };
        let found = until(&mut to_bob, message).await;
        assert!(found == noise(number as u64, SIZE), "message {number} differs");
    }
    assert!(bob.stats().reconnects > held.reconnects);
}

#[tokio::test]
async fn invalid_arguments_are_refused() {
    let error = Room::connect("http://host", Options::new("x")).err().unwrap();
    assert!(matches!(error, Error::Address { .. }), "{error}");
    let error = Room::connect("ws://host", Options::new("")).err().unwrap();
    assert!(matches!(error, Error::Session(SessionError::Malformed { .. })), "{error}");
}

fn left(event: &Event, participant: ParticipantId) -> Option<()> {
    let Event::Participants { changes, .. } = event else { return None };
    let gone = |change: &groupwire_client::ParticipantChange| {
        change.id == participant && change.state == PresenceState::Left
    };
    changes.iter().any(gone).then_some(())
}

/// Random bytes, which do not compress.
fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}
