//! A server: binds its addresses, then serves all transports until it is stopped.

pub(crate) mod config;
mod listeners;
mod memory;
pub(crate) mod services;
mod start;

use std::future::{Future, pending};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::admin_http::listen::AdminListener;
use crate::certificate::keeper::Renewal;
use crate::cluster::open::Membership;
use crate::error::Error;
use crate::lifecycle::drain::{Drain, Ending};
use crate::metrics::sampling;
use crate::rooms::context::RoomContext;
use crate::webhook;
use crate::webtransport::WebTransport;
use listeners::{Listeners, if_any};
use services::Services;

/// How often the rules that forget rooms are applied.
const FORGETTING: Duration = Duration::from_secs(600);

/// When the server stops, closing all connections may take this long.
const SHUTDOWN: Duration = Duration::from_secs(3);

/// A server that is bound to its addresses and not yet serving.
pub struct Server {
    listeners: Listeners,
    admin: Option<AdminListener>,
    renewal: Renewal,
    services: Services,
    /// Accepts the other servers of a cluster.
    cluster: Option<TcpListener>,
}

impl Server {
    /// The UDP port of WebTransport; `None` if the server has no WebTransport.
    pub fn webtransport_port(&self) -> Option<u16> {
        self.listeners.webtransport.as_ref().map(|webtransport| webtransport.offer.port)
    }

    /// SHA-256 of the certificate that the server made for itself, which a client may pin; `None`
    /// if the certificate is from files.
    pub fn certificate_hash(&self) -> Option<[u8; 32]> {
        self.listeners.webtransport.as_ref().and_then(|webtransport| webtransport.offer.hash())
    }

    /// The TCP address of HTTP and WebSocket.
    pub fn local_addr(&self) -> SocketAddr {
        self.listeners.http.1
    }

    /// True if the TCP address of HTTP and WebSocket is encrypted: `https:` and `wss:`.
    pub fn is_encrypted(&self) -> bool {
        self.listeners.handshakes.is_some()
    }

    /// The TCP address of HTTP and WebSocket without encryption, beside an encrypted one; `None` if
    /// there is none.
    pub fn plain_addr(&self) -> Option<SocketAddr> {
        self.listeners.plain.as_ref().map(|(_, address)| *address)
    }

    /// The TCP address for length-prefixed packets without HTTP; `None` if the server has none.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        self.listeners.packets.as_ref().map(|(_, address)| *address)
    }

    /// The TCP address of the administration listener; `None` if there is none, or it is a Unix
    /// socket.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().and_then(AdminListener::address)
    }

    /// The address of the inspector's page on the administration listener. If the server has made
    /// the token itself, the token stands behind `#`, which browsers do not send: keep it secret.
    /// `None` if there is no such TCP listener.
    pub fn admin_url(&self) -> Option<&str> {
        self.admin.as_ref().and_then(AdminListener::url)
    }

    /// Serves until `shutdown` is done or the administration asks to drain the server. Then it is
    /// not ready any more, serves for as long as [`Config::drain`](crate::Config::drain) says,
    /// tells each client when to come back, and closes all connections.
    ///
    /// # Errors
    /// [`Error::StoreFailed`] if the store fails, [`Error::Cluster`] if the server cannot take part
    /// in its cluster any more. An error of one connection ends only that
    /// connection.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let Server { listeners, admin, renewal, mut services, cluster } = self;
        let member = services.member.take().zip(cluster);
        let mut membership = member.map(|(member, listener)| {
            let rooms = Arc::clone(&services.rooms);
            let gate = Arc::clone(&services.transports.gate);
            member.begin(
                listener,
                services.webtransport_port(),
                rooms,
                gate,
                services.routes_of_servers(),
            )
        });
        let _delivering = deliver_events(&services);
        let closer = listeners.webtransport.as_ref().map(WebTransport::closer);
        let idle = services.config.http.idle;
        let administration = if_any(admin.map(|it| it.serve(services.admin.clone(), idle)));
        tokio::pin!(administration);
        let ending = tokio::select! {
            reason = store_failed(&services) => return Err(Error::StoreFailed { reason }),
            reason = has_to_leave(&mut membership) => return Err(Error::Cluster(reason)),
            () = listeners.serve(&services) => return Ok(()),
            () = keep_up(renewal, &services) => return Ok(()),
            () = &mut administration => return Ok(()),
            ending = asked_to_stop(shutdown, &services.rooms.context().drain) => ending,
        };
        match ending {
            // New connections wait for the process that has taken the sockets over.
            Ending::HandOver => {
                closer.as_ref().inspect(|closer| closer.ignore_newcomers());
                say_goodbye(&services).await;
            }
            // The administration listener still answers, so that monitoring learns that the server
            // is not ready.
            Ending::Stop => {
                services.handover.withdraw();
                let leaving = async {
                    if let Some(membership) = &mut membership {
                        membership.leave().await;
                    }
                    say_goodbye(&services).await;
                };
                tokio::select! {
                    () = leaving => {}
                    () = &mut administration => {}
                }
            }
        }
        if let Some(closer) = closer {
            closer.close().await;
        }
        Ok(())
    }
}

/// Delivers the events for the webhook until the result is dropped.
fn deliver_events(services: &Services) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    if let Some(queue) = &services.rooms.context().webhook {
        queue.start();
        tasks.spawn(webhook::deliver(Arc::clone(queue)));
    }
    tasks
}

/// Does what is done from time to time; never returns.
async fn keep_up(renewal: Renewal, services: &Services) {
    let give_back = services.config.give_back_memory;
    let connections = Arc::clone(&services.transports.connections);
    let arrivals = Arc::clone(&services.transports.arrivals);
    tokio::join!(
        renewal.run(),
        memory::give_back(give_back, connections, arrivals),
        sampling::keep(Arc::clone(&services.sources)),
    );
}

/// Returns once the server has to say goodbye.
async fn asked_to_stop(shutdown: impl Future<Output = ()>, drain: &Arc<Drain>) -> Ending {
    tokio::select! {
        () = shutdown => drain.stop_after(None),
        _ = drain.due() => {}
    }
    drain.due().await
}

/// Applies the rules that forget rooms, until the store has failed. Returns why it has; never if
/// there is none.
async fn store_failed(services: &Services) -> String {
    let RoomContext { durable, .. } = services.rooms.context();
    let Some(durable) = durable else { return pending().await };
    let failed = Arc::clone(durable).failed();
    tokio::pin!(failed);
    let mut forgetting = tokio::time::interval(FORGETTING);
    loop {
        tokio::select! {
            reason = &mut failed => return reason,
            _ = forgetting.tick() => services.rooms.forget(durable),
        }
    }
}

/// Returns the reason once the server cannot take part in its cluster any more; never if there is
/// none.
async fn has_to_leave(membership: &mut Option<Membership>) -> String {
    match membership {
        Some(membership) => membership.failed().await,
        None => pending().await,
    }
}

/// Tells all clients when to come back, and waits until their connections are closed, but not for
/// long.
async fn say_goodbye(services: &Services) {
    let connections = &services.transports.connections;
    let drain = &services.rooms.context().drain;
    let began = Instant::now();
    tracing::info!(connections = connections.open(), "server says goodbye");
    let _ = tokio::time::timeout(SHUTDOWN, services.shut_down()).await;
    let (seconds, last_back) = (began.elapsed().as_secs_f32(), drain.last_time().as_secs_f32());
    tracing::info!(seconds, left = connections.open(), last_back, "connections are closed");
}
