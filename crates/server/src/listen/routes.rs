//! The routes of HTTP: web pages, status, and the requests that open transports.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;

use crate::metrics::status;
use crate::rooms::hub::Hub;
use crate::transport::emulation::{self, control};
use crate::transport::upgrade::send_elsewhere;
use crate::transport::{http, websocket};
use crate::web::answers::{NO_SNIFF, NO_STORE};
use crate::web::{assets, cross_origin};
use crate::yjs::upgrade::upgrade as open_document;

/// Maps paths to their handlers.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    let demonstrations = match hub.config.emulate {
        true => Router::new().route(
            "/emulation",
            get(control::get_of_room)
                .post(control::set_of_room)
                .layer(DefaultBodyLimit::max(control::MAX_BODY)),
        ),
        false => Router::new(),
    };
    let documents = match hub.config.yjs {
        Some(_) => Router::new().route("/yjs/{*document}", get(open_document)),
        None => Router::new(),
    };
    let doors = Router::new()
        .merge(demonstrations)
        .merge(documents)
        .route("/ws", get(upgrade))
        .route("/ws/{*document}", get(send_elsewhere))
        .route("/yjs", get(send_elsewhere))
        .route("/yjs/", get(send_elsewhere))
        .route("/transports", get(offer))
        .route("/http/up", post(http::up))
        .route("/http/{form}", post(http::down))
        .method_not_allowed_fallback(refuse_method)
        .layer(from_fn_with_state(Arc::clone(&hub), cross_origin::check));
    Router::new()
        .route("/status", get(status::report))
        .merge(health())
        .method_not_allowed_fallback(refuse_method)
        .merge(doors)
        .fallback(assets::serve)
        .with_state(hub)
}

/// What monitoring asks of every listener, without details: `/healthz`, whether the process answers, and `/readyz`, whether
/// it should be sent new clients.
pub(crate) fn health() -> Router<Arc<Hub>> {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready))
}

/// The answer to a method that a path does not take.
async fn refuse_method() -> impl IntoResponse {
    const WHY: &str = "this path takes other methods: the header Allow names them\n";
    (StatusCode::METHOD_NOT_ALLOWED, WHY)
}

async fn ready(State(hub): State<Arc<Hub>>) -> impl IntoResponse {
    let (status, text) = match hub.is_ready() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    (status, [NO_STORE], text)
}

async fn upgrade(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let counted = match websocket::count_connection(&hub, peer, request.headers()) {
        Ok(counted) => counted,
        Err(refusal) => return *refusal,
    };
    let emulate = emulation::is_wanted(&hub, request.uri().query());
    websocket::upgrade(hub, request, emulate, counted)
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
