//! A server: binds its addresses, then serves all transports until it is stopped.

pub(crate) mod config;
mod memory;

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use groupwire_store::close_to_others;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;

use crate::admin::AdminSocket;
use crate::admin::handover::Predecessor;
use crate::admin_http::listen::AdminListener;
use crate::certificate::keeper::{Certificates, Renewal};
use crate::error::Error;
use crate::lifecycle::drain::Ending;
use crate::lifecycle::sockets::{Purpose, Sockets};
use crate::listen::http::Http;
use crate::metrics::sampling;
use crate::rooms::costs;
use crate::rooms::hub::Hub;
use crate::server::config::Config;
use crate::tls::Handshakes;
use crate::tools::rights::log_loose;
use crate::transport;
use crate::webhook;
use crate::webtransport::{self, WebTransport};

/// How often the rules that forget rooms are applied.
const FORGETTING: Duration = Duration::from_secs(600);

/// Connections that may wait in the kernel to be accepted; Linux reduces it to `net.core.somaxconn`, 4,096 by default. Clients who find
/// no place there try again after 1, 3 and 7 s, which is longer than waiting takes.
const BACKLOG: u32 = 4096;

/// When the server stops, closing all connections may take this long.
const SHUTDOWN: Duration = Duration::from_secs(3);

/// A server that is bound to its addresses and not yet serving.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    /// Carries out the handshakes of TLS for `listener`; `None` if it is not encrypted.
    handshakes: Option<Handshakes>,
    plain: Option<(TcpListener, SocketAddr)>,
    renewal: Renewal,
    socket: Option<(TcpListener, SocketAddr)>,
    hub: Arc<Hub>,
    commands: Option<AdminSocket>,
    admin: Option<AdminListener>,
    webtransport: Option<WebTransport>,
}

impl Server {
    /// Binds the addresses of the configuration, or takes them over from a running server ([`Config::upgrade`]).
    ///
    /// # Errors
    /// [`Error::Upgrade`] if that server does not hand them over, [`Error::AddressInUse`], [`Error::Listen`] or
    /// [`Error::AdminSocket`] if the server cannot listen on an address of the configuration, [`Error::AdminToken`] if the
    /// administration listener needs a token, [`Error::Certificate`] if the certificate's files cannot be read or used,
    /// [`Error::Store`] if the folder of stored rooms cannot be used, [`Error::Bans`] if its bans cannot be read.
    pub async fn bind(config: Config) -> Result<Self, Error> {
        if config.room.compress {
            costs::measure();
        }
        if let Some(folder) = &config.record_dir {
            close_to_others(folder).iter().for_each(log_loose);
        }
        let (predecessor, mut sockets) = ask_predecessor(&config).await?;
        let inherited = sockets.len();
        let sockets = &mut sockets;
        let (listener, local_addr) = bind(Purpose::Http, config.listen, sockets).await?;
        let socket = match config.socket {
            Some(listen) => Some(bind(Purpose::Packets, listen, sockets).await?),
            None => None,
        };
        let admin = match config.admin.clone() {
            Some(admin) => Some(AdminListener::bind(admin, sockets).await?),
            None => None,
        };
        let plain = match config.plain_listen {
            Some(listen) => Some(bind(Purpose::PlainHttp, listen, sockets).await?),
            None => None,
        };
        let udp = config.webtransport.as_ref().and_then(|webtransport| webtransport.listen);
        let host = udp.unwrap_or(local_addr).ip();
        let (certificates, renewal) = Certificates::open(config.certificate.clone(), host)?;
        let mut handshakes = match config.certificate.encrypts_http() {
            true => Some(Handshakes::new(Arc::clone(&certificates))?),
            false => None,
        };
        let keeper = Arc::clone(&certificates);
        let webtransport = webtransport::Bound::bind(&config, local_addr, keeper, sockets)?;
        let offer = webtransport.as_ref().map(|webtransport| Arc::clone(&webtransport.offer));
        if let Some(predecessor) = predecessor {
            tracing::info!(
                taken = inherited - sockets.len(),
                "takes the place of the running server"
            );
            if let Some(call) = config.before_takeover {
                call();
            }
            replace(predecessor, &config).await?;
        }
        let hub = tokio::task::spawn_blocking(|| Hub::new(config, Some(certificates), offer)).await;
        let hub = Arc::new(hub.expect("opening the store does not panic")?);
        if let Some(handshakes) = &mut handshakes {
            handshakes.issue_tickets(Arc::clone(&hub.secrets));
        }
        let commands = admin_socket(&hub);
        if commands.is_some() {
            hub.handover.offer(Purpose::Http, SockRef::from(&listener).try_clone());
            for (purpose, bound) in [(Purpose::Packets, &socket), (Purpose::PlainHttp, &plain)] {
                if let Some((listener, _)) = bound {
                    hub.handover.offer(purpose, SockRef::from(listener).try_clone());
                }
            }
            if let Some(admin) = &admin {
                admin.offer(&hub.handover);
            }
            if let Some(webtransport) = &webtransport {
                webtransport.offer_socket(&hub.handover);
            }
        }
        let webtransport = webtransport.map(webtransport::Bound::open).transpose()?;
        Ok(Server {
            listener,
            local_addr,
            handshakes,
            plain,
            renewal,
            socket,
            hub,
            commands,
            admin,
            webtransport,
        })
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

    /// True if the TCP address of HTTP and WebSocket is encrypted: `https:` and `wss:`.
    pub fn is_encrypted(&self) -> bool {
        self.handshakes.is_some()
    }

    /// The TCP address of HTTP and WebSocket without encryption, beside an encrypted one; `None` if there is none.
    pub fn plain_addr(&self) -> Option<SocketAddr> {
        self.plain.as_ref().map(|(_, address)| *address)
    }

    /// The TCP address for length-prefixed packets without HTTP; `None` if the server has none.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        self.socket.as_ref().map(|(_, address)| *address)
    }

    /// The TCP address of the administration listener; `None` if there is none, or it is a Unix socket.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().and_then(AdminListener::address)
    }

    /// The address of the inspector's page on the administration listener. If the server has made the token itself, the
    /// token stands behind `#`, which browsers do not send: keep it secret. `None` if there is no such TCP listener.
    pub fn admin_url(&self) -> Option<&str> {
        self.admin.as_ref().and_then(AdminListener::url)
    }

    /// Serves until `shutdown` is done or the administration asks to drain the server. Then it is not ready any more, serves
    /// for as long as [`Config::drain`] says, tells each client when to come back, and closes all connections.
    ///
    /// # Errors
    /// [`Error::StoreFailed`] if the store fails. An error of one connection ends only that connection.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let hub = Arc::clone(&self.hub);
        let _delivering = hub.webhook.as_ref().map(|queue| {
            queue.start();
            // The task ends with this function, which drops the set.
            let mut tasks = JoinSet::new();
            tasks.spawn(webhook::deliver(Arc::clone(queue)));
            tasks
        });
        let closer = self.webtransport.as_ref().map(WebTransport::closer);
        let http = Http::new(Arc::clone(&hub));
        let serving_plain = async {
            match self.plain {
                Some((listener, _)) => http.clone().serve_plain(listener).await,
                None => std::future::pending().await,
            }
        };
        let serving_http = async {
            match self.handshakes {
                Some(handshakes) => http.clone().serve_encrypted(self.listener, handshakes).await,
                None => http.clone().serve_plain(self.listener).await,
            }
        };
        let renewing = async {
            self.renewal.run().await;
            std::future::pending::<()>().await;
        };
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
        let serving_commands = async {
            match self.commands {
                Some(commands) => commands.serve(Arc::clone(&hub)).await,
                None => std::future::pending().await,
            }
        };
        let administration = async {
            match self.admin {
                Some(admin) => admin.serve(Arc::clone(&hub)).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(administration);
        let asked_to_stop = async {
            tokio::select! {
                () = shutdown => hub.begin_drain(None),
                _ = hub.drain.due() => {}
            }
            hub.drain.due().await
        };
        let store_failed = async {
            let Some(durable) = &hub.durable else { return std::future::pending().await };
            let failed = Arc::clone(durable).failed();
            tokio::pin!(failed);
            let mut forgetting = tokio::time::interval(FORGETTING);
            loop {
                tokio::select! {
                    reason = &mut failed => return reason,
                    _ = forgetting.tick() => hub.forget(durable),
                }
            }
        };
        tokio::select! {
            reason = store_failed => return Err(Error::StoreFailed { reason }),
            () = serving_http => {}
            () = serving_plain => {}
            () = renewing => {}
            () = serving_sockets => {}
            () = serving_webtransport => {}
            () = serving_commands => {}
            () = memory::give_back(Arc::clone(&hub)) => {}
            () = sampling::keep(Arc::clone(&hub)) => {}
            () = &mut administration => {}
            ending = asked_to_stop => {
                match ending {
                    // New connections wait for the process that has taken the sockets over.
                    Ending::HandOver => {
                        closer.as_ref().inspect(|closer| closer.ignore_newcomers());
                        say_goodbye(&hub).await;
                    }
                    // The administration listener still answers, so that monitoring learns that the server is not ready.
                    Ending::Stop => {
                        hub.handover.withdraw();
                        tokio::select! {
                            () = say_goodbye(&hub) => {}
                            () = &mut administration => {}
                        }
                    }
                }
                if let Some(closer) = closer {
                    closer.close().await;
                }
            }
        }
        Ok(())
    }
}

/// Tells all clients when to come back, and waits until their connections are closed, but not for long.
async fn say_goodbye(hub: &Hub) {
    let (began, connections) = (Instant::now(), hub.connections.load(Ordering::Relaxed));
    tracing::info!(connections, "server says goodbye");
    let _ = tokio::time::timeout(SHUTDOWN, hub.shut_down()).await;
    let left = hub.connections.load(Ordering::Relaxed);
    let (seconds, last_back) = (began.elapsed().as_secs_f32(), hub.drain.last_time().as_secs_f32());
    tracing::info!(seconds, left, last_back, "connections are closed");
}

/// The socket for commands in the folder of stored rooms, if there is one. Without the socket, commands need a stopped server.
fn admin_socket(hub: &Hub) -> Option<AdminSocket> {
    let folder = &hub.config.durable.as_ref()?.folder;
    AdminSocket::bind(folder)
        .inspect_err(|error| {
            let folder = folder.display();
            tracing::warn!(%folder, %error, "`groupwire store list, import, delete` need a stopped server");
        })
        .ok()
}

/// Asks the running server that this one replaces for its sockets; `None` if no server runs.
async fn ask_predecessor(config: &Config) -> Result<(Option<Predecessor>, Sockets), Error> {
    if !config.upgrade {
        return Ok((None, Sockets::default()));
    }
    let folder = config.durable.as_ref().ok_or(Error::UpgradeWithoutFolder)?.folder.clone();
    let asked = folder.clone();
    let answer = tokio::task::spawn_blocking(move || Predecessor::ask(&asked)).await;
    let answer = answer.expect("asking does not panic");
    match answer.map_err(|source| Error::Upgrade { folder, source })? {
        Some((predecessor, sockets)) => Ok((Some(predecessor), sockets)),
        None => {
            tracing::info!("no server runs whose place could be taken");
            Ok((None, Sockets::default()))
        }
    }
}

/// Ends the server that this one replaces.
async fn replace(predecessor: Predecessor, config: &Config) -> Result<(), Error> {
    let folder = config.durable.as_ref().map(|durable| durable.folder.clone());
    let told = tokio::task::spawn_blocking(move || predecessor.replace()).await;
    let told = told.expect("asking does not panic");
    told.map_err(|source| Error::Upgrade { folder: folder.unwrap_or_default(), source })
}

/// As [`TcpListener::bind`], with another [`BACKLOG`].
fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows this would let another program take the same address.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Listens on a TCP address, which another process may have handed over.
pub(crate) async fn bind(
    purpose: Purpose,
    listen: SocketAddr,
    sockets: &mut Sockets,
) -> Result<(TcpListener, SocketAddr), Error> {
    let taken = sockets.take(purpose, listen);
    let listening = async {
        let listener = match taken {
            Some(socket) => {
                socket.set_nonblocking(true)?;
                TcpListener::from_std(socket.into())?
            }
            None => listen_on(listen)?,
        };
        let local_addr = listener.local_addr()?;
        Ok((listener, local_addr))
    };
    listening.await.map_err(|source: std::io::Error| match source.kind() {
        ErrorKind::AddrInUse => Error::AddressInUse { listen, source },
        _ => Error::Listen { listen, source },
    })
}
