//! Users of plain HTTP publish and read, on a real server (docs/http.md).

use std::time::Duration;

use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::session::{PresenceState, Quota, Quotas};
use groupwire_server::{AddressLimits, Config, DurableConfig};
use serde_json::{Value, json};

use crate::support::http::{BEARER, get, post, read as read_answer, send};
use crate::support::person::Person;
use crate::support::users::{bearer, config, publish, read, texts};
use crate::support::{administered, server_with, servers_with, wire};

const DRAW: &str = "/v1/rooms/docs%2Fa/channels/draw/messages";
const POINTERS: &str = "/v1/rooms/docs%2Fa/channels/pointers/messages";
const PEOPLE: &str = "/v1/rooms/docs%2Fa/participants";

fn stored() -> Config {
    Config { durable: Some(DurableConfig::in_memory()), ..config() }
}

async fn join(socket: std::net::SocketAddr, user: &str) -> Person {
    let asked = ClientConfig { token: user.into(), ..ClientConfig::new("docs/a") };
    let mut person = Person::ask(wire::socket(socket).await, asked);
    person.until(|event| matches!(event, Event::Synced { channel: None })).await;
    person
}

#[tokio::test]
async fn http_users_and_participants_see_the_same_messages_in_the_same_order() {
    for config in [config(), stored()] {
        let (server, socket) = servers_with(config).await;
        let mut ann = join(socket, "ann").await;
        for nth in 0..20 {
            match nth % 2 {
                0 => {
                    let (status, said) =
                        publish(server, "bob", DRAW, &format!("k{nth}"), &format!("{nth}")).await;
                    assert_eq!((status, &said["position"]), (200, &json!(nth + 1)), "{said}");
                }
                _ => {
                    ann.send(&nth.to_string()).await;
                    ann.confirmed().await;
                }
            }
        }
        ann.receive(20).await;
        let (status, all) = read(server, "bob", &format!("{DRAW}?after=0")).await;
        assert_eq!((status, &all["position"], &all["gap"]), (200, &json!(20), &Value::Null));
        let theirs: Vec<String> = ann.messages.iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(texts(&all), theirs);
        let senders: Vec<u64> = ann.messages.iter().map(|(id, _)| id.get().into()).collect();
        let lines = all["messages"].as_array().unwrap();
        let read: Vec<u64> = lines.iter().map(|one| one["participant"].as_u64().unwrap()).collect();
        assert_eq!(read, senders, "the same senders");
        assert_eq!((&lines[0]["user"], &lines[1]["user"]), (&json!("bob"), &json!("ann")));
    }
}

#[tokio::test]
async fn a_request_that_is_repeated_is_applied_once() {
    let (server, socket) = servers_with(stored()).await;
    let mut ann = join(socket, "ann").await;
    let (_, first) = publish(server, "bob", DRAW, "k", "once").await;
    assert_eq!((&first["position"], &first["repeated"]), (&json!(1), &json!(false)));
    let again = (0..10).map(|_| publish(server, "bob", DRAW, "k", "once"));
    for (status, said) in futures_util::future::join_all(again).await {
        assert_eq!((status, &said["position"], &said["repeated"]), (200, &json!(1), &json!(true)));
    }
    let (status, said) = publish(server, "bob", DRAW, "k", "other").await;
    assert_eq!((status, &said["code"]), (422, &json!("other_content")));
    // Another user may have the same key.
    let (_, other) = publish(server, "eve", DRAW, "k", "mine").await;
    assert_eq!((&other["position"], &other["repeated"]), (&json!(2), &json!(false)));
    ann.receive(2).await;
    assert_eq!(
        ann.messages.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
        ["once", "mine"]
    );
}

#[tokio::test]
async fn pages_and_values_are_read_as_they_are_asked_for() {
    let server = server_with(config()).await;
    let create = format!("{DRAW}?create=transactions");
    for nth in 1..=7 {
        let (status, said) =
            publish(server, "ann", &create, &nth.to_string(), &nth.to_string()).await;
        assert_eq!(status, 200, "{said}");
    }
    let (_, newest) = read(server, "ann", &format!("{DRAW}?limit=2")).await;
    assert_eq!(texts(&newest), ["6", "7"]);
    let (mut after, mut all, mut pages) = ("0".to_owned(), Vec::new(), 0);
    loop {
        let (_, page) = read(server, "ann", &format!("{DRAW}?after={after}&limit=3")).await;
        all.extend(texts(&page));
        pages += 1;
        after = page["cursor"].as_str().unwrap().to_owned();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!((all.len(), pages), (7, 3), "{all:?}");
    let bytes = [0, 159, 146, 150];
    let headers = [("authorization", "Bearer ann"), ("content-type", "application/octet-stream")];
    let path = format!("{POINTERS}?create=awareness&key=a%2Fb");
    assert_eq!(post(server, &path, &headers, b"old".to_vec()).await.status, 200);
    assert_eq!(post(server, &path, &headers, bytes.to_vec()).await.status, 200);
    let path = format!("{POINTERS}?key_base64=%2Fw%3D%3D");
    let (_, said) = publish(server, "ann", &path, "", "text").await;
    assert_eq!((&said["position"], &said["repeated"]), (&Value::Null, &json!(false)));
    let (_, values) = read(server, "ann", POINTERS).await;
    let values = values["messages"].as_array().unwrap();
    assert_eq!(values.len(), 2, "the newest of each key: {values:?}");
    assert_eq!((&values[0]["key"], &values[0]["base64"]), (&json!("a/b"), &json!("AJ+Slg==")));
    assert_eq!((&values[1]["key_base64"], &values[1]["text"]), (&json!("/w=="), &json!("text")));
    assert!(values[0].get("position").is_none());
}

#[tokio::test]
async fn a_user_is_a_participant_for_a_while_whom_the_others_and_the_administration_see() {
    let mut config = config();
    config.room.timing.away = Duration::from_secs(10);
    let server = administered(config).await;
    let mut ann = join(server.socket, "ann").await;
    let (_, said) = publish(server.public, "bob", DRAW, "k", "hello").await;
    let bob = said["participant"].as_u64().unwrap() as u32;
    let change = |event: &Event| match event {
        Event::Participants { changes, .. } => {
            changes.iter().find(|one| one.id.get() == bob).cloned()
        }
        _ => None,
    };
    let seen = change(&ann.until(|event| change(event).is_some()).await).unwrap();
    assert_eq!((seen.state, seen.user.as_deref()), (PresenceState::Here, Some("bob")));
    let (_, people) = read(server.public, "bob", PEOPLE).await;
    let named: Vec<_> =
        people["participants"].as_array().unwrap().iter().map(|one| &one["user"]).collect();
    assert_eq!((named, &people["count"]), (vec![&json!("ann"), &json!("bob")], &json!(2)));
    let path = "/api/rooms/docs%2Fa/participants";
    let listed = get(server.admin, path, &[BEARER]).await;
    let listed: Value = serde_json::from_slice(&listed.body).unwrap();
    assert_eq!(listed["participants"][1]["transport"], "HTTP users", "{listed}");
    // Another program of the same user is another participant.
    let bearer = bearer("bob");
    let headers = [("authorization", bearer.as_str()), ("groupwire-client", "cron")];
    let cron = get(server.public, PEOPLE, &headers).await;
    let cron: Value = serde_json::from_slice(&cron.body).unwrap();
    assert_eq!(cron["count"], 3);
    let (_, people) = read(server.public, "bob", &format!("{PEOPLE}?limit=2&from=1")).await;
    assert_eq!(people["participants"].as_array().unwrap().len(), 2);
    assert!(people["next"].as_u64().is_some(), "{people}");
    // They leave when no request comes any more.
    let has_left =
        |event: &Event| change(event).is_some_and(|one| one.state == PresenceState::Left);
    ann.until(has_left).await;
}

#[tokio::test]
async fn long_polls_are_answered_when_something_comes() {
    let (server, socket) = servers_with(config()).await;
    let mut ann = join(socket, "ann").await;
    let (_, first) = read(server, "bob", DRAW).await;
    let cursor = first["cursor"].as_str().unwrap();
    let path = format!("{DRAW}?after={cursor}&wait=30");
    let (_, people) = read(server, "bob", PEOPLE).await;
    let news = format!("{PEOPLE}?after={}&wait=30", people["cursor"].as_str().unwrap());
    let sending = async {
        // Whether a request comes before this message or after it, it is answered with the message.
        ann.send("hello").await;
        ann.confirmed().await;
        let (_, eve) = read(server, "eve", PEOPLE).await;
        eve["count"].clone()
    };
    let (polled, changed, count) =
        tokio::join!(read(server, "bob", &path), read(server, "bob", &news), sending);
    assert_eq!(texts(&polled.1), ["hello"]);
    assert_eq!((&changed.1["participants"][0]["user"], count), (&json!("eve"), json!(3)));
    let (_, nothing) = read(server, "bob", &format!("{DRAW}?after=1")).await;
    assert!(texts(&nothing).is_empty());
}

#[tokio::test]
async fn what_is_not_permitted_is_refused_with_a_code() {
    let server = server_with(config()).await;
    let other = |channel: &str| format!("/v1/rooms/docs%2Fa/channels/{channel}/messages");
    for channel in ["draw", "inbox"] {
        let path = format!("{}?create=transactions", other(channel));
        assert_eq!(publish(server, "ann", &path, channel, "a").await.0, 200);
    }
    let events = |query: &str| format!("/v1/rooms/docs%2Fa/events?{query}");
    let forbidden = [
        ("POST", "guest", other("draw"), 403, "not_allowed"),
        ("POST", "guest", other("none"), 403, "not_allowed"),
        ("POST", "guest", format!("{}?create=awareness", other("none")), 403, "not_allowed"),
        ("POST", "ann", other("closed"), 403, "not_allowed"),
        ("POST", "ann", format!("{}?create=awareness", other("closed")), 403, "not_allowed"),
        ("POST", "ann", other("none"), 404, "no_channel"),
        ("POST", "late", other("draw"), 401, "token_expired"),
        ("POST", "nobody", other("draw"), 401, "token_refused"),
        ("POST", "", other("draw"), 401, "token_refused"),
        ("GET", "ann", other("inbox"), 403, "not_allowed"),
        ("GET", "ann", other("closed"), 403, "not_allowed"),
        ("GET", "ann", other("none"), 404, "no_channel"),
        ("GET", "ann", format!("{}?wait=30", other("inbox")), 403, "not_allowed"),
        ("GET", "late", other("draw"), 401, "token_expired"),
        ("GET", "nobody", other("draw"), 401, "token_refused"),
        ("GET", "", other("draw"), 401, "token_refused"),
        ("GET", "ann", events("channel=inbox"), 403, "not_allowed"),
        ("GET", "ann", events("channel=draw&channel=closed"), 403, "not_allowed"),
        ("GET", "ann", events("channel=none"), 404, "no_channel"),
        ("GET", "late", events("presence=true"), 401, "token_expired"),
        ("GET", "nobody", events("channel=draw"), 401, "token_refused"),
        ("GET", "late", PEOPLE.to_owned(), 401, "token_expired"),
        ("GET", "nobody", PEOPLE.to_owned(), 401, "token_refused"),
        ("GET", "", PEOPLE.to_owned(), 401, "token_refused"),
    ];
    for (method, user, path, status, code) in &forbidden {
        let bearer = bearer(user);
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "x")];
        let answer = send(server, method, path, &headers, "a".into()).await.unwrap();
        let answer = read_answer(answer).await.unwrap();
        let problem: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, &problem["code"]), (*status, &json!(code)), "{user} {path}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(problem["status"], json!(status));
        assert!(problem["detail"].as_str().unwrap().len() > 15, "{problem}");
        let challenges = answer.headers.contains_key("www-authenticate");
        assert_eq!(challenges, *status == 401, "{path}");
    }
    let (_, all) = read(server, "ann", &format!("{DRAW}?after=0")).await;
    assert_eq!(texts(&all), ["a"], "nothing else was published");
}

#[tokio::test]
async fn bad_requests_are_refused_and_change_nothing() {
    let server = server_with(config()).await;
    publish(server, "ann", &format!("{DRAW}?create=transactions"), "first", "a").await;
    let long = "a".repeat(129);
    let reads = [
        format!("{DRAW}?limit=0"),
        format!("{DRAW}?limit=1001"),
        format!("{DRAW}?limit=x"),
        format!("{DRAW}?wait=31"),
        format!("{DRAW}?wait=-1"),
        format!("{DRAW}?after=-1"),
        format!("{DRAW}?after=1-2-3"),
        format!("{DRAW}?after="),
        format!("{DRAW}?after=99999999999999999999"),
        format!("{DRAW}?after=1&after=2"),
        format!("{DRAW}?from=1"),
        format!("/v1/rooms/docs%2Fa/channels/{long}/messages"),
        format!("/v1/rooms/{}/channels/draw/messages", "a".repeat(257)),
        "/v1/rooms/%ff/channels/draw/messages".to_owned(),
        format!("{PEOPLE}?after=7"),
        format!("{PEOPLE}?from=4294967296"),
        "/v1/rooms/docs%2Fa/events".to_owned(),
        "/v1/rooms/docs%2Fa/events?channel=".to_owned(),
        "/v1/rooms/docs%2Fa/events?presence=1".to_owned(),
        (0..17).fold("/v1/rooms/docs%2Fa/events?presence=true".to_owned(), |path, nth| {
            path + &format!("&channel=c{nth}")
        }),
    ];
    for path in &reads {
        let (status, problem) = read(server, "ann", path).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{path}");
    }
    let token = "Bearer ann";
    let key = ("idempotency-key", "x");
    let long_key = "k".repeat(129);
    let text = ("content-type", "text/plain");
    let cases = [
        (DRAW.to_owned(), vec![], b"a".to_vec(), 400, "no_idempotency_key"),
        (DRAW.to_owned(), vec![("idempotency-key", "a b")], b"a".to_vec(), 400, "bad_key"),
        (DRAW.to_owned(), vec![("idempotency-key", "")], b"a".to_vec(), 400, "bad_key"),
        (
            DRAW.to_owned(),
            vec![("idempotency-key", long_key.as_str())],
            b"a".to_vec(),
            400,
            "bad_key",
        ),
        (DRAW.to_owned(), vec![key, ("idempotency-key", "y")], b"a".to_vec(), 400, "bad_key"),
        (DRAW.to_owned(), vec![key, text], vec![0xff, 0xfe], 400, "bad_text"),
        (DRAW.to_owned(), vec![key, text], vec![b'a'; 60_001], 413, "too_large"),
        (format!("{DRAW}?create=files"), vec![key], b"a".to_vec(), 400, "bad_request"),
        (format!("{DRAW}?key=a&key_base64=YQ=="), vec![key], b"a".to_vec(), 400, "bad_request"),
        (format!("{DRAW}?key_base64=!"), vec![key], b"a".to_vec(), 400, "bad_request"),
        (format!("{DRAW}?key={}", "k".repeat(257)), vec![key], b"a".to_vec(), 413, "too_large"),
        (format!("{DRAW}?limit=1"), vec![key], b"a".to_vec(), 400, "bad_request"),
        (
            DRAW.to_owned(),
            vec![key, ("groupwire-client", "a b")],
            b"a".to_vec(),
            400,
            "bad_request",
        ),
        (
            DRAW.to_owned(),
            vec![key, ("authorization", "Bearer b")],
            b"a".to_vec(),
            401,
            "token_refused",
        ),
    ];
    for (path, mut headers, body, status, code) in cases {
        headers.push(("authorization", token));
        let answer = post(server, &path, &headers, body).await;
        let problem: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, &problem["code"]), (status, &json!(code)), "{path} {headers:?}");
    }
    let basic = [("authorization", "Basic YW5u"), key];
    assert_eq!(post(server, DRAW, &basic, b"a".to_vec()).await.status, 401);
    let put = send(server, "PUT", DRAW, &[], "a".into()).await.unwrap();
    assert_eq!(put.status(), 405);
    let (_, all) = read(server, "ann", &format!("{DRAW}?after=0")).await;
    assert_eq!(texts(&all), ["a"]);
    // The largest message that is permitted, and an empty one.
    assert_eq!(publish(server, "ann", DRAW, "l", &"a".repeat(60_000)).await.0, 200);
    assert_eq!(publish(server, "ann", DRAW, "e", "").await.0, 200);
}

#[tokio::test]
async fn limits_hold_for_quotas_addresses_and_rooms() {
    let create = format!("{DRAW}?create=transactions");
    // The quota of a participant.
    let participant = Quota { bytes: 1_000, deliveries: u64::MAX };
    let quotas = Quotas { participant, burst: Duration::from_secs(1), ..Quotas::default() };
    let mut config_with_quota = config();
    config_with_quota.room.quotas = quotas;
    let server = server_with(config_with_quota).await;
    assert_eq!(publish(server, "ann", &create, "1", &"a".repeat(30_000)).await.0, 200);
    let (status, said) = publish(server, "ann", DRAW, "2", "a").await;
    assert_eq!((status, &said["code"]), (429, &json!("over_quota")));

    // Requests of an address.
    let addresses = AddressLimits { handshakes_per_second: 2, ..AddressLimits::default() };
    let server = server_with(Config { addresses, ..config() }).await;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        let Ok(answer) = send(
            server,
            "GET",
            PEOPLE,
            &[("authorization", "Bearer ann")],
            axum::body::Body::empty(),
        )
        .await
        else {
            break;
        };
        statuses.push(answer.status().as_u16());
    }
    assert!(statuses.len() < 30 || statuses.contains(&429), "{statuses:?}");

    // People of a room.
    let mut full = config();
    full.room.limits.max_participants = 1;
    let server = server_with(full).await;
    assert_eq!(read(server, "ann", PEOPLE).await.0, 200);
    let (status, said) = read(server, "bob", PEOPLE).await;
    assert_eq!((status, &said["code"]), (503, &json!("full")));
}

#[tokio::test]
async fn pages_of_other_origins_may_not_use_it_and_permitted_ones_may() {
    let origins = groupwire_server::Origins::own().and("https://app.example").unwrap();
    let server = server_with(Config { origins, ..config() }).await;
    let foreign = [("origin", "https://evil.example"), ("authorization", "Bearer ann")];
    assert_eq!(get(server, PEOPLE, &foreign).await.status, 403);
    let asks = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,idempotency-key"),
    ];
    let answer = send(server, "OPTIONS", DRAW, &asks, axum::body::Body::empty()).await.unwrap();
    let allowed = answer.headers()["access-control-allow-headers"].to_str().unwrap();
    for header in ["authorization", "idempotency-key", "last-event-id", "groupwire-client"] {
        assert!(allowed.contains(header), "{allowed}");
    }
    let own = [("origin", "https://app.example"), ("authorization", "Bearer ann")];
    let answer = get(server, PEOPLE, &own).await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "https://app.example")
    );
    let described = get(server, "/v1/openapi.json", &[]).await;
    let described: Value = serde_json::from_slice(&described.body).unwrap();
    assert_eq!(described["openapi"], "3.1.0");
}

#[tokio::test]
async fn a_server_that_stores_nothing_says_when_its_room_is_another_one() {
    let server = server_with(Config { keep_empty: Duration::ZERO, ..config() }).await;
    let (_, said) = read(server, "ann", &format!("{DRAW}?after=7")).await;
    assert_eq!(said["code"], "no_channel", "{said}");
    publish(server, "ann", &format!("{DRAW}?create=transactions"), "k", "a").await;
    for after in ["7", "7-9-1-abc-0"] {
        let (_, all) = read(server, "ann", &format!("{DRAW}?after={after}")).await;
        assert_eq!(
            (texts(&all), &all["gap"]["reason"]),
            (vec!["a".to_owned()], &json!("new_room"))
        );
    }
}
