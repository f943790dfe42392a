//! The WebTransport endpoint, which clients reach over UDP (docs/transports.md, T5 to T7).

pub(crate) mod config;
mod connection;
pub(crate) mod offer;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::{End, endpoint_settings, settings};
use groupwire_session::room;
use socket2::SockRef;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::rustls::version::TLS13;
use wtransport::quinn::crypto::rustls::QuicServerConfig;
use wtransport::quinn::{Endpoint, ServerConfig, TokioRuntime, VarInt};
use wtransport::tls::WEBTRANSPORT_ALPN;

use crate::arrivals::Newcomer;
use crate::certificate::keeper::Certificates;
use crate::error::CertificateError;
use crate::error::Error;
use crate::lifecycle::sockets::{Handover, Purpose, Sockets};
use crate::tls;
use crate::transport::context::TransportContext;
use offer::Offer;

/// Most handshakes under way. Each costs a signature, about 0.1 ms, and about 20 KB for up to
/// [`HANDSHAKE`].
const MAX_HANDSHAKES: usize = 256;

/// With more handshakes under way than this, clients have to prove their address first (QUIC
/// Retry), which takes one round trip.
const MAX_UNPROVEN: usize = 32;

/// How long the handshake, the request and the opening of the stream may take together, from the
/// first packet (T3).
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Bytes that QUIC buffers for handshakes not yet accepted, which are accepted within microseconds.
/// First packets of ten clients fill it; clients repeat packets that were dropped.
const MAX_WAITING: u64 = 128 << 10;

/// Bytes of the kernel's UDP buffer in each direction, where it grants that: after a tick the
/// acknowledgements of a thousand connections arrive within milliseconds, and the kernel counts
/// about 800 bytes for a small packet.
const BUFFER: usize = 4 << 20;

/// QUIC's idle timeout exceeds the session's by this time: the session's timeout comes first, since
/// it states the reason.
const IDLE_MARGIN: Duration = Duration::from_secs(2);

/// How long connections may take to close when the server stops.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// The endpoint that is wanted.
pub(crate) struct Wanted<'a> {
    /// The UDP address.
    pub(crate) listen: SocketAddr,
    /// True if another port will do, too.
    pub(crate) any_port: bool,
    /// The configuration of rooms, whose limits and times QUIC has to go with.
    pub(crate) room: &'a room::Config,
}

/// The UDP port of WebTransport, which nothing is read from yet.
pub(crate) struct Bound {
    socket: UdpSocket,
    quic: ServerConfig,
    pub(crate) offer: Arc<Offer>,
}

/// A WebTransport endpoint that answers at its UDP port.
pub(crate) struct WebTransport {
    endpoint: Endpoint,
    pub(crate) offer: Arc<Offer>,
}

impl Bound {
    /// Binds the port, or takes it over. `None` if the UDP port cannot be bound, which is logged.
    ///
    /// # Errors
    /// [`Error::Certificate`] if QUIC cannot use the configuration of TLS.
    pub(crate) fn bind(
        Wanted { listen, any_port, room }: Wanted<'_>,
        certificates: Arc<Certificates>,
        sockets: &mut Sockets,
    ) -> Result<Option<Self>, Error> {
        let quic = quic(Arc::clone(&certificates), room)?;
        let bound = match sockets.take(Purpose::WebTransport, listen) {
            Some(socket) => Ok(UdpSocket::from(socket)),
            None => UdpSocket::bind(listen).or_else(|error| match any_port {
                true => UdpSocket::bind((listen.ip(), 0)),
                false => Err(error),
            }),
        };
        let bound = bound.and_then(|socket| {
            widen(&socket);
            let port = socket.local_addr()?.port();
            Ok((socket, port))
        });
        match bound {
            Ok((socket, port)) => {
                let offer = Arc::new(Offer::new(port, certificates));
                Ok(Some(Bound { socket, quic, offer }))
            }
            Err(error) => {
                tracing::warn!(%listen, %error, "WebTransport is off: cannot bind the UDP port");
                Ok(None)
            }
        }
    }

    /// Offers the socket to the process that will take this one's place.
    pub(crate) fn offer_socket(&self, handover: &Handover) {
        handover.offer(Purpose::WebTransport, SockRef::from(&self.socket).try_clone());
    }

    /// Begins to read and answer.
    ///
    /// # Errors
    /// [`Error::Listen`] if the socket cannot be used.
    pub(crate) fn open(self) -> Result<WebTransport, Error> {
        let Bound { socket, quic, offer } = self;
        let opening = || {
            let listen = socket.local_addr()?;
            let settings = endpoint_settings(End::Server);
            let endpoint = Endpoint::new(settings, Some(quic), socket, Arc::new(TokioRuntime));
            io::Result::Ok((listen, endpoint))
        };
        let unspecified = SocketAddr::from(([0, 0, 0, 0], offer.port));
        let (listen, endpoint) =
            opening().map_err(|source| Error::Listen { listen: unspecified, source })?;
        let endpoint = endpoint.map_err(|source| Error::Listen { listen, source })?;
        Ok(WebTransport { endpoint, offer })
    }
}

impl WebTransport {
    /// Accepts and serves connections; never returns.
    pub(crate) async fn serve(self, context: Arc<TransportContext>) {
        accept(&self.endpoint, &context).await;
        tracing::error!("WebTransport stopped: the UDP socket failed");
        std::future::pending().await
    }

    /// A handle that ends the endpoint when the server stops.
    pub(crate) fn closer(&self) -> Closer {
        Closer(self.endpoint.clone())
    }
}

/// Ends an endpoint.
pub(crate) struct Closer(Endpoint);

impl Closer {
    /// Ignores first packets of clients from now on. Clients repeat them until the process answers
    /// that replaces this one.
    pub(crate) fn ignore_newcomers(&self) {
        self.0.set_server_config(None);
    }

    /// Closes all connections.
    pub(crate) async fn close(self) {
        self.0.close(VarInt::from_u32(0), b"the server stops");
        let _ = timeout(CLOSE_LIMIT, self.0.wait_idle()).await;
    }
}

/// Asks for larger UDP buffers. If the kernel grants less, bursts of packets overflow them, and
/// QUIC retransmits late.
fn widen(socket: &UdpSocket) {
    let options = SockRef::from(socket);
    let set = options.set_recv_buffer_size(BUFFER).and(options.set_send_buffer_size(BUFFER));
    if let Err(error) = set {
        tracing::debug!(%error, "cannot enlarge the UDP buffers");
    }
}

fn quic(
    certificates: Arc<Certificates>,
    room: &room::Config,
) -> Result<ServerConfig, CertificateError> {
    let tls = tls::config(certificates, &[&TLS13], &[WEBTRANSPORT_ALPN])?;
    let crypto = QuicServerConfig::try_from(tls)
        .map_err(|error| CertificateError::Unusable { why: error.to_string() })?;
    let mut server = ServerConfig::with_crypto(Arc::new(crypto));
    let transport = settings(End::Server, room.limits.max_packet, room.timing.dead + IDLE_MARGIN);
    server.transport_config(Arc::new(transport));
    server.max_incoming(MAX_HANDSHAKES).incoming_buffer_size_total(MAX_WAITING);
    Ok(server)
}

async fn accept(endpoint: &Endpoint, context: &Arc<TransportContext>) {
    let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    while let Some(incoming) = endpoint.accept().await {
        let peer = incoming.remote_address();
        let Ok(permit) = Arc::clone(&handshakes).try_acquire_owned() else {
            tracing::warn!(%peer, "connection refused: too many handshakes under way");
            incoming.refuse();
            continue;
        };
        if context.connections.refuse() {
            tracing::warn!(%peer, "connection refused: too many connections");
            incoming.refuse();
            continue;
        }
        let address = peer.ip();
        let is_over = context.addresses.is_over(address);
        if is_over && incoming.remote_address_validated() {
            tracing::debug!(%peer, "connection refused: too many handshakes from its address");
            let _ = context.addresses.handshake(address);
            incoming.refuse();
            continue;
        }
        let under_way = MAX_HANDSHAKES - handshakes.available_permits();
        // The sender of a first packet may have written any address into it. So an address that has
        // used up its handshakes is asked to prove itself, and a handshake counts for its address
        // only once it is complete (`connection::open`).
        if (under_way > MAX_UNPROVEN || is_over) && !incoming.remote_address_validated() {
            // Fails if the client was asked to prove its address before; then its packet is
            // dropped.
            let _ = incoming.retry();
            continue;
        }
        context.arrivals.connected(Newcomer::Encrypted).await;
        let context = Arc::clone(context);
        tokio::spawn(async move {
            match timeout(HANDSHAKE, connection::open(&context, incoming)).await {
                Ok(Some(opened)) => {
                    drop(permit);
                    match context.addresses.open(address) {
                        Ok(_counted) => connection::serve(context, opened).await,
                        Err(refusal) => {
                            tracing::debug!(%peer, "connection refused: {}", refusal.why());
                        }
                    }
                }
                Ok(None) => {}
                Err(_) => tracing::debug!(%peer, "connection closed: the handshake took too long"),
            }
        });
    }
}
