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
use crate::listen::{HANDSHAKE_WITHIN, check_token, dismiss};
use crate::policy::Permission;
use crate::preface::{Request, Wanted};
use crate::relay::{RelayContext, read_error, relay};
use crate::routes::{Destination, Forward};
use crate::serve::{Accepted, Closing, serve};
use crate::sockets::{self, close_in_order};
use crate::socks::{self, Reply, SocksError};
use crate::targets::TARGET_WITHIN;
use crate::tls::{self, BUFFER, Trust, why};
use crate::{ConnectionError, Options, StartError, Stream, Target, Workbench, costs, redirect};

/// The most time that the TCP connection to the listening end may take, as long as the listening
/// end allows for its targets.
const REACH_WITHIN: Duration = Duration::from_secs(10);

/// The most time that the answer may take: the listening end has to connect to its target first.
const ANSWER_WITHIN: Duration = TARGET_WITHIN.saturating_add(HANDSHAKE_WITHIN);

/// The configuration of the connecting end.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// The addresses to listen on, each with where its connections go.
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

/// A program that has connected to this end.
struct Client<'a> {
    program: &'a mut TcpStream,
    /// Whether it waits for a reply by SOCKS.
    waits_for_reply: bool,
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
        let redirects = forwards.iter().any(|forward| forward.to == Destination::Redirect);
        if redirects && !redirect::IS_SUPPORTED {
            return Err(StartError::NoRedirect);
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
    entry.set_route(&forward.to.to_string());
    sockets::tune_program(&program);
    let outcome = shared.attend(&mut program, &forward, &entry, closing).await;
    if let Err(error) = &outcome {
        tracing::info!(%peer, route = %forward.to, "{error}");
    }
    entry.end(&outcome);
}

impl ConnectState {
    /// Finds out where the program wants to be connected, and relays its bytes.
    async fn attend(
        &self,
        program: &mut TcpStream,
        forward: &Forward,
        entry: &Connection,
        closing: Closing,
    ) -> Result<(), ConnectionError> {
        let to = match &forward.to {
            Destination::Route(name) => Wanted::Route(name.clone()),
            Destination::Socks => Wanted::Target(chosen(program).await?),
            Destination::Redirect => Wanted::Target(redirect::target(program, &self.server).await?),
        };
        if let Wanted::Target(target) = &to {
            entry.set_route(&target.to_string());
        }
        let request = Request { never: forward.never, token: self.token.clone(), to };
        let waits_for_reply = forward.to == Destination::Socks;
        let mut client = Client { program, waits_for_reply };
        let outcome = self.carry(&mut client, request, entry, closing).await;
        let Client { program, waits_for_reply } = client;
        if let (Err(error), true) = (&outcome, waits_for_reply) {
            let reply = match error {
                ConnectionError::Refused(refusal) => refusal.reason.into(),
                _ => Reply::Failed,
            };
            dismiss(program, &reply.to_bytes()).await;
            close_in_order(program);
        }
        outcome
    }

    /// Relays a program's bytes over a new connection to the listening end.
    async fn carry(
        &self,
        client: &mut Client<'_>,
        request: Request,
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
            return self.ask(stream, client, request, entry, closing).await;
        };
        let handshake = connector.connect(name.clone(), stream);
        match timeout(HANDSHAKE_WITHIN, handshake).await {
            Err(_) => Err(ConnectionError::Silent(HANDSHAKE_WITHIN.as_secs())),
            Ok(Err(error)) => {
                Err(ConnectionError::Tls { peer: self.server.clone(), why: why(&error) })
            }
            Ok(Ok(mut tls)) => {
                tls.get_mut().1.set_buffer_limit(Some(BUFFER));
                self.ask(tls, client, request, entry, closing).await
            }
        }
    }

    /// Sends the request and relays bytes at once, before the answer arrives, unless the program
    /// waits for it.
    async fn ask<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut transport: T,
        client: &mut Client<'_>,
        request: Request,
        entry: &Connection,
        closing: Closing,
    ) -> Result<(), ConnectionError> {
        transport.write_all(&request.to_bytes()).await.map_err(ConnectionError::Tunnel)?;
        let permission = Permission::default();
        if request.never {
            permission.deny();
        }
        let mut transport = Answered::new(transport, self.server.clone(), permission.clone());
        if client.waits_for_reply {
            transport.flush().await.map_err(ConnectionError::Tunnel)?;
            tokio::select! {
                answer = timeout(ANSWER_WITHIN, transport.answer()) => match answer {
                    Ok(answer) => answer.map_err(read_error)?,
                    Err(_) => return Err(ConnectionError::Silent(ANSWER_WITHIN.as_secs())),
                },
                () = closing.clone().closed() => return Err(ConnectionError::Closed),
            }
            let replied = socks::answer(client.program, Reply::Succeeded).await;
            client.waits_for_reply = false;
            replied.map_err(ConnectionError::Program)?;
        }
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
        relay(client.program, stream, context, interrupt).await
    }
}

/// The target that a program names by SOCKS. What is no such request is answered here.
async fn chosen(program: &mut TcpStream) -> Result<Target, ConnectionError> {
    match timeout(HANDSHAKE_WITHIN, socks::request(program)).await {
        Err(_) => Err(ConnectionError::Quiet(HANDSHAKE_WITHIN.as_secs())),
        Ok(Ok(target)) => Ok(target),
        Ok(Err(error)) => {
            let reply = error.reply().map(|reply| reply.to_bytes());
            if reply.is_some() || matches!(error, SocksError::Authentication) {
                dismiss(program, reply.as_ref().map_or(&[], |bytes| &bytes[..])).await;
                close_in_order(program);
            }
            Err(error.into())
        }
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
