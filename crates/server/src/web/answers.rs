//! Parts of answers that several HTTP routes share.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::addresses::Refusal;

/// The header that keeps browsers and proxies from caching an answer, for answers that change over
/// time.
pub(crate) const NO_STORE: (HeaderName, HeaderValue) =
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));

/// The header that keeps browsers from guessing the type of the content.
pub(crate) const NO_SNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));

/// The answer to a request for a path that has nothing.
pub(crate) const NOTHING_HERE: &str =
    "this Groupwire server has nothing at this path: give its clients the address without it\n";

/// Refuses a request because the server has too many connections.
pub(crate) fn too_many() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, "too many connections, try again later\n").into_response()
}

/// Refuses a request because of a limit for its address.
pub(crate) fn refused_address(refusal: Refusal) -> Response {
    let text = format!("{}, try again later\n", refusal.why());
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")], text).into_response()
}

/// True if a request asks for a WebSocket.
pub(crate) fn is_websocket_wanted(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"websocket"))
}
