//! The Groupwire server: rooms over HTTP, WebSocket, WebTransport and TCP in one process, with the whiteboard
//! and the puzzle embedded.
//!
//! Each room is one task that drives a [`groupwire_session::Room`]; each connection is one task that moves packets
//! between its socket and its room. Rooms share nothing, so a busy one disturbs no other.
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

/// What a server is made of.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Where to listen for packets over TCP with nothing on top (docs/transports.md, T8), if at all.
    pub socket: Option<SocketAddr>,
    /// Which pages may use the server.
    pub origins: Origins,
    /// Times and sizes of requests.
    pub http: HttpLimits,
    /// Tick and keep-alive of every room.
    pub timing: Timing,
    /// What every room accepts and keeps.
    pub limits: Limits,
    /// Whether messages are compressed for clients that can, and by them. Off is for debugging, for measuring, and for
    /// messages that are encrypted anyway.
    pub compress: bool,
    /// What the messages of channels that ask for a codec are unpacked and packed with: [`quick_codecs`]. The server does it
    /// once for each message and each codec asked for, at the wish of any client, so slow ones are for trusted ones.
    pub codecs: Codecs,
    /// How long a room nobody is in keeps its state.
    pub keep_empty: Duration,
    /// Rooms at the same time; joining a further one is refused.
    pub max_rooms: usize,
    /// Connections at the same time, over whatever transport; further ones are turned away, over HTTP with status 503.
    pub max_connections: usize,
    /// Decides about joining, publishing and subscribing.
    pub authority: Arc<dyn Authority + Send + Sync>,
    /// Whether connections that ask for it are led over an emulated bad network, which `POST /emulation` sets for their
    /// room. `None`: if `listen` is a loopback address.
    pub emulate: Option<bool>,
    /// Who may look on at rooms (docs/inspector.md).
    pub inspect: Inspect,
    /// Where recordings of rooms go; `None`: nowhere, and none can be made.
    pub record_dir: Option<PathBuf>,
    /// WebTransport, beside everything else; `None` for none.
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

/// Who may look on at rooms: who is in them, the sizes of all messages, and the templates made of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Inspect {
    /// Whoever sits at the server's machine, if it listens on a loopback address.
    #[default]
    Local,
    /// Whoever has this token.
    Token(String),
    /// Nobody.
    Off,
}

/// Compares in a time that does not tell where they differ, so that a secret cannot be guessed byte by byte.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |sum, (one, two)| sum | (one ^ two)) == 0
}

/// The times and sizes of HTTP requests and of the transports made of them (docs/transports.md, T11 to T18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// How long a connection may be silent before a request and within its header.
    pub idle: Duration,
    /// How long the body of a request may take.
    pub request: Duration,
    /// After how long a held request is answered, though there is nothing to say.
    pub held: Duration,
    /// How long a streamed response lasts, unless its client renews it before.
    pub stream: Duration,
    /// How many bytes of packets it has.
    pub stream_bytes: usize,
    /// How long a client may go without asking for a response.
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

/// Why a server cannot start or go on.
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
    /// What was given as an origin is none.
    #[error("{origin:?} is no origin: write scheme, host and port, such as https://example.org")]
    Origin {
        /// What was given.
        origin: String,
    },
    /// What was given as a codec is none.
    #[error("there is no codec {name:?}; there are: {known}, and all")]
    Codec {
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// How long clients are told to wait before they look for a server that takes this one's place.
const RETRY_AFTER_SHUTDOWN: Duration = Duration::from_millis(300);

/// How long goodbyes may take.
const SHUTDOWN: Duration = Duration::from_secs(3);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    socket: Option<(TcpListener, SocketAddr)>,
    hub: Arc<Hub>,
    webtransport: Option<WebTransport>,
}

impl Server {
    /// Starts to listen.
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

    /// The UDP port of WebTransport, if it is there.
    pub fn webtransport_port(&self) -> Option<u16> {
        self.webtransport.as_ref().map(|webtransport| webtransport.offer.port)
    }

    /// SHA-256 of the certificate that the server made for itself, if it did: what a client in this process may pin.
    pub fn certificate_hash(&self) -> Option<[u8; 32]> {
        self.webtransport.as_ref().and_then(|webtransport| webtransport.offer.hash())
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Where it listens for packets over TCP with nothing on top, if it does.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        self.socket.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `shutdown` is done, then says goodbye to everybody.
    ///
    /// # Errors
    /// Nothing makes it fail today: what goes wrong with one connection ends that one.
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
                tracing::info!("shutting down");
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
