//! `groupwire serve`: the server in one process, without other services.

mod admin;
mod drain;
mod upgrade;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_server::store::{Forget, Options};
use groupwire_server::{
    Admission, Answer, Authenticator, ByRights, Certificate, CertificateConfig, CertificateError,
    Config, DurableConfig, Error as ServerError, HookAuthenticator, HookConfig, JoinRequest,
    JwtAuthenticator, JwtConfig, KeySource, Modes, ModesError, Origins, Refusal, Server,
    WebTransportConfig, codecs_named, is_same_secret,
};

use self::admin::AdminArgs;
use self::drain::DrainArgs;
use self::upgrade::UpgradeArgs;
use crate::process::{Format, Level, first_stop_signal, start_log};

/// The options of `groupwire serve`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The address to listen on. 0.0.0.0:8080 is open to other machines; port 0 is any free port.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8080",
        env = "GROUPWIRE_LISTEN"
    )]
    listen: SocketAddr,

    /// Do not offer WebTransport.
    #[arg(long, conflicts_with = "webtransport")]
    no_webtransport: bool,

    /// The UDP address to listen on for WebTransport. Default: the address and port number of --listen.
    #[arg(long, value_name = "ADDRESS:PORT", env = "GROUPWIRE_WEBTRANSPORT")]
    webtransport: Option<SocketAddr>,

    /// A PEM file with the server's certificate and its intermediate certificates, read again when it changes. With it
    /// --listen is HTTPS (HTTP/2 and HTTP/1.1, WebSocket over TLS), and WebTransport uses it. Default: --listen is plain
    /// HTTP, and the server makes a certificate for WebTransport, which clients pin.
    #[arg(long, value_name = "FILE", requires = "key", env = "GROUPWIRE_CERT")]
    cert: Option<PathBuf>,

    /// A PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", requires = "cert", env = "GROUPWIRE_KEY")]
    key: Option<PathBuf>,

    /// A further address of plain HTTP beside HTTPS, for a reverse proxy or a health check on this machine. Default: none.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "cert", env = "GROUPWIRE_PLAIN_LISTEN")]
    plain_listen: Option<SocketAddr>,

    /// The address to listen on for native programs that send packets over plain TCP. Default: none.
    #[arg(long, value_name = "ADDRESS:PORT", env = "GROUPWIRE_SOCKET")]
    socket: Option<SocketAddr>,

    /// A further origin whose pages may use the server, such as `https://example.org`, or * for all. May be given several
    /// times.
    #[arg(
        long = "origin",
        value_name = "ORIGIN",
        env = "GROUPWIRE_ORIGINS",
        value_delimiter = ','
    )]
    origins: Vec<String>,

    /// How long messages are collected before they are sent to the participants, in milliseconds; 0 sends at once.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: u64,

    /// The token that clients must present to join. Default: everybody may join.
    #[arg(long, value_name = "SECRET", env = "GROUPWIRE_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Let in clients with a JSON web token that one of these keys signed: a file with a set of keys (JWKS) or a public key in PEM,
    /// or an https:// address of a set of keys. `groupwire token` makes keys and tokens for trying.
    #[arg(
        long,
        value_name = "FILE|ADDRESS",
        conflicts_with = "token",
        requires_all = ["jwt_issuer", "jwt_audience"],
        env = "GROUPWIRE_JWT_KEYS"
    )]
    jwt_keys: Option<String>,

    /// The `iss` that tokens must have.
    #[arg(long, value_name = "NAME", requires = "jwt_keys", env = "GROUPWIRE_JWT_ISSUER")]
    jwt_issuer: Option<String>,

    /// The `aud` that tokens must have.
    #[arg(long, value_name = "NAME", requires = "jwt_keys", env = "GROUPWIRE_JWT_AUDIENCE")]
    jwt_audience: Option<String>,

    /// A PEM file with a certificate that is trusted at the address of --jwt-keys, beside those that the system trusts.
    #[arg(long, value_name = "FILE", requires = "jwt_keys", env = "GROUPWIRE_JWT_ROOT")]
    jwt_root: Option<PathBuf>,

    /// Ask this address who a client is and whether it may join: https://, or http:// on this machine. docs/operations.md has
    /// what is asked and answered.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["token", "jwt_keys"], env = "GROUPWIRE_HOOK")]
    hook: Option<String>,

    /// A file with the secret that the address of --hook is sent as `Authorization: Bearer`.
    #[arg(long, value_name = "FILE", requires = "hook", env = "GROUPWIRE_HOOK_SECRET_FILE")]
    hook_secret_file: Option<PathBuf>,

    /// How long an answer of --hook that lets a client in holds for the same token and room, in seconds.
    #[arg(long, value_name = "SECONDS", requires = "hook", default_value_t = 30)]
    hook_keep: u64,

    /// A PEM file with a certificate that is trusted at the address of --hook, beside those that the system trusts.
    #[arg(long, value_name = "FILE", requires = "hook", env = "GROUPWIRE_HOOK_ROOT")]
    hook_root: Option<PathBuf>,

    /// How long an empty room keeps its content, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    keep_empty: u64,

    /// The limit of rooms.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    max_rooms: usize,

    /// The limit of simultaneous connections.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    max_connections: usize,

    /// Do not compress messages: for debugging, for measurements, or if applications encrypt them.
    #[arg(long)]
    no_compression: bool,

    /// The codecs that channels may ask for, such as lz4,zstd; or all. Clients can make the server compress and decompress
    /// with any of them. Default: all but bzip2 and lzma.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "no_compression",
        env = "GROUPWIRE_CODECS"
    )]
    codecs: Vec<String>,

    /// Let everybody set an emulated bad network for a room, which pages may ask for (whiteboard: ?compare): for
    /// demonstrations, not for servers that people rely on.
    #[arg(long)]
    emulate: bool,

    #[command(flatten)]
    admin: AdminArgs,

    #[command(flatten)]
    drain: DrainArgs,

    #[command(flatten)]
    upgrade: UpgradeArgs,

    /// The folder in which rooms are stored, so that confirmed transactions survive the server and its machine. It is made if
    /// it is missing. Default: a room ends with the server.
    #[arg(long, value_name = "FOLDER", env = "GROUPWIRE_DATA")]
    data: Option<PathBuf>,

    /// Which rooms are stored: a pattern of names and `local` or `memory`, such as 'game/*=memory'. Of several that match, the
    /// last one holds. May be given several times. Default with --data: all rooms are.
    #[arg(long = "durable", value_name = "PATTERN=MODE", requires = "data")]
    durable: Vec<String>,

    /// Delete stored rooms that nobody wrote to for a time, such as 'tmp/*=30d'. May be given several times.
    #[arg(long = "forget", value_name = "PATTERN=TIME", requires = "data")]
    forget: Vec<Forget>,

    /// The largest size of all stored rooms together, in MiB. At the limit, transactions wait.
    #[arg(long, value_name = "MIB", requires = "data", default_value_t = 10_240)]
    max_data: u64,

    /// The folder for recordings that users of the inspector, on the administration listener, may start. They contain all messages of a room; `groupwire
    /// replay --trace` reads them. Default: no recordings.
    #[arg(long, value_name = "FOLDER", env = "GROUPWIRE_RECORD_DIR")]
    record_dir: Option<PathBuf>,

    /// The least severe messages to log on standard error.
    #[arg(long, value_enum, default_value_t = Level::Info)]
    log: Level,

    /// The format of the log: text, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,
}

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    start_log(args.log, args.log_format, io::stderr);
    let (certificate, webtransport) = (args.certificate(), args.webtransport());
    let jwt = args.jwt();
    let hook = args.hook()?;
    let origins = args.origins.iter().try_fold(Origins::own(), |all, origin| all.and(origin))?;
    let mut config = Config {
        listen: args.listen,
        certificate,
        plain_listen: args.plain_listen,
        socket: args.socket,
        origins,
        keep_empty: Duration::from_secs(args.keep_empty),
        max_rooms: args.max_rooms,
        max_connections: args.max_connections,
        emulate: args.emulate,
        admin: args.admin.config()?,
        drain: args.drain.config(),
        upgrade: args.upgrade.is_wanted(),
        durable: args.durable()?,
        record_dir: args.record_dir,
        webtransport,
        ..Config::default()
    };
    config.room.timing.tick = Duration::from_millis(args.tick);
    config.room.compress = !args.no_compression;
    if !args.codecs.is_empty() {
        config.room.codecs = codecs_named(args.codecs.iter().map(String::as_str))?;
    }
    if let Some(token) = args.token {
        config.authenticator = Arc::new(OneToken(token.into_bytes()));
    }
    if let Some(jwt) = jwt {
        let keys = JwtAuthenticator::open(jwt).await.map_err(|why| format!("--jwt-keys: {why}"))?;
        config.authenticator = Arc::new(keys);
        config.authority = Arc::new(ByRights);
    }
    if let Some(hook) = hook {
        let hook = HookAuthenticator::new(hook).map_err(|why| format!("--hook: {why}"))?;
        config.authenticator = Arc::new(hook);
        config.authority = Arc::new(ByRights);
    }
    let server =
        Server::bind(config).await.map_err(|error| format!("{error}{}", advice(&error)))?;
    announce(&server)?;
    server.run(first_stop_signal()).await?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn jwt(&self) -> Option<JwtConfig> {
        let (Some(keys), Some(issuer), Some(audience)) =
            (&self.jwt_keys, &self.jwt_issuer, &self.jwt_audience)
        else {
            return None;
        };
        let keys = match keys.contains("://") {
            true => KeySource::Address(keys.clone()),
            false => KeySource::File(keys.into()),
        };
        let (issuer, audience) = (issuer.clone(), audience.clone());
        Some(JwtConfig { keys, issuer, audience, root: self.jwt_root.clone() })
    }

    fn hook(&self) -> Result<Option<HookConfig>, String> {
        let Some(address) = self.hook.clone() else { return Ok(None) };
        let secret = match &self.hook_secret_file {
            Some(file) => {
                let read = std::fs::read_to_string(file)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                Some(read.trim_end().to_owned())
            }
            None => None,
        };
        let (keep, root) = (Duration::from_secs(self.hook_keep), self.hook_root.clone());
        Ok(Some(HookConfig { address, secret, keep, root }))
    }

    fn durable(&self) -> Result<Option<DurableConfig>, ModesError> {
        let Some(folder) = &self.data else { return Ok(None) };
        let modes = Modes::parse(self.durable.iter().map(String::as_str))?;
        let options = Options { max_bytes: self.max_data << 20, ..Options::default() };
        let forget = self.forget.clone();
        Ok(Some(DurableConfig { modes, options, forget, ..DurableConfig::new(folder) }))
    }

    fn certificate(&self) -> CertificateConfig {
        let source = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Certificate::Files { cert: cert.clone(), key: key.clone() },
            _ => Certificate::Own,
        };
        CertificateConfig { source, ..CertificateConfig::default() }
    }

    fn webtransport(&self) -> Option<WebTransportConfig> {
        let listen = self.webtransport;
        (!self.no_webtransport).then_some(WebTransportConfig { listen })
    }
}

/// What the user can do about an error, as lines below it.
fn advice(error: &ServerError) -> &'static str {
    match error {
        ServerError::AddressInUse { .. } => {
            "\nIs another server running? --listen and --admin-listen choose other addresses."
        }
        ServerError::AdminToken { .. } => admin::ADVICE,
        ServerError::Certificate(
            CertificateError::OtherKey { .. } | CertificateError::Unusable { .. },
        ) => {
            "\n--cert and --key must name a certificate and its own private key. Without both options the \
             server uses plain HTTP."
        }
        ServerError::Certificate(_) => {
            "\n--cert and --key must name two PEM files that this user may read: the certificate, and its \
             private key. Without both options the server uses plain HTTP."
        }
        _ => "",
    }
}

/// Prints the address to open, and that of the administration. These are the only lines on standard output.
fn announce(server: &Server) -> io::Result<()> {
    let address = server.local_addr();
    let scheme = if server.is_encrypted() { "https" } else { "http" };
    let host = match address.ip() {
        ip if ip.is_unspecified() => format!("localhost:{}", address.port()),
        _ => address.to_string(),
    };
    let mut lines =
        format!("Groupwire is running. Open this in two windows: {scheme}://{host}/?room=demo\n");
    if let Some(url) = server.admin_url() {
        lines += &format!("The inspector, for you alone: {url}\n");
    }
    // At once, because a program that reads the first line may close the pipe then.
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()
}

/// Lets in clients with one token.
struct OneToken(Vec<u8>);

impl Authenticator for OneToken {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        let answer = match is_same_secret(request.token, &self.0) {
            true => Ok(Admission::default()),
            false => {
                let why = "the token is not the one this server was started with";
                Err(Refusal::Refused(why.to_owned()))
            }
        };
        Box::pin(std::future::ready(answer))
    }
}
