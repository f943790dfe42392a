//! Users of plain HTTP: their tokens and rights, their requests, and streams of events.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use groupwire_server::session::{Access, Authority, Grant, Identity, OpenRequest};
use groupwire_server::{Admission, Answer, Authenticator, Config, JoinRequest, Refusal};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use super::PATIENCE;
use super::http::{get, post, send};

/// Tokens are names of users, or `user@SECONDS` for one that expires then. `nobody` is refused,
/// `late` has expired.
struct Names;

impl Authenticator for Names {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async move {
            let token = String::from_utf8(request.token.to_vec()).unwrap_or_default();
            let (user, seconds) = token.split_once('@').unwrap_or((&token, ""));
            match user {
                "" => return Err(Refusal::Refused("this server wants a token".into())),
                "nobody" => return Err(Refusal::Refused("nobody knows you".into())),
                "late" => return Err(Refusal::Expired),
                _ => {}
            }
            let identity = Identity { subject: user.into(), ..Identity::default() };
            let left = seconds.parse().ok().map(Duration::from_secs);
            let expires = left.map(|left| SystemTime::now() + left);
            let token_id = Some(format!("token-{user}"));
            Ok(Admission { identity, expires, token_id, ..Admission::default() })
        })
    }
}

/// The user `guest` only receives; nobody receives `inbox`; the channel `closed` is refused.
struct Rules;

impl Authority for Rules {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        if request.channel == "closed" {
            return Err("this channel is closed".into());
        }
        let publish = request.identity.subject != b"guest";
        let subscribe = request.channel != "inbox";
        Ok(Grant { access: Access { publish, subscribe }, qos: request.qos })
    }
}

/// A configuration with these tokens and rights.
pub(crate) fn config() -> Config {
    Config { authenticator: Arc::new(Names), authority: Arc::new(Rules), ..Config::default() }
}

/// The header with the token of a user.
pub(crate) fn bearer(user: &str) -> String {
    format!("Bearer {user}")
}

/// Publishes a transaction, or a value if there is no key of the request. Returns the status and
/// the answer.
pub(crate) async fn publish(
    server: SocketAddr,
    user: &str,
    path: &str,
    key: &str,
    text: &str,
) -> (u16, Value) {
    let bearer = bearer(user);
    let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "text/plain")];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    let answer = post(server, path, &headers, text.into()).await;
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

/// Reads a path as JSON.
pub(crate) async fn read(server: SocketAddr, user: &str, path: &str) -> (u16, Value) {
    let answer = get(server, path, &[("authorization", &bearer(user))]).await;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    (answer.status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// The texts of the messages of an answer.
pub(crate) fn texts(answer: &Value) -> Vec<String> {
    let all = answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    all.iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

/// An event of a stream.
#[derive(Debug, Clone)]
pub(crate) struct SentEvent {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

/// A stream of events.
pub(crate) struct EventStream {
    body: Incoming,
    text: String,
    waiting: VecDeque<SentEvent>,
    /// The id of the last event, as a browser keeps it.
    pub(crate) last: String,
}

impl EventStream {
    pub(crate) async fn open(server: SocketAddr, user: &str, path: &str, last: &str) -> Self {
        let bearer = bearer(user);
        let mut headers = vec![("authorization", bearer.as_str())];
        if !last.is_empty() {
            headers.push(("last-event-id", last));
        }
        let answer = send(server, "GET", path, &headers, Body::empty()).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let (text, waiting, last) = (String::new(), VecDeque::new(), last.to_owned());
        EventStream { body: answer.into_body(), text, waiting, last }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<SentEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                if !event.id.is_empty() {
                    self.last.clone_from(&event.id);
                }
                return Some(event);
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("something comes")?;
            let Ok(data) = frame.ok()?.into_data() else { continue };
            self.text.push_str(std::str::from_utf8(&data).unwrap());
            while let Some((one, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = one.lines().filter_map(|line| line.split_once(": "));
                    lines.filter(|(other, _)| *other == name).map(|(_, value)| value).next_back()
                };
                let id = field("id").unwrap_or_default().to_owned();
                match field("data") {
                    Some(data) => self.waiting.push_back(SentEvent {
                        name: field("event").unwrap().to_owned(),
                        id,
                        data: serde_json::from_str(data).unwrap(),
                    }),
                    None => self.last = if id.is_empty() { self.last.clone() } else { id },
                }
                self.text = rest.to_owned();
            }
        }
    }

    /// The next event of this name.
    pub(crate) async fn until(&mut self, name: &str) -> SentEvent {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("no event {name}"));
            if event.name == name {
                return event;
            }
        }
    }

    /// The texts of the next messages.
    pub(crate) async fn texts(&mut self, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.len() < count {
            texts.push(self.until("message").await.data["text"].as_str().unwrap().to_owned());
        }
        texts
    }
}
