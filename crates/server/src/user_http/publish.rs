//! A user's request to publish a message: `POST /v1/rooms/ROOM/channels/CHANNEL/messages`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::IntoResponse;
use groupwire_session::Qos;
use groupwire_session::room::{Publication, Published, RequestKey, VisitorMessage};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::answer::headers;
use super::ask::{ask, check_channel, room};
use super::context::UserContext;
use super::query::Params;
use super::refusal::Refusal;

/// Most characters of an `Idempotency-Key`.
const MAX_KEY: usize = 128;

/// How long a request waits until its message is confirmed. A commit takes milliseconds, and a full
/// disk may take long.
const PATIENCE: Duration = Duration::from_secs(30);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What a request did.
#[derive(Serialize)]
struct Outcome {
    /// The place of its transaction in the room's order; `null` for an awareness value.
    position: Option<u64>,
    /// The participant that published it.
    participant: u32,
    /// True if an earlier request with the same key published it.
    repeated: bool,
}

/// Publishes a message of the user. The answer comes when a transaction has taken effect: in a
/// stored room, when it is durable.
pub(super) async fn publish(
    State(context): State<Arc<UserContext>>,
    target: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (name, channel) = room(target)?;
    check_channel(&channel)?;
    let (head, body) = request.into_parts();
    let mut params = Params::of(&head.uri)?;
    let (key, create) = (params.key()?, created(params.one("create")?)?);
    params.end()?;
    let text = is_text(&head.headers);
    let idempotency = idempotency_key(&head.headers)?.map(<[u8]>::to_vec);
    let (user, _) = ask(&context, name, &head.headers).await?;
    let bytes = read(&context, body).await?;
    if text && std::str::from_utf8(&bytes).is_err() {
        return Err(Refusal::text());
    }
    let request = idempotency.map(|key_of_request| {
        let what = (&channel[..], key.as_deref(), &bytes[..], text);
        request_key((user.subject(), &key_of_request), what)
    });
    let (durable, is_durable) = oneshot::channel();
    let room = user.room.clone();
    let published = context.transports.rooms.with_entered_room(&room, move |driver, now| {
        let visitor = user.visit(driver, now)?;
        let (bytes, key) = (&bytes[..], key.as_deref());
        let publication = Publication { channel: &channel, bytes, text, key, request };
        let message = VisitorMessage { publication, create };
        let published = driver.publish_for(now, visitor, &message, durable);
        let refused = |why| Refusal::of_message(why, &channel);
        Ok::<_, Refusal>((visitor, published.map_err(refused)?))
    });
    let (visitor, published) = published.await??;
    let (position, repeated) = match published {
        Published::Transaction { position, repeated } => (Some(position.get()), repeated),
        Published::Awareness => (None, false),
    };
    match timeout(PATIENCE, is_durable).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) | Err(_) => return Err(Refusal::uncertain()),
    }
    Ok((headers(), Json(Outcome { position, participant: visitor.get(), repeated })))
}

/// Reads the message.
async fn read(context: &UserContext, body: Body) -> Result<Bytes, Refusal> {
    let limit = context.transports.rooms.context().config.limits.max_message;
    let collected = timeout(context.limits.request, Limited::new(body, limit).collect()).await;
    match collected.map_err(|_| Refusal::slow())? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::large(limit)),
        Err(_) => Err(Refusal::bad("the body is incomplete")),
    }
}

/// The QoS of a channel that may be made.
fn created(kind: Option<String>) -> Result<Option<Qos>, Refusal> {
    match kind.as_deref() {
        None => Ok(None),
        Some("transactions") => Ok(Some(Qos::transaction())),
        Some("awareness") => Ok(Some(Qos::awareness())),
        Some(_) => Err(Refusal::bad("create: write transactions or awareness")),
    }
}

/// True if the body is text: by its `Content-Type`, without one, or with the one that curl sends
/// by default.
fn is_text(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return true };
    let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || ["application/json", "application/x-www-form-urlencoded"].contains(&kind)
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&[u8]>, Refusal> {
    let mut all = headers.get_all(IDEMPOTENCY_KEY).iter().map(|value| value.as_bytes());
    let is_key =
        |name: &[u8]| (1..=MAX_KEY).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic);
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(key), None) if is_key(key) => Ok(Some(key)),
        _ => Err(Refusal::key()),
    }
}

/// Hashes of the key, which is that of one user, and of what is published.
fn request_key(
    (subject, name): (&[u8], &[u8]),
    (channel, key, bytes, text): (&str, Option<&[u8]>, &[u8], bool),
) -> RequestKey {
    // Each part is preceded by its length, so that different requests never have the same input.
    let hash = |parts: &[&[u8]]| {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize()
    };
    let flags = [u8::from(text), u8::from(key.is_some())];
    let whose = hash(&[b"user", subject, name]);
    let what = hash(&[channel.as_bytes(), key.unwrap_or_default(), bytes, &flags]);
    RequestKey { key: beginning(&whose), content: beginning(&what) }
}

fn beginning<const N: usize>(hash: &[u8]) -> [u8; N] {
    hash[..N].try_into().expect("a hash is longer")
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;
    use axum::http::{Method, Request};
    use futures_util::future::join_all;
    use tokio::time::advance;
    use tower_service::Service;

    use super::*;
    use crate::server::config::Config;
    use crate::server::services::Services;

    #[tokio::test(start_paused = true)]
    async fn the_users_of_a_room_together_publish_at_a_limited_rate() {
        let services = Services::new(Config::default(), None, None).unwrap();
        let statuses = async |count: usize| {
            let asking = (0..count).map(async |nth| {
                // Each request has an address of its own, because those have limits, too.
                let from = SocketAddr::from(([10, 0, (nth / 256) as u8, (nth % 256) as u8], 7));
                let uri = "/v1/rooms/demo/channels/pointers/messages?create=awareness";
                let request = Request::builder().method(Method::POST).uri(uri);
                let request = request.header("host", "localhost").extension(ConnectInfo(from));
                let request = request.body(Body::from("a"));
                services.routes().call(request.unwrap()).await.unwrap().status().as_u16()
            });
            let statuses = join_all(asking).await;
            let of = |wanted| statuses.iter().filter(|status| **status == wanted).count();
            (of(200), of(429))
        };
        assert_eq!(statuses(500).await, (400, 100));
        advance(Duration::from_millis(500)).await;
        let (permitted, refused) = statuses(200).await;
        assert!((50..100).contains(&permitted) && permitted + refused == 200, "{permitted}");
    }

    #[test]
    fn requests_of_different_users_and_contents_are_told_apart() {
        let of = |user: &str, name: &str, channel, bytes, text, key| {
            request_key((user.as_bytes(), name.as_bytes()), (channel, key, bytes, text))
        };
        let first = of("ann", "k", "a", &b"bc"[..], true, None);
        assert_eq!(first, of("ann", "k", "a", b"bc", true, None));
        for (user, name) in [("bob", "k"), ("ann", "l"), ("an", "nk"), ("", "annk")] {
            assert_ne!(first.key, of(user, name, "a", b"bc", true, None).key);
        }
        for other in [
            of("ann", "k", "ab", b"c", true, None),
            of("ann", "k", "a", b"bc", false, None),
            of("ann", "k", "a", b"bc", true, Some(&b""[..])),
            of("ann", "k", "a", b"c", true, Some(b"b")),
        ] {
            assert!(first.key == other.key && first.content != other.content);
        }
    }

    #[test]
    fn a_body_is_text_unless_its_type_is_another_one() {
        let of = |kind: &str| {
            is_text(&HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]))
        };
        assert!(is_text(&HeaderMap::new()));
        for text in ["text/plain; charset=utf-8", "Application/JSON", "application/ld+json"] {
            assert!(of(text), "{text}");
        }
        assert!(of("application/x-www-form-urlencoded"), "as curl sends it");
        assert!(!of("application/octet-stream") && !of("image/png") && !of(""));
    }
}
