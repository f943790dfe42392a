//! WebSocket: each binary message is a packet.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use futures_util::StreamExt;
use groupwire_session::{Error, Fault};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message as Frame;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{Role, WebSocketConfig};

use super::context::TransportContext;
use super::emulation;
use super::upgrade::{Under, accept, count_connection, under};
use crate::ends::linger::close_in_order;
use crate::ends::link::Link;
use crate::ends::socket_writer::{Framing, SocketStream, SocketWriter};
use crate::ends::{Gone, Incoming, NoDatagrams, Receive, Transmit};

/// Bytes of the read buffer per connection. The library's default of 128 KB would be the largest
/// part of a connection's memory; a larger message gets a buffer of its size.
const READ_BUFFER: usize = 512;

/// Answers the request for a WebSocket, and serves it until it ends, over the emulated network of
/// its room if the request asks for that.
pub(super) async fn upgrade(
    State(context): State<Arc<TransportContext>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let counted = match count_connection(&context, peer, request.headers()) {
        Ok(counted) => counted,
        Err(refusal) => return *refusal,
    };
    let emulate = emulation::is_wanted(&context, request.uri().query());
    let (answer, upgrade) = match accept(request) {
        Ok(accepted) => accepted,
        Err(refusal) => return *refusal,
    };
    tokio::spawn(async move {
        // Boxed, so that the connection does not hold memory for it any more when it is served.
        if let Some((link, read)) = Box::pin(link(upgrade)).await {
            serve(context, link, read, emulate).await;
        }
        drop(counted);
    });
    answer
}

async fn link(upgrade: OnUpgrade) -> Option<(Link, Vec<u8>)> {
    let (under, read) = under(upgrade).await?;
    let link = match under {
        Under::Plain(socket) => Link::plain(socket),
        Under::Tls(socket) => Link::encrypted(socket),
    };
    Some((link, read))
}

async fn serve(context: Arc<TransportContext>, link: Link, read: Vec<u8>, emulate: bool) {
    let limit = context.max_packet();
    let config = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .write_buffer_size(0)
        .read_buffer_size(READ_BUFFER);
    let writer = SocketWriter::new(link, Framing::WebSocket);
    let (stream, role) = (SocketStream(Arc::clone(&writer)), Role::Server);
    let stream = WebSocketStream::from_partially_read(stream, read, role, Some(config)).await;
    let (receive, transmit, datagrams) =
        (Receiver(Box::new(stream)), Sink(writer), None::<(NoDatagrams, usize)>);
    emulation::serve(context, "WebSocket", emulate, receive, transmit, datagrams).await;
}

/// Boxed, because the future of each nested async function would hold the stream once more.
struct Receiver(Box<WebSocketStream<SocketStream>>);

impl Receive for Receiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        loop {
            return match self.0.next().await {
                Some(Ok(Frame::Binary(packet))) => Ok(Some(Incoming::Packet(packet))),
                Some(Ok(Frame::Text(_))) => {
                    Err(Error::Malformed { what: "packet: a binary message is due, not text" })
                }
                Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => continue,
                // Browsers send this code when a page is left, reloaded or closed; Firefox does so
                // before the page can say goodbye.
                Some(Ok(Frame::Close(Some(close)))) if close.code == CloseCode::Away => {
                    Ok(Some(Incoming::goodbye()))
                }
                Some(Ok(Frame::Close(_))) | None => Ok(None),
                Some(Err(error)) => {
                    tracing::debug!(%error, "WebSocket failed");
                    violation(&error).map_or(Ok(None), Err)
                }
            };
        }
    }
}

struct Sink(Arc<SocketWriter>);

impl Transmit for Sink {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        Some(Arc::clone(&self.0))
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send(&packet, &[]);
        // Boxed, so that an idle connection does not hold memory for it: the room writes to the
        // socket itself, except for a last packet.
        Box::pin(self.0.flush()).await.map(drop).map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if !packet.is_empty() && self.send(packet).await.is_err() {
            return;
        }
        let (code, text) = close_frame(reason);
        self.0.send_close(code.into(), &text);
        if self.0.flush().await.is_ok() {
            close_in_order(&mut SocketStream(Arc::clone(&self.0))).await;
        }
    }
}

fn close_frame(reason: Option<&Error>) -> (CloseCode, String) {
    let Some(error) = reason else {
        return (CloseCode::Normal, "goodbye".into());
    };
    let code = match (error, error.fault()) {
        (Error::TooLarge { .. }, _) => CloseCode::Size,
        (_, Fault::Limit) => CloseCode::Again,
        (_, Fault::Refused) => CloseCode::Policy,
        _ => CloseCode::Protocol,
    };
    let mut text = error.to_string();
    if code == CloseCode::Protocol {
        // The client of another protocol learns what is spoken here.
        text.push_str(" (Groupwire's protocol is due)");
    }
    // RFC 6455, section 5.5: a control frame carries at most 125 bytes, two of which are the code.
    let end = (0..=123.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or_default());
    (code, text)
}

/// The error of the session protocol for an error of the WebSocket, such as a message above the
/// limit, which the library refuses before it has read all of it; `None` if the connection merely
/// broke.
fn violation(error: &tungstenite::Error) -> Option<Error> {
    match error {
        tungstenite::Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            Some(Error::TooLarge { what: "packet", size: *size, limit: *max_size })
        }
        // A broken connection breaks no rule.
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => Some(Error::Malformed { what: "WebSocket frame" }),
        tungstenite::Error::Utf8(_) => Some(Error::InvalidText { what: "WebSocket text" }),
        _ => None,
    }
}
