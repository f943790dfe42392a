//! WebSocket: each binary message is a packet.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use groupwire_session::limits::DEFAULT_MAX_PACKET;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Bytes, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::event::TransportEvent;
use super::moves::Watch;
use crate::address::Address;
use crate::error::DialError;
use crate::tls::TlsConfigs;
use crate::trust::Trust;

/// Bytes of the read buffer of a connection; it grows for a larger packet.
const READ_BUFFER: usize = 16 << 10;

/// A TCP connection, encrypted or not.
trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// An open WebSocket.
pub(crate) struct WebSocket {
    socket: WebSocketStream<Box<dyn Duplex>>,
    /// Packets that the socket has not taken; the session has at most two under way.
    waiting: VecDeque<Bytes>,
    /// Packets that the socket has taken but not yet flushed.
    unflushed: usize,
    watch: Watch,
}

impl WebSocket {
    pub(super) async fn dial(address: &Address) -> Result<Self, DialError> {
        let stream = connect(address).await?;
        let watch = Watch::over(&stream)?;
        WebSocket::open(address, Box::new(stream), watch).await
    }

    pub(super) async fn dial_encrypted(
        address: &Address,
        trust: &Trust,
        configs: &TlsConfigs,
    ) -> Result<Self, DialError> {
        // HTTP/2 has no upgrade to WebSocket.
        let config = configs.config(trust.of_wss()?, b"http/1.1")?;
        let name = ServerName::try_from(address.host.clone()).map_err(DialError::protocol)?;
        let stream = connect(address).await?;
        let watch = Watch::over(&stream)?;
        let stream = TlsConnector::from(config).connect(name, stream).await;
        let stream = stream.map_err(|source| DialError::Tls { source })?;
        WebSocket::open(address, Box::new(stream), watch).await
    }

    async fn open(
        address: &Address,
        stream: Box<dyn Duplex>,
        watch: Watch,
    ) -> Result<Self, DialError> {
        // The session refuses packets above its own, lower limit with a reason; these limits bound
        // the memory that a server can make the client use.
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .max_message_size(Some(2 * DEFAULT_MAX_PACKET))
            .max_frame_size(Some(2 * DEFAULT_MAX_PACKET));
        let opening = client_async_with_config(&address.url, stream, Some(config)).await;
        let (socket, _) = opening.map_err(dial_error)?;
        Ok(WebSocket { socket, waiting: VecDeque::new(), unflushed: 0, watch })
    }

    pub(super) fn send(&mut self, packet: Vec<u8>) {
        debug_assert!(
            self.waiting.len() + self.unflushed < 2,
            "the session has at most two packets under way"
        );
        self.waiting.push_back(packet.into());
    }

    /// Sends queued packets and a close frame, and waits for the server's close frame.
    pub(super) async fn close(mut self) {
        while !(self.waiting.is_empty() && self.unflushed == 0) {
            if let TransportEvent::Closed = poll_fn(|cx| self.poll_next(cx, false)).await {
                return;
            }
        }
        if self.socket.close(None).await.is_ok() {
            while !matches!(poll_fn(|cx| self.poll_next(cx, true)).await, TransportEvent::Closed) {}
        }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<TransportEvent> {
        if self.watch.poll_lost(cx).is_ready() {
            return Poll::Ready(TransportEvent::Closed);
        }
        if let Poll::Ready(event) = self.poll_write(cx) {
            return Poll::Ready(event);
        }
        if !read {
            return Poll::Pending;
        }
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(packet))) => TransportEvent::Packet(packet),
                // The library answers pings and close frames by itself.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_))) => continue,
                // The protocol has no text messages.
                Some(Ok(Message::Text(_) | Message::Frame(_)) | Err(_)) | None => {
                    TransportEvent::Closed
                }
            });
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<TransportEvent> {
        let mut socket = Pin::new(&mut self.socket);
        while !self.waiting.is_empty() {
            if ready!(socket.as_mut().poll_ready(cx)).is_err() {
                return Poll::Ready(TransportEvent::Closed);
            }
            let Some(packet) = self.waiting.pop_front() else { break };
            if socket.as_mut().start_send(Message::Binary(packet)).is_err() {
                return Poll::Ready(TransportEvent::Closed);
            }
            self.unflushed += 1;
        }
        if self.unflushed == 0 {
            return Poll::Pending;
        }
        match ready!(socket.poll_flush(cx)) {
            Ok(()) => Poll::Ready(TransportEvent::Sent(std::mem::take(&mut self.unflushed))),
            Err(_) => Poll::Ready(TransportEvent::Closed),
        }
    }
}

async fn connect(address: &Address) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    // Packets are complete when they are sent: Nagle's algorithm would only delay them.
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn dial_error(error: tungstenite::Error) -> DialError {
    match error {
        tungstenite::Error::Io(error) => DialError::Io(error),
        tungstenite::Error::Http(answer) => {
            DialError::NotWebSocket { status: answer.status().as_u16() }
        }
        error => DialError::protocol(error),
    }
}
