//! The request for a WebSocket, and the socket under HTTP once it is answered.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tungstenite::handshake::server::create_response;

use super::context::TransportContext;
use crate::addresses::Counted;
use crate::ends::link::TlsStream;
use crate::web::answers::{is_websocket_wanted, refused_address, too_many};
use crate::web::quiet::WatchedSocket;

/// The answer to a request that asks for no WebSocket where there are only WebSockets.
const NOT_ASKED: &str = "this path is for WebSockets over HTTP/1.1, and this request asks for none: \
    a proxy has to pass on the headers Connection and Upgrade\n";

/// The answer to a request for another version of the protocol than RFC 6455.
const OTHER_VERSION: &str = "version 13 of WebSocket is spoken here\n";

/// Counts a WebSocket for the address of its client, if the server takes it.
pub(crate) fn count_connection(
    context: &TransportContext,
    peer: SocketAddr,
    headers: &HeaderMap,
) -> Result<Option<Counted>, Box<Response>> {
    if context.connections.refuse() {
        tracing::warn!(%peer, "connection refused: too many connections");
        return Err(Box::new(too_many()));
    }
    let client = context.addresses.client(peer.ip(), headers);
    // The TCP handshake of a client without a proxy was counted already.
    let handshake = match context.addresses.is_proxy(peer.ip()) {
        true => context.addresses.handshake(client),
        false => Ok(()),
    };
    let counted = handshake.and_then(|()| context.addresses.open(client)).map_err(|refusal| {
        tracing::debug!(%peer, %client, "connection refused: {}", refusal.why());
        Box::new(refused_address(refusal))
    })?;
    tracing::debug!(%peer, %client, transport = "WebSocket", "connected");
    Ok(counted)
}

/// The socket under HTTP.
pub(crate) enum Under {
    Plain(TcpStream),
    Tls(TlsStream),
}

/// The socket under HTTP, and a copy of the bytes that HTTP has already read: the copy frees HTTP's
/// buffer of 8 KB.
pub(crate) async fn under(upgrade: OnUpgrade) -> Option<(Under, Vec<u8>)> {
    let upgraded: Upgraded = upgrade.await.ok()?;
    let upgraded = match upgraded.downcast::<TokioIo<WatchedSocket<TcpStream>>>() {
        Ok(parts) => {
            let socket = parts.io.into_inner().into_inner();
            return Some((Under::Plain(socket), parts.read_buf.to_vec()));
        }
        Err(upgraded) => upgraded,
    };
    let parts = upgraded.downcast::<TokioIo<WatchedSocket<TlsStream>>>().ok()?;
    let socket = parts.io.into_inner().into_inner();
    Some((Under::Tls(socket), parts.read_buf.to_vec()))
}

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

/// The first protocol that a client names. Browsers close a connection for which none was chosen.
fn first_protocol(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let first = named.split(',').map(str::trim).find(|name| !name.is_empty())?;
    first.parse().ok()
}

fn refusal(request: &Request<()>, error: &tungstenite::Error) -> Response {
    if !is_websocket_wanted(request.headers()) {
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
