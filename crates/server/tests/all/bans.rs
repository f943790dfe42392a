//! Users and tokens that the administration keeps out, on a real server (wire W98).

use std::time::{Duration, SystemTime};

use axum::body::Body;
use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::session::{Identity, name_of};
use groupwire_server::{
    Admission, Answer, Authenticator, Config, DurableConfig, JoinRequest, Server,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::http::{BEARER, get, post, read, send};
use crate::support::person::Person;
use crate::support::{Administered, PATIENCE, administered, start_administered, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Tokens are `user/name/issued`; an empty token has no user.
struct Told;

impl Authenticator for Told {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async move {
            let token = String::from_utf8(request.token.to_vec()).unwrap();
            let [user, name, issued] = token.split('/').collect::<Vec<_>>()[..] else {
                return Ok(Admission::default());
            };
            let identity = Identity { subject: user.into(), ..Identity::default() };
            let since = Duration::from_secs(issued.parse().unwrap());
            let issued = Some(SystemTime::UNIX_EPOCH + since);
            Ok(Admission { identity, token_id: Some(name.into()), issued, expires: None })
        })
    }
}

fn config() -> Config {
    // Any port, because a server of the user's may have the usual one.
    let listen = ([127, 0, 0, 1], 0).into();
    Config { authenticator: std::sync::Arc::new(Told), listen, ..Config::default() }
}

async fn ask(server: &Administered, room: &str, token: &str) -> Person {
    let config = ClientConfig { token: token.into(), ..ClientConfig::new(room) };
    Person::ask(wire::socket(server.socket).await, config)
}

async fn join(server: &Administered, room: &str, token: &str) -> Person {
    let mut person = ask(server, room, token).await;
    person.until(|event| matches!(event, Event::Synced { channel: None })).await;
    person
}

/// The name and text of the next error, and whether the client gives up.
async fn error(person: &mut Person) -> (&'static str, String, bool) {
    match person.until(|event| matches!(event, Event::Error { .. })).await {
        Event::Error { error, fatal, .. } => (name_of(error.code()), error.to_string(), fatal),
        other => panic!("{other:?}"),
    }
}

async fn ban(server: &Administered, wanted: Value) -> (u16, Value) {
    let body = wanted.to_string().into_bytes();
    let answer = post(server.admin, "/api/bans", &[BEARER, JSON], body).await;
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

async fn bans(server: &Administered) -> Vec<Value> {
    let answer = get(server.admin, "/api/bans", &[BEARER]).await;
    let all: Value = serde_json::from_slice(&answer.body).unwrap();
    all["bans"].as_array().unwrap().clone()
}

async fn delete(server: &Administered, path: &str) -> (u16, String) {
    let sent = send(server.admin, "DELETE", path, &[BEARER], Body::empty()).await;
    let answer = read(sent.unwrap()).await.unwrap();
    (answer.status, String::from_utf8(answer.body).unwrap())
}

#[tokio::test]
async fn w98_a_banned_user_is_out_at_once_and_neither_joins_nor_resumes_while_others_stay() {
    let server = administered(config()).await;
    let mut ann = join(&server, "demo", "ann/t1/1000").await;
    let mut away = join(&server, "demo", "ann/t2/1000").await;
    let mut ben = join(&server, "demo", "ben/t3/1000").await;
    away.resume(wire::socket(server.socket).await).await;
    let (status, made) =
        ban(&server, json!({ "user": "ann", "seconds": 600, "reason": "spam" })).await;
    assert_eq!((status, &made["id"], &made["room"]), (201, &json!(1), &json!("*")));

    // `away` resumes, or has just resumed; `new` joins another room.
    let mut new = ask(&server, "other", "ann/t4/2000").await;
    for one in [&mut ann, &mut away, &mut new] {
        let (name, text, is_fatal) = error(one).await;
        assert!(name == "banned" && is_fatal && text.contains("s: spam"), "{text}");
    }
    ben.send("still here").await;
    ben.confirmed().await;

    assert_eq!(bans(&server).await, [made]);
    assert_eq!(delete(&server, "/api/bans/1").await.0, 204);
    assert_eq!(delete(&server, "/api/bans/1").await.0, 404);
    join(&server, "demo", "ann/t1/1000").await;
}

#[tokio::test]
async fn w98_a_revoked_token_ends_its_connection_and_another_one_resumes_the_session() {
    let server = administered(config()).await;
    let mut ann = join(&server, "demo", "ann/t1/1000").await;
    let mut other = join(&server, "demo", "ann/t2/1000").await;
    ann.send("before").await;
    ann.confirmed().await;
    assert_eq!(ban(&server, json!({ "token": "t1" })).await.0, 201);
    let (name, _, is_fatal) = error(&mut ann).await;
    assert_eq!((name, is_fatal), ("revoked", false));
    ann.until(|event| matches!(event, Event::TokenWanted)).await;
    // The same token again.
    ann.resume(wire::socket(server.socket).await).await;
    ann.set_token("ann/t1/1000").await;
    assert_eq!(error(&mut ann).await.0, "revoked");
    ann.resume(wire::socket(server.socket).await).await;
    ann.set_token("ann/t5/1000").await;
    let joined = ann.until(|event| matches!(event, Event::Joined { .. })).await;
    assert!(matches!(joined, Event::Joined { resumed: true, .. }), "{joined:?}");
    // A token that was revoked before it is sent in the midst of a session.
    other.set_token("ann/t1/1000").await;
    assert_eq!(error(&mut other).await.0, "revoked");
}

#[tokio::test]
async fn w98_tokens_issued_before_a_time_are_revoked_and_newer_ones_are_not() {
    let server = administered(config()).await;
    let mut old = join(&server, "demo", "ann/t1/1000").await;
    let mut new = join(&server, "demo", "ann/t2/2000").await;
    assert_eq!(ban(&server, json!({ "user": "ann", "issued_before": 2000 })).await.0, 201);
    assert_eq!(error(&mut old).await.0, "revoked");
    let mut again = ask(&server, "demo", "ann/t3/1999").await;
    assert_eq!(error(&mut again).await.0, "revoked");
    new.send("still here").await;
    new.confirmed().await;
}

#[tokio::test]
async fn a_kicked_user_is_banned_from_the_room_and_who_has_no_user_cannot_be() {
    let server = administered(config()).await;
    let mut ann = join(&server, "docs/a", "ann/t1/1000").await;
    let mut nobody = join(&server, "docs/a", "").await;
    let people = "/api/rooms/docs%2Fa/participants";
    let list: Value =
        serde_json::from_slice(&get(server.admin, people, &[BEARER]).await.body).unwrap();
    let users: Vec<_> =
        list["participants"].as_array().unwrap().iter().map(|one| one["user"].clone()).collect();
    assert_eq!(users, [json!("ann"), Value::Null]);

    let (status, why) = delete(&server, &format!("{people}/2?ban=60")).await;
    assert!(status == 409 && why.contains("no verified user"), "{why}");
    assert_eq!(delete(&server, &format!("{people}/1?ban=soon")).await.0, 400);
    assert_eq!(delete(&server, &format!("{people}/1?ban=0")).await.0, 400);
    assert_eq!(delete(&server, &format!("{people}/1?band=60")).await.0, 400);
    assert_eq!(delete(&server, &format!("{people}/7?ban=60")).await.0, 404);
    assert_eq!(bans(&server).await, [] as [Value; 0]);
    assert_eq!(delete(&server, &format!("{people}/1?ban=forever")).await.0, 204);
    assert_eq!(error(&mut ann).await.0, "banned");
    let mut again = ask(&server, "docs/a", "ann/t2/3000").await;
    assert_eq!(error(&mut again).await.0, "banned");
    join(&server, "docs/b", "ann/t1/1000").await;
    nobody.send("still here").await;
    nobody.confirmed().await;

    for wrong in [json!({}), json!({ "user": "" }), json!({ "user": "a", "seconds": 0 })] {
        assert_eq!(ban(&server, wrong).await.0, 400);
    }
    assert_eq!(ban(&server, json!({ "user": "a", "for": 60 })).await.0, 422);
}

#[tokio::test]
async fn bans_outlast_a_server_that_stores_rooms() {
    let folder = tempfile::tempdir().unwrap();
    let config = || Config { durable: Some(DurableConfig::new(folder.path())), ..config() };
    let (server, running) = start_administered(config()).await;
    let (_, made) = ban(&server, json!({ "user": "ann" })).await;
    running.abort();
    let _ = running.await;
    // The folder is free once the last task of the server has ended.
    let bound = async {
        while let Err(error) = Server::bind(config()).await {
            assert!(error.to_string().contains("in use"), "{error}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, bound).await.unwrap();
    let server = administered(config()).await;
    assert_eq!(bans(&server).await, [made]);
    let mut ann = ask(&server, "demo", "ann/t1/1000").await;
    assert_eq!(error(&mut ann).await.0, "banned");
    join(&server, "demo", "ben/t2/1000").await;
}
