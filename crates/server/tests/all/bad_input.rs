//! A real server over WebSocket, and clients that break every rule: each gets a typed error or a
//! close with a reason, and two other clients in the same room are not affected.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use groupwire_server::session::client::{
    Client, Config as ClientConfig, Event, Input, Outgoing, Output,
};
use groupwire_server::session::{Qos, name_of};
use groupwire_server::{Answer, Authenticator, Config, JoinRequest, Refusal};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::{PATIENCE, opening, server, server_with, status};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn socket(address: SocketAddr) -> Socket {
    connect_async(format!("ws://{address}/ws")).await.unwrap().0
}

/// The session core over a WebSocket, driven by the test.
struct Person {
    client: Client,
    socket: Socket,
    origin: Instant,
    events: Vec<Event>,
}

impl Person {
    async fn join(address: SocketAddr, room: &str) -> Self {
        let client = Client::new(Duration::ZERO, ClientConfig::new(room)).unwrap();
        let socket = socket(address).await;
        let mut person = Person { client, socket, origin: Instant::now(), events: Vec::new() };
        person.client.channel("draw", Qos::transaction()).unwrap();
        person.until(|event| matches!(event, Event::Synced { channel: None })).await;
        person
    }

    async fn send(&mut self, text: &str) {
        let channel = self.client.channel("draw", Qos::transaction()).unwrap();
        let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
        self.client.send(self.origin.elapsed(), channel, message).unwrap();
        self.drive().await;
    }

    /// Waits for an event.
    async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.drive().await;
            if let Some(at) = self.events.iter().position(&wanted) {
                return self.events.drain(..=at).next_back().unwrap();
            }
            assert!(Instant::now() < deadline, "{:?}", self.events);
            let input = timeout(Duration::from_millis(50), self.socket.next()).await;
            let now = self.origin.elapsed();
            match input {
                Ok(Some(Ok(Message::Binary(packet)))) => {
                    self.client.handle_input(now, Input::Packet(&packet))
                }
                Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => {
                    panic!("closed: {:?}", self.events)
                }
                _ => self.client.handle_input(now, Input::Timeout),
            }
        }
    }

    async fn drive(&mut self) {
        loop {
            let now = self.origin.elapsed();
            match self.client.poll_output(now) {
                Output::Dial => self.client.handle_input(now, Input::Opened { max_datagram: 0 }),
                Output::Datagram(_) => {}
                Output::Send(packet) => {
                    self.socket.send(Message::Binary(packet.into())).await.unwrap();
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Event(event) => self.events.push(event),
                Output::Hangup | Output::Timeout(_) => return,
            }
        }
    }
}

/// How the server ended a connection: the code of the ERROR frame, and the reason of the close.
struct Ending {
    code: Option<u32>,
    close: String,
}

async fn ending(mut socket: Socket) -> Ending {
    let mut ending = Ending { code: None, close: String::new() };
    while let Ok(Some(Ok(message))) = timeout(PATIENCE, socket.next()).await {
        match message {
            // The ERROR frame is alone in its packet, after the version if the packet is the first.
            Message::Binary(packet) => match packet.as_ref() {
                [1, 0x10, _, code, ..] | [0x10, _, code, ..] => {
                    ending.code = Some(u32::from(*code))
                }
                _ => {}
            },
            Message::Close(Some(frame)) => ending.close = frame.reason.to_string(),
            _ => {}
        }
    }
    ending
}

/// Two clients exchange messages in a room while `attack` runs there; afterwards they still receive
/// each other's messages.
async fn beside<F: Future>(attack: impl FnOnce(SocketAddr) -> F) -> F::Output {
    let address = server().await;
    let (mut ann, mut bob) =
        (Person::join(address, "demo").await, Person::join(address, "demo").await);
    ann.send("before").await;
    let attack = attack(address);
    tokio::pin!(attack);
    let outcome = loop {
        tokio::select! {
            outcome = &mut attack => break outcome,
            () = async { tokio::join!(ann.until_quiet(), bob.until_quiet()); } => {}
        }
    };
    ann.send("after").await;
    for text in ["before", "after"] {
        bob.until(
            |event| matches!(event, Event::Message(message) if message.bytes == text.as_bytes()),
        )
        .await;
    }
    outcome
}

/// Sends these packets and expects this error.
async fn expect(packets: Vec<Vec<u8>>, name: &str) -> Ending {
    let ending = beside(|address| async move {
        let mut socket = socket(address).await;
        for packet in packets {
            socket.send(Message::Binary(packet.into())).await.unwrap();
        }
        ending(socket).await
    })
    .await;
    assert_eq!(ending.code.map(name_of), Some(name), "{}", ending.close);
    assert!(!ending.close.is_empty(), "the close has a reason");
    ending
}

#[tokio::test]
async fn a_wrong_version_is_refused_with_the_right_one() {
    let mut packet = opening("demo");
    packet[0] = 0;
    let ending = expect(vec![packet], "version").await;
    assert!(ending.close.contains("version 0"), "{}", ending.close);
}

#[tokio::test]
async fn a_malformed_opening_is_refused() {
    expect(vec![vec![1, 0x01, 3, 1, 1]], "malformed").await;
    expect(vec![b"GET / HTTP/1.1".to_vec()], "version").await;
    expect(vec![vec![]], "malformed").await;
}

#[tokio::test]
async fn a_malformed_frame_after_joining_is_refused() {
    expect(vec![opening("demo"), vec![0x0e, 5, 1]], "malformed").await;
    expect(vec![opening("demo"), vec![0xbf, 1, 2, 3]], "unsupported").await;
}

#[tokio::test]
async fn an_oversized_frame_is_refused() {
    let ending = expect(vec![opening("demo"), vec![0; 100_000]], "too-large").await;
    assert!(ending.close.contains("100000"), "{}", ending.close);
}

#[tokio::test]
async fn an_oversized_opening_is_refused() {
    expect(vec![vec![1; 100_000]], "too-large").await;
}

#[tokio::test]
async fn an_unknown_channel_is_refused() {
    // MESSAGES, to the end of the packet: channel 9, sender, flags, gap, age, stamp 0, no bytes.
    expect(vec![opening("demo"), vec![0x86, 9, 0, 0, 0, 0, 0, 0]], "unknown-channel").await;
}

#[tokio::test]
async fn a_room_name_of_10_kb_is_refused() {
    let mut packet = vec![1, 0x01];
    let mut hello = vec![1, 1, 0x80, 0x80, 0x04, 0xe0, 0xd4, 0x03, 0x80, 0x50];
    hello.extend_from_slice(&[b'r'; 10_240]);
    hello.extend_from_slice(&[0, 0, 0]);
    packet.extend_from_slice(&[(hello.len() & 0x7f) as u8 | 0x80, (hello.len() >> 7) as u8]);
    packet.extend_from_slice(&hello);
    expect(vec![packet], "too-large").await;
}

#[tokio::test]
async fn text_that_is_not_utf8_is_refused() {
    // The flag says text, the two bytes are not UTF-8.
    expect(vec![opening("demo"), vec![0x86, 1, 0, 1, 0, 0, 0, 2, 0xff, 0xfe]], "invalid-text")
        .await;
    let mut packet = opening("demo");
    let at = packet.windows(4).position(|bytes| bytes == b"demo").unwrap();
    packet[at] = 0xff;
    expect(vec![packet], "invalid-text").await;
}

#[tokio::test]
async fn a_websocket_text_message_is_refused() {
    let ending = beside(|address| async move {
        let mut socket = socket(address).await;
        socket.send(Message::Text("hello?".into())).await.unwrap();
        ending(socket).await
    })
    .await;
    assert_eq!(ending.code.map(name_of), Some("malformed"));
}

#[tokio::test]
async fn a_connection_without_a_first_packet_is_closed() {
    let ending = beside(|address| async move { ending(socket(address).await).await }).await;
    assert_eq!(ending.code.map(name_of), Some("silent"));
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed_and_its_memory_stays_bounded() {
    let address = server().await;
    let (mut ann, mut bob) =
        (Person::join(address, "demo").await, Person::join(address, "demo").await);
    let mut not_reading = socket(address).await;
    not_reading.send(Message::Binary(opening("demo").into())).await.unwrap();
    let gone = |event: &Event| match event {
        Event::Participants { changes, .. } => changes
            .iter()
            .any(|change| change.state == groupwire_server::session::PresenceState::Away),
        _ => false,
    };
    // Text that hardly compresses, so that the kernel's buffers for one connection fill.
    let mut noise = 1u64;
    let mut big = || -> String {
        let letter = |_| {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            char::from(b'0' + (noise >> 40) as u8 % 64)
        };
        (0..50_000).map(letter).collect()
    };
    let started = Instant::now();
    let mut sent = 0;
    while !ann.events.iter().any(gone) {
        assert!(started.elapsed() < PATIENCE, "the client is still connected");
        // A PING with a time of 5 keeps the connection alive.
        let _ = not_reading.send(Message::Binary(vec![0x0e, 1, 5].into())).await;
        if ann.client.pending() < 4 {
            ann.send(&big()).await;
            sent += 1;
        }
        ann.until_quiet().await;
        bob.until_quiet().await;
    }
    assert!(sent > 20, "a megabyte and more was sent to fill the pipe: {sent}");
    ann.send("after").await;
    // Ann and Bob still take part: Ann sends this only after her earlier messages are confirmed.
    let after =
        |event: &Event| matches!(event, Event::Message(message) if message.bytes == b"after");
    while !bob.events.iter().any(after) {
        assert!(started.elapsed() < PATIENCE, "the others go on");
        ann.until_quiet().await;
        bob.until_quiet().await;
    }
    // The connection is removed, though the client still does not read.
    while status(address, "connections").await > 2 {
        assert!(started.elapsed() < PATIENCE, "its connection is kept");
        ann.until_quiet().await;
        bob.until_quiet().await;
    }
    drop(not_reading);
}

#[tokio::test]
async fn a_refused_join_leaves_no_room_behind() {
    struct RefuseAll;
    impl Authenticator for RefuseAll {
        fn authenticate<'a>(&'a self, _: JoinRequest<'a>) -> Answer<'a> {
            Box::pin(async { Err(Refusal::Refused("joining is not allowed".to_owned())) })
        }
    }
    let address =
        server_with(Config { authenticator: Arc::new(RefuseAll), ..Config::default() }).await;
    for n in 0..20 {
        let mut socket = socket(address).await;
        socket.send(Message::Binary(opening(&format!("room {n}")).into())).await.unwrap();
        assert_eq!(ending(socket).await.code.map(name_of), Some("refused"));
    }
    assert_eq!(status(address, "rooms").await, 0, "no room came to be");
}

impl Person {
    /// Handles what arrives within 10 ms.
    async fn until_quiet(&mut self) {
        let until = Instant::now() + Duration::from_millis(10);
        while Instant::now() < until {
            self.drive().await;
            let left = until.saturating_duration_since(Instant::now());
            if let Ok(Some(Ok(Message::Binary(packet)))) = timeout(left, self.socket.next()).await {
                self.client.handle_input(self.origin.elapsed(), Input::Packet(&packet));
            }
        }
    }
}
