//! The request for a WebSocket to a document.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio_tungstenite::WebSocketStream;
use tungstenite::protocol::{Role, WebSocketConfig};

use super::connection::{self, Socket};
use super::context::DocumentContext;
use crate::addresses::Counted;
use crate::transport::upgrade::{Under, accept, count_connection, under};

/// Bytes of the read buffer per connection; a larger message gets a buffer of its size.
const READ_BUFFER: usize = 4096;

/// Maps the path of documents to its handler.
pub(crate) fn routes(context: Arc<DocumentContext>) -> Router {
    Router::new().route("/yjs/{*document}", get(upgrade)).with_state(context)
}

/// Answers the request, and serves the connection until it ends. Who may come in is decided after
/// the answer, because browsers do not tell a page why a WebSocket was refused.
async fn upgrade(
    State(context): State<Arc<DocumentContext>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    document: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let Ok(Path(document)) = document else {
        return (StatusCode::BAD_REQUEST, "the document's name is not UTF-8\n").into_response();
    };
    let counted = match count_connection(&context.transports, peer, request.headers()) {
        Ok(counted) => counted,
        Err(refusal) => return *refusal,
    };
    let token = token(&request);
    let (answer, upgrade) = match accept(request) {
        Ok(accepted) => accepted,
        Err(refusal) => return *refusal,
    };
    tokio::spawn(async move {
        match under(upgrade).await {
            Some((Under::Plain(socket), read)) => {
                serve(context, socket, read, document, token).await
            }
            Some((Under::Tls(socket), read)) => serve(context, socket, read, document, token).await,
            None => {}
        }
        drop::<Option<Counted>>(counted);
    });
    answer
}

async fn serve(
    context: Arc<DocumentContext>,
    socket: impl Socket,
    read: Vec<u8>,
    document: String,
    token: Vec<u8>,
) {
    let limit = context.documents.message_limit();
    let config = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .write_buffer_size(0)
        .read_buffer_size(READ_BUFFER);
    let socket =
        WebSocketStream::from_partially_read(socket, read, Role::Server, Some(config)).await;
    connection::serve(context, socket, document, token).await;
}

/// The token: the parameter `token` of the address, because browsers send no headers of a page's
/// choice with a WebSocket.
fn token(request: &Request) -> Vec<u8> {
    let query = Query::<HashMap<String, String>>::try_from_uri(request.uri());
    let token = query.ok().and_then(|Query(mut query)| query.remove("token"));
    token.unwrap_or_default().into_bytes()
}
