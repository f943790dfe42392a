//! The listening end of a tunnel: accepts connections of connecting ends and opens a connection to
//! a program for each.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::connections::{Connection, Connections};
use crate::policy::Permission;
use crate::preface::{Answer, MAX_TEXT, Reason, Refusal, Request, RequestError, Wanted};
use crate::relay::{RelayContext, relay};
use crate::routes::Route;
use crate::serve::{Accepted, Closing, serve};
use crate::targets::{Permitted, TARGET_WITHIN, explanation};
use crate::tls::{BUFFER, Fingerprint, Identity, why};
use crate::{Allow, ConnectionError, Options, StartError, Stream, Workbench, costs, sockets};

/// The most time for the TLS handshake, and again for the request after it: a few round trips on
/// any network in use.
pub(crate) const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Delay before a wrong token is refused, which slows down guessing.
const AFTER_WRONG_TOKEN: Duration = Duration::from_millis(500);

/// After a refusal, input is read and discarded for at most this time and this number of bytes. A
/// socket that is closed with unread input sends a reset, on which the system of the other end may
/// discard the refusal.
const REFUSED_FOR: Duration = Duration::from_secs(2);
const REFUSED_BYTES: u64 = 1 << 20;

/// The configuration of the listening end.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// The address that connecting ends connect to.
    pub listen: SocketAddr,
    /// The routes that connecting ends may request.
    pub routes: Vec<Route>,
    /// The targets that programs may choose, by SOCKS or by redirected connections, in addition to
    /// the targets of the routes.
    pub allow: Vec<Allow>,
    /// The secret that a request has to contain, at most 255 bytes. May be empty only on a loopback
    /// address.
    pub token: Vec<u8>,
    /// A PEM file with the certificate and its key, created at the first start. `None`: no TLS,
    /// which only a loopback address permits.
    pub identity: Option<PathBuf>,
    /// The options that exist at both ends.
    pub options: Options,
}

/// The listening end of a tunnel.
#[derive(Debug)]
pub struct Listen {
    listener: TcpListener,
    address: SocketAddr,
    fingerprint: Option<Fingerprint>,
    drain: Duration,
    shared: Arc<ListenState>,
}

struct ListenState {
    routes: BTreeMap<String, Route>,
    permitted: Permitted,
    token: Vec<u8>,
    tls: Option<TlsAcceptor>,
    options: Options,
    connections: Connections,
    workbench: Workbench,
}

impl Listen {
    /// Binds the listening socket. Connections wait in its backlog until [`run`](Self::run). Must
    /// be called within a tokio runtime.
    ///
    /// # Errors
    /// A configuration that is not valid, or a resource that the system does not grant.
    pub fn bind(config: ListenConfig) -> Result<Self, StartError> {
        let ListenConfig { listen, routes, mut allow, token, identity, options } = config;
        check_token(&token)?;
        options.codecs.check()?;
        if !listen.ip().is_loopback() {
            if identity.is_none() {
                return Err(StartError::NotLoopback("a tunnel without TLS"));
            }
            if token.is_empty() {
                return Err(StartError::NotLoopback("a tunnel without a token"));
            }
        }
        let identity = identity.map(|path| Identity::load_or_make(&path)).transpose()?;
        let limit = sockets::connections(options.max_connections)?;
        let listener = sockets::listen(listen)?;
        let address = listener.local_addr();
        let address =
            address.map_err(|cause| StartError::Listen { address: listen.to_string(), cause })?;
        // A connecting end reaches the targets of routes anyhow, so programs may choose them, too.
        let of_route = |route: &Route| Some(Allow::only(&route.target.parse().ok()?, route.never));
        allow.extend(routes.iter().filter_map(of_route));
        costs::measure();
        Ok(Listen {
            listener,
            address,
            fingerprint: identity.as_ref().map(|identity| identity.fingerprint),
            drain: options.drain,
            shared: Arc::new(ListenState {
                routes: routes.into_iter().map(|route| (route.name.clone(), route)).collect(),
                permitted: Permitted::new(allow),
                token,
                tls: identity.map(|identity| TlsAcceptor::from(identity.config)),
                options,
                connections: Connections::new(limit),
                workbench: Workbench::new(),
            }),
        })
    }

    /// The address that this end listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The fingerprint that a connecting end has to pin; `None` without TLS.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// The connections of this end. The returned handle always shows the current ones.
    pub fn connections(&self) -> Connections {
        self.shared.connections.clone()
    }

    /// Accepts connections until `stop` completes, then waits at most [`Options::drain`] for open
    /// ones to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Listen { listener, drain, shared, .. } = self;
        let connections = shared.connections.clone();
        let handle = |accepted, shared: &Arc<ListenState>| handle(accepted, Arc::clone(shared));
        serve(vec![(listener, shared)], &connections, drain, stop, handle).await;
    }
}

/// Checks that the token fits into a request.
pub(crate) fn check_token(token: &[u8]) -> Result<(), StartError> {
    if token.len() <= MAX_TEXT { Ok(()) } else { Err(StartError::Token(token.len())) }
}

async fn handle(accepted: Accepted, shared: Arc<ListenState>) {
    let Accepted { stream, peer, entry, closing } = accepted;
    sockets::tune_tunnel(&stream);
    let outcome = match &shared.tls {
        None => shared.attend(stream, peer, &entry, closing).await,
        Some(acceptor) => match timeout(HANDSHAKE_WITHIN, acceptor.accept(stream)).await {
            Err(_) => Err(ConnectionError::Silent(HANDSHAKE_WITHIN.as_secs())),
            Ok(Err(error)) => {
                Err(ConnectionError::Tls { peer: peer.to_string(), why: why(&error) })
            }
            Ok(Ok(mut tls)) => {
                tls.get_mut().1.set_buffer_limit(Some(BUFFER));
                shared.attend(tls, peer, &entry, closing).await
            }
        },
    };
    if let Err(error) = &outcome {
        tracing::info!(%peer, "{error}");
    }
    entry.end(&outcome);
}

impl ListenState {
    /// Reads the request, connects to its target and relays bytes until both directions have ended.
    async fn attend<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut transport: T,
        peer: SocketAddr,
        entry: &Connection,
        closing: Closing,
    ) -> Result<(), ConnectionError> {
        let request = timeout(HANDSHAKE_WITHIN, Request::read(&mut transport)).await;
        let request = match request {
            Err(_) => return Err(ConnectionError::Silent(HANDSHAKE_WITHIN.as_secs())),
            Ok(Err(RequestError::Io(error))) => return Err(ConnectionError::Tunnel(error)),
            Ok(Err(other)) => return Err(ConnectionError::NoTunnel(format!("{peer}: {other}"))),
            Ok(Ok(request)) => request,
        };
        let (mut program, never) = match self.grant(&request, entry).await {
            Ok(granted) => granted,
            Err(refusal) => return refuse(transport, refusal).await,
        };
        let answer = Answer::Go { never };
        answer.write(&mut transport).await.map_err(ConnectionError::Tunnel)?;
        let permission = Permission::default();
        permission.answered();
        if never || request.never {
            permission.deny();
        }
        let sizes = entry.sizes();
        let duplex = self.options.codecs.duplex(sizes, &permission, &self.workbench)?;
        let stream = Stream::over(transport, duplex, &self.workbench);
        let context =
            RelayContext { workbench: &self.workbench, permission: &permission, entry, sizes };
        let interrupt = async {
            closing.closed().await;
            ConnectionError::Closed
        };
        relay(&mut program, stream, context, interrupt).await
    }

    /// Checks the token and returns a connection to the target, and whether compression is
    /// forbidden.
    async fn grant(
        &self,
        request: &Request,
        entry: &Connection,
    ) -> Result<(TcpStream, bool), Refusal> {
        // The hashes have equal lengths, so the time does not depend on the length of the token.
        let [expected, shown] = [&self.token, &request.token].map(Sha256::digest);
        if !bool::from(expected.ct_eq(&shown)) {
            sleep(AFTER_WRONG_TOKEN).await;
            return Err(Refusal::new(
                Reason::Token,
                "the token is not the one it was started with",
            ));
        }
        let (program, never) = match &request.to {
            Wanted::Route(name) => self.follow(name, entry).await?,
            Wanted::Target(target) => {
                entry.set_route(&target.to_string());
                let connected = self.permitted.connect(target).await;
                connected.inspect_err(|refusal| tracing::warn!(%target, "{refusal}"))?
            }
        };
        sockets::tune_program(&program);
        Ok((program, never))
    }

    /// Connects to the target of a route.
    async fn follow(&self, name: &str, entry: &Connection) -> Result<(TcpStream, bool), Refusal> {
        let Some(route) = self.routes.get(name) else {
            return Err(Refusal::new(Reason::Route, format!("it has no route {name:?}")));
        };
        entry.set_route(&route.name);
        match timeout(TARGET_WITHIN, TcpStream::connect(&route.target)).await {
            Ok(Ok(program)) => Ok((program, route.never)),
            Ok(Err(error)) => Err(cannot_reach(route, &explanation(&error))),
            Err(_) => Err(cannot_reach(route, "it does not answer")),
        }
    }
}

fn cannot_reach(route: &Route, why: &str) -> Refusal {
    tracing::warn!(route = %route.name, target = %route.target, "cannot be reached: {why}");
    // The message does not contain the address: the other end knows the route only.
    Refusal::new(Reason::Target, format!("it cannot reach the target of {:?}: {why}", route.name))
}

async fn refuse<T: AsyncRead + AsyncWrite + Unpin>(
    mut transport: T,
    refusal: Refusal,
) -> Result<(), ConnectionError> {
    dismiss(&mut transport, &Answer::Refused(refusal.clone()).to_bytes()).await;
    Err(ConnectionError::Refusing(refusal))
}

/// Sends the last bytes and closes the connection in a way that lets them arrive.
pub(crate) async fn dismiss<T>(transport: &mut T, last: &[u8])
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let dismissing = async {
        transport.write_all(last).await?;
        transport.flush().await?;
        transport.shutdown().await?;
        tokio::io::copy(&mut transport.take(REFUSED_BYTES), &mut tokio::io::sink()).await
    };
    // A failure does not matter: the other side may have closed the connection already.
    let _ = timeout(REFUSED_FOR, dismissing).await;
}

impl std::fmt::Debug for ListenState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListenState").field("routes", &self.routes).finish_non_exhaustive()
    }
}
