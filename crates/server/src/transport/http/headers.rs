//! The headers and the refusals of all responses of HTTP transports (docs/transports.md).

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::web::answers::NO_SNIFF;

/// Headers of every response (T19).
pub(super) const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    NO_SNIFF,
];

/// The text that refuses a request whose id is not that of an open transport (T17).
pub(super) const NOT_OPEN_TEXT: &str = "no open transport has this id";

/// Refuses a request whose id is not that of an open transport.
pub(super) fn not_open() -> Response {
    refusal(StatusCode::NOT_FOUND, NOT_OPEN_TEXT)
}

/// Refuses a request, with a line of text.
pub(super) fn refusal(status: StatusCode, why: &str) -> Response {
    (status, HEADERS, format!("{why}\n")).into_response()
}
