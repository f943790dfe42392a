//! Why a user's request is refused: a status, a code for programs, and a sentence that says what to
//! do, as problem details (RFC 9457).

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groupwire_session::Error;
use groupwire_session::room::{NotAccepted, NotPublished, NotRead};
use serde::Serialize;

use crate::cluster::http::NotForwarded;
use crate::rooms::refused::NotJoined;
use crate::rooms::task::NotTaken;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// All codes, which `openapi.json` lists.
#[cfg(test)]
pub(super) const CODES: [&str; 21] = [
    "token_refused",
    "token_expired",
    "token_revoked",
    "banned",
    "not_allowed",
    "bad_request",
    "bad_text",
    "bad_key",
    "no_idempotency_key",
    "other_content",
    "no_channel",
    "too_large",
    "too_slow",
    "too_often",
    "over_quota",
    "too_many_connections",
    "full",
    "not_now",
    "stopping",
    "moving",
    "uncertain",
];

/// See the [module](self).
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) code: &'static str,
    pub(super) detail: String,
    /// When to try again.
    pub(super) retry: Option<Duration>,
}

#[derive(Serialize)]
struct Problem {
    status: u16,
    code: &'static str,
    detail: String,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Refusal { status, code, detail: detail.into(), retry: None }
    }

    fn after(self, retry: Duration) -> Self {
        Refusal { retry: Some(retry), ..self }
    }

    /// The request is malformed.
    pub(super) fn bad(detail: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    pub(super) fn scheme() -> Self {
        let detail = "send the token as `Authorization: Bearer TOKEN`";
        Refusal::new(StatusCode::UNAUTHORIZED, "token_refused", detail)
    }

    pub(super) fn text() -> Self {
        let detail = "the body is not UTF-8: send text as UTF-8, and other bytes with \
            `Content-Type: application/octet-stream`";
        Refusal::new(StatusCode::BAD_REQUEST, "bad_text", detail)
    }

    pub(super) fn key() -> Self {
        let detail = "Idempotency-Key: write 1 to 128 visible ASCII characters";
        Refusal::new(StatusCode::BAD_REQUEST, "bad_key", detail)
    }

    pub(super) fn slow() -> Self {
        let detail = "the body takes too long: send it without pauses";
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    }

    pub(super) fn large(limit: usize) -> Self {
        let detail = format!("the body is over the limit of {limit} bytes: send less in a message");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    /// Too many connections are open, of one address or of all.
    pub(super) fn too_many(of_address: bool) -> Self {
        let (status, whose) = match of_address {
            true => (StatusCode::TOO_MANY_REQUESTS, "of this address"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "of this server"),
        };
        let detail = format!("too many connections {whose} are open: try again later");
        Refusal::new(status, "too_many_connections", detail).after(Duration::from_secs(1))
    }

    pub(super) fn too_often(detail: &str, retry: Duration) -> Self {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_often", detail).after(retry)
    }

    pub(super) fn stopping(retry: Duration) -> Self {
        let detail = "the server stops: send the request again, which another server answers";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", detail).after(retry)
    }

    /// No server has the room at this moment.
    pub(super) fn moving() -> Self {
        let detail = "the room moves to another server, or is loaded again: send the request again";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "moving", detail)
            .after(Duration::from_secs(1))
    }

    /// It is not known whether a message was published.
    pub(super) fn uncertain() -> Self {
        let detail = "the room ended, or its store does not answer, before the message was \
            confirmed: send it again with the same Idempotency-Key";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "uncertain", detail)
            .after(Duration::from_secs(1))
    }

    fn not_allowed(why: &str) -> Self {
        let detail = format!("{why}: the token has to permit it");
        Refusal::new(StatusCode::FORBIDDEN, "not_allowed", detail)
    }

    fn no_channel(name: &str) -> Self {
        let detail = format!(
            "the room has no channel {name:?}: the first participant that opens a channel makes it, or \
             a message that is published with `create=transactions` or `create=awareness`"
        );
        Refusal::new(StatusCode::NOT_FOUND, "no_channel", detail)
    }

    fn full(detail: String) -> Self {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "full", detail).after(Duration::from_secs(5))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        let second = Duration::from_secs(1);
        match error {
            Error::Expired => Refusal::new(StatusCode::UNAUTHORIZED, "token_expired", detail),
            Error::Revoked => Refusal::new(StatusCode::UNAUTHORIZED, "token_revoked", detail),
            Error::Banned { .. } => Refusal::new(StatusCode::FORBIDDEN, "banned", detail),
            Error::Refused { .. } => {
                let detail = format!("{detail}; get another token");
                Refusal::new(StatusCode::UNAUTHORIZED, "token_refused", detail)
            }
            Error::NotAllowed { what } => Refusal::not_allowed(what),
            Error::NotNow { .. } => {
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "not_now", detail).after(second)
            }
            Error::OverQuota { seconds } => {
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "over_quota", detail)
                    .after(Duration::from_secs(seconds))
            }
            Error::TooMany { .. } => Refusal::full(format!("{detail}: try again later")),
            Error::TooLarge { .. } => {
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
            }
            Error::InvalidText { .. } => Refusal::text(),
            _ => Refusal::bad(detail),
        }
    }
}

impl From<NotJoined> for Refusal {
    fn from(why: NotJoined) -> Self {
        match why {
            NotJoined::Refused(error) => error.into(),
            NotJoined::Stopping { retry } => Refusal::stopping(retry),
            NotJoined::Deferred { .. } => Refusal::moving(),
        }
    }
}

impl From<NotForwarded> for Refusal {
    fn from(why: NotForwarded) -> Self {
        let detail = format!("another server has this room. {why}");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "not_now", detail)
            .after(Duration::from_secs(1))
    }
}

impl From<NotRead> for Refusal {
    fn from(why: NotRead) -> Self {
        match why {
            NotRead::NoChannel(name) => Refusal::no_channel(&name),
            NotRead::Refused { channel, why } => Refusal::not_allowed(&format!("{channel}: {why}")),
            _ => Refusal::moving(),
        }
    }
}

impl Refusal {
    /// Why a message was not published on a channel.
    pub(super) fn of_message(why: NotTaken, channel: &str) -> Self {
        match why {
            NotTaken::TooOften => {
                let detail = "HTTP users publish at most 100 messages per second in a room: send \
                    fewer, or connect with a client of Groupwire";
                Refusal::too_often(detail, Duration::from_secs(1))
            }
            NotTaken::Room(NotAccepted::Refused(why)) => Refusal::not_allowed(&why),
            NotTaken::Room(NotAccepted::TooOften(wait)) => {
                let detail = "this user sends more than its quota: wait, then send it again";
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "over_quota", detail).after(wait)
            }
            NotTaken::Room(NotAccepted::NotPublished(why)) => match why {
                NotPublished::NoChannel => Refusal::no_channel(channel),
                NotPublished::NoRequestKey => {
                    let detail = "this channel carries transactions: send an Idempotency-Key, so \
                        that a repeated request publishes nothing";
                    Refusal::new(StatusCode::BAD_REQUEST, "no_idempotency_key", detail)
                }
                NotPublished::OtherContent => {
                    let detail = "another message was published with this Idempotency-Key: take \
                        another key";
                    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "other_content", detail)
                }
                NotPublished::NotNow => {
                    let detail = "the room can take no transactions at present, because its store \
                        has no space or is behind: send it again later";
                    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "not_now", detail)
                        .after(Duration::from_secs(1))
                }
                NotPublished::Failed(error) => error.into(),
                other => Refusal::bad(format!("{other:?}")),
            },
            NotTaken::Room(_) => Refusal::moving(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, code, detail, retry } = self;
        let problem = Json(Problem { status: status.as_u16(), code, detail });
        let mut answer = (status, [NO_SNIFF, NO_STORE], problem).into_response();
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            let challenge = match code {
                "token_refused" => "Bearer",
                _ => "Bearer error=\"invalid_token\"",
            };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(retry) = retry {
            // The header has whole seconds.
            let seconds = retry.as_secs() + u64::from(retry.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        answer
    }
}
