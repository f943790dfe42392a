//! The routes of the public listeners: web pages, status, and the requests that open transports.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::metrics::sources::Sources;
use crate::metrics::{health, status};
use crate::web::answers::{NO_SNIFF, NO_STORE};
use crate::web::origins::Origins;
use crate::web::{assets, cross_origin};
use crate::webtransport::offer::Offer;

/// Maps paths to their handlers. `doors`: the routes of the requests that open transports and
/// documents; pages of these origins may use them. `webtransport`: what clients are told of
/// WebTransport; `None` if the server has none.
pub(crate) fn router(
    doors: Router,
    origins: Origins,
    webtransport: Option<Arc<Offer>>,
    sources: &Arc<Sources>,
) -> Router {
    let transports = Router::new().route("/transports", get(transports)).with_state(webtransport);
    let doors = doors
        .merge(transports)
        .method_not_allowed_fallback(refuse_method)
        .layer(from_fn_with_state(Arc::new(origins), cross_origin::check));
    Router::new()
        .route("/status", get(status::report))
        .with_state(Arc::clone(sources))
        .merge(health::routes(Arc::clone(sources)))
        .method_not_allowed_fallback(refuse_method)
        .merge(doors)
        .fallback(assets::serve)
}

/// The answer to a method that a path does not take.
async fn refuse_method() -> impl IntoResponse {
    const WHY: &str = "this path takes other methods: the header Allow names them\n";
    (StatusCode::METHOD_NOT_ALLOWED, WHY)
}

/// The answer to `GET /transports` (docs/transports.md, T4).
#[derive(Serialize)]
struct Transports {
    transports: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webtransport: Option<WebTransport>,
}

#[derive(Serialize)]
struct WebTransport {
    port: u16,
    hashes: Vec<String>,
}

async fn transports(State(webtransport): State<Option<Arc<Offer>>>) -> impl IntoResponse {
    let webtransport = webtransport
        .and_then(|offer| Some(WebTransport { port: offer.port, hashes: offer.hashes()? }));
    let first = webtransport.as_ref().map(|_| "webtransport");
    let others = ["websocket", "multipart", "iframe", "longpoll", "poll"];
    let transports = first.into_iter().chain(others).collect();
    ([NO_SNIFF, NO_STORE], Json(Transports { transports, webtransport }))
}
