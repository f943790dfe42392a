//! One WebTransport session: packets on one bidirectional stream, and datagrams
//! (docs/transports.md, T5, T6).

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use groupwire_quic::wtransport::config::{DnsResolver, IpBindConfig};
use groupwire_quic::wtransport::endpoint::endpoint_side;
use groupwire_quic::wtransport::error::{ConnectingError, ConnectionError};
use groupwire_quic::wtransport::tls::WEBTRANSPORT_ALPN;
use groupwire_quic::wtransport::{
    ClientConfig, Connection, Endpoint, RecvStream, SendStream, VarInt,
};
use groupwire_quic::{
    Datagrams, End, Fate, endpoint_settings, limit_send_buffer, settings, show_address,
};
use groupwire_session::PathNeeds;
use groupwire_session::limits::DEFAULT_MAX_PACKET;
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_rustls::rustls::ClientConfig as ClientTls;
use tokio_tungstenite::tungstenite::Bytes;

use super::event::TransportEvent;
use super::moves::{another_address, local_address};
use super::stream::Packets;
use crate::address::Address;
use crate::error::DialError;
use crate::tls::TlsConfigs;
use crate::trust::{Pins, Trust};

/// Most datagrams in either direction between the driver and QUIC, besides those that QUIC holds.
const DATAGRAMS: usize = 2;

/// QUIC's idle timeout. It is long, as the session detects a silent server sooner, and the server
/// asks for a shorter timeout.
const IDLE: Duration = Duration::from_secs(30);

/// The time until a second attempt to connect begins: two round trips of 600 ms. The first attempt
/// continues, because a handshake on a slow path takes longer than [`NEXT_ATTEMPT`].
const FIRST_ANSWER: Duration = Duration::from_millis(1500);

/// The time limit of each further attempt, so that one begins at most this long after the path
/// works again: three round trips of 200 ms. On longer paths only the first attempt can succeed.
const NEXT_ATTEMPT: Duration = Duration::from_millis(700);

/// How long to wait for the server's closing packet. If the server sends one, it does so at once.
const IDLE_PATIENCE: Duration = Duration::from_millis(100);

/// A datagram that waits for QUIC.
struct Waiting {
    packet: Vec<u8>,
    needs: PathNeeds,
    made: Instant,
}

pub(crate) struct WebTransport {
    packets: Packets<RecvStream, Writer>,
    max_datagram: usize,
    outgoing: mpsc::Sender<Waiting>,
    outgone: mpsc::Receiver<Fate>,
    incoming: mpsc::Receiver<Bytes>,
    /// The tasks that carry datagrams and follow moves; they end when this is dropped.
    _tasks: JoinSet<()>,
    connection: Connection,
    endpoint: Endpoint<endpoint_side::Client>,
}

impl WebTransport {
    /// Opens a session. While the first attempt has no answer, others are made in parallel: QUIC
    /// repeats the first packet of a handshake only after 1, 3 and 7 s, so that a path could work
    /// again for seconds before it is used.
    pub(super) async fn dial_until_heard(
        address: &Address,
        trust: &Trust,
        configs: &TlsConfigs,
    ) -> Result<Self, DialError> {
        let mut first = pin!(WebTransport::dial(address, trust, configs));
        if let Ok(dialled) = timeout(FIRST_ANSWER, &mut first).await {
            return dialled;
        }
        loop {
            tokio::select! {
                dialled = &mut first => return dialled,
                other = timeout(NEXT_ATTEMPT, WebTransport::dial(address, trust, configs)) => match other {
                    Ok(Ok(transport)) => return Ok(transport),
                    // Either the server refuses, and the first attempt will return the reason. Or
                    // this machine has no network or no DNS at present, and another attempt
                    // follows.
                    Ok(Err(_)) => {
                        if let Ok(dialled) = timeout(NEXT_ATTEMPT, &mut first).await {
                            return dialled;
                        }
                    }
                    Err(_) => {}
                },
            }
        }
    }

    async fn dial(
        address: &Address,
        trust: &Trust,
        configs: &TlsConfigs,
    ) -> Result<Self, DialError> {
        let found = trust.find(address).await?;
        let endpoint = endpoint(found.pins, configs)?;
        let connection = endpoint.connect(&found.url).await.map_err(dial_error)?;
        let opening = connection.open_bi().await.map_err(DialError::protocol)?;
        let (writer, reader) = opening.await.map_err(DialError::protocol)?;
        let writer = Writer { connection: connection.clone(), stream: writer };

        let datagrams = Datagrams::new(&connection);
        let max_datagram = datagrams.max();
        let mut tasks = JoinSet::new();
        let (outgoing, to_send) = mpsc::channel(DATAGRAMS);
        let (sent, outgone) = mpsc::channel(DATAGRAMS);
        tasks.spawn(send_all(datagrams, to_send, sent));
        let (received, incoming) = mpsc::channel(DATAGRAMS);
        tasks.spawn(receive_all(connection.clone(), received));
        tasks.spawn(follow_moves(connection.clone()));
        Ok(WebTransport {
            packets: Packets::new(reader, writer),
            max_datagram,
            outgoing,
            outgone,
            incoming,
            _tasks: tasks,
            connection,
            endpoint,
        })
    }

    pub(super) fn max_datagram(&self) -> usize {
        self.max_datagram
    }

    pub(super) fn send(&mut self, packet: &[u8]) {
        self.packets.send(packet);
    }

    pub(super) fn send_datagram(&mut self, packet: Vec<u8>, needs: PathNeeds) {
        let sent = self.outgoing.try_send(Waiting { packet, needs, made: Instant::now() });
        debug_assert!(
            !matches!(sent, Err(TrySendError::Full(_))),
            "the session has at most {DATAGRAMS} datagrams under way"
        );
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<TransportEvent> {
        if let Poll::Ready(event) = self.packets.poll_write(cx) {
            return Poll::Ready(event);
        }
        if let Poll::Ready(Some(fate)) = self.outgone.poll_recv(cx) {
            return Poll::Ready(TransportEvent::DatagramGone(fate));
        }
        if !read {
            return Poll::Pending;
        }
        if let Poll::Ready(event) = self.packets.poll_read(cx) {
            return Poll::Ready(event);
        }
        match self.incoming.poll_recv(cx) {
            Poll::Ready(Some(packet)) => Poll::Ready(TransportEvent::Datagram(packet)),
            // The stream reports the end of the connection.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    pub(super) async fn close(mut self) {
        while !self.packets.is_idle() {
            if let TransportEvent::Closed = poll_fn(|cx| self.poll_next(cx, false)).await {
                return;
            }
        }
        // Done when the server has acknowledged everything.
        if self.packets.writer.stream.finish().await.is_ok() {
            self.connection.close(VarInt::from_u32(0), b"");
            let _ = tokio::time::timeout(IDLE_PATIENCE, self.endpoint.wait_idle()).await;
        }
    }
}

fn endpoint(
    pins: Pins,
    configs: &TlsConfigs,
) -> Result<Endpoint<endpoint_side::Client>, DialError> {
    let tls = configs.config(pins, WEBTRANSPORT_ALPN)?;
    let bind = |wildcard| ClientConfig::builder().with_bind_config(wildcard);
    let mut last = None;
    // A system without IPv6 has no sockets for both address families.
    for wildcard in [IpBindConfig::InAddrAnyDual, IpBindConfig::InAddrAnyV4] {
        let mut config =
            bind(wildcard).with_custom_tls(ClientTls::clone(&tls)).dns_resolver(Ipv4First).build();
        let transport = settings(End::Client, DEFAULT_MAX_PACKET, IDLE);
        config.quic_config_mut().transport_config(Arc::new(transport));
        *config.quic_endpoint_config_mut() = endpoint_settings(End::Client);
        match Endpoint::client(config) {
            Ok(endpoint) => return Ok(endpoint),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()).into())
}

/// Resolves a host to its IPv4 address if it has one. UDP cannot refuse a connection, so trying the
/// wrong one of two addresses costs seconds; servers that listen on one only, as `groupwire serve`
/// does by default, listen on IPv4.
#[derive(Debug)]
struct Ipv4First;

impl DnsResolver for Ipv4First {
    fn resolve(
        &self,
        host: &str,
    ) -> Pin<Box<dyn groupwire_quic::wtransport::config::DnsLookupFuture>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host(host).await?.collect();
            let ipv4 = found.iter().find(|address| address.is_ipv4());
            Ok(ipv4.or(found.first()).copied())
        })
    }
}

async fn send_all(
    mut datagrams: Datagrams,
    mut to_send: mpsc::Receiver<Waiting>,
    gone: mpsc::Sender<Fate>,
) {
    while let Some(Waiting { packet, needs, made }) = to_send.recv().await {
        datagrams.set_needs(needs.minimum_rate, needs.is_limited);
        let outcome = datagrams.send(&packet, made).await;
        let fate = outcome.unwrap_or(Fate::Dropped);
        if gone.send(fate).await.is_err() || outcome.is_err() {
            return;
        }
    }
}

async fn receive_all(connection: Connection, received: mpsc::Sender<Bytes>) {
    while let Ok(datagram) = connection.receive_datagram().await {
        if received.send(datagram.payload()).await.is_err() {
            return;
        }
    }
}

/// Shows the server each new address of this machine. The socket is not bound to an address, so
/// packets leave from the address that has a route to the server, and QUIC continues the connection
/// from there.
async fn follow_moves(connection: Connection) {
    let server = connection.remote_address();
    // A socket for both address families shows an IPv4 address as a mapped one, to which not all
    // systems have a route.
    let server = SocketAddr::from((server.ip().to_canonical(), server.port()));
    let mut address = local_address(server).ok();
    for moves in 1.. {
        address = Some(another_address(server, address).await);
        show_address(&connection, DEFAULT_MAX_PACKET, moves);
    }
}

/// The sending stream, which buffers little.
struct Writer {
    connection: Connection,
    stream: SendStream,
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        limit_send_buffer(&self.connection);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

fn dial_error(error: ConnectingError) -> DialError {
    match error {
        ConnectingError::SessionRejected => DialError::NotWebTransport,
        ConnectingError::ConnectionError(ConnectionError::TimedOut) => DialError::NoUdp,
        error => DialError::protocol(error),
    }
}
