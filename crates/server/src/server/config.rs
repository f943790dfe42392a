//! The configuration of a server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::{AllowAll, Authority, Quota, Quotas, room};

use crate::access::Authenticator;
use crate::addresses::AddressLimits;
use crate::admin_http::config::AdminConfig;
use crate::arrivals::ArrivalLimits;
use crate::certificate::config::CertificateConfig;
use crate::cluster::config::ClusterConfig;
use crate::durable::DurableConfig;
use crate::lifecycle::drain::DrainConfig;
use crate::rooms::codecs::quick_codecs;
use crate::rooms::costs;
use crate::rooms::observer::Observer;
use crate::traces::Traces;
use crate::web::limits::HttpLimits;
use crate::web::origins::Origins;
use crate::webhook::WebhookConfig;
use crate::webtransport::config::WebTransportConfig;
use crate::yjs::config::YjsLimits;

/// The configuration of a server.
#[derive(Clone)]
pub struct Config {
    /// The TCP address of HTTP and WebSocket; port 0 takes any free port.
    pub listen: SocketAddr,
    /// The certificate of the server. If it is from files, `listen` is encrypted: HTTPS and
    /// WebSocket over TLS.
    pub certificate: CertificateConfig,
    /// A further TCP address of HTTP and WebSocket, never encrypted, for a reverse proxy; `None`
    /// for none.
    pub plain_listen: Option<SocketAddr>,
    /// The TCP address for length-prefixed packets without HTTP (docs/transports.md, T8); `None`
    /// for none.
    pub socket: Option<SocketAddr>,
    /// Which web pages may use the server.
    pub origins: Origins,
    /// Limits of HTTP requests, and of transports that consist of HTTP requests.
    pub http: HttpLimits,
    /// The configuration of every room, such as its tick, limits and codecs. A room's name and
    /// incarnation, and the costs of codecs, which the server measures, replace those in here. The
    /// codecs are [`quick_codecs`] by default: the server compresses each message once for each
    /// codec that its receivers ask for, and any client may ask, so slow codecs are for trusted
    /// clients only.
    pub room: room::Config,
    /// How long a room without participants keeps its content. A room without content is closed at
    /// once. A stored room is closed after 2 s at the latest, and loaded again when somebody joins
    /// it.
    pub keep_empty: Duration,
    /// Most rooms at the same time. For a further room, the stored room that has been empty longest
    /// is closed; if there is none, joining is refused.
    pub max_rooms: usize,
    /// Most connections at the same time, over all transports together; further ones are refused,
    /// over HTTP with status 503.
    pub max_connections: usize,
    /// Limits for each address that clients come from.
    pub addresses: AddressLimits,
    /// How fast clients are taken in.
    pub arrivals: ArrivalLimits,
    /// Decides who may join.
    pub authenticator: Arc<dyn Authenticator>,
    /// Decides who may publish, subscribe, change a channel's QoS and upload snapshots.
    pub authority: Arc<dyn Authority + Send + Sync>,
    /// Follows the transactions of all rooms; `None` for no observer.
    pub observer: Option<Arc<dyn Observer + Send + Sync>>,
    /// The listener for administration: inspector, recordings, emulated networks, metrics. `None`:
    /// there is none of these.
    pub admin: Option<AdminConfig>,
    /// Whether everybody may set an emulated bad network for a room (`POST /emulation`), for
    /// demonstrations. Connections that ask for it go over that network.
    pub emulate: bool,
    /// How the server stops.
    pub drain: DrainConfig,
    /// Whether the server takes the place of the one that uses the folder of `durable`, if there is
    /// one: it takes over the sockets of that server, lets it say goodbye to its clients, and waits
    /// for its end. Sockets are taken if they are bound to the addresses of this configuration;
    /// with port 0, to those that the other server has. Unix only.
    pub upgrade: bool,
    /// Is called when this process is ready to take the place of the running server, before that
    /// one is told to end: so that a service manager learns in time which process goes on. Has to
    /// return soon.
    pub before_takeover: Option<fn()>,
    /// Is called some time after many connections have ended, in a thread of its own: it may ask
    /// the program's allocator to give the memory back that they held. May take some milliseconds.
    /// Default: nothing is called.
    pub give_back_memory: Option<fn()>,
    /// Where rooms are stored, and which; `None`: a room ends with the server.
    pub durable: Option<DurableConfig>,
    /// The cluster whose rooms this server shares with others. It needs `durable`, whose folder
    /// keeps a copy of the stored rooms. `None`: this server has all rooms.
    pub cluster: Option<ClusterConfig>,
    /// Traces of joins for OpenTelemetry. Default: none.
    pub traces: Traces,
    /// The folder for recordings of rooms, which users of the inspector start; `None`: rooms cannot
    /// be recorded.
    pub record_dir: Option<PathBuf>,
    /// Where events are sent, such as that somebody joined; `None`: nowhere.
    pub webhook: Option<WebhookConfig>,
    /// The documents of Yjs for clients of y-websocket, at `/yjs/DOCUMENT`; `None`: there are none.
    pub yjs: Option<YjsLimits>,
    /// The configuration of WebTransport; `None` for no WebTransport.
    pub webtransport: Option<WebTransportConfig>,
}

impl Config {
    /// The folder of stored rooms, if there is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.durable.as_ref()?.folder.as_deref()
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            certificate: CertificateConfig::default(),
            plain_listen: None,
            socket: None,
            origins: Origins::own(),
            http: HttpLimits::default(),
            room: room::Config {
                codecs: quick_codecs(),
                clock: Some(costs::clock),
                quotas: QUOTAS,
                ..room::Config::new("", 0)
            },
            keep_empty: Duration::from_secs(3600),
            max_rooms: 10_000,
            max_connections: 20_000,
            addresses: AddressLimits::default(),
            arrivals: ArrivalLimits::default(),
            authenticator: Arc::new(AllowAll),
            authority: Arc::new(AllowAll),
            observer: None,
            admin: None,
            emulate: false,
            drain: DrainConfig::default(),
            upgrade: false,
            before_takeover: None,
            give_back_memory: None,
            durable: None,
            cluster: None,
            traces: Traces::default(),
            record_dir: None,
            webhook: None,
            yjs: Some(YjsLimits::default()),
            webtransport: Some(WebTransportConfig::default()),
        }
    }
}

/// The default quotas of rooms (wire W99): more than people at work send, and less than what people
/// in other rooms would notice.
const QUOTAS: Quotas = Quotas {
    // 1 MiB/s: with the burst, a text of 4 MiB can be pasted at once. A pointer with 25 positions
    // per second among 500 people makes 12,500 deliveries per second; a page sends several such
    // values.
    participant: Quota { bytes: 1 << 20, deliveries: 100_000 },
    // As many bytes as 16 people at their limit. 500 people who all move their pointers make 6.2
    // million deliveries per second.
    room: Quota { bytes: 16 << 20, deliveries: 8_000_000 },
    burst: Duration::from_secs(4),
};
