//! `groupwire serve`: the server, alone or with others that share its rooms.

mod access;
mod acme;
mod admin;
mod cluster;
mod drain;
mod heap;
mod limits;
mod service;
mod tls;
mod traces;
mod upgrade;
mod webhook;
mod yjs;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_server::store::{Forget, Options};
use groupwire_server::{
    AcmeDomain, Config, DurableConfig, Error as ServerError, Modes, ModesError, Origins, Server,
    WebTransportConfig, codecs_named,
};

use self::access::AccessArgs;
use self::admin::AdminArgs;
use self::cluster::ClusterArgs;
use self::drain::DrainArgs;
use self::limits::LimitArgs;
use self::tls::TlsArgs;
use self::traces::TracesArgs;
use self::upgrade::UpgradeArgs;
use self::webhook::WebhookArgs;
use self::yjs::YjsArgs;
use crate::log::{Format, Level, start_log};
use crate::process::{TEN_YEARS, first_stop_signal};

/// The largest size of an option in MiB: an exbibyte, which is still a number of bytes.
const MOST_MIB: u64 = 1 << 40;

/// The options of `groupwire serve`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The address to listen on. 0.0.0.0:8080 is open to other machines; port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// Do not offer WebTransport.
    #[arg(long, conflicts_with = "webtransport")]
    no_webtransport: bool,

    /// The UDP address to listen on for WebTransport. Default: the address and port number of
    /// --listen.
    #[arg(long, value_name = "ADDRESS:PORT")]
    webtransport: Option<SocketAddr>,

    #[command(flatten)]
    tls: TlsArgs,

    /// The address to listen on for native programs that send packets over plain TCP; port 0 is any
    /// free port. Default: none.
    #[arg(long, value_name = "ADDRESS:PORT")]
    socket: Option<SocketAddr>,

    /// A further origin whose pages may use the server, such as `https://example.org`, or * for
    /// all. May be given several times.
    #[arg(long = "origin", value_name = "ORIGIN", value_delimiter = ',', value_parser = origin)]
    origins: Vec<String>,

    /// How long messages are collected before they are sent to the participants, in milliseconds; 0
    /// sends at once.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: u64,

    #[command(flatten)]
    access: AccessArgs,

    /// A PEM file with certificates that are trusted at the addresses of --jwt-keys, --hook,
    /// --webhook and --acme-directory, beside those that the system trusts.
    #[arg(long, value_name = "FILE")]
    trusted_root: Option<PathBuf>,

    /// How long an empty room keeps its content if it is not stored, in seconds. Empty rooms
    /// without content are closed at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(0..=TEN_YEARS))]
    keep_empty: u64,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    yjs: YjsArgs,

    /// Do not compress messages: for debugging, for measurements, or if applications encrypt them.
    #[arg(long)]
    no_compression: bool,

    /// The codecs that channels may ask for, such as lz4,zstd; or all. Clients can make the server
    /// compress and decompress with any of them. Default: all but bzip2 and lzma.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = codec, conflicts_with = "no_compression")]
    codecs: Vec<String>,

    /// Let everybody set an emulated bad network for a room, for pages that ask for it (whiteboard:
    /// ?compare). For demonstrations, not for servers that people rely on.
    #[arg(long)]
    emulate: bool,

    #[command(flatten)]
    admin: AdminArgs,

    #[command(flatten)]
    webhook: WebhookArgs,

    #[command(flatten)]
    drain: DrainArgs,

    #[command(flatten)]
    upgrade: UpgradeArgs,

    #[command(flatten)]
    traces: TracesArgs,

    /// The folder in which rooms are stored, so that confirmed transactions survive crashes of the
    /// server and its machine. It is created if it is missing. Default: a room ends with the
    /// server.
    #[arg(long, value_name = "FOLDER", group = acme::FILES)]
    data: Option<PathBuf>,

    /// Which rooms are stored: a pattern of names and `memory`, `local` or, with
    /// --engine, `cluster`, such as 'game/*=memory'.
    /// If several match, the last one holds. May be given several times. Default with --data: all
    /// rooms are stored.
    #[arg(long = "durable", value_name = "PATTERN=MODE", requires = "data", value_delimiter = ',', value_parser = mode)]
    durable: Vec<String>,

    /// Delete stored rooms that nobody wrote to for a time, such as 'tmp/*=30d'. May be given
    /// several times.
    #[arg(long = "forget", value_name = "PATTERN=TIME", requires = "data", value_delimiter = ',')]
    forget: Vec<Forget>,

    /// The largest size of all stored rooms together, in MiB. At the limit, transactions wait.
    #[arg(long, value_name = "MIB", requires = "data", default_value_t = 10_240, value_parser = clap::value_parser!(u64).range(1..=MOST_MIB))]
    max_data: u64,

    #[command(flatten)]
    cluster: ClusterArgs,

    /// The folder for recordings that users of the inspector, on the administration listener, may
    /// start. A recording contains all messages of a room; `groupwire replay --trace` reads it.
    /// Default: no recordings.
    #[arg(long, value_name = "FOLDER")]
    record_dir: Option<PathBuf>,

    /// The least severe messages to log on standard error.
    #[arg(long, value_enum, default_value_t = Level::Info)]
    log: Level,

    /// The format of the log: text, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,
}

/// Runs the server until it is stopped. `warnings` about the configuration are logged as soon as
/// the log is open.
pub(crate) async fn run(args: Args, warnings: Vec<String>) -> Result<ExitCode, Box<dyn Error>> {
    start_log(args.log, args.log_format);
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let webtransport = args.webtransport();
    let name = args.tls.name();
    let origins = args.origins.iter().try_fold(Origins::own(), |all, origin| all.and(origin))?;
    let mut config = Config {
        listen: args.listen,
        certificate: args.tls.config(args.data.as_deref(), args.trusted_root.as_deref()),
        plain_listen: args.tls.plain_listen,
        socket: args.socket,
        origins,
        keep_empty: Duration::from_secs(args.keep_empty),
        emulate: args.emulate,
        admin: args.admin.config()?,
        drain: args.drain.config(),
        upgrade: args.upgrade.is_wanted(),
        before_takeover: Some(service::go_on),
        give_back_memory: heap::GIVE_BACK,
        traces: args.traces.traces()?,
        durable: args.durable()?,
        record_dir: args.record_dir,
        webhook: args.webhook.config(args.trusted_root.as_deref())?,
        webtransport,
        yjs: args.yjs.limits(args.limits.max_rooms),
        ..Config::default()
    };
    config.room.timing.tick = Duration::from_millis(args.tick);
    config.room.compress = !args.no_compression;
    args.limits.configure(&mut config);
    if !args.codecs.is_empty() {
        config.room.codecs = codecs_named(args.codecs.iter().map(String::as_str))?;
    }
    args.access.configure(args.trusted_root, &mut config).await?;
    let traces = config.traces.clone();
    // Signals are handled before the server waits for its engine, because the first process of a
    // container ends by no signal that it does not handle, and before it is reported as ready,
    // because it may be stopped at once then.
    let mut stop = Box::pin(first_stop_signal());
    config.cluster = tokio::select! {
        cluster = args.cluster.config() => cluster?,
        () = &mut stop => return Ok(ExitCode::SUCCESS),
    };
    let server =
        Server::bind(config).await.map_err(|error| format!("{error}{}", advice(&error)))?;
    announce(&server, name)?;
    service::ready();
    let stopping = async {
        stop.await;
        service::stopping();
    };
    server.run(stopping).await?;
    traces.close().await;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn durable(&self) -> Result<Option<DurableConfig>, ModesError> {
        let Some(folder) = &self.data else { return Ok(None) };
        let modes = Modes::parse(self.durable.iter().map(String::as_str))?;
        let options = Options { max_bytes: self.max_data << 20, ..Options::default() };
        let forget = self.forget.clone();
        Ok(Some(DurableConfig { modes, options, forget, ..DurableConfig::new(folder) }))
    }

    fn webtransport(&self) -> Option<WebTransportConfig> {
        let listen = self.webtransport;
        (!self.no_webtransport).then_some(WebTransportConfig { listen })
    }
}

fn origin(text: &str) -> Result<String, ServerError> {
    Origins::own().and(text).map(|_| text.to_owned())
}

fn codec(text: &str) -> Result<String, ServerError> {
    codecs_named([text]).map(|_| text.to_owned())
}

fn mode(text: &str) -> Result<String, ModesError> {
    Modes::parse([text]).map(|_| text.to_owned())
}

/// What the user can do about an error, as lines below it.
fn advice(error: &ServerError) -> &'static str {
    match error {
        ServerError::AddressInUse { .. } => {
            "\nIs another server running? --listen and --admin-listen choose other addresses."
        }
        ServerError::AdminToken { .. } => admin::ADVICE,
        ServerError::Certificate(error) => tls::advice(error),
        _ => "",
    }
}

/// Prints the address to open, that of the administration, and that for native programs. These are
/// the only lines on standard output. `name` is that in the certificate, if it is known.
fn announce(server: &Server, name: Option<AcmeDomain>) -> io::Result<()> {
    let address = server.local_addr();
    let scheme = if server.is_encrypted() { "https" } else { "http" };
    let host = match (name, address.ip()) {
        (Some(name), _) if address.port() == 443 => name.to_string(),
        (Some(name), _) => format!("{name}:{}", address.port()),
        (None, ip) if ip.is_unspecified() => format!("localhost:{}", address.port()),
        _ => address.to_string(),
    };
    let mut lines =
        format!("Groupwire is running. Open this in two windows: {scheme}://{host}/?room=demo\n");
    if let Some(url) = server.admin_url() {
        lines += &format!("The inspector, for you alone: {url}\n");
    }
    if let Some(address) = server.socket_addr() {
        lines += &format!("For native programs, over plain TCP: tcp://{address}\n");
    }
    // All lines are written at once, because a program that reads only the first one may close the
    // pipe then.
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()
}
