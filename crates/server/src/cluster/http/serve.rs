//! Answers HTTP requests that other servers pass on.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

use super::limits::{
    CONNECTION_WINDOW, MAX_REQUESTS, SEND_BUFFER, SIGN_OF_LIFE, SILENCE, STREAM_WINDOW,
};

/// Answers the requests of another server until the connection ends.
pub(in crate::cluster) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
) -> hyper::Result<()> {
    let service =
        service_fn(move |request: Request<Incoming>| router.clone().call(request.map(Body::new)));
    // Other servers are trusted, so that no number of resets is taken for an attack: the clients of
    // many requests may disconnect at once.
    http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_REQUESTS)
        .max_pending_accept_reset_streams(MAX_REQUESTS as usize)
        .max_local_error_reset_streams(None)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(SIGN_OF_LIFE)
        .keep_alive_timeout(SILENCE)
        .serve_connection(TokioIo::new(stream), service)
        .await
}
