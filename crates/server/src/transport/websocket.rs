//! WebSocket: a binary message is a packet.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use groupwire_session::{Error, Fault};
use tungstenite::error::{CapacityError, ProtocolError};

use super::{Gone, Incoming, NoDatagrams, Receive, Transmit};
use crate::hub::Hub;

/// Serves a connection until it ends.
pub(crate) async fn serve(hub: Arc<Hub>, socket: WebSocket) {
    let (sink, stream) = socket.split();
    super::serve(hub, Stream(stream), Sink(sink), None::<(NoDatagrams, usize)>).await;
}

struct Stream(SplitStream<WebSocket>);

impl Receive for Stream {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        loop {
            return match self.0.next().await {
                Some(Ok(Frame::Binary(packet))) => Ok(Some(Incoming::Packet(packet))),
                Some(Ok(Frame::Text(_))) => {
                    Err(Error::Malformed { what: "packet: a binary message is due" })
                }
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => continue,
                Some(Ok(Frame::Close(_))) | None => Ok(None),
                Some(Err(error)) => {
                    tracing::debug!(%error, "socket error");
                    violation(error).map_or(Ok(None), Err)
                }
            };
        }
    }
}

struct Sink(SplitSink<WebSocket, Frame>);

impl Transmit for Sink {
    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send(Frame::Binary(packet.into())).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if !packet.is_empty() && self.send(packet).await.is_err() {
            return;
        }
        let _ = self.0.send(Frame::Close(Some(close_frame(reason)))).await;
    }
}

fn close_frame(reason: Option<&Error>) -> CloseFrame {
    let Some(error) = reason else {
        return CloseFrame { code: close_code::NORMAL, reason: "goodbye".into() };
    };
    let code = match (error, error.fault()) {
        (Error::TooLarge { .. }, _) => close_code::SIZE,
        (_, Fault::Limit) => close_code::AGAIN,
        (_, Fault::Refused) => close_code::POLICY,
        _ => close_code::PROTOCOL,
    };
    // RFC 6455, section 5.5: a control frame has at most 125 octets, two of which are the code.
    let mut text = error.to_string();
    let end = (0..=123.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or_default());
    CloseFrame { code, reason: text.into() }
}

/// A message over the limit is refused by the socket before it is read whole.
fn violation(error: axum::Error) -> Option<Error> {
    match error.into_inner().downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(CapacityError::MessageTooLong { size, max_size })) => {
            Some(Error::TooLarge { what: "packet", size: *size, limit: *max_size })
        }
        // A connection that is simply gone is no offence.
        Some(tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => None,
        Some(tungstenite::Error::Protocol(_)) => Some(Error::Malformed { what: "WebSocket frame" }),
        Some(tungstenite::Error::Utf8(_)) => Some(Error::InvalidText { what: "WebSocket text" }),
        _ => None,
    }
}
