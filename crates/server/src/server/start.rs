//! Starts a server: binds its addresses, and takes the place of a running one.

use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::Server;
use super::config::Config;
use super::listeners::{Bound, Listeners};
use super::services::Services;
use crate::admin::AdminSocket;
use crate::admin::handover::Predecessor;
use crate::certificate::keeper::Certificates;
use crate::error::Error;
use crate::lifecycle::sockets::Sockets;
use crate::rooms::costs;
use crate::tls::Handshakes;
use crate::tools::private_files::{close_to_others, log_loose};
use crate::webtransport::{self, Wanted};

impl Server {
    /// Binds the addresses of the configuration, or takes them over from a running server
    /// ([`Config::upgrade`]).
    ///
    /// # Errors
    /// [`Error::Upgrade`] if that server does not hand them over, [`Error::AddressInUse`],
    /// [`Error::Listen`] or [`Error::AdminSocket`] if the server cannot listen on an address of the
    /// configuration, [`Error::AdminToken`] if the administration listener needs a token,
    /// [`Error::Certificate`] if the certificate's files cannot be read or used, [`Error::Store`]
    /// if the folder of stored rooms cannot be used, [`Error::Bans`] if its bans cannot be read.
    pub async fn bind(config: Config) -> Result<Self, Error> {
        if config.room.compress {
            costs::measure();
        }
        if let Some(folder) = &config.record_dir {
            close_to_others(folder).iter().for_each(log_loose);
        }
        let (predecessor, mut sockets) = ask_predecessor(&config).await?;
        let inherited = sockets.len();
        let bound = Bound::bind(&config, &mut sockets).await?;
        let local_addr = bound.http.1;
        let udp = config.webtransport.as_ref().map(|wanted| wanted.listen.unwrap_or(local_addr));
        let host = udp.unwrap_or(local_addr).ip();
        let (certificates, renewal) = Certificates::open(config.certificate.clone(), host)?;
        let mut handshakes = match config.certificate.encrypts_http() {
            true => Some(Handshakes::new(Arc::clone(&certificates))?),
            false => None,
        };
        let webtransport = bind_webtransport(&config, &bound, &certificates, &mut sockets)?;
        if let Some(predecessor) = predecessor {
            let taken = inherited - sockets.len();
            tracing::info!(taken, "takes the place of the running server");
            if let Some(call) = config.before_takeover {
                call();
            }
            replace(predecessor, &config).await?;
        }
        let offer = webtransport.as_ref().map(|webtransport| Arc::clone(&webtransport.offer));
        let making = spawn_blocking(|| Services::new(config, Some(certificates), offer));
        let services = making.await.expect("opening the store does not panic")?;
        if let Some(handshakes) = &mut handshakes {
            handshakes.issue_tickets(Arc::clone(&services.rooms.context().secrets));
        }
        let commands = command_socket(&services.config);
        if commands.is_some() {
            bound.offer(&services.handover);
            if let Some(webtransport) = &webtransport {
                webtransport.offer_socket(&services.handover);
            }
        }
        let Bound { http, plain, packets, admin, cluster } = bound;
        let webtransport = webtransport.map(webtransport::Bound::open).transpose()?;
        let listeners = Listeners { http, handshakes, plain, packets, webtransport, commands };
        let cluster = cluster.map(|(listener, _)| listener);
        Ok(Server { listeners, admin, renewal, services, cluster })
    }
}

/// Binds the UDP port of WebTransport, which is that of HTTP unless the configuration has another
/// one.
fn bind_webtransport(
    config: &Config,
    bound: &Bound,
    certificates: &Arc<Certificates>,
    sockets: &mut Sockets,
) -> Result<Option<webtransport::Bound>, Error> {
    let Some(webtransport) = &config.webtransport else { return Ok(None) };
    let wanted = Wanted {
        listen: webtransport.listen.unwrap_or(bound.http.1),
        any_port: webtransport.listen.is_none() && config.listen.port() == 0,
        room: &config.room,
    };
    webtransport::Bound::bind(wanted, Arc::clone(certificates), sockets)
}

/// The socket for commands in the folder of stored rooms, if there is one. Without the socket,
/// commands need a stopped server.
fn command_socket(config: &Config) -> Option<AdminSocket> {
    let folder = config.folder()?;
    AdminSocket::bind(folder)
        .inspect_err(|error| {
            let folder = folder.display();
            tracing::warn!(%folder, %error, "`groupwire store list, import, delete` need a stopped server");
        })
        .ok()
}

/// Asks the running server that this one replaces for its sockets; `None` if no server runs.
async fn ask_predecessor(config: &Config) -> Result<(Option<Predecessor>, Sockets), Error> {
    if config.upgrade && config.cluster.is_some() {
        return Err(Error::UpgradeInCluster);
    }
    if !config.upgrade {
        return Ok((None, Sockets::default()));
    }
    let folder = config.folder().ok_or(Error::UpgradeWithoutFolder)?.to_owned();
    let asked = folder.clone();
    let answer = tokio::task::spawn_blocking(move || Predecessor::ask(&asked)).await;
    let answer = answer.expect("asking does not panic");
    match answer.map_err(|source| Error::Upgrade { folder, source })? {
        Some((predecessor, sockets)) => Ok((Some(predecessor), sockets)),
        None => {
            tracing::info!("no server runs whose place could be taken");
            Ok((None, Sockets::default()))
        }
    }
}

/// Ends the server that this one replaces.
async fn replace(predecessor: Predecessor, config: &Config) -> Result<(), Error> {
    let folder = config.folder().map(Path::to_owned);
    let told = tokio::task::spawn_blocking(move || predecessor.replace()).await;
    let told = told.expect("asking does not panic");
    told.map_err(|source| Error::Upgrade { folder: folder.unwrap_or_default(), source })
}
