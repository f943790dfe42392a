//! The routes of HTTP: web pages, status, inspector, and the requests that open transports.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;

use crate::answers::{NO_SNIFF, NO_STORE, too_many};
use crate::hub::Hub;
use crate::transport::emulation::{self, control};
use crate::transport::{http, websocket};
use crate::{assets, cross_origin, inspect, status};

/// Maps paths to their handlers.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    let inspector = Router::new()
        .route("/inspect/rooms", get(inspect::rooms))
        .route("/inspect/stream", get(inspect::stream))
        .route("/inspect/templates", get(inspect::templates))
        .route(
            "/inspect/record",
            post(inspect::record).layer(DefaultBodyLimit::max(inspect::MAX_BODY)),
        )
        .layer(from_fn_with_state(Arc::clone(&hub), inspect::check));
    let doors = Router::new()
        .merge(inspector)
        .route("/ws", get(upgrade))
        .route("/transports", get(offer))
        .route(
            "/emulation",
            get(control::get).post(control::set).layer(DefaultBodyLimit::max(control::MAX_BODY)),
        )
        .route("/http/up", post(http::up))
        .route("/http/{form}", post(http::down))
        .layer(from_fn_with_state(Arc::clone(&hub), cross_origin::check));
    Router::new()
        .merge(doors)
        .route("/status", get(status::report))
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(assets::serve)
        .with_state(hub)
}

async fn upgrade(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    if hub.connections.load(Ordering::Relaxed) >= hub.config.max_connections {
        tracing::warn!(%peer, "connection refused: too many connections");
        return too_many();
    }
    tracing::debug!(%peer, transport = "WebSocket", "connected");
    let emulate = emulation::is_wanted(&hub, request.uri().query());
    websocket::upgrade(hub, request, emulate)
}

/// The answer to `GET /transports` (docs/transports.md, T4).
#[derive(Serialize)]
struct Offer {
    transports: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webtransport: Option<WebTransport>,
}

#[derive(Serialize)]
struct WebTransport {
    port: u16,
    hashes: Vec<String>,
}

async fn offer(State(hub): State<Arc<Hub>>) -> impl IntoResponse {
    let webtransport = hub.webtransport.as_ref();
    let webtransport = webtransport
        .and_then(|offer| Some(WebTransport { port: offer.port, hashes: offer.hashes()? }));
    let first = webtransport.as_ref().map(|_| "webtransport");
    let others = ["websocket", "multipart", "iframe", "longpoll", "poll"];
    let transports = first.into_iter().chain(others).collect();
    ([NO_SNIFF, NO_STORE], Json(Offer { transports, webtransport }))
}
