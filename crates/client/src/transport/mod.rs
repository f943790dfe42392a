//! What carries packets: one enum, so that the driver need not care.

mod framing;
mod socket;
mod stream;
mod websocket;
mod webtransport;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Bytes;

pub(crate) use framing::prefix_len;

use crate::address::{Address, Scheme};
use crate::error::{DialError, Error};
use crate::trust::Trust;
use socket::Socket;
use websocket::WebSocket;
use webtransport::WebTransport;

/// How long opening a transport may take: a SYN that is lost twice is sent a third time after 3 s.
const DIAL_PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait until the other end has our goodbye, so that the reason we gave is not lost in a reset.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// What happened on a transport.
#[derive(Debug)]
pub(crate) enum Happening {
    Packet(Bytes),
    Datagram(Bytes),
    /// So many packets were handed to the operating system.
    Sent(usize),
    /// So many datagrams were, or were dropped for their age.
    DatagramsSent(usize),
    Closed,
}

/// An open transport, named by the scheme of its address.
pub(crate) enum Transport {
    Ws(Box<WebSocket>),
    Tcp(Box<Socket>),
    Https(Box<WebTransport>),
}

impl Transport {
    pub(crate) async fn dial(address: &Address, trust: &Trust) -> Result<Self, Error> {
        let unreachable =
            |error| Error::Unreachable { url: address.url.clone(), source: Arc::new(error) };
        let dialing = async {
            Ok(match address.scheme {
                Scheme::Ws => Transport::Ws(Box::new(WebSocket::dial(address).await?)),
                Scheme::Tcp => Transport::Tcp(Box::new(Socket::dial(address).await?)),
                Scheme::Https => {
                    let transport = WebTransport::dial(address, trust).await?;
                    Transport::Https(Box::new(transport))
                }
            })
        };
        match timeout(DIAL_PATIENCE, dialing).await {
            Ok(dialled) => dialled.map_err(unreachable),
            Err(_) => Err(unreachable(DialError::Timeout { limit: DIAL_PATIENCE })),
        }
    }

    /// Bytes that a datagram may have; 0: there are none.
    pub(crate) fn max_datagram(&self) -> usize {
        match self {
            Transport::Ws(_) | Transport::Tcp(_) => 0,
            Transport::Https(transport) => transport.max_datagram(),
        }
    }

    /// Takes a packet to be sent. The session's credit keeps those that wait at two.
    pub(crate) fn send(&mut self, packet: Vec<u8>) {
        match self {
            Transport::Ws(transport) => transport.send(packet),
            Transport::Tcp(transport) => transport.send(&packet),
            Transport::Https(transport) => transport.send(&packet),
        }
    }

    /// Takes a datagram to be sent, likewise.
    pub(crate) fn send_datagram(&mut self, packet: Vec<u8>) {
        if let Transport::Https(transport) = self {
            transport.send_datagram(packet);
        }
    }

    /// Waits for the next happening; reads only if `read`. Losing the future loses nothing.
    pub(crate) async fn next(&mut self, read: bool) -> Happening {
        poll_fn(|cx| self.poll_next(cx, read)).await
    }

    /// Sends what waits and a goodbye, and waits a little for the other end to take it.
    pub(crate) async fn close(self) {
        let goodbye = async {
            match self {
                Transport::Ws(transport) => transport.close().await,
                Transport::Tcp(transport) => transport.close().await,
                Transport::Https(transport) => transport.close().await,
            }
        };
        // Too late is no loss: the connection goes either way.
        let _ = timeout(CLOSE_PATIENCE, goodbye).await;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<Happening> {
        match self {
            Transport::Ws(transport) => transport.poll_next(cx, read),
            Transport::Tcp(transport) => transport.poll_next(cx, read),
            Transport::Https(transport) => transport.poll_next(cx, read),
        }
    }
}
