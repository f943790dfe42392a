//! Puts the parts of a server together from its configuration. Only this module knows all of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use groupwire_session::Durability;
use tokio::time::{Instant, sleep};

use super::config::Config;
use crate::access::{Bans, Gate};
use crate::addresses::Addresses;
use crate::admin::context::CommandContext;
use crate::admin_http::context::AdminContext;
use crate::admin_http::transfers::Transfers;
use crate::arrivals::Arrivals;
use crate::certificate::keeper::Certificates;
use crate::cluster::control::Control;
use crate::cluster::figures::Counters;
use crate::cluster::http::Forward;
use crate::cluster::open::{self as cluster, Member};
use crate::durable::{Durable, HmacSecrets};
use crate::ends::emulation::path::Emulations;
use crate::error::Error;
use crate::figures::events::Events;
use crate::inspect::InspectContext;
use crate::lifecycle::drain::Drain;
use crate::lifecycle::sockets::Handover;
use crate::listen::http::Http;
use crate::listen::routes;
use crate::metrics::sources::Sources;
use crate::rooms::context::RoomContext;
use crate::rooms::directory::Directory;
use crate::rooms::elsewhere::Elsewhere;
use crate::transport::connections::Connections;
use crate::transport::context::TransportContext;
use crate::transport::http::HttpContext;
use crate::user_http::context::UserContext;
use crate::webhook::{self, Queue, WebhookConfig};
use crate::webtransport::offer::Offer;
use crate::yjs::context::DocumentContext;
use crate::yjs::documents::Documents;
use crate::{admin_http, transport, user_http, yjs};

/// See the [module](self).
pub(crate) struct Services {
    pub(crate) config: Config,
    pub(crate) rooms: Arc<Directory>,
    pub(crate) transports: Arc<TransportContext>,
    /// The transports made of HTTP requests.
    requests: Arc<HttpContext>,
    /// What the requests of users use.
    users: Arc<UserContext>,
    /// The parts of the server that the administration uses.
    pub(crate) admin: AdminContext,
    pub(crate) documents: Arc<DocumentContext>,
    pub(crate) sources: Arc<Sources>,
    /// The listening sockets, for the process that takes this one's place.
    pub(crate) handover: Arc<Handover>,
    /// What clients are told of WebTransport; `None` if the server has none.
    webtransport: Option<Arc<Offer>>,
    /// Takes part in a cluster, once the server runs.
    pub(crate) member: Option<Member>,
}

impl Services {
    /// Opens the store, if the configuration has one, and makes the parts of the server.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be opened, [`Error::Bans`] if its bans cannot.
    pub(crate) fn new(
        config: Config,
        certificates: Option<Arc<Certificates>>,
        webtransport: Option<Arc<Offer>>,
    ) -> Result<Self, Error> {
        let foundation = Foundation::open(&config)?;
        Self::on(config, foundation, certificates, webtransport)
    }

    /// As [`Services::new`], with what lies below the parts of the server.
    pub(crate) fn on(
        config: Config,
        foundation: Foundation,
        certificates: Option<Arc<Certificates>>,
        webtransport: Option<Arc<Offer>>,
    ) -> Result<Self, Error> {
        let Foundation { context, elsewhere, forward, control, member } = foundation;
        let (member, cluster) = member.unzip();
        let rooms = Arc::new(Directory::new(context, elsewhere, config.max_rooms));
        let context = rooms.context();
        // The store has locked the folder.
        let bans = Bans::open(config.folder())?;
        let connections = Connections::new(config.max_connections, Arc::clone(&context.events));
        let emulates = config.emulate || config.admin.is_some();
        let transports = Arc::new(TransportContext {
            rooms: Arc::clone(&rooms),
            gate: Arc::new(Gate::new(Arc::clone(&config.authenticator), bans)),
            connections: Arc::new(connections),
            addresses: Arc::new(Addresses::new(config.addresses.clone())),
            arrivals: Arc::clone(&context.arrivals),
            events: Arc::clone(&context.events),
            traces: config.traces.clone(),
            emulations: Arc::new(Emulations::new(emulates)),
            is_demonstration: config.emulate,
            origins: config.origins.clone(),
        });
        let requests =
            HttpContext::new(Arc::clone(&transports), config.http.clone(), forward.clone());
        let users = UserContext::new(Arc::clone(&transports), config.http.clone(), forward.clone());
        let limits = config.yjs.clone().unwrap_or_default();
        let documents = Arc::new(Documents::new(&limits, Arc::clone(&rooms)));
        let sources = Arc::new(Sources {
            started: Instant::now(),
            transports: Arc::clone(&transports),
            documents: Arc::clone(&documents),
            certificates,
            cluster,
            history: config.admin.as_ref().map(|_| Default::default()),
        });
        let folder = config.folder().map(Path::to_owned);
        let inspect = InspectContext::new(Arc::clone(&rooms), config.record_dir.clone());
        let admin = AdminContext {
            transfers: Arc::new(Transfers::new(folder)),
            sources: Arc::clone(&sources),
            inspect: Arc::new(inspect),
            transports: Arc::clone(&transports),
            forward,
            control,
        };
        let documents = DocumentContext { transports: Arc::clone(&transports), documents };
        Ok(Services {
            config,
            rooms,
            transports,
            requests: Arc::new(requests),
            users: Arc::new(users),
            admin,
            documents: Arc::new(documents),
            sources,
            handover: Arc::default(),
            webtransport,
            member,
        })
    }

    /// The public listeners of HTTP.
    pub(super) fn http(&self) -> Http {
        Http::new(self.routes(), &self.transports, self.config.http.idle)
    }

    pub(crate) fn routes(&self) -> Router {
        let has_documents = self.config.yjs.is_some();
        let doors = transport::routes::routes(&self.transports, &self.requests, has_documents);
        let doors = match has_documents {
            true => doors.merge(yjs::upgrade::routes(Arc::clone(&self.documents))),
            false => doors,
        };
        let doors = doors.merge(user_http::routes::router(&self.users));
        let origins = self.config.origins.clone();
        routes::router(doors, origins, self.webtransport.clone(), &self.sources)
    }

    /// The UDP port of WebTransport; 0 if the server has none.
    pub(super) fn webtransport_port(&self) -> u16 {
        self.webtransport.as_ref().map_or(0, |offer| offer.port)
    }

    /// What the other servers of a cluster may ask for.
    pub(crate) fn routes_of_servers(&self) -> Router {
        transport::http::passed_on(Arc::clone(&self.requests))
            .merge(user_http::routes::router_of_servers(&self.users))
            .merge(admin_http::routes::router_of_servers(self.admin.clone()))
    }

    /// What commands on the socket in the store's folder use.
    pub(super) fn command_context(&self) -> CommandContext {
        CommandContext { rooms: Arc::clone(&self.rooms), handover: Arc::clone(&self.handover) }
    }

    /// Closes the connections of all rooms and documents, and waits until all are closed. Clients
    /// that still come are told to come back, too.
    pub(crate) async fn shut_down(&self) {
        self.rooms.shut_down();
        self.documents.documents.shut_down();
        while self.transports.connections.open() > 0 {
            sleep(Duration::from_millis(10)).await;
        }
        // HTTP may not have handed its last answer to the kernel yet.
        sleep(Duration::from_millis(20)).await;
    }
}

/// What lies below the parts of a server.
pub(crate) struct Foundation {
    /// What every room is made of.
    context: RoomContext,
    /// Knows the rooms of other servers, if this one shares its rooms.
    pub(crate) elsewhere: Option<Arc<dyn Elsewhere>>,
    /// Passes HTTP requests on to other servers, if this one shares its rooms.
    forward: Option<Arc<Forward>>,
    /// Shares bans with other servers, if this one shares its rooms.
    control: Option<Control>,
    /// Takes part in the cluster, if the server does, and its counters.
    member: Option<(Member, Arc<Counters>)>,
}

impl Foundation {
    /// Opens the store, and makes what every room uses.
    pub(crate) fn open(config: &Config) -> Result<Self, Error> {
        let outbox = config.webhook.as_ref().map(|_| webhook::outbox_limits());
        let mut elsewhere = None::<Arc<dyn Elsewhere>>;
        let (mut forward, mut control, mut member) = (None, None, None);
        if let Some(durable) = &config.durable {
            let is_member = config.cluster.is_some();
            durable.modes.check(is_member).map_err(|error| Error::Modes(error.to_string()))?;
        }
        let (durable, secrets) = match (&config.durable, &config.cluster) {
            (durable, Some(cluster)) => {
                let max_packet = config.room.limits.max_packet;
                let durable = durable.as_ref().ok_or(Error::ClusterWithoutFolder)?;
                let opened = cluster::open(cluster, durable, outbox, max_packet)?;
                elsewhere = Some(opened.routes);
                forward = Some(opened.forward);
                control = Some(opened.control);
                member = Some((opened.member, opened.counters));
                let durable = Durable::of(durable, opened.stores, Durability::Cluster);
                (Some(Arc::new(durable)), opened.secrets)
            }
            (Some(durable), None) => {
                let tick = config.room.timing.tick;
                let (durable, secrets) = Durable::open(durable, tick, config.upgrade, outbox)?;
                (Some(Arc::new(durable)), secrets)
            }
            (None, None) => (None, HmacSecrets::random()),
        };
        let context = room_context(config, durable, secrets);
        Ok(Foundation { context, elsewhere, forward, control, member })
    }
}

fn room_context(
    config: &Config,
    durable: Option<Arc<Durable>>,
    secrets: HmacSecrets,
) -> RoomContext {
    let outbox = durable.as_ref().map(|durable| Arc::clone(&durable.stores.outbox));
    let queue = |webhook: &WebhookConfig| Queue::new(webhook.clone(), outbox.clone());
    RoomContext {
        config: config.room.clone(),
        keep_empty: config.keep_empty,
        authority: Arc::clone(&config.authority),
        observer: config.observer.clone(),
        secrets: Arc::new(secrets),
        events: Arc::<Events>::default(),
        arrivals: Arc::new(Arrivals::new(config.arrivals)),
        drain: Arc::new(Drain::new(config.drain)),
        webhook: config.webhook.as_ref().map(queue).map(Arc::new),
        durable,
    }
}
