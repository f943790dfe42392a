//! Binds the administration listener, and serves HTTP on it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_service::Service;

use super::access::{Access, ReachedAt};
use super::config::{AdminConfig, AdminListen};
use super::context::AdminContext;
use super::routes;
use super::token::AdminToken;
use crate::ends::accept::accept;
use crate::ends::linger::{LINGER, close_in_order};
use crate::error::Error;
use crate::lifecycle::bind::bind;
use crate::lifecycle::sockets::{Handover, Purpose, Sockets};
use crate::tools::private_socket::PrivateSocket;
use crate::web::host::{self, Malformed};

/// Most HTTP connections at the same time: enough for 32 inspectors with several requests each, and
/// for as many programs.
const MAX_CONNECTIONS: usize = 256;

/// The listener for administration, bound and not yet serving.
pub(crate) struct AdminListener {
    bound: Bound,
    access: Access,
    /// The address of the inspector's page; `None` for a Unix socket.
    url: Option<String>,
}

enum Bound {
    Tcp(TcpListener, SocketAddr),
    Unix(PrivateSocket),
}

impl AdminListener {
    /// Binds the address of the configuration.
    ///
    /// # Errors
    /// [`Error::AdminToken`] if other machines could reach the listener and there is no token;
    /// otherwise as [`crate::Server::bind`].
    pub(crate) async fn bind(config: AdminConfig, sockets: &mut Sockets) -> Result<Self, Error> {
        let AdminConfig { listen, token, hosts } = config;
        match listen {
            AdminListen::Tcp(listen) => {
                if token.is_none() && !listen.ip().is_loopback() {
                    return Err(Error::AdminToken { listen });
                }
                let (listener, address) = bind(Purpose::Admin, listen, sockets).await?;
                let (token, fragment) = match token {
                    Some(token) => (token, String::new()),
                    None => {
                        let token = AdminToken::random();
                        let fragment = format!("#token={}", token.as_str());
                        (token, fragment)
                    }
                };
                let host = match address.ip().is_unspecified() {
                    true => format!("localhost:{}", address.port()),
                    false => address.to_string(),
                };
                let url = Some(format!("http://{host}/inspector/{fragment}"));
                let access = Access { token: Some(token), hosts };
                Ok(AdminListener { bound: Bound::Tcp(listener, address), access, url })
            }
            AdminListen::Unix(path) => {
                let socket = match sockets.take_unix(&path) {
                    Some(socket) => PrivateSocket::taken(socket, &path),
                    None => PrivateSocket::bind_unused(&path),
                };
                let socket = socket.map_err(|source| Error::AdminSocket { path, source })?;
                let access = Access { token, hosts };
                Ok(AdminListener { bound: Bound::Unix(socket), access, url: None })
            }
        }
    }

    /// The TCP address; `None` for a Unix socket.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match &self.bound {
            Bound::Tcp(_, address) => Some(*address),
            Bound::Unix(_) => None,
        }
    }

    /// Offers the socket to the process that will take this one's place.
    pub(crate) fn offer(&self, handover: &Handover) {
        match &self.bound {
            Bound::Tcp(listener, _) => {
                handover.offer(Purpose::Admin, SockRef::from(listener).try_clone());
            }
            Bound::Unix(socket) => {
                let (file, socket) = socket.offer();
                handover.offer_unix(file, socket);
            }
        }
    }

    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Accepts and serves connections; never returns. `idle`: how long the header of a request may
    /// take.
    pub(crate) async fn serve(self, context: AdminContext, idle: Duration) {
        let router = routes::router(context, Arc::new(self.access));
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let (serving, peer): (BoxedServing, _) = match &self.bound {
                Bound::Tcp(listener, _) => {
                    let (socket, peer) = accept(listener).await;
                    let own = socket.local_addr().ok().map(|own| own.ip());
                    let serving = serve_one(socket, ReachedAt(own), router.clone(), idle);
                    (Box::pin(serving), Some(peer))
                }
                Bound::Unix(listener) => {
                    let socket = listener.accept().await;
                    (Box::pin(serve_one(socket, ReachedAt(None), router.clone(), idle)), None)
                }
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                tracing::warn!(?peer, "administration refused: too many connections");
                continue;
            };
            tokio::spawn(async move {
                serving.await;
                drop(place);
            });
        }
    }
}

type BoxedServing = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves one HTTP connection until it is closed.
async fn serve_one<S>(socket: S, reached_at: ReachedAt, router: Router, idle: Duration)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(reached_at);
        let settled = host::settle(&mut request);
        let answer = router.clone().call(request.map(Body::new));
        async move {
            match settled {
                // A wrong host is refused as a foreign one is.
                Ok(()) | Err(Malformed::Host) => answer.await as Result<Response, Infallible>,
                Err(malformed) => Ok(malformed.into_response()),
            }
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .serve_connection(TokioIo::new(socket), service);
    if let Err(error) = (&mut connection).await {
        tracing::debug!(%error, "HTTP connection of the administration failed");
    }
    // A client that is refused before it has sent all of an import is to read why.
    let mut socket = connection.into_parts().io.into_inner();
    let _ = timeout(LINGER, Box::pin(close_in_order(&mut socket))).await;
}
