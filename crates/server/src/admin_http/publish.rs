//! The administration's request to publish as the room itself. `openapi.json` describes it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groupwire_session::room::{Publication, Published, RequestKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::context::AdminContext;
use super::refusal::Refusal;
use crate::rooms::directory::Directory;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of a message as JSON: 60,000, each of which may be escaped, and a key.
const MAX_BODY: usize = 512 << 10;

/// Most characters of an `Idempotency-Key`.
const MAX_KEY: usize = 128;

/// How long a request waits for its change to become durable. A commit takes milliseconds, and a
/// full disk may take long.
const PATIENCE: Duration = Duration::from_secs(30);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Says that an earlier request with the same key published the transaction.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Maps the path to its handler.
pub(super) fn router() -> Router<AdminContext> {
    Router::new().route(
        "/api/rooms/{room}/channels/{channel}/messages",
        post(publish).layer(DefaultBodyLimit::max(MAX_BODY)),
    )
}

/// A message to be published: `text`, `json` or `base64`, and the key of a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    text: Option<String>,
    base64: Option<String>,
    json: Option<serde_json::Value>,
    key: Option<String>,
    key_base64: Option<String>,
}

/// What a request did.
#[derive(Serialize)]
pub(super) struct Outcome {
    /// The place of its transaction in the room's order; `null` for awareness.
    pub(super) position: Option<u64>,
}

/// Publishes a message of the room itself. The answer comes when a transaction has taken effect: in
/// a stored room, when it is durable.
async fn publish(
    State(rooms): State<Arc<Directory>>,
    target: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    message: Result<Json<Message>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path((room, channel)) = target.map_err(Refusal::Path)?;
    let Json(message) = message.map_err(Refusal::Unreadable)?;
    let (bytes, text) = message.content()?;
    let key = message.key()?;
    let request = match headers.get(IDEMPOTENCY_KEY).map(|value| value.as_bytes()) {
        None => None,
        Some(name) if is_key(name) => {
            Some(request_key(name, &channel, (&bytes, text), key.as_deref()))
        }
        Some(_) => return Err(Refusal::IdempotencyKey),
    };
    let (durable, is_durable) = oneshot::channel();
    let name = channel.clone();
    let published = rooms.with_stored_room(&room, move |driver, now| {
        let (bytes, key) = (&bytes[..], key.as_deref());
        let publication = Publication { channel: &name, bytes, text, key, request };
        driver.publish(now, &publication, durable)
    });
    let published = published.await?.map_err(Refusal::NotPublished)?;
    let (position, is_repeated) = match published {
        Published::Transaction { position, repeated } => (Some(position.get()), repeated),
        Published::Awareness => (None, false),
    };
    wait(is_durable).await?;
    if !is_repeated {
        tracing::info!(room, channel, position, "the administration published");
    }
    let mut replayed = HeaderMap::new();
    if is_repeated {
        replayed.insert(REPLAYED, axum::http::HeaderValue::from_static("true"));
    }
    Ok((StatusCode::CREATED, [NO_SNIFF, NO_STORE], replayed, Json(Outcome { position })))
}

/// Waits until the request's change is durable.
pub(super) async fn wait(is_durable: oneshot::Receiver<()>) -> Result<(), Refusal> {
    match timeout(PATIENCE, is_durable).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Refusal::Uncertain),
    }
}

impl Message {
    /// The bytes, and whether they are text.
    fn content(&self) -> Result<(Vec<u8>, bool), Refusal> {
        match (&self.text, &self.base64, &self.json) {
            (Some(text), None, None) => Ok((text.clone().into_bytes(), true)),
            (None, Some(base64), None) => Ok((decoded(base64)?, false)),
            (None, None, Some(json)) => Ok((json.to_string().into_bytes(), true)),
            _ => Err(Refusal::Content),
        }
    }

    fn key(&self) -> Result<Option<Vec<u8>>, Refusal> {
        match (&self.key, &self.key_base64) {
            (None, None) => Ok(None),
            (Some(key), None) => Ok(Some(key.clone().into_bytes())),
            (None, Some(base64)) => decoded(base64).map(Some),
            (Some(_), Some(_)) => Err(Refusal::Content),
        }
    }
}

fn decoded(base64: &str) -> Result<Vec<u8>, Refusal> {
    BASE64_STANDARD.decode(base64).map_err(|_| Refusal::Content)
}

fn is_key(name: &[u8]) -> bool {
    (1..=MAX_KEY).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}

/// Hashes of the key, and of what is published.
fn request_key(
    name: &[u8],
    channel: &str,
    (bytes, text): (&[u8], bool),
    key: Option<&[u8]>,
) -> RequestKey {
    let mut content = Sha256::new();
    // Each part is preceded by its length, so that different messages never have the same input.
    for part in [channel.as_bytes(), key.unwrap_or_default(), bytes] {
        content.update((part.len() as u64).to_le_bytes());
        content.update(part);
    }
    content.update([u8::from(text), u8::from(key.is_some())]);
    RequestKey { key: beginning(&Sha256::digest(name)), content: beginning(&content.finalize()) }
}

fn beginning<const N: usize>(hash: &[u8]) -> [u8; N] {
    hash[..N].try_into().expect("a hash is longer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_one_key_and_different_contents_are_told_apart() {
        let of = |channel, bytes, text, key| request_key(b"k", channel, (bytes, text), key);
        let all = [
            of("a", &b"bc"[..], true, None),
            of("ab", b"c", true, None),
            of("a", b"bc", false, None),
            of("a", b"bc", true, Some(&b""[..])),
            of("a", b"c", true, Some(b"b")),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other.content != one.content));
            assert_eq!(one.key, all[0].key);
        }
        assert_eq!(all[0], of("a", b"bc", true, None));
        assert!(is_key(b"7c0e-1") && !is_key(b"") && !is_key(b"a b") && !is_key(&[b'a'; 129]));
    }
}
