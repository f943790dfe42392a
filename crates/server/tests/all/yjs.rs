//! Documents of Yjs over bare WebSockets: the tests write the messages of y-websocket themselves.
//! `web/e2e/yjs.test.mjs` runs y-websocket's own client.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use groupwire_server::session::{Access, AllowAll, Authority, Grant, Identity, OpenRequest};
use groupwire_server::{
    Admission, Answer, Authenticator, Config, DurableConfig, JoinRequest, YjsLimits,
};
use groupwire_yjs::{Message, State, StateVector, Update, reply};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::http::{BEARER, get, post, send};
use crate::support::{PATIENCE, administered, server, server_with, start_administered};

/// A client of a document.
struct Visitor(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What a visitor receives.
#[derive(Debug)]
enum Heard {
    Message(Vec<u8>),
    /// The code of the close frame; 0 without one.
    Closed(u16),
}

impl Visitor {
    async fn come(server: SocketAddr, path: &str) -> Self {
        let address = format!("ws://{server}/yjs/{path}");
        Visitor(connect_async(address).await.unwrap().0)
    }

    /// A visitor that the server has asked for its content.
    async fn inside(server: SocketAddr, path: &str) -> Self {
        let mut visitor = Visitor::come(server, path).await;
        let asked = visitor.message().await;
        assert!(matches!(Message::parse(&asked), Ok(Message::AskDocument(_))), "{asked:?}");
        visitor
    }

    async fn say(&mut self, message: Vec<u8>) {
        self.0.send(Frame::Binary(message.into())).await.unwrap();
    }

    async fn hear(&mut self) -> Heard {
        loop {
            let frame = timeout(PATIENCE, self.0.next()).await.expect("it hears something");
            return match frame {
                Some(Ok(Frame::Binary(message))) => Heard::Message(message.to_vec()),
                Some(Ok(Frame::Close(frame))) => {
                    Heard::Closed(frame.map_or(0, |frame| frame.code.into()))
                }
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => Heard::Closed(0),
            };
        }
    }

    async fn message(&mut self) -> Vec<u8> {
        match self.hear().await {
            Heard::Message(message) => message,
            other => panic!("{other:?}"),
        }
    }

    /// The code with which the connection is closed, and the reason if the client was denied
    /// something.
    async fn end(&mut self) -> (u16, String) {
        let mut reason = String::new();
        loop {
            match self.hear().await {
                Heard::Message(message) if message.starts_with(&[2, 0]) => {
                    reason = String::from_utf8_lossy(&message[3..]).into_owned();
                }
                Heard::Message(_) => {}
                Heard::Closed(code) => return (code, reason),
            }
        }
    }

    /// The document as the server has it.
    async fn document(&mut self) -> Vec<u8> {
        self.say(reply::ask_document(&StateVector::default())).await;
        loop {
            let message = self.message().await;
            if message.starts_with(&[0, 1])
                && let Ok(Message::Update(update)) = Message::parse(&message)
            {
                return update.to_vec();
            }
        }
    }

    /// The clock of a client in the server's document.
    async fn clock(&mut self, client: u64) -> u64 {
        Update::parse(&self.document().await).unwrap().state_vector().get(client)
    }
}

/// An update in which a client writes `length` bytes.
fn written(client: u8, clock: u8, length: usize) -> Vec<u8> {
    let size =
        [length as u8 & 0x7f | 0x80, (length >> 7) as u8 & 0x7f | 0x80, (length >> 14) as u8];
    let head = [1, 1, client, clock, 3, 1, 1, b't'];
    [&head[..], &size, &vec![7; length], &[0]].concat()
}

fn state(client: u64, clock: u64, json: Option<&str>) -> Vec<u8> {
    reply::awareness([State { client, clock, json }])
}

#[tokio::test]
async fn an_update_goes_to_all_and_back_and_one_that_changes_nothing_to_nobody() {
    let server = server().await;
    let (mut ada, mut bob) =
        (Visitor::inside(server, "a/b?x=1").await, Visitor::inside(server, "a/b").await);
    let mut other = Visitor::inside(server, "a/c").await;
    let update = written(5, 0, 3);
    ada.say(reply::update(&update)).await;
    assert_eq!(ada.message().await, reply::update(&update));
    assert_eq!(bob.message().await, reply::update(&update));
    bob.say(reply::document(&update)).await;
    bob.say(reply::update(&written(6, 0, 1))).await;
    assert_eq!(ada.message().await, reply::update(&written(6, 0, 1)));
    assert_eq!((ada.clock(5).await, ada.clock(6).await, other.clock(5).await), (1, 1, 0));
    let late = Visitor::come(server, "a/b").await.message().await;
    let Ok(Message::AskDocument(there)) = Message::parse(&late) else { panic!("{late:?}") };
    assert_eq!(there.iter().collect::<Vec<_>>(), [(5, 1), (6, 1)]);
}

#[tokio::test]
async fn awareness_goes_to_all_and_back_and_ends_with_its_connection() {
    let server = server().await;
    let (mut ada, mut bob) =
        (Visitor::inside(server, "d").await, Visitor::inside(server, "d").await);
    let shown = state(5, 2, Some("{}"));
    ada.say(shown.clone()).await;
    assert_eq!(ada.message().await, shown);
    assert_eq!(bob.message().await, shown);
    // Bob repeats Ada's state, as y-websocket's client does, and then tries to remove it.
    bob.say(shown.clone()).await;
    bob.say(state(5, 3, None)).await;
    bob.say(vec![3]).await;
    assert_eq!(bob.message().await, shown, "all that is there");
    let mut late = Visitor::inside(server, "d").await;
    assert_eq!(late.message().await, shown);
    drop(ada);
    assert_eq!(bob.message().await, state(5, 2, None));
    // Ada is back before her next change.
    let mut ada = Visitor::inside(server, "d").await;
    ada.say(shown).await;
    assert_eq!(ada.message().await, state(5, 2, None), "she is asked to go on");
    ada.say(state(5, 3, Some("[]"))).await;
    assert_eq!(bob.message().await, state(5, 3, Some("[]")));
}

#[tokio::test]
async fn what_is_malformed_ends_its_connection_for_good_and_no_other() {
    let server = server().await;
    let mut ada = Visitor::inside(server, "d").await;
    for message in [
        vec![],
        vec![0],
        vec![0, 2, 3, 1, 1, 1],
        reply::update(&[0, 0, 0]),
        state(1, 1, Some("{")),
        vec![0xff; 20],
    ] {
        let mut hostile = Visitor::inside(server, "d").await;
        // Its first message shows that it speaks y-websocket's protocol.
        hostile.document().await;
        hostile.say(message.clone()).await;
        let (code, reason) = hostile.end().await;
        assert_eq!(code, 4400, "{message:?}");
        assert!(reason.contains("malformed"), "{reason}");
    }
    let mut hostile = Visitor::inside(server, "d").await;
    hostile.0.send(Frame::Text("hello".into())).await.unwrap();
    assert_eq!(hostile.end().await.0, 4400);
    // A message of another type is an application's.
    assert_eq!(ada.document().await, [0, 0]);
    ada.say(vec![77, 1, 2, 3]).await;
    assert_eq!(ada.document().await, [0, 0]);
}

/// Users whose rights are in their tokens.
struct Named;

impl Authenticator for Named {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        assert_eq!(request.room, "plan");
        let identity = Identity { subject: Vec::new(), rights: request.token.to_vec() };
        Box::pin(async { Ok(Admission { identity, ..Admission::default() }) })
    }
}

impl Authority for Named {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let access = match (&*request.identity.rights, request.channel) {
            (b"writer", _) | (b"reader", "yjs/awareness") => request.access,
            (b"reader", "yjs") => Access { publish: false, ..request.access },
            (b"mute", "yjs") => Access { publish: true, subscribe: false },
            _ => return Err("strangers may not".into()),
        };
        assert!(request.existing.is_some(), "nobody needs a right to set a QoS");
        Ok(Grant { access, ..AllowAll.open(request)? })
    }
}

#[tokio::test]
async fn a_reader_sees_everything_and_changes_nothing() {
    let config =
        Config { authenticator: Arc::new(Named), authority: Arc::new(Named), ..Config::default() };
    let server = server_with(config).await;
    let mut writer = Visitor::inside(server, "plan?token=writer").await;
    let mut reader = Visitor::inside(server, "plan?token=reader").await;
    reader.say(reply::update(&written(9, 0, 1))).await;
    reader.say(reply::document(&written(9, 0, 1))).await;
    reader.say(state(9, 1, Some("1"))).await;
    assert_eq!(writer.message().await, state(9, 1, Some("1")), "its cursor is shown");
    writer.say(reply::update(&written(5, 0, 1))).await;
    assert_eq!(reader.message().await, state(9, 1, Some("1")));
    assert_eq!(reader.message().await, reply::update(&written(5, 0, 1)));
    assert_eq!((reader.clock(5).await, reader.clock(9).await), (1, 0));
    for (token, why) in [("mute", "does not permit to read"), ("other", "strangers may not")] {
        let (code, reason) =
            Visitor::come(server, &format!("plan?token={token}")).await.end().await;
        assert!(code == 4403 && reason.contains(why), "{code} {reason}");
    }
}

#[tokio::test]
async fn documents_connections_messages_and_sizes_have_limits() {
    let limits = YjsLimits {
        documents: 2,
        connections: 2,
        message_bytes: 1000,
        document_bytes: 1500,
        ..YjsLimits::default()
    };
    let server = server_with(Config { yjs: Some(limits), ..Config::default() }).await;
    let mut ada = Visitor::inside(server, "a").await;
    let _bob = Visitor::inside(server, "a").await;
    assert_eq!(Visitor::come(server, "a").await.end().await.0, 4503, "connections");
    let _other = Visitor::inside(server, "b").await;
    assert_eq!(Visitor::come(server, "c").await.end().await.0, 4503, "documents");
    let long = "x".repeat(257);
    assert_eq!(Visitor::come(server, &long).await.end().await.0, 4413, "a long name");
    for clock in 0..2 {
        ada.say(reply::update(&written(5, clock, 600))).await;
        ada.message().await;
    }
    ada.say(reply::update(&written(5, 2, 600))).await;
    let (code, reason) = ada.end().await;
    assert!(code == 4413 && reason.contains("1500"), "{code} {reason}");
    let mut ada = Visitor::inside(server, "a").await;
    ada.0.send(Frame::Binary(vec![0; 1001].into())).await.unwrap();
    let (code, reason) = ada.end().await;
    assert!(code == 4413 && reason.contains("1000"), "{code} {reason}");
    let mut ada = Visitor::inside(server, "a").await;
    assert_eq!(ada.clock(5).await, 2);
}

#[tokio::test]
async fn a_server_may_have_no_documents() {
    let server = server_with(Config { yjs: None, ..Config::default() }).await;
    assert!(connect_async(format!("ws://{server}/yjs/plan")).await.is_err());
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let server = server().await;
    let headers = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("origin", "https://elsewhere.example"),
    ];
    assert_eq!(get(server, "/yjs/plan", &headers).await.status, 403);
    assert_eq!(get(server, "/yjs/plan", &headers[..4]).await.status, 101);
    assert_eq!(get(server, "/yjs/plan", &headers[..1]).await.status, 426);
    assert_eq!(get(server, "/yjs/%ff", &headers[..4]).await.status, 400);
}

/// Documents, connections to them, their memory, and rooms of a server.
async fn held(server: SocketAddr) -> [u64; 4] {
    let status = get(server, "/status", &[]).await.body;
    let status = serde_json::from_slice::<serde_json::Value>(&status).unwrap();
    let yjs = &status["yjs"];
    [&yjs["documents"], &yjs["connections"], &yjs["memory_bytes"], &status["rooms"]]
        .map(|value| value.as_u64().unwrap())
}

async fn nothing_is_held(server: SocketAddr) {
    let closed = async {
        while held(server).await != [0; 4] {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, closed).await.expect("everything is closed");
}

#[tokio::test]
async fn a_document_without_content_keeps_no_place_when_everybody_has_left() {
    let limits = YjsLimits { documents: 1, ..YjsLimits::default() };
    let yjs = Some(limits);
    let server = server_with(Config { yjs, max_rooms: 1, ..Config::default() }).await;
    for visit in 0..3 {
        let mut ada = Visitor::inside(server, &format!("visited-{visit}")).await;
        ada.say(state(5, 1, Some("1"))).await;
        assert_eq!(ada.document().await, [0, 0]);
        drop(ada);
        nothing_is_held(server).await;
    }
    let mut ada = Visitor::inside(server, "plan").await;
    ada.say(reply::update(&written(5, 0, 10))).await;
    ada.message().await;
    drop(ada);
    while held(server).await[1] > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(Visitor::come(server, "other").await.end().await.0, 4503, "its content stays");
    assert_eq!(Visitor::inside(server, "plan").await.clock(5).await, 1);
}

#[tokio::test]
async fn a_stored_document_outlasts_its_connections_and_can_be_taken_back_and_deleted() {
    let durable = Some(DurableConfig::in_memory());
    let server = administered(Config { durable, ..Config::default() }).await;
    let mut ada = Visitor::inside(server.public, "plan").await;
    ada.say(reply::update(&written(5, 0, 10))).await;
    assert_eq!(ada.message().await, reply::update(&written(5, 0, 10)));
    drop(ada);
    // For a document that nobody has open, only the store's index is kept.
    nothing_is_held(server.public).await;
    let mut bob = Visitor::inside(server.public, "plan").await;
    assert_eq!(bob.clock(5).await, 1);
    let rooms = get(server.admin, "/api/rooms", &[BEARER]).await.body;
    assert!(String::from_utf8(rooms).unwrap().contains("\"plan\""));
    bob.say(reply::update(&written(5, 1, 10))).await;
    assert_eq!(bob.message().await, reply::update(&written(5, 1, 10)));
    let back = br#"{"position":1}"#.to_vec();
    let headers = [BEARER, ("content-type", "application/json")];
    let taken = post(server.admin, "/api/rooms/plan/restore", &headers, back).await;
    assert_eq!(taken.status, 204, "{:?}", String::from_utf8(taken.body));
    assert_eq!(bob.end().await.0, 1012, "it comes back");
    let mut bob = Visitor::inside(server.public, "plan").await;
    assert_eq!(bob.clock(5).await, 1);
    let deleted = send(server.admin, "DELETE", "/api/rooms/plan", &[BEARER], Default::default());
    assert_eq!(deleted.await.unwrap().status(), 204);
    assert_eq!(bob.end().await.0, 1012, "it comes back");
    let mut bob = Visitor::inside(server.public, "plan").await;
    assert_eq!(bob.clock(5).await, 0);
}

/// Users whose names are their tokens.
struct Known;

impl Authenticator for Known {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        let identity = Identity { subject: request.token.to_vec(), rights: Vec::new() };
        Box::pin(async { Ok(Admission { identity, ..Admission::default() }) })
    }
}

#[tokio::test]
async fn whoever_is_banned_is_out_at_once_and_stays_away() {
    let config = Config { authenticator: Arc::new(Known), ..Config::default() };
    let server = administered(config).await;
    let mut ada = Visitor::inside(server.public, "plan?token=ada").await;
    let mut bob = Visitor::inside(server.public, "plan?token=bob").await;
    bob.say(state(5, 1, Some("1"))).await;
    assert_eq!(ada.message().await, state(5, 1, Some("1")));
    let ban = br#"{"user":"bob"}"#.to_vec();
    let json = ("content-type", "application/json");
    assert_eq!(post(server.admin, "/api/bans", &[BEARER, json], ban).await.status, 201);
    assert_eq!(bob.end().await.0, 4403);
    assert_eq!(ada.message().await, state(5, 1, None), "he is not there any more");
    assert_eq!(Visitor::come(server.public, "plan?token=bob").await.end().await.0, 4403);
    assert_eq!(ada.clock(5).await, 0);
}

#[tokio::test]
async fn a_server_that_stops_lets_its_clients_come_back() {
    let (server, running) = start_administered(Config::default()).await;
    let mut ada = Visitor::inside(server.public, "plan").await;
    ada.say(reply::update(&written(5, 0, 10))).await;
    ada.message().await;
    let drain = br#"{"wait_seconds":0}"#.to_vec();
    let json = ("content-type", "application/json");
    assert_eq!(post(server.admin, "/api/drain", &[BEARER, json], drain).await.status, 202);
    assert_eq!(ada.end().await.0, 1012);
    timeout(PATIENCE, running).await.expect("the server ends").unwrap();
}
