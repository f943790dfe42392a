//! The routes of the requests that open transports over HTTP and carry their packets.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use super::context::TransportContext;
use super::http::HttpContext;
use super::{elsewhere, emulation, http, websocket};

/// Maps paths to their handlers. `requests`: the transports made of HTTP requests. `has_documents`:
/// the server has documents of Yjs at other paths.
pub(crate) fn routes(
    context: &Arc<TransportContext>,
    requests: &Arc<HttpContext>,
    has_documents: bool,
) -> Router {
    let demonstration = match context.is_demonstration {
        true => emulation::control::public_routes(Arc::clone(context)),
        false => Router::new(),
    };
    let websocket = Router::new().route("/ws", get(websocket::upgrade));
    Router::new()
        .merge(websocket.with_state(Arc::clone(context)))
        .merge(elsewhere::routes(Arc::clone(context), has_documents))
        .merge(http::routes(Arc::clone(requests)))
        .merge(demonstration)
}
