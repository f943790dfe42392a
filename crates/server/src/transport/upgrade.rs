//! Answers requests for a WebSocket.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use futures_util::SinkExt;
use hyper::upgrade::OnUpgrade;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message as Frame;
use tungstenite::handshake::server::create_response;
use tungstenite::protocol::{CloseFrame, Role};

use super::websocket::{Under, count_connection, under};
use crate::ends::linger::{LINGER, close_in_order};
use crate::rooms::hub::Hub;
use crate::web::answers::NOTHING_HERE;

/// The answer to a request that asks for no WebSocket where there are only WebSockets.
const NOT_ASKED: &str = "this path is for WebSockets over HTTP/1.1, and this request asks for none: \
    a proxy has to pass on the headers Connection and Upgrade\n";

/// The answer to a request for another version of the protocol than RFC 6455.
const OTHER_VERSION: &str = "version 13 of WebSocket is spoken here\n";

/// Why a client of y-websocket that asks for another path is sent away (docs/transports.md, T32).
const ELSEWHERE: &str = "documents of Yjs are at /yjs/DOCUMENT, for y-websocket's clients";

/// The code for a path that has nothing. After the codes 4400 to 4499 y-websocket's client stays
/// away.
const NOT_FOUND: u16 = 4404;

/// Accepts a request for a WebSocket (docs/transports.md, T31). Returns the answer, and the socket
/// that is there once the answer is sent.
///
/// # Errors
/// The answer to a request that asks for something else.
pub(crate) fn accept(mut request: Request<Body>) -> Result<(Response, OnUpgrade), Box<Response>> {
    let protocol = first_protocol(request.headers());
    let upgrade = hyper::upgrade::on(&mut request);
    let request = request.map(drop);
    let mut answer = match create_response(&request) {
        Ok(answer) => answer.map(|()| Body::empty()),
        Err(error) => return Err(Box::new(refusal(&request, &error))),
    };
    if let Some(protocol) = protocol {
        answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    Ok((answer, upgrade))
}

/// True if a request asks for a WebSocket.
pub(crate) fn is_asked_for(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// The first protocol that a client names. Browsers close a connection for which none was chosen.
fn first_protocol(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let first = named.split(',').map(str::trim).find(|name| !name.is_empty())?;
    first.parse().ok()
}

fn refusal(request: &Request<()>, error: &tungstenite::Error) -> Response {
    if !is_asked_for(request.headers()) {
        let mut answer = (StatusCode::UPGRADE_REQUIRED, NOT_ASKED).into_response();
        // HTTP/2 knows neither header.
        if request.version() <= Version::HTTP_11 {
            let headers = answer.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        }
        return answer;
    }
    let version = request.headers().get(header::SEC_WEBSOCKET_VERSION);
    if version.is_some_and(|version| version != "13") {
        let known = [(header::SEC_WEBSOCKET_VERSION, "13")];
        return (StatusCode::UPGRADE_REQUIRED, known, OTHER_VERSION).into_response();
    }
    (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response()
}

/// Sends a client away that asks for a document where there is none. It is told in a close frame,
/// because browsers tell a page nothing of the answer to a request for a WebSocket.
pub(crate) async fn send_elsewhere(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request<Body>,
) -> Response {
    // A Groupwire client that was given a wrong path tells it by the status.
    if request.uri().path().ends_with("/ws") || hub.config.yjs.is_none() {
        return (StatusCode::NOT_FOUND, NOTHING_HERE).into_response();
    }
    let counted = match count_connection(&hub, peer, request.headers()) {
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
