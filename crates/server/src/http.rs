//! HTTP: the whiteboard, the status, and the door to WebSocket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpStream};

use crate::hub::Hub;
use crate::transport::websocket;
use crate::{assets, status};

/// Octets the kernel may hold that are not on the wire yet. More would be stale by the time they leave; packets
/// wait in the room instead, where newer values replace older ones.
const UNSENT: u32 = 16 << 10;

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, hub: Arc<Hub>) -> std::io::Result<()> {
    let router = Router::new()
        .route("/ws", get(upgrade))
        .route("/status", get(status::report))
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(assets::serve)
        .with_state(hub);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener.tap_io(prepare), service).await
}

/// Small packets leave at once.
fn prepare(socket: &mut TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Err(error) = socket2::SockRef::from(&*socket).set_tcp_notsent_lowat(UNSENT) {
        tracing::debug!(%error, "TCP_NOTSENT_LOWAT");
    }
}

async fn upgrade(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    door: WebSocketUpgrade,
) -> Response {
    if hub.connections.load(Ordering::Relaxed) >= hub.config.max_connections {
        tracing::warn!(%peer, "turned away: too many connections");
        return (StatusCode::SERVICE_UNAVAILABLE, "too many connections, try again later\n")
            .into_response();
    }
    tracing::debug!(%peer, "connected");
    let limit = hub.config.limits.max_packet;
    door.max_message_size(limit)
        .max_frame_size(limit)
        // One packet is one write: nothing is collected, and no more than two are ever there.
        .write_buffer_size(0)
        .read_buffer_size(READ_BUFFER)
        .on_upgrade(move |socket| websocket::serve(hub, socket))
}

/// The library's 128 KB would be the largest part of a connection's memory.
const READ_BUFFER: usize = 4 << 10;

/// Keeps browsers from guessing at content.
pub(crate) const NO_SNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
