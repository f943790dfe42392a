//! Accepts connections until it is stopped, then waits for the open ones to end.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connections::{Connection, Connections};
use crate::sockets::{is_shortage, tune_program};

/// Pause after a failed accept. Accepting fails again until open files or memory are free.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// How long the tasks of connections may take to end after they were told to close. They only have
/// to drop their sockets.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// A connection that was accepted.
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) entry: Connection,
    pub(crate) closing: Closing,
}

/// Accepts connections and calls `handle` for each in a task of its own, with the listener's value
/// of type `K`. After `stop`, waits at most `drain` for open connections to end, and then closes
/// them.
pub(crate) async fn serve<K, F>(
    listeners: Vec<(TcpListener, K)>,
    connections: &Connections,
    drain: Duration,
    stop: impl Future<Output = ()>,
    handle: impl Fn(Accepted, &K) -> F + Clone + Send + 'static,
) where
    K: Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (close, closing) = watch::channel(false);
    let mut accepting = JoinSet::new();
    for (listener, own) in listeners {
        let (connections, closing, handle) = (connections.clone(), closing.clone(), handle.clone());
        accepting.spawn(async move {
            loop {
                let (stream, peer) = accept(&listener).await;
                let Some(entry) = connections.enter("", peer) else {
                    tracing::warn!(%peer, "a connection was reset: the limit of connections is reached");
                    tune_program(&stream);
                    continue;
                };
                let closing = Closing(closing.clone());
                tokio::spawn(handle(Accepted { stream, peer, entry, closing }, &own));
            }
        });
    }
    stop.await;
    accepting.shutdown().await;
    let left = connections.count();
    if left > 0 {
        tracing::warn!("waiting {} s for {left} open connections", drain.as_secs());
    }
    if timeout(drain, connections.none_left()).await.is_err() {
        close.send_replace(true);
        // Tasks that take longer than this are dropped with the runtime.
        let _ = timeout(CLOSE_WITHIN, connections.none_left()).await;
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut was_short = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                if is_shortage(&error) && !was_short {
                    tracing::warn!(%error, "no connection can be accepted at present");
                    was_short = true;
                }
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// The signal to close open connections at once.
#[derive(Debug, Clone)]
pub(crate) struct Closing(watch::Receiver<bool>);

impl Closing {
    /// Waits for the signal.
    pub(crate) async fn closed(mut self) {
        // An error means that the sender was dropped, and the tunnel with it.
        let _ = self.0.wait_for(|&is_closing| is_closing).await;
    }
}
