//! The request for a WebSocket to a document.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio_tungstenite::WebSocketStream;
use tungstenite::handshake::server::create_response;
use tungstenite::protocol::{Role, WebSocketConfig};

use super::connection::{self, Socket};
use crate::addresses::Counted;
use crate::hub::Hub;
use crate::transport::websocket::{Under, count_connection, under};

/// Bytes of the read buffer per connection; a larger message gets a buffer of its size.
const READ_BUFFER: usize = 4096;

/// Answers the request, and serves the connection until it ends. Who may come in is decided after the answer, because browsers do not tell a
/// page why a WebSocket was refused.
pub(crate) async fn upgrade(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    document: Result<Path<String>, PathRejection>,
    mut request: Request,
) -> Response {
    let Ok(Path(document)) = document else {
        return (StatusCode::BAD_REQUEST, "the document's name is not UTF-8\n").into_response();
    };
    let counted = match count_connection(&hub, peer, request.headers()) {
        Ok(counted) => counted,
        Err(refusal) => return *refusal,
    };
    let token = token(&request);
    let protocol = request.headers().get(header::SEC_WEBSOCKET_PROTOCOL).cloned();
    let upgrade = hyper::upgrade::on(&mut request);
    let mut response = match create_response(&request.map(drop)) {
        Ok(response) => response.map(|()| Body::empty()),
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    };
    // Browsers close a connection for which none of the protocols was chosen that the page had named.
    let first = protocol.as_ref().and_then(|protocol| protocol.to_str().ok()?.split(',').next());
    if let Some(Ok(first)) = first.map(|first| first.trim().parse()) {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, first);
    }
    tokio::spawn(async move {
        match under(upgrade).await {
            Some((Under::Plain(socket), read)) => serve(hub, socket, read, document, token).await,
            Some((Under::Tls(socket), read)) => serve(hub, socket, read, document, token).await,
            None => {}
        }
        drop::<Option<Counted>>(counted);
    });
    response
}

async fn serve(
    hub: Arc<Hub>,
    socket: impl Socket,
    read: Vec<u8>,
    document: String,
    token: Vec<u8>,
) {
    let limit = hub.documents.message_limit();
    let config = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .write_buffer_size(0)
        .read_buffer_size(READ_BUFFER);
    let socket =
        WebSocketStream::from_partially_read(socket, read, Role::Server, Some(config)).await;
    connection::serve(hub, socket, document, token).await;
}

/// The token: the parameter `token` of the address, because browsers send no headers of a page's choice with a WebSocket.
fn token(request: &Request) -> Vec<u8> {
    let query = Query::<HashMap<String, String>>::try_from_uri(request.uri());
    let token = query.ok().and_then(|Query(mut query)| query.remove("token"));
    token.unwrap_or_default().into_bytes()
}
