//! Asks the application's own server who a client is: for applications that have no JSON web
//! tokens.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groupwire_session::Identity;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::jwt::{LARGEST_SUBJECT, Rights};
use super::{Admission, Answer, Authenticator, JoinRequest, Refusal};
use crate::tools::fetch::{Address, Fetcher};
use crate::traces::Span;

/// The most requests at a time. Further clients wait for one of them to end.
const AT_A_TIME: usize = 64;

/// How long a request may take: a client gives up after 5 s.
const DEADLINE: Duration = Duration::from_secs(4);

/// The largest answer, in bytes.
const LARGEST_ANSWER: usize = 16 << 10;

/// The most answers that are kept. Beyond it the oldest are forgotten, so that those of clients
/// that are gone keep no place.
const MOST_KEPT: usize = 10_000;

/// Where and how the application's server is asked.
#[derive(Debug, Clone)]
pub struct HookConfig {
    /// The address: https://, or http:// on this machine.
    pub address: String,
    /// Sent as `Authorization: Bearer`, so that the application knows who asks.
    pub secret: Option<String>,
    /// For this long an answer that lets a client in holds for the same token and room.
    pub keep: Duration,
    /// A PEM file with a certificate that is trusted, beside those that the system trusts.
    pub root: Option<PathBuf>,
}

/// Asks the application's server about each client: a POST request with the body `{"room": …,
/// "token": …}` in JSON. A token that is no UTF-8 is in `token_base64` instead. The answers:
///
/// - 200 with `{"sub": …, "expires": …, "groupwire": {…}}`: it may join. `expires` is Unix time in
///   seconds and may be missing; `groupwire` are its [`Rights`], of which `rooms` may be missing.
/// - 401: its token has expired.
/// - 403, with or without `{"reason": …}`: it may not join, and is told the reason.
///
/// After any other answer, or none within 4 s, the client is asked to try again later. Redirects
/// are not followed. Use [`ByRights`](super::ByRights) as the authority.
#[derive(Debug)]
pub struct HookAuthenticator {
    address: Uri,
    authorization: Option<HeaderValue>,
    fetcher: Fetcher,
    at_a_time: Semaphore,
    keep: Duration,
    kept: Mutex<Kept>,
}

#[derive(Deserialize)]
struct Allowed {
    sub: String,
    #[serde(default)]
    expires: Option<u64>,
    #[serde(default)]
    groupwire: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Forbidden {
    reason: String,
}

impl HookAuthenticator {
    /// # Errors
    /// What is wrong with the configuration, for the operator.
    pub fn new(config: HookConfig) -> Result<Self, String> {
        let HookConfig { address, secret, keep, root } = config;
        let address = Address::parse(&address)?;
        let authorization = match secret {
            Some(secret) => {
                let value = HeaderValue::try_from(format!("Bearer {secret}"))
                    .map_err(|_| "the secret has characters that no header may have")?;
                Some(value)
            }
            None => None,
        };
        Ok(HookAuthenticator {
            authorization,
            fetcher: address.fetcher(root.as_deref(), DEADLINE)?,
            address: address.uri,
            at_a_time: Semaphore::new(AT_A_TIME),
            keep,
            kept: Mutex::default(),
        })
    }

    async fn check(&self, request: JoinRequest<'_>) -> Result<Admission, Refusal> {
        let key = key(&request);
        if let Some(known) = self.kept(&key) {
            return Ok(known);
        }
        let not_now = || Refusal::NotNow("who may join cannot be found out");
        // The semaphore is never closed.
        let _permit = self.at_a_time.acquire().await.map_err(|_| not_now())?;
        let span = request.span.request("hook");
        span.set("server.address", self.address.host().unwrap_or_default().to_owned());
        let post = self.request(&request, &span);
        let (status, body) = match self.fetcher.send(post, LARGEST_ANSWER).await {
            Ok(answer) => answer,
            Err(why) => {
                span.fail("no-answer");
                tracing::warn!(address = %self.address, why, "the hook does not answer");
                return Err(not_now());
            }
        };
        span.set("http.response.status_code", i64::from(status.as_u16()));
        drop(span);
        let admission = match status {
            StatusCode::OK => admission(&body, request.room).map_err(|why| {
                tracing::warn!(address = %self.address, why, "the hook's answer is wrong");
                not_now()
            })?,
            StatusCode::UNAUTHORIZED => return Err(Refusal::Expired),
            StatusCode::FORBIDDEN => {
                let said = serde_json::from_slice(&body).map(|Forbidden { reason }| reason);
                let why = said.unwrap_or_else(|_| "you may not join this room".to_owned());
                return Err(Refusal::Refused(why));
            }
            status => {
                tracing::warn!(address = %self.address, %status, "the hook's answer is unknown");
                return Err(not_now());
            }
        };
        self.keep(key, &admission);
        Ok(admission)
    }

    fn request(&self, request: &JoinRequest<'_>, span: &Span) -> Request<Full<Bytes>> {
        let body = match std::str::from_utf8(request.token) {
            Ok(token) => json!({ "room": request.room, "token": token }),
            Err(_) => {
                json!({ "room": request.room, "token_base64": STANDARD.encode(request.token) })
            }
        };
        let mut post = Request::new(Full::from(body.to_string()));
        *post.method_mut() = hyper::Method::POST;
        *post.uri_mut() = self.address.clone();
        let json = HeaderValue::from_static("application/json");
        post.headers_mut().insert(CONTENT_TYPE, json);
        if let Some(authorization) = &self.authorization {
            post.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(parent) = span.traceparent().and_then(|parent| parent.try_into().ok()) {
            post.headers_mut().insert("traceparent", parent);
        }
        post
    }

    fn kept(&self, key: &[u8; 32]) -> Option<Admission> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.find(key, Instant::now())
    }

    fn keep(&self, key: [u8; 32], admission: &Admission) {
        if !self.keep.is_zero() {
            let now = Instant::now();
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(key, now, now + self.keep, admission.clone());
        }
    }
}

/// The newest answers that let clients in, at most [`MOST_KEPT`]. All hold for the same time, so
/// the oldest end first.
#[derive(Debug, Default)]
struct Kept {
    /// Each with the time until which it holds.
    answers: HashMap<[u8; 32], (Instant, Admission)>,
    /// The keys in the order in which their answers came. A key that got another answer since is in
    /// it twice.
    order: VecDeque<([u8; 32], Instant)>,
}

impl Kept {
    fn find(&self, key: &[u8; 32], now: Instant) -> Option<Admission> {
        let (until, admission) = self.answers.get(key)?;
        (now < *until).then(|| admission.clone())
    }

    fn insert(&mut self, key: [u8; 32], now: Instant, until: Instant, admission: Admission) {
        while let Some(&(oldest, ends)) = self.order.front()
            && (ends <= now || self.order.len() >= MOST_KEPT)
        {
            self.order.pop_front();
            if self.answers.get(&oldest).is_some_and(|(until, _)| *until == ends) {
                self.answers.remove(&oldest);
            }
        }
        self.order.push_back((key, until));
        self.answers.insert(key, (until, admission));
    }
}

impl Authenticator for HookAuthenticator {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(self.check(request))
    }
}

/// The key of a kept answer: a hash, so that no token is kept.
fn key(request: &JoinRequest<'_>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((request.room.len() as u64).to_le_bytes());
    hash.update(request.room);
    hash.update(request.token);
    hash.finalize().into()
}

fn admission(body: &[u8], room: &str) -> Result<Admission, String> {
    let said = |error: serde_json::Error| error.to_string();
    let Allowed { sub, expires, groupwire } = serde_json::from_slice(body).map_err(said)?;
    if sub.len() > LARGEST_SUBJECT {
        return Err(format!("sub has more than {LARGEST_SUBJECT} bytes"));
    }
    let rights = match groupwire {
        None => Rights::of_rooms([room.to_owned()]),
        Some(mut value) => {
            if let Some(claims) = value.as_object_mut() {
                claims.entry("rooms").or_insert_with(|| json!([room]));
            }
            serde_json::from_value(value).map_err(said)?
        }
    };
    let expires = expires.map(Duration::from_secs);
    let expires = expires.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    let identity = Identity { subject: sub.into_bytes(), rights: rights.to_bytes() };
    // The application admits the client now, so bans of tokens that were issued before do not
    // apply.
    let issued = Some(SystemTime::now());
    Ok(Admission { identity, token_id: None, issued, expires })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_answers_are_kept_and_those_of_clients_that_are_gone_make_place() {
        let mut kept = Kept::default();
        let (begin, hour) = (Instant::now(), Duration::from_secs(3600));
        let key = |number: usize| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            key
        };
        let at = |number: usize| begin + Duration::from_millis(number as u64);
        for number in 0..2 * MOST_KEPT {
            kept.insert(key(number), at(number), at(number) + hour, Admission::default());
            assert!(kept.find(&key(number), at(number)).is_some(), "{number}");
            assert!(kept.answers.len() <= MOST_KEPT && kept.order.len() <= MOST_KEPT);
        }
        let last = at(2 * MOST_KEPT);
        assert!(kept.find(&key(MOST_KEPT - 1), last).is_none());
        assert!(kept.find(&key(MOST_KEPT), last).is_some());
        // An answer that came again holds anew.
        let first = key(MOST_KEPT);
        kept.insert(first, last, last + hour, Admission::default());
        kept.insert(key(0), last + hour / 2, last + 2 * hour, Admission::default());
        assert!(kept.find(&first, last + hour / 2).is_some());
        kept.insert(key(1), last + hour, last + 3 * hour, Admission::default());
        assert_eq!((kept.answers.len(), kept.order.len()), (2, 2));
    }
}
