//! One WebSocket: a binary message is a packet.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Sink, Stream};
use groupwire_session::limits::DEFAULT_MAX_PACKET;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Bytes, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::Error;
use crate::address::Address;

/// How long opening a transport may take: a SYN that is lost twice is sent a third time after 3 s.
const DIAL_PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for the other end's goodbye, so that the reason we gave is not lost in a reset.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// Bytes allocated per connection for reading; a packet that is larger grows it.
const READ_BUFFER: usize = 16 << 10;

/// What happened on a transport.
#[derive(Debug)]
pub(crate) enum Happening {
    Packet(Bytes),
    /// So many packets were handed to the operating system.
    Sent(usize),
    Closed,
}

/// An open WebSocket.
pub(crate) struct Transport {
    socket: WebSocketStream<TcpStream>,
    /// Packets that the socket has not taken. The session's credit keeps them at two.
    waiting: VecDeque<Bytes>,
    /// Packets that the socket took but may still hold.
    unflushed: usize,
}

impl Transport {
    pub(crate) async fn dial(address: &Address) -> Result<Self, Error> {
        let unreachable = |why: String| Error::Unreachable { url: address.url.clone(), why };
        match timeout(DIAL_PATIENCE, open(address)).await {
            Ok(Ok(socket)) => Ok(Transport { socket, waiting: VecDeque::new(), unflushed: 0 }),
            Ok(Err(error)) => Err(unreachable(in_words(&error))),
            Err(_) => Err(unreachable(format!("no answer within {} s", DIAL_PATIENCE.as_secs()))),
        }
    }

    pub(crate) fn send(&mut self, packet: Vec<u8>) {
        self.waiting.push_back(packet.into());
    }

    /// Waits for the next happening; reads only if `read`. Losing the future loses nothing.
    pub(crate) async fn next(&mut self, read: bool) -> Happening {
        poll_fn(|cx| self.poll_next(cx, read)).await
    }

    /// Sends what waits and a goodbye, and waits a little for the other end to close.
    pub(crate) async fn close(mut self) {
        let goodbye = async {
            while !(self.waiting.is_empty() && self.unflushed == 0) {
                if let Happening::Closed = self.next(false).await {
                    return;
                }
            }
            if self.socket.close(None).await.is_ok() {
                while !matches!(self.next(true).await, Happening::Closed) {}
            }
        };
        // Too late is no loss: the connection goes either way.
        let _ = timeout(CLOSE_PATIENCE, goodbye).await;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<Happening> {
        if let Poll::Ready(happening) = self.poll_write(cx) {
            return Poll::Ready(happening);
        }
        if !read {
            return Poll::Pending;
        }
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(packet))) => Happening::Packet(packet),
                // The library answers them.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_))) => continue,
                // Text is no part of the protocol.
                Some(Ok(Message::Text(_) | Message::Frame(_)) | Err(_)) | None => Happening::Closed,
            });
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Happening> {
        let mut socket = Pin::new(&mut self.socket);
        while !self.waiting.is_empty() {
            if ready!(socket.as_mut().poll_ready(cx)).is_err() {
                return Poll::Ready(Happening::Closed);
            }
            let Some(packet) = self.waiting.pop_front() else { break };
            if socket.as_mut().start_send(Message::Binary(packet)).is_err() {
                return Poll::Ready(Happening::Closed);
            }
            self.unflushed += 1;
        }
        if self.unflushed == 0 {
            return Poll::Pending;
        }
        match ready!(socket.poll_flush(cx)) {
            Ok(()) => Poll::Ready(Happening::Sent(std::mem::take(&mut self.unflushed))),
            Err(_) => Poll::Ready(Happening::Closed),
        }
    }
}

async fn open(address: &Address) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    // A packet is complete when it is sent: waiting for more would only delay it.
    stream.set_nodelay(true)?;
    // The session refuses packets over its limit and says why; this bounds what it is shown.
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(2 * DEFAULT_MAX_PACKET))
        .max_frame_size(Some(2 * DEFAULT_MAX_PACKET));
    let (socket, _) = client_async_with_config(&address.url, stream, Some(config)).await?;
    Ok(socket)
}

fn in_words(error: &tungstenite::Error) -> String {
    match error {
        tungstenite::Error::Io(error) => error.to_string(),
        tungstenite::Error::Http(answer) => {
            format!("it answers HTTP {} where a WebSocket is due", answer.status())
        }
        error => error.to_string(),
    }
}
