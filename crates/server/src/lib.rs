//! The Groupwire server: rooms over HTTP and WebSocket in one process, with the whiteboard embedded.
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
mod http;
mod hub;
mod room;
mod status;
mod transport;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::{AllowAll, Authority, Limits, Timing};
use tokio::net::TcpListener;

pub use groupwire_session as session;
use hub::Hub;

/// What a server is made of.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Tick and keep-alive of every room.
    pub timing: Timing,
    /// What every room accepts and keeps.
    pub limits: Limits,
    /// How long a room nobody is in keeps its state.
    pub keep_empty: Duration,
    /// Rooms at the same time; joining a further one is refused.
    pub max_rooms: usize,
    /// Connections at the same time; further ones are turned away with HTTP status 503.
    pub max_connections: usize,
    /// Decides about joining, publishing and subscribing.
    pub authority: Arc<dyn Authority + Send + Sync>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            timing: Timing::default(),
            limits: Limits::default(),
            keep_empty: Duration::from_secs(3600),
            max_rooms: 10_000,
            max_connections: 20_000,
            authority: Arc::new(AllowAll),
        }
    }
}

/// Why a server cannot start or go on.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {cause}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The listener failed.
    #[error("the server cannot go on: {0}")]
    Io(#[from] std::io::Error),
}

/// How long clients are told to wait before they look for a server that takes this one's place.
const RETRY_AFTER_SHUTDOWN: Duration = Duration::from_millis(300);

/// How long goodbyes may take.
const SHUTDOWN: Duration = Duration::from_secs(3);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    hub: Arc<Hub>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// [`Error::Listen`] if the address is taken or not ours.
    pub async fn bind(config: Config) -> Result<Self, Error> {
        let listen = config.listen;
        let listening = async {
            let listener = TcpListener::bind(listen).await?;
            let local_addr = listener.local_addr()?;
            Ok((listener, local_addr))
        };
        let (listener, local_addr) =
            listening.await.map_err(|cause| Error::Listen { listen, cause })?;
        Ok(Server { listener, local_addr, hub: Arc::new(Hub::new(config)) })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` is done, then says goodbye to everybody.
    ///
    /// # Errors
    /// [`Error::Io`] if the listener fails.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let hub = Arc::clone(&self.hub);
        let serving = http::serve(self.listener, Arc::clone(&hub));
        tokio::select! {
            outcome = serving => outcome?,
            () = shutdown => {
                tracing::info!("shutting down");
                let _ = tokio::time::timeout(SHUTDOWN, hub.shut_down(RETRY_AFTER_SHUTDOWN)).await;
            }
        }
        Ok(())
    }
}
