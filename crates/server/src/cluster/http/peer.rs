//! The connection to another server, over which requests are passed on to it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::limits::{
    CONNECTION_WINDOW, MAX_REQUESTS, SEND_BUFFER, SIGN_OF_LIFE, SILENCE, STREAM_WINDOW,
};
use crate::cluster::routes::Node;
use crate::cluster::tls::{ClusterTls, Protocol};

/// How long connecting to a server may take.
const CONNECTING: Duration = Duration::from_secs(3);

/// A server that could not be reached is not tried again for this time: requests that waited for
/// the same attempt fail with it.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a request was not passed on.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum NotForwarded {
    #[error("the server {node} cannot be reached: {why}")]
    Unreachable { node: String, why: String },
    #[error("the server {node} has too many requests of this one, try again later")]
    TooMany { node: String },
}

/// Another server.
pub(super) struct Peer {
    state: Mutex<State>,
    /// Places for requests, each of which keeps its place until its answer has ended.
    places: Arc<Semaphore>,
}

#[derive(Default)]
enum State {
    #[default]
    Unconnected,
    Connected(SendRequest<Body>),
    Failed {
        at: Instant,
        why: String,
    },
}

impl Default for Peer {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(MAX_REQUESTS as usize));
        Peer { state: Mutex::default(), places }
    }
}

impl Peer {
    /// Sends a request, and returns the answer once it begins.
    pub(super) async fn send(
        &self,
        node: &Node,
        tls: &ClusterTls,
        mut request: Request<Body>,
    ) -> Result<Response, NotForwarded> {
        let name = || node.name.clone();
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| NotForwarded::TooMany { node: name() })?;
        let failed = |why| NotForwarded::Unreachable { node: name(), why };
        let mut is_repeated = false;
        loop {
            let mut sender = self.connected(node, tls).await.map_err(failed)?;
            match sender.try_send_request(request).await {
                Ok(answer) => return Ok(answer.map(|body| holding(body, place))),
                // The connection has ended before it took the request.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !std::mem::replace(&mut is_repeated, true) => request = unsent,
                    _ => return Err(failed(reason(error.error()))),
                },
            }
        }
    }

    async fn connected(&self, node: &Node, tls: &ClusterTls) -> Result<SendRequest<Body>, String> {
        let mut state = self.state.lock().await;
        match &*state {
            State::Connected(sender) if !sender.is_closed() => return Ok(sender.clone()),
            State::Failed { at, why } if at.elapsed() < PAUSE => return Err(why.clone()),
            _ => {}
        }
        let connecting = timeout(CONNECTING, connect(&node.address, tls)).await;
        let connected = connecting.unwrap_or_else(|_| Err("it does not answer".to_owned()));
        *state = match &connected {
            Ok(sender) => State::Connected(sender.clone()),
            Err(why) => {
                tracing::warn!(server = node.name, why, "no HTTP connection to a server");
                State::Failed { at: Instant::now(), why: why.clone() }
            }
        };
        connected
    }
}

async fn connect(address: &str, tls: &ClusterTls) -> Result<SendRequest<Body>, String> {
    let stream = tls.connect(address, Protocol::Http).await.map_err(|error| error.to_string())?;
    let handshake = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(SIGN_OF_LIFE)
        .keep_alive_timeout(SILENCE)
        .keep_alive_while_idle(true)
        .handshake(TokioIo::new(stream));
    let (sender, connection) = handshake.await.map_err(|error| reason(&error))?;
    // Ends when the last sender is dropped, and answers that are under way have ended.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "HTTP connection to a server failed");
        }
    });
    Ok(sender)
}

/// The body of an answer, which keeps the place of its request until it has ended.
fn holding(body: Incoming, place: OwnedSemaphorePermit) -> Body {
    Body::new(body.map_frame(move |frame| {
        let _place = &place;
        frame
    }))
}

/// The text of an error and of its causes.
fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
