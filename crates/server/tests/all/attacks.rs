//! Attacks with means that do not help: somebody else's token or resume secret, and headers that
//! claim something.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use groupwire_server::session::PresenceState;
use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::{ByRights, Config, JwtAuthenticator, JwtConfig, KeySource};
use serde_json::json;
use tokio::time::timeout;

use crate::support::http::{BEARER, get, post, read, send};
use crate::support::person::Person;
use crate::support::tokens::{claims, set, signed};
use crate::support::wire::{self, Wire, error_code, take_varint, varint};
use crate::support::{Administered, PATIENCE, administered};

/// A server whose users have JSON web tokens. `test` is in the name of the file of its keys.
async fn with_tokens(test: &str) -> Administered {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.keys.json"));
    std::fs::write(&file, set(&["ed"])).unwrap();
    let config = JwtConfig {
        keys: KeySource::File(file),
        issuer: "https://login.example".into(),
        audience: "groupwire".into(),
        root: None,
    };
    let authenticator = Arc::new(JwtAuthenticator::open(config).await.unwrap());
    administered(Config { authenticator, authority: Arc::new(ByRights), ..Config::default() }).await
}

fn token_of(user: &str, name: &str) -> String {
    let mut claims = claims();
    (claims["sub"], claims["jti"]) = (json!(user), json!(name));
    signed("ed", &claims)
}

/// A session as WELCOME tells it: all that is needed to resume it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Session {
    incarnation: [u8; 8],
    participant: u64,
    secret: [u8; 16],
    outcome: u8,
}

const RESUMED: u8 = 1;
const LOST: u8 = 2;

/// The answer to a HELLO over plain TCP: a session, or the name of an error.
async fn ask(
    address: SocketAddr,
    token: &str,
    resume: Option<&Session>,
) -> (Wire, Result<Session, &'static str>) {
    let mut wire = wire::socket(address).await;
    wire.outgoing.send(hello(token, resume)).await.unwrap();
    let answer = timeout(PATIENCE, wire.incoming.recv()).await.unwrap().unwrap();
    let session = error_code(&answer).map_or_else(|| Ok(welcome(&answer)), Err);
    (wire, session)
}

/// HELLO of a client with capabilities 0 (wire W9 to W14).
fn hello(token: &str, resume: Option<&Session>) -> Vec<u8> {
    let bytes = |bytes: &[u8]| [varint(bytes.len() as u64), bytes.to_vec()].concat();
    let mut fields = [vec![1, 0], varint(65_536), varint(60_000)].concat();
    fields.extend([bytes(b"docs/plan"), bytes(token.as_bytes()), bytes(b"I am Ann")].concat());
    match resume {
        None => fields.push(0),
        Some(Session { incarnation, participant, secret, .. }) => {
            fields.push(1);
            fields.extend([&varint(*participant), &secret[..], incarnation, &[0, 0]].concat());
        }
    }
    [vec![1, 0x01], bytes(&fields)].concat()
}

fn welcome(packet: &[u8]) -> Session {
    assert_eq!(packet[..2], [1, 0x02], "WELCOME");
    let mut rest = packet[2..].to_vec();
    // Its length, capabilities and three limits.
    for _ in 0..5 {
        take_varint(&mut rest).unwrap();
    }
    let incarnation = rest.drain(..8).collect::<Vec<u8>>().try_into().unwrap();
    let participant = take_varint(&mut rest).unwrap();
    let secret = rest.drain(..16).collect::<Vec<u8>>().try_into().unwrap();
    Session { incarnation, participant, secret, outcome: rest[0] }
}

/// True if the server still answers: a PING comes back.
async fn is_served(wire: &mut Wire) -> bool {
    wire.outgoing.send(vec![0x0e, 1, 77]).await.unwrap();
    let pong = async {
        while let Some(packet) = wire.incoming.recv().await {
            if packet.windows(3).any(|three| three[0] == 0x0f && three[2] == 77) {
                return true;
            }
        }
        false
    };
    timeout(PATIENCE, pong).await.unwrap()
}

/// The name of the error that ends a connection.
async fn end(wire: &mut Wire) -> &'static str {
    let error = async {
        while let Some(packet) = wire.incoming.recv().await {
            if let Some(name) = error_code(&packet) {
                return name;
            }
        }
        "none"
    };
    timeout(PATIENCE, error).await.unwrap()
}

#[tokio::test]
async fn a_stolen_resume_secret_is_worth_nothing_without_a_token_of_the_same_user() {
    let server = with_tokens("stolen").await;
    let (mut ann, session) = ask(server.socket, &token_of("ann", "1"), None).await;
    let session = session.unwrap();
    let (mut eve, herself) = ask(server.socket, &token_of("eve", "2"), Some(&session)).await;
    let herself = herself.unwrap();
    assert_eq!(herself.outcome, LOST);
    assert_ne!(herself.participant, session.participant);
    assert!(is_served(&mut ann).await && is_served(&mut eve).await, "Ann stays connected");
    let (_, without) = ask(server.socket, "", Some(&session)).await;
    assert_eq!(without, Err("refused"));
    // Ann herself resumes, and a guessed secret does not help even her.
    let guessed = Session { secret: [7; 16], ..session.clone() };
    let (_guess, guessed) = ask(server.socket, &token_of("ann", "1"), Some(&guessed)).await;
    assert_eq!(guessed.unwrap().outcome, LOST);
    let (_again, again) = ask(server.socket, &token_of("ann", "3"), Some(&session)).await;
    let again = again.unwrap();
    assert_eq!((again.outcome, again.participant), (RESUMED, session.participant));
}

#[tokio::test]
async fn without_users_a_resume_secret_is_the_session_and_its_owner_is_told() {
    let server = administered(Config::default()).await;
    let (mut ann, session) = ask(server.socket, "", None).await;
    let session = session.unwrap();
    let guessed = Session { secret: [7; 16], ..session.clone() };
    let (_guess, guessed) = ask(server.socket, "", Some(&guessed)).await;
    assert_eq!(guessed.unwrap().outcome, LOST, "it cannot be guessed");
    let (_thief, stolen) = ask(server.socket, "", Some(&session)).await;
    let stolen = stolen.unwrap();
    assert_eq!((stolen.outcome, stolen.participant), (RESUMED, session.participant));
    assert_eq!(end(&mut ann).await, "replaced");
}

/// Waits until the person receives a list of participants with the participant of this session and
/// its user.
async fn is_told(person: &mut Person, session: &Session, user: &str) {
    let is_it = |event: &Event| match event {
        Event::Participants { changes, .. } => changes.iter().any(|one| {
            u64::from(one.id.get()) == session.participant && one.user.as_deref() == Some(user)
        }),
        _ => false,
    };
    person.until(is_it).await;
}

#[tokio::test]
async fn a_replayed_token_is_its_user_again_but_not_the_session_until_it_is_revoked() {
    let server = with_tokens("replayed").await;
    let bo = ClientConfig { token: token_of("bo", "1").into(), ..ClientConfig::new("docs/plan") };
    let mut bo = Person::ask(wire::socket(server.socket).await, bo);
    bo.until(|event| matches!(event, Event::Synced { channel: None })).await;
    let stolen = token_of("ann", "2");
    let (mut ann, first) = ask(server.socket, &stolen, None).await;
    let first = first.unwrap();
    is_told(&mut bo, &first, "ann").await;
    let (mut eve, second) = ask(server.socket, &stolen, None).await;
    let second = second.unwrap();
    assert_ne!((first.participant, first.secret), (second.participant, second.secret));
    is_told(&mut bo, &second, "ann").await;
    let body = json!({ "token": "2" }).to_string().into_bytes();
    let banned =
        post(server.admin, "/api/bans", &[BEARER, ("content-type", "application/json")], body)
            .await;
    assert_eq!(banned.status, 201);
    assert_eq!([end(&mut ann).await, end(&mut eve).await], ["revoked"; 2]);
    assert_eq!(ask(server.socket, &stolen, Some(&first)).await.1, Err("revoked"));
    let away = |event: &Event| match event {
        Event::Participants { changes, .. } => {
            changes.iter().any(|one| one.state == PresenceState::Away)
        }
        _ => false,
    };
    bo.until(away).await;
    bo.send("still here").await;
    bo.confirmed().await;
}

#[tokio::test]
async fn neither_host_nor_forwarded_headers_give_a_right() {
    let server = administered(Config::default()).await;
    let claims = [
        ("host", "localhost"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-real-ip", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1;host=localhost;proto=https"),
        ("x-forwarded-host", "localhost"),
    ];
    for path in ["/metrics", "/inspect/rooms", "/api/bans", "/inspector/"] {
        assert_eq!(get(server.public, path, &claims).await.status, 404, "{path}");
    }
    let own = server.admin.to_string();
    for path in ["/metrics", "/inspect/rooms", "/api/bans"] {
        let local = [&[("host", own.as_str())], &claims[1..]].concat();
        assert_eq!(get(server.admin, path, &local).await.status, 401, "{path}");
        let foreign = [&[BEARER, ("host", "evil.example")], &claims[1..]].concat();
        assert_eq!(get(server.admin, path, &foreign).await.status, 421, "{path}");
    }
    // The headers do not make a foreign page one of the server's own either.
    for claim in [("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example")] {
        let headers = [("origin", "https://evil.example"), claim];
        for (method, path) in [("GET", "/ws"), ("GET", "/transports"), ("POST", "/http/poll")] {
            let answer = send(server.public, method, path, &headers, Body::empty()).await.unwrap();
            assert_eq!(read(answer).await.unwrap().status, 403, "{path} {claim:?}");
        }
    }
}
