//! The Groupwire server: rooms over HTTP, WebSocket, WebTransport and TCP in one process, with the web pages of the
//! whiteboard, the puzzle and the inspector embedded.
//!
//! One task per room drives a [`groupwire_session::Room`]; one task per connection moves packets between its socket
//! and its room. Rooms share no state, so a busy room does not slow down the others.
//!
//! ```no_run
//! use groupwire_server::{Config, Server};
//!
//! # async fn example() -> Result<(), groupwire_server::Error> {
//! let server = Server::bind(Config::default()).await?;
//! println!("http://{}/", server.local_addr());
//! server.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await
//! # }
//! ```

mod assets;
mod authority;
mod codecs;
mod costs;
mod http;
mod hub;
mod inspect;
mod listen;
mod origin;
mod room;
mod status;
mod totals;
mod transport;
mod webtransport;

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::{AllowAll, Authority, Limits, Timing};
use tokio::net::TcpListener;

pub use codecs::{Codecs, codecs_named, quick_codecs};
pub use groupwire_session as session;
use hub::Hub;
pub use origin::Origins;
use webtransport::WebTransport;
pub use webtransport::{Calendar, Certificate, CertificateError, WebTransportConfig};

/// The configuration of a server.
#[derive(Clone)]
pub struct Config {
    /// The TCP address of HTTP and WebSocket; port 0 takes any free port.
    pub listen: SocketAddr,
    /// The TCP address for length-prefixed packets without HTTP (docs/transports.md, T8); `None` for none.
    pub socket: Option<SocketAddr>,
    /// Which web pages may use the server.
    pub origins: Origins,
    /// Limits of HTTP requests and of the transports made of them.
    pub http: HttpLimits,
    /// Tick and keep-alive times of every room.
    pub timing: Timing,
    /// Limits of what every room accepts and keeps.
    pub limits: Limits,
    /// Whether the server compresses messages, and accepts compressed ones, if the client can. Turn it off for
    /// debugging, for measuring, and for messages that are encrypted anyway.
    pub compress: bool,
    /// The codecs that channels may ask for; by default [`quick_codecs`]. The server codes each message once per codec
    /// asked for, and any client may ask, so slow codecs are for trusted clients only.
    pub codecs: Codecs,
    /// How long a room without participants keeps its state.
    pub keep_empty: Duration,
    /// Most rooms at the same time; joining a further room is refused.
    pub max_rooms: usize,
    /// Most connections at the same time, over all transports together; further ones are refused, over HTTP with
    /// status 503.
    pub max_connections: usize,
    /// Decides who may join, publish, subscribe and change a channel's QoS.
    pub authority: Arc<dyn Authority + Send + Sync>,
    /// Whether connections may ask for an emulated bad network, which `POST /emulation` sets for their room. `None`:
    /// only if `listen` is a loopback address.
    pub emulate: Option<bool>,
    /// Who may use the inspector (docs/inspector.md).
    pub inspect: Inspect,
    /// The folder for recordings of rooms; `None`: rooms cannot be recorded.
    pub record_dir: Option<PathBuf>,
    /// The configuration of WebTransport; `None` for no WebTransport.
    pub webtransport: Option<WebTransportConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            socket: None,
            origins: Origins::own(),
            http: HttpLimits::default(),
            timing: Timing::default(),
            limits: Limits::default(),
            compress: true,
            codecs: quick_codecs(),
            keep_empty: Duration::from_secs(3600),
            max_rooms: 10_000,
            max_connections: 20_000,
            authority: Arc::new(AllowAll),
            emulate: None,
            inspect: Inspect::default(),
            record_dir: None,
            webtransport: Some(WebTransportConfig::default()),
        }
    }
}

/// Who may use the inspector, which shows the participants of rooms, the sizes of all messages, and the templates that
/// the compressor learned from them.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Inspect {
    /// Programs and pages on the server's own machine, if the server listens on a loopback address.
    #[default]
    Local,
    /// Clients that present this token.
    Token(String),
    /// No one.
    Off,
}

/// Compares two secrets in constant time, so that a secret cannot be guessed byte by byte from the duration.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |sum, (one, two)| sum | (one ^ two)) == 0
}

/// Limits of HTTP requests and of the transports made of them (docs/transports.md, T11 to T18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// How long an HTTP connection may be idle between requests, and how long a request's header may take.
    pub idle: Duration,
    /// How long the body of a request may take.
    pub request: Duration,
    /// After how long a held request is answered without a packet.
    pub held: Duration,
    /// How long a streamed response lasts, unless its client renews it before.
    pub stream: Duration,
    /// Bytes of packets in a streamed response, after which the server ends it.
    pub stream_bytes: usize,
    /// How long a client may be without a down request before its transport is closed.
    pub alone: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            idle: Duration::from_secs(30),
            request: Duration::from_secs(10),
            held: Duration::from_secs(20),
            stream: Duration::from_secs(30),
            stream_bytes: 1 << 20,
            alone: Duration::from_secs(5),
        }
    }
}

/// Why a server cannot start or continue.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another socket of this machine already listens on the address, most likely that of another server.
    #[error("cannot listen on {listen}: {source}")]
    AddressInUse {
        /// The address: [`Config::listen`] or [`Config::socket`].
        listen: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The server cannot listen on the address for another reason: it is not an address of this machine, or the process
    /// lacks the permission.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The address: [`Config::listen`] or [`Config::socket`].
        listen: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text is not an origin.
    #[error(
        "{origin:?} is not an origin: write scheme, host and port, such as https://example.org"
    )]
    Origin {
        /// The text.
        origin: String,
    },
    /// The name is not that of a codec.
    #[error("there is no codec {name:?}; there are: {known}, and all")]
    Codec {
        /// The name.
        name: String,
        /// The names of all codecs, with commas between.
        known: String,
    },
    /// The certificate for WebTransport cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// How long the server asks clients to wait before they reconnect, when it stops.
const RETRY_AFTER_SHUTDOWN: Duration = Duration::from_millis(300);

/// How long closing all connections may take, when the server stops.
const SHUTDOWN: Duration = Duration::from_secs(3);

/// A server that is bound to its addresses and not yet serving.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    socket: Option<(TcpListener, SocketAddr)>,
    hub: Arc<Hub>,
    webtransport: Option<WebTransport>,
}

impl Server {
    /// Binds the addresses of the configuration.
    ///
    /// # Errors
    /// [`Error::AddressInUse`] or [`Error::Listen`] if the server cannot listen on an address of the configuration,
    /// [`Error::Certificate`] if the certificate's files cannot be read or used.
    pub async fn bind(config: Config) -> Result<Self, Error> {
        let (listener, local_addr) = bind(config.listen).await?;
        let socket = match config.socket {
            Some(listen) => Some(bind(listen).await?),
            None => None,
        };
        let webtransport = WebTransport::bind(&config, local_addr)?;
        let offer = webtransport.as_ref().map(|webtransport| Arc::clone(&webtransport.offer));
        if config.compress {
            costs::measure();
        }
        let hub = Arc::new(Hub::new(config, offer));
        Ok(Server { listener, local_addr, socket, hub, webtransport })
    }

    /// The UDP port of WebTransport; `None` if the server has no WebTransport.
    pub fn webtransport_port(&self) -> Option<u16> {
        self.webtransport.as_ref().map(|webtransport| webtransport.offer.port)
    }

    /// SHA-256 of the certificate that the server made for itself, which a client may pin; `None` if the certificate
    /// is from files.
    pub fn certificate_hash(&self) -> Option<[u8; 32]> {
        self.webtransport.as_ref().and_then(|webtransport| webtransport.offer.hash())
    }

    /// The TCP address of HTTP and WebSocket.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The TCP address for length-prefixed packets without HTTP; `None` if the server has none.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        self.socket.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `shutdown` is done, then closes all connections.
    ///
    /// # Errors
    /// No error occurs today: an error of one connection ends only that connection.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let hub = Arc::clone(&self.hub);
        let closing = self.webtransport.as_ref().map(WebTransport::closer);
        let router = http::router(Arc::clone(&hub));
        let serving_sockets = async {
            match self.socket {
                Some((listener, _)) => transport::socket::serve(listener, Arc::clone(&hub)).await,
                None => std::future::pending().await,
            }
        };
        let serving_webtransport = async {
            if let Some(webtransport) = self.webtransport {
                webtransport.serve(Arc::clone(&hub)).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = listen::serve(self.listener, router, Arc::clone(&hub)) => {}
            () = serving_sockets => {}
            () = serving_webtransport => {}
            () = shutdown => {
                tracing::info!("server is shutting down");
                let _ = tokio::time::timeout(SHUTDOWN, hub.shut_down(RETRY_AFTER_SHUTDOWN)).await;
                if let Some(closing) = closing {
                    closing.await;
                }
            }
        }
        Ok(())
    }
}

async fn bind(listen: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let listening = async {
        let listener = TcpListener::bind(listen).await?;
        let local_addr = listener.local_addr()?;
        Ok((listener, local_addr))
    };
    listening.await.map_err(|source: std::io::Error| match source.kind() {
        ErrorKind::AddrInUse => Error::AddressInUse { listen, source },
        _ => Error::Listen { listen, source },
    })
}
