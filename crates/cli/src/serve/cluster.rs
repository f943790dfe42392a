//! The options of a server that shares its rooms with others.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use groupwire_server::engine::{
    self, Durability, Engine, OpenError, Options, ServerSync, Syncs, Tls,
};
use groupwire_server::{ClientAddress, ClusterConfig};
use tokio::time::{Instant, sleep};

/// The time between two attempts to reach the engine.
const AGAIN: Duration = Duration::from_secs(1);

/// Why an engine cannot be used.
enum Trouble {
    /// The engine may be usable a moment later.
    Passing(String),
    /// An option or the engine has to be changed.
    Lasting(String),
}

/// The options of a cluster.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Share the rooms with other servers over this engine: `nats://HOST:PORT` of one or several
    /// NATS servers, with commas between, or `postgres://USER@HOST:PORT/DATABASE`. Any server then
    /// takes any client, and another one takes the rooms of one that has ended. docs/cluster.md
    /// says how to set it up.
    #[arg(long, value_name = "ADDRESS", requires_all = ["data", "node", "cluster_secret"], conflicts_with = "upgrade")]
    engine: Option<String>,

    /// The name of this server, which no other server of the cluster has, and which stays the same
    /// after a restart.
    #[arg(long, value_name = "NAME", requires = "engine")]
    node: Option<String>,

    /// The TCP address to listen on for the other servers of the cluster. Connections are encrypted
    /// under --cluster-secret.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        requires = "engine",
        default_value = "127.0.0.1:7946"
    )]
    cluster_listen: SocketAddr,

    /// The host and port by which the other servers reach --cluster-listen. Default: the address
    /// of --cluster-listen.
    #[arg(long, value_name = "HOST:PORT", requires = "engine", value_parser = host_and_port)]
    advertise: Option<String>,

    /// The address at which clients reach this server alone, past any balancer, such as
    /// `https://gw-0.example.com`. Clients of its rooms that are connected to another server move
    /// here then, which saves that server the work. Without it, the other server passes their
    /// packets on.
    #[arg(long, value_name = "URL", requires = "engine")]
    client_address: Option<ClientAddress>,

    /// Large rooms: those whose names match this pattern, in which `*` stands for any text. Servers
    /// that do not have such a room mirror it for their clients, so that its own server sends each
    /// message once to each of them. May be given several times, on all servers alike.
    /// docs/cluster.md says which rooms are worth it.
    #[arg(long, value_name = "PATTERN", requires = "engine")]
    large: Vec<String>,

    /// A file with the secret that all servers of the cluster share, of 32 characters or more, such
    /// as from `openssl rand -hex 32`. To replace it, add a second line with the new one on all
    /// servers, then exchange the lines on all, then remove the old one.
    #[arg(long, value_name = "FILE", requires = "engine")]
    cluster_secret: Option<PathBuf>,

    /// The name of the cluster at the engine, which can keep several.
    #[arg(long, value_name = "NAME", requires = "engine", default_value = "groupwire")]
    cluster_name: String,

    /// A file with the credential for the engine: for NATS one of `nsc`, or user and password in
    /// two lines; for PostgreSQL the password, or two lines.
    #[arg(long, value_name = "FILE", requires = "engine")]
    engine_credentials: Option<PathBuf>,

    /// A PEM file with the authorities that are trusted for the engine's certificate, instead of
    /// those of the system.
    #[arg(long, value_name = "FILE", requires = "engine")]
    engine_root: Option<PathBuf>,

    /// A PEM file with a certificate of this server for the engine.
    #[arg(long, value_name = "FILE", requires = "engine_key")]
    engine_cert: Option<PathBuf>,

    /// A PEM file with the private key of --engine-cert.
    #[arg(long, value_name = "FILE", requires = "engine_cert")]
    engine_key: Option<PathBuf>,

    /// The addresses of the monitoring of NATS servers, such as `http://nats-0:8222`, which say
    /// whether they sync always. Default: port 8222 of each server.
    #[arg(long, value_name = "ADDRESS", requires = "engine", value_delimiter = ',')]
    engine_monitoring: Vec<String>,

    /// Try for this long to reach the engine when the server starts, in seconds: it may be started
    /// together with the engine.
    #[arg(long, value_name = "SECONDS", requires = "engine", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=3600))]
    engine_wait: u64,

    /// Use an engine that does not sync each record before it acknowledges it, or of which that
    /// cannot be found out: for trials. If all its servers lose power, confirmed transactions are
    /// lost.
    #[arg(long, requires = "engine")]
    engine_accepts_lazy_sync: bool,
}

impl ClusterArgs {
    /// The configuration; `None` without --engine. Connects to the engine.
    ///
    /// # Errors
    /// What is wrong with an option, or with the engine.
    pub(super) async fn config(&self) -> Result<Option<ClusterConfig>, Box<dyn Error>> {
        let (Some(address), Some(node), Some(secret)) =
            (&self.engine, &self.node, &self.cluster_secret)
        else {
            return Ok(None);
        };
        let listen = self.cluster_listen;
        let advertise = match &self.advertise {
            Some(advertise) => advertise.clone(),
            None if listen.ip().is_unspecified() || listen.port() == 0 => {
                return Err(format!(
                    "--advertise: other servers cannot reach {listen}; say the host and port by which they do"
                )
                .into());
            }
            None => listen.to_string(),
        };
        let identity = self.engine_cert.clone().zip(self.engine_key.clone());
        let options = Options {
            creates: true,
            credentials: self.engine_credentials.clone(),
            tls: Tls { roots: self.engine_root.clone(), identity },
            monitoring: self.engine_monitoring.clone(),
            ..Options::new(&self.cluster_name)
        };
        let engine =
            self.reach(address, &options).await.map_err(|why| format!("--engine: {why}"))?;
        let (engine, node, secret) = (Arc::from(engine), node.clone(), secret.clone());
        let client_address = self.client_address.clone();
        let large = self.large.clone();
        Ok(Some(ClusterConfig { engine, node, listen, advertise, client_address, secret, large }))
    }

    /// Connects to the engine, and tries again for `--engine-wait` if that may help.
    async fn reach(&self, address: &str, options: &Options) -> Result<Box<dyn Engine>, String> {
        let end = Instant::now() + Duration::from_secs(self.engine_wait);
        let mut is_told = false;
        loop {
            let why = match self.connect(address, options.clone()).await {
                Ok(engine) => return Ok(engine),
                Err(Trouble::Lasting(why)) => return Err(why),
                Err(Trouble::Passing(why)) => why,
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(why);
            }
            if !is_told {
                is_told = true;
                let cause = why.lines().next().unwrap_or_default();
                tracing::warn!(seconds = left.as_secs(), "waiting for the engine: {cause}");
            }
            sleep(AGAIN.min(left)).await;
        }
    }

    /// Connects to the engine, unless it may lose what it acknowledges.
    async fn connect(&self, address: &str, options: Options) -> Result<Box<dyn Engine>, Trouble> {
        let engine = engine::open(address, options).await.map_err(|error| match error {
            OpenError::Unreachable { .. } => Trouble::Passing(error.to_string()),
            _ => Trouble::Lasting(error.to_string()),
        })?;
        let durability = engine.durability().await;
        let durability = durability.map_err(|error| Trouble::Passing(error.to_string()))?;
        self.check(durability)?;
        Ok(engine)
    }

    /// Refuses an engine that may lose what it acknowledges.
    fn check(&self, durability: Durability) -> Result<(), Trouble> {
        let Durability { servers, copies, replication } = durability;
        let always = servers.iter().filter(|server| server.syncs == Syncs::Always).count();
        let (spare, mut unsure): (Vec<_>, Vec<_>) =
            servers.into_iter().filter(|server| server.syncs != Syncs::Always).partition(
                // While it is down, others alone acknowledge entries, and enough of them sync.
                |server| server.syncs == Syncs::Offline && always >= usize::from(copies),
            );
        // A server that syncs lazily is named first, because waiting does not help against that.
        unsure.sort_by_key(|server| !matches!(server.syncs, Syncs::Lazily(_)));
        for ServerSync { name, syncs, .. } in unsure {
            type Kind = fn(String) -> Trouble;
            let (kind, why): (Kind, String) = match syncs {
                Syncs::Lazily(why) => {
                    (Trouble::Lasting, format!("does not sync what it acknowledges: {why}"))
                }
                Syncs::Unknown(why) => {
                    (Trouble::Passing, format!("may not sync what it acknowledges: {why}"))
                }
                Syncs::Offline | Syncs::Always => (Trouble::Passing, "is down".to_owned()),
            };
            if !self.engine_accepts_lazy_sync {
                return Err(kind(format!(
                    "server {name} {why}\nIf all servers of the engine lose power, confirmed transactions \
                     would be lost. For trials, --engine-accepts-lazy-sync uses it all the same."
                )));
            }
            tracing::warn!(
                server = name,
                "the engine {why}; a power cut can lose confirmed transactions"
            );
        }
        for ServerSync { name, .. } in spare {
            tracing::warn!(server = name, "a server of the engine is down");
        }
        tracing::info!(copies, replication, "engine connected");
        Ok(())
    }
}

fn host_and_port(text: &str) -> Result<String, String> {
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && is_port(port) => Ok(text.to_owned()),
        _ => Err("write a host and a port, such as gw-0.gw.example:7946".to_owned()),
    }
}
