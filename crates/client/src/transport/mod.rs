//! Transports: one enum with the same functions for each, so that the driver need not distinguish
//! them.

pub(crate) mod event;
pub(crate) mod framing;
mod moves;
mod socket;
mod stream;
mod websocket;
mod webtransport;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use groupwire_quic::Fate;
use groupwire_session::PathNeeds;
use tokio::time::timeout;

use crate::address::{Address, Scheme};
use crate::error::{DialError, Error};
use crate::tls::TlsConfigs;
use crate::trust::Trust;
use crate::world::{Link, LinkEvent};
use event::TransportEvent;
use socket::Socket;
use websocket::WebSocket;
use webtransport::WebTransport;

/// How long opening a transport may take: a SYN that is lost twice is sent a third time after 3 s.
const DIAL_PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait until the server has received everything, so that a reset does not discard the
/// last packet.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// An open transport, named by the scheme of its address.
pub(crate) enum Transport {
    Ws(Box<WebSocket>),
    Tcp(Box<Socket>),
    Https(Box<WebTransport>),
    /// A connection of a [`World`](crate::world::World).
    Link(Box<dyn Link>),
}

impl Transport {
    pub(crate) async fn dial(
        address: &Address,
        trust: &Trust,
        configs: &TlsConfigs,
    ) -> Result<Self, Error> {
        let unreachable =
            |error| Error::Unreachable { url: address.url.clone(), source: Arc::new(error) };
        let dialing = async {
            Ok(match address.scheme {
                Scheme::Ws => Transport::Ws(Box::new(WebSocket::dial(address).await?)),
                Scheme::Wss => Transport::Ws(Box::new(
                    WebSocket::dial_encrypted(address, trust, configs).await?,
                )),
                Scheme::Tcp => Transport::Tcp(Box::new(Socket::dial(address).await?)),
                Scheme::Https => {
                    let transport = WebTransport::dial_until_heard(address, trust, configs).await?;
                    Transport::Https(Box::new(transport))
                }
            })
        };
        match timeout(DIAL_PATIENCE, dialing).await {
            Ok(dialled) => dialled.map_err(unreachable),
            Err(_) => Err(unreachable(DialError::Timeout { limit: DIAL_PATIENCE })),
        }
    }

    /// Most bytes of a datagram; 0 if the transport has none.
    pub(crate) fn max_datagram(&self) -> usize {
        match self {
            Transport::Ws(_) | Transport::Tcp(_) => 0,
            Transport::Https(transport) => transport.max_datagram(),
            Transport::Link(link) => link.max_datagram(),
        }
    }

    /// Queues a packet. The session has at most two packets under way.
    pub(crate) fn send(&mut self, packet: Vec<u8>) {
        match self {
            Transport::Ws(transport) => transport.send(packet),
            Transport::Tcp(transport) => transport.send(&packet),
            Transport::Https(transport) => transport.send(&packet),
            Transport::Link(link) => link.send(packet),
        }
    }

    /// Queues a datagram. The session has at most two datagrams under way.
    pub(crate) fn send_datagram(&mut self, packet: Vec<u8>, needs: PathNeeds) {
        match self {
            Transport::Ws(_) | Transport::Tcp(_) => {}
            Transport::Https(transport) => transport.send_datagram(packet, needs),
            Transport::Link(link) => link.send_datagram(packet),
        }
    }

    /// Waits for the next event; reads from the transport only if `read`. The future may be dropped
    /// without losing an event.
    pub(crate) async fn next(&mut self, read: bool) -> TransportEvent {
        poll_fn(|cx| self.poll_next(cx, read)).await
    }

    /// Sends queued packets, closes the transport and waits for a limited time until the server has
    /// received everything.
    pub(crate) async fn close(self) {
        // A link that is dropped delivers what it was given.
        if let Transport::Link(_) = self {
            return;
        }
        let goodbye = async {
            match self {
                Transport::Ws(transport) => transport.close().await,
                Transport::Tcp(transport) => transport.close().await,
                Transport::Https(transport) => transport.close().await,
                Transport::Link(_) => {}
            }
        };
        // A timeout is harmless: the connection is dropped in either case.
        let _ = timeout(CLOSE_PATIENCE, goodbye).await;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<TransportEvent> {
        match self {
            Transport::Ws(transport) => transport.poll_next(cx, read),
            Transport::Tcp(transport) => transport.poll_next(cx, read),
            Transport::Https(transport) => transport.poll_next(cx, read),
            Transport::Link(link) => link.poll_next(cx, read).map(of_link),
        }
    }
}

fn of_link(event: LinkEvent) -> TransportEvent {
    match event {
        LinkEvent::Packet(packet) => TransportEvent::Packet(packet.into()),
        LinkEvent::Datagram(packet) => TransportEvent::Datagram(packet.into()),
        LinkEvent::Sent => TransportEvent::Sent(1),
        LinkEvent::DatagramSent => TransportEvent::DatagramGone(Fate::Sent),
        LinkEvent::Closed => TransportEvent::Closed,
    }
}
