//! Serves HTTP on one connection, with limits for clients that mean harm.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::{self, UpgradeableConnection};
use hyper::server::conn::http2;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tower_service::Service;

use crate::ends::linger::{LINGER, close_in_order};
use crate::web::cross_origin::mark;
use crate::web::host;
use crate::web::quiet::{Activity, WatchedBody, WatchedSocket};

/// Size of HTTP/1.1's buffers, and the limit of unsent bytes of an HTTP/2 stream, in bytes. They
/// hold unsent bytes of a response, which should be few as in the kernel, and the header of a
/// request, which cookies of other services on the same host may fill.
const HTTP_BUFFER: usize = 16 << 10;

/// Most bytes of a request's header over HTTP/2, uncompressed as RFC 9113, section 6.5.2, counts
/// them. From this and from the size of frames, h2 derives how many CONTINUATION frames it takes
/// before it closes the connection.
const MAX_HEADER: u32 = HTTP_BUFFER as u32;

/// Most requests at a time on an HTTP/2 connection, the fewest that RFC 9113, section 6.5.2,
/// recommends. All tabs of a browser share a connection, and each has two requests at a time
/// besides those for its page.
const MAX_STREAMS: u32 = 100;

/// Streams that a client may reset before the server has looked at them, as in the attack "rapid
/// reset"; with more the connection is closed. h2's own default, stated since it matters.
const MAX_UNSEEN_RESETS: usize = 20;

/// Streams that the server may reset because of the client's errors, as in the attack "made you
/// reset"; with more the connection is closed. hyper's default is 1,024; clients that keep the
/// rules cause none.
const MAX_FORCED_RESETS: usize = 64;

/// Bytes that a client may send of one request, and of all requests of a connection, before the
/// server has taken them. They bound the memory of a connection. hyper's default is 1 MiB for both.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// The largest HTTP/2 frame in bytes, which a client may fill before the server looks at it: the
/// smallest limit that the protocol permits.
const MAX_FRAME: u32 = 16 << 10;

/// The version of HTTP on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpVersion {
    Http1,
    Http2,
}

/// Serves HTTP until the connection is closed, upgraded to another protocol, or was quiet for
/// `idle`. Over HTTP/1.1 the client has time to read the last answer, although it may still be
/// sending its request; HTTP/2 needs none of that.
pub(crate) async fn serve<S>(
    socket: S,
    peer: SocketAddr,
    version: HttpVersion,
    router: Router,
    idle: Duration,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let socket = TokioIo::new(WatchedSocket::new(socket, Arc::clone(&activity)));
    let service = service(router, peer, Arc::clone(&activity));
    let outcome = match version {
        HttpVersion::Http1 => {
            let mut connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(idle)
                .max_buf_size(HTTP_BUFFER)
                .serve_connection(socket, service)
                .with_upgrades();
            let close =
                |connection: Pin<&mut _>| UpgradeableConnection::graceful_shutdown(connection);
            let outcome = until_quiet(Pin::new(&mut connection), close, &activity, idle).await;
            if let Some(parts) = connection.into_parts().filter(|_| outcome.is_some()) {
                let mut socket = parts.io.into_inner();
                // Boxed, so that a connection does not hold memory for it before.
                let _ = timeout(LINGER, Box::pin(close_in_order(&mut socket))).await;
            }
            outcome
        }
        HttpVersion::Http2 => {
            // Extended CONNECT (RFC 8441) is not offered: the room writes a WebSocket's packets to
            // the socket itself, which it could not do with a stream among others. Browsers then
            // open a connection with HTTP/1.1 for it.
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_concurrent_streams(MAX_STREAMS)
                .max_header_list_size(MAX_HEADER)
                .max_pending_accept_reset_streams(MAX_UNSEEN_RESETS)
                .max_local_error_reset_streams(MAX_FORCED_RESETS)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .max_frame_size(MAX_FRAME)
                .max_send_buf_size(HTTP_BUFFER)
                .serve_connection(socket, service);
            let close = |connection: Pin<&mut _>| http2::Connection::graceful_shutdown(connection);
            until_quiet(pin!(connection), close, &activity, idle).await
        }
    };
    if let Some(Err(error)) = outcome {
        tracing::debug!(%peer, %error, "HTTP connection failed");
    }
}

/// Drives a connection. When it was quiet for `idle` it is closed in order, for which the client
/// has as long again; `None` if that does not suffice.
async fn until_quiet<C: Future<Output = hyper::Result<()>>>(
    mut connection: Pin<&mut C>,
    close: impl FnOnce(Pin<&mut C>),
    activity: &Activity,
    idle: Duration,
) -> Option<hyper::Result<()>> {
    tokio::select! {
        outcome = connection.as_mut() => return Some(outcome),
        () = activity.quiet(idle) => {}
    }
    close(connection.as_mut());
    activity.touch();
    tokio::select! {
        outcome = connection => Some(outcome),
        () = activity.quiet(idle) => None,
    }
}

/// Answers requests by the router.
fn service(
    router: Router,
    peer: SocketAddr,
    activity: Arc<Activity>,
) -> impl HttpService<Incoming, ResBody = WatchedBody, Error = Infallible, Future: Send + 'static> + Send
{
    service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer =
            host::settle(&mut request).map(|()| router.clone().call(request.map(Body::new)));
        let activity = Arc::clone(&activity);
        async move {
            let making = activity.wait();
            let answer: Result<Response, Infallible> = match answer {
                Ok(answer) => answer.await,
                Err(malformed) => Ok(malformed.into_response()),
            };
            drop(making);
            answer.map(|mut answer| {
                mark(&mut answer);
                answer.map(|body| WatchedBody::new(body, activity))
            })
        }
    })
}
