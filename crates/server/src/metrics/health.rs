//! What monitoring asks of every listener, without details: `/healthz`, whether the process
//! answers, and `/readyz`, whether it should be sent new clients.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;

use super::sources::Sources;
use crate::web::answers::NO_STORE;

/// Maps paths to their handlers.
pub(crate) fn routes(sources: Arc<Sources>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(sources)
}

async fn ready(State(sources): State<Arc<Sources>>) -> impl IntoResponse {
    let (status, text) = match sources.is_ready() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    (status, [NO_STORE], text)
}
