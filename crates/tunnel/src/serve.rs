//! Takes connections until it is told to stop, then gives them time to end.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connections::{Connection, Connections};
use crate::sockets::{is_shortage, tune_program};

/// After a failure to accept, which lasts as long as something is short.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// How long connections may take to notice that they are closed.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A connection that was taken.
pub(crate) struct Taken {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) entry: Connection,
    pub(crate) closing: Closing,
}

/// Takes connections and has each handled in a task of its own. `handler` is made from a listener's own part.
pub(crate) async fn serve<K, F>(
    listeners: Vec<(TcpListener, K)>,
    connections: &Connections,
    drain: Duration,
    stop: impl Future<Output = ()>,
    handle: impl Fn(Taken, &K) -> F + Clone + Send + 'static,
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
                    tracing::warn!(%peer, "a connection is refused: there are as many as may be");
                    tune_program(&stream);
                    continue;
                };
                let closing = Closing(closing.clone());
                tokio::spawn(handle(Taken { stream, peer, entry, closing }, &own));
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
        // Those that do not notice are dropped with the runtime.
        let _ = timeout(LAST_WORDS, connections.none_left()).await;
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut was_short = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                if is_shortage(&error) && !was_short {
                    tracing::warn!(%error, "no connection can be taken at present");
                    was_short = true;
                }
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Tells when connections are to be closed, whatever they are doing.
#[derive(Debug, Clone)]
pub(crate) struct Closing(watch::Receiver<bool>);

impl Closing {
    pub(crate) async fn closed(mut self) {
        // If the sender is gone, so is the tunnel.
        let _ = self.0.wait_for(|&is_closing| is_closing).await;
    }
}
