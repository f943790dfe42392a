//! The listener for the other servers of a cluster.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::http;
use super::relay::owner::{self, Host};
use super::tls::{ClusterTls, Protocol};
use crate::ends::accept::accept;

/// How long the handshake of another server may take.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The most connections of other servers at the same time, those in a handshake included. Each
/// other server has two, one for each [`Protocol`].
const MAX_CONNECTIONS: usize = 256;

/// Serves the connections of other servers; never returns. `router`: what other servers may ask
/// for.
pub(super) async fn serve(listener: TcpListener, tls: ClusterTls, host: Host, router: Router) {
    let host = Arc::new(host);
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // The connections end with this task.
    let mut serving = JoinSet::new();
    loop {
        while serving.try_join_next().is_some() {}
        let (socket, peer) = accept(&listener).await;
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            tracing::warn!(%peer, "connection between servers refused: there are too many");
            continue;
        };
        let (tls, host, router) = (tls.clone(), Arc::clone(&host), router.clone());
        serving.spawn(async move {
            let stream = match timeout(HANDSHAKE, tls.accept(socket)).await {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => {
                    return tracing::warn!(
                        %peer, %error,
                        "connection between servers refused: do both have the same --cluster-secret?"
                    );
                }
                Err(_) => return tracing::warn!(%peer, "a server's handshake took too long"),
            };
            match Protocol::of(&stream) {
                Protocol::Relay => {
                    if let Err(error) = owner::serve(stream, &host).await {
                        tracing::warn!(%peer, %error, "connection between servers refused");
                    }
                }
                Protocol::Http => {
                    if let Err(error) = http::serve(stream, router).await {
                        tracing::debug!(%peer, %error, "HTTP connection of a server failed");
                    }
                }
            }
            drop(permit);
        });
    }
}
