//! The server's side of the inspector: who may use it, and its requests (docs/inspector.md).

mod query;
mod recording;
pub(crate) mod recordings;
mod refusal;
pub(crate) mod report_streams;
mod stream;
mod view;

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groupwire_session::limits::MAX_ROOM_NAME;
use serde::{Deserialize, Serialize};

use crate::answers::{NO_SNIFF, NO_STORE};
use crate::config::Inspect;
use crate::hub::Hub;
use crate::secret::is_same_secret;

use query::{ParticipantQuery, RoomQuery};
use refusal::Refusal;
pub(crate) use stream::stream;

/// Most bytes of a request's body; `{"on":true}` has 11.
pub(crate) const MAX_BODY: usize = 256;

/// Refuses requests of clients that may not use the inspector.
///
/// Without a token only programs on this machine may: the server listens on a loopback address and the request's
/// `Host` is a name of such an address. Pages of other sites and clients behind a reverse proxy send another `Host`.
pub(crate) async fn check(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let refusal = match &hub.config.inspect {
        Inspect::Off => Some(Refusal::Off),
        Inspect::Local if !hub.config.is_local() => Some(Refusal::Off),
        Inspect::Local if !is_local(headers) => Some(Refusal::Remote),
        Inspect::Local => None,
        Inspect::Token(token) if bears(headers, token) => None,
        Inspect::Token(_) => Some(Refusal::Token),
    };
    match refusal {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Headers that reverse proxies add.
const PROXIED: [HeaderName; 3] = [
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
];

fn is_local(headers: &HeaderMap) -> bool {
    if PROXIED.iter().any(|name| headers.contains_key(name)) {
        return false;
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(Ok(authority)) = host.map(str::parse::<Authority>) else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn bears(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    given
        .and_then(|given| given.strip_prefix(b"Bearer "))
        .is_some_and(|given| is_same_secret(given, token.as_bytes()))
}

#[derive(Serialize)]
struct Rooms {
    rooms: Vec<Room>,
    /// True if networks can be emulated.
    emulates: bool,
    /// True if rooms can be recorded.
    records: bool,
}

#[derive(Serialize)]
struct Room {
    name: String,
    participants: usize,
    messages: u64,
    bytes_before: u64,
    bytes_after: u64,
}

/// Lists all rooms.
pub(crate) async fn rooms(State(hub): State<Arc<Hub>>) -> impl IntoResponse {
    let mut rooms = Vec::new();
    for name in hub.names() {
        let Some(stats) = hub.with_room(&name, |driver, _| driver.room.stats()).await else {
            continue;
        };
        rooms.push(Room {
            name,
            participants: stats.here,
            messages: stats.messages_in + stats.deliveries,
            bytes_before: stats.bytes_in_before + stats.bytes_out_before,
            bytes_after: stats.bytes_in_after + stats.bytes_out_after,
        });
    }
    rooms.sort_by(|one, two| two.messages.cmp(&one.messages).then(one.name.cmp(&two.name)));
    let records = hub.config.record_dir.is_some();
    let rooms = Rooms { rooms, emulates: hub.emulations.are_allowed(), records };
    ([NO_SNIFF, NO_STORE], Json(rooms))
}

/// Lists the templates of the models that compress the messages to a participant.
pub(crate) async fn templates(
    State(hub): State<Arc<Hub>>,
    query: Result<Query<ParticipantQuery>, QueryRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(ParticipantQuery { room, participant }) = query.map_err(Refusal::Query)?;
    let templates = hub.with_room(&room, move |driver, _| driver.room.templates(participant)).await;
    let (stream, datagrams) = templates.ok_or(Refusal::NoRoom)?;
    Ok(([NO_SNIFF, NO_STORE], Json(view::Templates::new(&stream, &datagrams))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    on: bool,
}

/// Starts or stops the recording of a room.
pub(crate) async fn record(
    State(hub): State<Arc<Hub>>,
    query: Result<Query<RoomQuery>, QueryRejection>,
    wanted: Result<Json<Record>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(RoomQuery { room }) = query.map_err(Refusal::Query)?;
    let Json(Record { on }) = wanted.map_err(Refusal::Unreadable)?;
    if room.is_empty() || room.len() > MAX_ROOM_NAME {
        return Err(Refusal::NoRoom);
    }
    let state = match on {
        true => recording::start(&hub, &room).await?,
        false => recording::stop(&hub, &room).await.ok_or(Refusal::NotRecorded)?,
    };
    Ok(([NO_SNIFF, NO_STORE], Json(state)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |&(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), axum::http::HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_loopback_hosts_without_a_proxy_are_local() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080"] {
            assert!(is_local(&headers(&[("host", host)])), "{host}");
        }
        for host in
            ["example.org", "localhost.example.org", "10.0.0.1:8080", "", "127.0.0.1.nip.io"]
        {
            assert!(!is_local(&headers(&[("host", host)])), "{host}");
        }
        assert!(!is_local(&HeaderMap::new()));
        assert!(!is_local(&headers(&[("host", "localhost"), ("x-forwarded-for", "10.0.0.1")])));
    }

    #[test]
    fn only_the_exact_token_is_accepted() {
        for (value, is_right) in
            [("Bearer abc", true), ("Bearer ab", false), ("Bearer abcd", false), ("abc", false)]
        {
            assert_eq!(bears(&headers(&[("authorization", value)]), "abc"), is_right, "{value}");
        }
    }
}
