//! Opens the local store of a server that shares its rooms, and what goes through the logs before
//! it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use groupwire_cluster::{Cluster, Config as ClusterCore, NodeName, Now, Timing};
use groupwire_engine::Engine;
use groupwire_store::{Replica, Stores};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::clocks::Clocks;
use super::config::{ClientAddress, ClusterConfig};
use super::control::{Asks, Control, ControlLog};
use super::copy::CopyFolder;
use super::cursors::from_stored;
use super::driver::{Driver, Ends, HANDING_OVER};
use super::event::Event;
use super::figures::Counters;
use super::http::Forward;
use super::listen;
use super::peers::Peers;
use super::relay::direct::Direct;
use super::relay::owner::Host;
use super::routes::Routes;
use super::secret::ClusterSecrets;
use super::store::SharedStore;
use super::tls::ClusterTls;
use crate::access::Gate;
use crate::durable::{DurableConfig, HmacSecrets, OutboxLimits};
use crate::error::Error;
use crate::figures::seldom::Seldom;
use crate::rooms::directory::Directory;
use crate::tools::secret::random_number;
use crate::tools::wall::wall_ms;

/// The purpose of the keys of sessions.
const SESSIONS: &[u8] = b"groupwire cluster sessions 1";

/// What a server of a cluster consists of, before it serves.
pub(crate) struct Opened {
    /// The store of the rooms.
    pub(crate) stores: Stores,
    pub(crate) secrets: HmacSecrets,
    pub(crate) routes: Arc<Routes>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) forward: Arc<Forward>,
    pub(crate) control: Control,
    pub(crate) member: Member,
}

/// The part of a server that takes part in the cluster.
pub(crate) struct Member {
    cluster: Cluster,
    engine: Arc<dyn Engine>,
    node: String,
    replica: Arc<dyn Replica>,
    local: Stores,
    copy: CopyFolder,
    routes: Arc<Routes>,
    counters: Arc<Counters>,
    tls: ClusterTls,
    asks: Asks,
    /// Where clients reach this server, if they can reach it alone.
    client_address: Option<ClientAddress>,
    began: Instant,
    changes: (UnboundedSender<Event>, UnboundedReceiver<Event>),
}

/// A server that takes part in its cluster until this is dropped.
pub(crate) struct Membership {
    tasks: JoinSet<String>,
    changes: UnboundedSender<Event>,
    drained: watch::Receiver<bool>,
}

/// Opens the local store. This blocks. `max_packet`: the largest packet of a client.
///
/// # Errors
/// The secret or the store cannot be read, or the folder has rooms that are not those of the
/// cluster.
pub(crate) fn open(
    config: &ClusterConfig,
    durable: &DurableConfig,
    outbox: Option<OutboxLimits>,
    max_packet: usize,
) -> Result<Opened, Error> {
    let failed = |why: String| Error::Cluster(why);
    let node = NodeName::new(&config.node)
        .ok_or_else(|| failed("--node: a name has 1 to 64 bytes".to_owned()))?;
    let secrets = ClusterSecrets::read(&config.secret)
        .map_err(|error| failed(format!("the secret of the cluster: {error}")))?;
    let folder = durable.folder.as_deref().ok_or_else(|| {
        failed(
            "a server of a cluster needs --data, the folder for its copy of the rooms".to_owned(),
        )
    })?;
    let copy = CopyFolder::new(folder);
    let store = copy.open(durable, outbox, &config.engine.deployment().id)?;
    let (local, replica) = (Stores::of(Arc::clone(&store)), store as Arc<dyn Replica>);
    let shards = config.engine.deployment().shards;
    let core = ClusterCore {
        node,
        address: config.advertise.clone().into_bytes(),
        incarnation: random_number(),
        shards,
        timing: Timing::default(),
    };
    let began = Instant::now();
    let now = Now { monotonic: Duration::ZERO, wall: wall_ms() };
    let cluster = Cluster::new(core, from_stored(&replica.cursors(), shards)?, now)
        .map_err(|error| failed(error.to_string()))?;
    let tls = ClusterTls::new(&secrets);
    let counters = Arc::<Counters>::default();
    let peers = Peers::new(config.node.clone(), tls.clone(), max_packet, Arc::clone(&counters));
    let routes = Arc::new(Routes::new(shards, peers, config.large.clone()));
    let (own, for_forward) = (config.node.clone(), Arc::clone(&counters));
    let forward = Forward::new(own, Arc::clone(&routes), tls.clone(), for_forward);
    let (control, asks) = Control::new();
    let changes = mpsc::unbounded_channel();
    let shared = SharedStore {
        local: local.clone(),
        replica: Arc::clone(&replica),
        routes: Arc::clone(&routes),
        changes: changes.0.clone(),
        telling: Mutex::default(),
    };
    let member = Member {
        cluster,
        engine: Arc::clone(&config.engine),
        node: config.node.clone(),
        replica,
        local,
        copy,
        routes: Arc::clone(&routes),
        counters: Arc::clone(&counters),
        tls,
        asks,
        client_address: config.client_address.clone(),
        began,
        changes,
    };
    let secrets = HmacSecrets::shared(secrets.keys(SESSIONS));
    let (stores, forward) = (Stores::new(shared), Arc::new(forward));
    Ok(Opened { stores, secrets, routes, counters, forward, control, member })
}

impl Member {
    /// Begins to take part in the cluster. `gate` has the bans, which all servers share. `router`:
    /// what other servers may ask for. `port`: the UDP port of WebTransport; 0 if there is none.
    pub(crate) fn begin(
        self,
        listener: TcpListener,
        port: u16,
        directory: Arc<Directory>,
        gate: Arc<Gate>,
        router: Router,
    ) -> Membership {
        let Member { cluster, engine, node, replica, local, copy, routes, .. } = self;
        let Member { counters, tls, asks, began, changes, client_address, .. } = self;
        let step = directory.context().drain.step();
        let direct =
            client_address.map(|address| Direct::new(address.as_str().to_owned(), port, step));
        let mut tasks = JoinSet::new();
        let host = Host {
            name: node.clone(),
            directory: Arc::clone(&directory),
            counters: Arc::clone(&counters),
            direct,
        };
        let listening = listen::serve(listener, tls, host, router);
        tasks.spawn(async move {
            listening.await;
            "the listener for other servers has ended".to_owned()
        });
        let bans = ControlLog::new(Arc::clone(&engine), gate).run(asks);
        tasks.spawn(async move {
            bans.await;
            "the task of bans has ended".to_owned()
        });
        let (events, received) = changes;
        let (drained, is_drained) = watch::channel(false);
        let for_leaving = events.clone();
        let ends = Ends {
            events,
            drained,
            is_draining: false,
            damaged: None,
            has_listed: false,
            refused: None,
        };
        let driver = Driver {
            cluster,
            engine,
            node,
            replica,
            local,
            copy,
            routes,
            counters,
            directory,
            began,
            shards: Vec::new(),
            clocks: Clocks::default(),
            told_of_waiting: Seldom::default(),
            ends,
        };
        tasks.spawn(driver.run(received));
        Membership { tasks, changes: for_leaving, drained: is_drained }
    }
}

impl Membership {
    /// Returns the reason once the server has to end.
    pub(crate) async fn failed(&mut self) -> String {
        match self.tasks.join_next().await {
            Some(Ok(reason)) => reason,
            _ => "a task of the cluster failed".to_owned(),
        }
    }

    /// Hands the shards over to the other servers, for as long as that may take.
    pub(crate) async fn leave(&mut self) {
        if self.changes.send(Event::Drain).is_err() {
            return;
        }
        let drained = self.drained.wait_for(|drained| *drained);
        if timeout(HANDING_OVER, drained).await.is_err() {
            tracing::warn!(
                "not all shards were handed over: other servers take them when this one has ended"
            );
        }
    }
}
