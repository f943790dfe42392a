//! Answers requests for documents of Yjs at paths that have none (docs/transports.md, T32).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::SinkExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message as Frame;
use tungstenite::protocol::{CloseFrame, Role};

use super::context::TransportContext;
use super::upgrade::{Under, accept, count_connection, under};
use crate::ends::linger::{LINGER, close_in_order};
use crate::web::answers::NOTHING_HERE;

/// Why a client of y-websocket that asks for another path is sent away (docs/transports.md, T32).
const ELSEWHERE: &str = "documents of Yjs are at /yjs/DOCUMENT, for y-websocket's clients";

/// The code for a path that has nothing. After the codes 4400 to 4499 y-websocket's client stays
/// away.
const NOT_FOUND: u16 = 4404;

/// Maps the paths at which clients of y-websocket look for documents of Yjs, and which have none.
pub(super) fn routes(context: Arc<TransportContext>, has_documents: bool) -> Router {
    let answer = match has_documents {
        true => get(send_elsewhere),
        false => get(nothing_here),
    };
    Router::new()
        .route("/ws/{*document}", answer.clone())
        .route("/yjs", answer.clone())
        .route("/yjs/", answer)
        .with_state(context)
}

async fn nothing_here() -> impl IntoResponse {
    (StatusCode::NOT_FOUND, NOTHING_HERE)
}

/// Sends a client away that asks for a document where there is none. It is told in a close frame,
/// because browsers tell a page nothing of the answer to a request for a WebSocket.
async fn send_elsewhere(
    State(context): State<Arc<TransportContext>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request<Body>,
) -> Response {
    // A Groupwire client that was given a wrong path tells it by the status.
    if request.uri().path().ends_with("/ws") {
        return nothing_here().await.into_response();
    }
    let counted = match count_connection(&context, peer, request.headers()) {
        Ok(counted) => counted,
        Err(refusal) => return *refusal,
    };
    let (answer, upgrade) = match accept(request) {
        Ok(accepted) => accepted,
        Err(refusal) => return *refusal,
    };
    tokio::spawn(async move {
        let closing = async {
            match under(upgrade).await {
                Some((Under::Plain(socket), read)) => close(socket, read).await,
                Some((Under::Tls(socket), read)) => close(socket, read).await,
                None => {}
            }
        };
        let _ = timeout(LINGER, closing).await;
        drop(counted);
    });
    answer
}

async fn close(socket: impl AsyncRead + AsyncWrite + Unpin, read: Vec<u8>) {
    let mut socket = WebSocketStream::from_partially_read(socket, read, Role::Server, None).await;
    let frame = CloseFrame { code: NOT_FOUND.into(), reason: ELSEWHERE.into() };
    if socket.send(Frame::Close(Some(frame))).await.is_ok() {
        close_in_order(socket.get_mut()).await;
    }
}
