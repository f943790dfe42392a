//! Checks the `Origin` of requests (docs/transports.md, T2), answers browsers that ask whether a
//! page may use the server (CORS), and marks all answers as those of a Groupwire server (T28).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groupwire_session::VERSION;

use crate::web::origins::Origins;

/// Refuses requests of pages that are not admitted, and adds the CORS headers that let admitted
/// pages read the answer.
pub(crate) async fn check(
    State(origins): State<Arc<Origins>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else {
        return vary(next.run(request).await);
    };
    if !is_admitted(&origins, &origin, request.headers()) {
        tracing::info!(?origin, "request refused: its page has another origin; --origin admits it");
        let why = "pages of this origin may not use this server: its option --origin admits them\n";
        let mut refusal = (StatusCode::FORBIDDEN, why).into_response();
        // The page may read this reason, and nothing else, so that it stops trying.
        refusal.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        return vary(refusal);
    }
    let mut answer = match *request.method() == Method::OPTIONS {
        true => preflight(),
        false => next.run(request).await,
    };
    answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    vary(answer)
}

fn is_admitted(origins: &Origins, origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let authority = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    origin.to_str().is_ok_and(|origin| origins.admit(origin, authority))
}

/// The headers that requests of pages may have: those of HTTP users (docs/http.md).
const HEADERS: &str =
    "authorization, content-type, groupwire-client, idempotency-key, last-event-id";

/// Answers a CORS preflight request. Groupwire's own client needs none, but apps with other content
/// types do.
fn preflight() -> Response {
    const ALLOWED: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, ALLOWED).into_response()
}

/// The header by which a client tells a Groupwire server from others (T28). Its value is the
/// version of the session protocol. The header `Server` would not do: proxies replace it by their
/// own.
const GROUPWIRE: HeaderName = HeaderName::from_static("groupwire");

/// Marks an answer of the public listener, and lets pages of every origin read it if it is a
/// refusal (T28).
pub(crate) fn mark(answer: &mut Response) {
    let is_refusal = answer.status().is_client_error() || answer.status().is_server_error();
    let headers = answer.headers_mut();
    headers.insert(GROUPWIRE, HeaderValue::from(u16::from(VERSION)));
    if is_refusal {
        let readable = headers.entry(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        readable.or_insert(HeaderValue::from_static("*"));
    }
    if headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        let exposed = HeaderValue::from_name(GROUPWIRE);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

fn vary(mut answer: Response) -> Response {
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    answer
}
