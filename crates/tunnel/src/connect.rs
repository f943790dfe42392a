//! The connecting end of a tunnel: accepts connections of programs and opens a connection to the
//! listening end for each.

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
use crate::relay::{RelayContext, relay};
use crate::routes::Forward;
use crate::serve::{Accepted, Closing, serve};
use crate::sockets;
use crate::tls::{self, BUFFER, Trust, why};
use crate::{ConnectionError, Options, StartError, Stream, Workbench, costs};

/// The most time that the TCP connection to the listening end may take, as long as the listening
/// end allows for its targets.
const REACH_WITHIN: Duration = Duration::from_secs(10);

/// The most time that the answer may take: the listening end has to connect to its target first.
const ANSWER_WITHIN: Duration = TARGET_WITHIN.saturating_add(HANDSHAKE_WITHIN);

/// The configuration of the connecting end.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// The addresses to listen on, each with the route of its connections.
    pub forwards: Vec<Forward>,
    /// The host and port of the listening end.
    pub server: String,
    /// The secret that the listening end requires, at most 255 bytes.
    pub token: Vec<u8>,
    /// How the listening end is authenticated. `None`: no TLS, which only a loopback address
    /// permits.
    pub trust: Option<Trust>,
    /// The options that exist at both ends.
    pub options: Options,
}

/// The connecting end of a tunnel.
#[derive(Debug)]
pub struct Connect {
    listeners: Vec<(TcpListener, Forward)>,
    drain: Duration,
    shared: Arc<ConnectState>,
}

struct ConnectState {
    server: String,
    token: Vec<u8>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    options: Options,
    connections: Connections,
    workbench: Workbench,
}

impl Connect {
    /// Binds the listening sockets. Connections wait in their backlog until [`run`](Self::run); the
    /// listening end is not contacted yet. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// A configuration that is not valid, or a resource that the system does not grant.
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
            shared: Arc::new(ConnectState {
                server,
                token,
                tls: tls.map(|(config, name)| (TlsConnector::from(config), name)),
                options,
                connections: Connections::new(limit),
                workbench: Workbench::new(),
            }),
        })
    }

    /// The forwards, with the port that the system chose where port 0 was requested.
    pub fn forwards(&self) -> impl Iterator<Item = &Forward> {
        self.listeners.iter().map(|(_, forward)| forward)
    }

    /// The connections of this end. The returned handle always shows the current ones.
    pub fn connections(&self) -> Connections {
        self.shared.connections.clone()
    }

    /// Accepts connections until `stop` completes, then waits at most [`Options::drain`] for open
    /// ones to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Connect { listeners, drain, shared } = self;
        let connections = shared.connections.clone();
        let handle = move |accepted, forward: &Forward| {
            handle(accepted, forward.clone(), Arc::clone(&shared))
        };
        serve(listeners, &connections, drain, stop, handle).await;
    }
}

/// Whether `HOST:PORT` names a loopback address.
fn is_loopback(server: &str) -> bool {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

async fn handle(accepted: Accepted, forward: Forward, shared: Arc<ConnectState>) {
    let Accepted { stream: mut program, peer, entry, closing } = accepted;
    entry.set_route(&forward.route);
    sockets::tune_program(&program);
    let outcome = shared.attend(&mut program, &forward, &entry, closing).await;
    if let Err(error) = &outcome {
        tracing::info!(%peer, route = %forward.route, "{error}");
    }
    entry.end(&outcome);
}

impl ConnectState {
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

    /// Requests the route and relays bytes at once, before the answer arrives.
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
        let context =
            RelayContext { workbench: &self.workbench, permission: &permission, entry, sizes };
        let interrupt = async {
            tokio::select! {
                () = closing.closed() => ConnectionError::Closed,
                () = unanswered(&permission) => ConnectionError::Silent(ANSWER_WITHIN.as_secs()),
            }
        };
        relay(program, stream, context, interrupt).await
    }
}

/// Completes after [`ANSWER_WITHIN`] if no answer has arrived by then, otherwise never.
async fn unanswered(permission: &Permission) {
    sleep(ANSWER_WITHIN).await;
    if permission.is_answered() {
        std::future::pending().await
    }
}

impl std::fmt::Debug for ConnectState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectState").field("server", &self.server).finish_non_exhaustive()
    }
}
