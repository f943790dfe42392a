//! Accepts TCP connections, and serves HTTP on them.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::hub::Hub;

/// Unsent bytes that the kernel may buffer per TCP connection (`TCP_NOTSENT_LOWAT`). The room builds packets late, so
/// that newer values replace older ones; bytes that wait in the kernel would be out of date when they are sent.
const UNSENT: u32 = 16 << 10;

/// Size of HTTP's buffers, in bytes. They hold unsent bytes of a response, which should be few as in [`UNSENT`], and
/// the header of a request, which cookies of other services on the same host may fill.
const HTTP_BUFFER: usize = 16 << 10;

/// HTTP connections per client: a browser holds two for a transport made of HTTP requests, one for each direction.
const SOCKETS_PER_CONNECTION: usize = 2;

/// HTTP connections beyond those of clients: for loading pages, and for clients that have no transport yet.
const SPARE_SOCKETS: usize = 256;

/// Accepts and serves HTTP connections; never returns.
pub(crate) async fn serve(listener: TcpListener, router: Router, hub: Arc<Hub>) {
    let most = hub.config.max_connections.saturating_mul(SOCKETS_PER_CONNECTION);
    let most = most.saturating_add(SPARE_SOCKETS).min(Semaphore::MAX_PERMITS);
    let sockets = Arc::new(Semaphore::new(most));
    loop {
        let (socket, peer) = accept(&listener).await;
        let Ok(permit) = Arc::clone(&sockets).try_acquire_owned() else {
            tracing::warn!(%peer, "connection refused: too many HTTP connections");
            continue;
        };
        let serving = serve_one(socket, peer, router.clone(), hub.config.http.idle);
        tokio::spawn(async move {
            serving.await;
            drop(permit);
        });
    }
}

/// Serves one HTTP connection until it is closed or upgraded to another protocol.
async fn serve_one(socket: TcpStream, peer: SocketAddr, router: Router, idle: Duration) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer = router.clone().call(request.map(Body::new));
        async move { answer.await as Result<Response, Infallible> }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(HTTP_BUFFER)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!(%peer, %error, "HTTP connection failed");
    }
}

/// Accepts the next connection and sets its options: small packets are sent without delay, and little is buffered.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                prepare(&socket);
                return (socket, peer);
            }
            // The client closed the connection before it was accepted.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionAborted
                        | ErrorKind::ConnectionReset
                        | ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => {
                // The process is most likely out of file descriptors: wait until some connections are closed.
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn prepare(socket: &TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Err(error) = socket2::SockRef::from(socket).set_tcp_notsent_lowat(UNSENT) {
        tracing::debug!(%error, "cannot set TCP_NOTSENT_LOWAT");
    }
}
