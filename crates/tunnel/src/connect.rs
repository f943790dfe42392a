//! The connecting end: takes connections of programs and makes those to the other end.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::answered::Answered;
use crate::connections::{Connection, Connections};
use crate::listen::{HANDSHAKE_WITHIN, TARGET_WITHIN, check_token};
use crate::policy::Permission;
use crate::preface::Request;
use crate::relay::{Way, relay};
use crate::routes::Forward;
use crate::serve::{Closing, Taken, serve};
use crate::sockets;
use crate::tls::{self, BUFFER, Trust, why};
use crate::{ConnectionError, Options, StartError, Stream, Workbench, costs};

/// How long the other end may take to be reached.
const REACH_WITHIN: Duration = Duration::from_secs(10);

/// How long it may take to answer: it has to reach its target first.
const ANSWER_WITHIN: Duration = TARGET_WITHIN.saturating_add(HANDSHAKE_WITHIN);

/// What the connecting end is started with.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// Where programs connect to, and which way they go.
    pub forwards: Vec<Forward>,
    /// The host and port of the listening end.
    pub server: String,
    /// The secret that it asks for, at most 255 bytes.
    pub token: Vec<u8>,
    /// How it is known. `None`: no TLS, only on a loopback address.
    pub trust: Option<Trust>,
    /// What both ends have.
    pub options: Options,
}

/// The connecting end of a tunnel.
#[derive(Debug)]
pub struct Connect {
    listeners: Vec<(TcpListener, Forward)>,
    drain: Duration,
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    token: Vec<u8>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    options: Options,
    connections: Connections,
    workbench: Workbench,
}

impl Connect {
    /// Makes ready to listen; connections wait until [`run`](Self::run). The other end is not asked yet. To be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// What is wrong with the configuration, or what the system does not allow.
    pub fn bind(config: ConnectConfig) -> Result<Self, StartError> {
        let ConnectConfig { forwards, server, token, trust, options } = config;
        check_token(&token)?;
        options.codecs.check()?;
        if trust.is_none() && !is_loopback(&server) {
            return Err(StartError::NotLoopback("a tunnel without TLS"));
        }
        let tls = trust.as_ref().map(tls::client).transpose()?;
        let limit = sockets::connections(options.max_connections)?;
        let listeners: Result<Vec<_>, StartError> = forwards
            .into_iter()
            .map(|forward| {
                let listener = sockets::listen(forward.listen)?;
                let listen = listener.local_addr().unwrap_or(forward.listen);
                Ok((listener, Forward { listen, ..forward }))
            })
            .collect();
        let listeners = listeners?;
        costs::measure();
        Ok(Connect {
            listeners,
            drain: options.drain,
            shared: Arc::new(Shared {
                server,
                token,
                tls: tls.map(|(config, name)| (TlsConnector::from(config), name)),
                options,
                connections: Connections::new(limit),
                workbench: Workbench::new(),
            }),
        })
    }

    /// Where programs connect to; with the ports that the system chose, if 0 was asked for.
    pub fn forwards(&self) -> impl Iterator<Item = &Forward> {
        self.listeners.iter().map(|(_, forward)| forward)
    }

    /// Its connections, now and later.
    pub fn connections(&self) -> Connections {
        self.shared.connections.clone()
    }

    /// Takes connections until `stop`, then waits until they have ended, at most as long as [`Options::drain`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Connect { listeners, drain, shared } = self;
        let connections = shared.connections.clone();
        let with_shared =
            move |taken, forward: &Forward| handle(taken, forward.clone(), Arc::clone(&shared));
        serve(listeners, &connections, drain, stop, with_shared).await;
    }
}

/// Whether this is surely an address of this machine alone.
fn is_loopback(server: &str) -> bool {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

async fn handle(taken: Taken, forward: Forward, shared: Arc<Shared>) {
    let Taken { stream: mut program, peer, entry, closing } = taken;
    entry.is_for(&forward.route);
    sockets::tune_program(&program);
    let outcome = shared.attend(&mut program, &forward, &entry, closing).await;
    if let Err(error) = &outcome {
        tracing::info!(%peer, route = %forward.route, "{error}");
    }
    entry.ends(&outcome);
}

impl Shared {
    async fn attend(
        &self,
        program: &mut TcpStream,
        forward: &Forward,
        entry: &Connection,
        closing: Closing,
    ) -> Result<(), ConnectionError> {
        let reach = |cause| ConnectionError::Reach { address: self.server.clone(), cause };
        let stream = match timeout(REACH_WITHIN, TcpStream::connect(&self.server)).await {
            Ok(outcome) => outcome.map_err(reach)?,
            Err(_) => return Err(reach(std::io::ErrorKind::TimedOut.into())),
        };
        sockets::tune_tunnel(&stream);
        let Some((connector, name)) = &self.tls else {
            return self.ask(stream, program, forward, entry, closing).await;
        };
        let handshake = connector.connect(name.clone(), stream);
        match timeout(HANDSHAKE_WITHIN, handshake).await {
            Err(_) => Err(ConnectionError::Silent(HANDSHAKE_WITHIN.as_secs())),
            Ok(Err(error)) => {
                Err(ConnectionError::Tls { peer: self.server.clone(), why: why(&error) })
            }
            Ok(Ok(mut tls)) => {
                tls.get_mut().1.set_buffer_limit(Some(BUFFER));
                self.ask(tls, program, forward, entry, closing).await
            }
        }
    }

    /// Asks for the route and goes on at once as if it were granted.
    async fn ask<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut transport: T,
        program: &mut TcpStream,
        forward: &Forward,
        entry: &Connection,
        closing: Closing,
    ) -> Result<(), ConnectionError> {
        let (token, route) = (self.token.clone(), forward.route.clone());
        let request = Request { never: forward.never, token, route };
        transport.write_all(&request.to_bytes()).await.map_err(ConnectionError::Tunnel)?;
        let permission = Permission::default();
        if forward.never {
            permission.deny();
        }
        let transport = Answered::new(transport, self.server.clone(), permission.clone());
        let sizes = entry.sizes();
        let duplex = self.options.codecs.duplex(sizes, &permission, &self.workbench)?;
        let stream = Stream::over(transport, duplex, &self.workbench);
        let way = Way { workbench: &self.workbench, permission: &permission, entry, sizes };
        let interrupt = async {
            tokio::select! {
                () = closing.closed() => ConnectionError::Closed,
                () = unanswered(&permission) => ConnectionError::Silent(ANSWER_WITHIN.as_secs()),
            }
        };
        relay(program, stream, way, interrupt).await
    }
}

/// Ends if there is no answer in time.
async fn unanswered(permission: &Permission) {
    sleep(ANSWER_WITHIN).await;
    if permission.is_answered() {
        std::future::pending().await
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("server", &self.server).finish_non_exhaustive()
    }
}
