//! The listening sockets of a server.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;

use socket2::SockRef;
use tokio::net::TcpListener;

use super::config::Config;
use super::services::Services;
use crate::admin::AdminSocket;
use crate::admin_http::listen::AdminListener;
use crate::error::Error;
use crate::lifecycle::bind::bind;
use crate::lifecycle::sockets::{Handover, Purpose, Sockets};
use crate::tls::Handshakes;
use crate::transport;
use crate::webtransport::WebTransport;

/// A listener of TCP, and its address.
type Tcp = (TcpListener, SocketAddr);

/// The listening sockets of TCP, without that of commands.
pub(super) struct Bound {
    pub(super) http: Tcp,
    pub(super) plain: Option<Tcp>,
    pub(super) packets: Option<Tcp>,
    pub(super) admin: Option<AdminListener>,
    /// For the other servers of a cluster.
    pub(super) cluster: Option<Tcp>,
}

impl Bound {
    /// Binds the addresses of the configuration, or takes their sockets from those that another
    /// process has handed over.
    pub(super) async fn bind(config: &Config, sockets: &mut Sockets) -> Result<Self, Error> {
        let http = bind(Purpose::Http, config.listen, sockets).await?;
        let packets = bind_if(Purpose::Packets, config.socket, sockets).await?;
        let admin = match config.admin.clone() {
            Some(admin) => Some(AdminListener::bind(admin, sockets).await?),
            None => None,
        };
        let plain = bind_if(Purpose::PlainHttp, config.plain_listen, sockets).await?;
        let cluster = config.cluster.as_ref().map(|cluster| cluster.listen);
        let cluster = bind_if(Purpose::Cluster, cluster, sockets).await?;
        Ok(Bound { http, plain, packets, admin, cluster })
    }

    /// Offers the sockets to the process that will take this one's place.
    pub(super) fn offer(&self, handover: &Handover) {
        let offer = |purpose, (listener, _): &Tcp| {
            handover.offer(purpose, SockRef::from(listener).try_clone());
        };
        offer(Purpose::Http, &self.http);
        self.packets.iter().for_each(|bound| offer(Purpose::Packets, bound));
        self.plain.iter().for_each(|bound| offer(Purpose::PlainHttp, bound));
        self.admin.iter().for_each(|admin| admin.offer(handover));
    }
}

async fn bind_if(
    purpose: Purpose,
    listen: Option<SocketAddr>,
    sockets: &mut Sockets,
) -> Result<Option<Tcp>, Error> {
    match listen {
        Some(listen) => bind(purpose, listen, sockets).await.map(Some),
        None => Ok(None),
    }
}

/// The listeners of clients, and that of commands.
pub(super) struct Listeners {
    pub(super) http: Tcp,
    /// Carries out the handshakes of TLS for `http`; `None` if it is not encrypted.
    pub(super) handshakes: Option<Handshakes>,
    pub(super) plain: Option<Tcp>,
    pub(super) packets: Option<Tcp>,
    pub(super) webtransport: Option<WebTransport>,
    pub(super) commands: Option<AdminSocket>,
}

impl Listeners {
    /// Accepts and serves connections; never returns.
    pub(super) async fn serve(self, services: &Services) {
        let (http, context) = (services.http(), || Arc::clone(&services.transports));
        let (listener, _) = self.http;
        let serving_http = async {
            match self.handshakes {
                Some(handshakes) => http.clone().serve_encrypted(listener, handshakes).await,
                None => http.clone().serve_plain(listener).await,
            }
        };
        let plain = self.plain.map(|(listener, _)| http.clone().serve_plain(listener));
        let packets = self.packets;
        let packets = packets.map(|(listener, _)| transport::socket::serve(listener, context()));
        let webtransport = self.webtransport.map(|webtransport| webtransport.serve(context()));
        let commands = Arc::new(services.command_context());
        let commands = self.commands.map(|socket| socket.serve(commands));
        tokio::select! {
            () = serving_http => {}
            () = if_any(plain) => {}
            () = if_any(packets) => {}
            () = if_any(webtransport) => {}
            () = if_any(commands) => {}
        }
    }
}

/// Waits for a future; for ever if there is none.
pub(super) async fn if_any(future: Option<impl Future<Output = ()>>) {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}
