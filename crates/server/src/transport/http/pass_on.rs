//! Passes requests for transports that another server of the cluster has opened on to that server.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;

use super::context::HttpContext;
use super::form::HttpTransportId;
use super::headers::{not_open, refusal};
use crate::cluster::http::NotForwarded;

/// Passes a request for this transport on, which is none of this server. If its server has ended,
/// the client opens a new one.
pub(super) async fn pass_on(
    context: &HttpContext,
    id: HttpTransportId,
    head: &Parts,
    body: Body,
) -> Response {
    let Some((forward, node)) = context.elsewhere(id) else { return not_open() };
    let mut passed = Request::new(body);
    *passed.method_mut() = head.method.clone();
    *passed.uri_mut() = head.uri.clone();
    if let Some(origin) = head.headers.get(header::ORIGIN) {
        passed.headers_mut().insert(header::ORIGIN, origin.clone());
    }
    match forward.send(&node, passed).await {
        Ok(answer) => answer,
        Err(why @ NotForwarded::Unreachable { .. }) => {
            tracing::debug!(%why, "request of a transport not passed on");
            not_open()
        }
        Err(why @ NotForwarded::TooMany { .. }) => {
            refusal(StatusCode::SERVICE_UNAVAILABLE, &why.to_string())
        }
    }
}
