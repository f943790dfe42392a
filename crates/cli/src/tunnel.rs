//! `groupwire tunnel`: two proxies that carry the connections of programs compressed and over TLS.

mod line;
mod record;
mod screen;
mod status;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use clap::{Args as ClapArgs, Subcommand};
use groupwire_server::store::create_private_folder;
use groupwire_tunnel::{
    Allow, Connect, ConnectConfig, DEFAULT_ROUTE, Destination, Fingerprint, Forward, Listen,
    ListenConfig, Options, Route, Trust, address_of, target_of,
};

use self::screen::{LogTo, Screen};
use self::status::StatusArgs;
use crate::log::{Format, Level, start_log_on};
use crate::process::stop_signal;

/// The environment variable with the token, used without --token-file.
const TOKEN: &str = "GROUPWIRE_TUNNEL_TOKEN";

/// The options of `groupwire tunnel`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, Subcommand)]
enum End {
    /// The end at the servers: accepts connections of the other end and connects to programs.
    Listen(ListenArgs),
    /// The end at the clients: accepts connections of programs and connects to the other end.
    Connect(ConnectArgs),
}

#[derive(Debug, ClapArgs)]
struct ListenArgs {
    /// The address to listen on. A port alone is open on this machine only; 0.0.0.0:PORT is open to
    /// other machines.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address_of)]
    listen: SocketAddr,

    /// The program that connections of the route "default" go to.
    #[arg(long, value_name = "HOST:PORT", value_parser = target_of, required_unless_present_any = ["routes", "allow"])]
    to: Option<String>,

    /// Never compress the connections to the program of --to: for connections that carry secrets
    /// beside text that others can choose.
    #[arg(long, requires = "to")]
    never: bool,

    /// A further program, with the name of its route; ,never forbids compression of its
    /// connections. May be given several times.
    #[arg(long = "route", value_name = "NAME=HOST:PORT[,never]")]
    routes: Vec<Route>,

    /// Targets that programs at the other end may choose (--socks, --redirect): a name, *.NAME, an
    /// address, a network such as 10.0.0.0/8, or * for all but this machine's own addresses, with a
    /// port, a range or *; ,never forbids compression. May be given several times. Without it they
    /// may choose the targets of --to and --route only.
    #[arg(long = "allow", value_name = "HOST:PORTS[,never]")]
    allow: Vec<Allow>,

    /// A PEM file with a certificate and its key. If it does not exist, it is created with a new
    /// certificate. Default: groupwire/tunnel.pem in $XDG_DATA_HOME or ~/.local/share.
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, ClapArgs)]
struct ConnectArgs {
    /// The host and port of the listening end.
    #[arg(long, value_name = "HOST:PORT", value_parser = target_of)]
    server: String,

    /// The address that programs connect to. A port alone is open on this machine only.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address_of, required_unless_present_any = ["forwards", "socks", "redirect"])]
    listen: Option<SocketAddr>,

    /// Never compress connections to --listen.
    #[arg(long, requires = "listen")]
    never: bool,

    /// An address that programs connect to and the route that their connections take; ,never
    /// forbids compression. May be given several times.
    #[arg(long = "forward", value_name = "[ADDRESS:]PORT=NAME[,never]")]
    forwards: Vec<Forward>,

    /// An address for programs that choose their targets by SOCKS 5; the other end permits targets
    /// (--allow). A port alone is open on this machine only; nobody has to authenticate. ,never
    /// forbids compression. May be given several times.
    #[arg(long, value_name = "[ADDRESS:]PORT[,never]", value_parser = |text: &str| Forward::choosing(text, Destination::Socks))]
    socks: Vec<Forward>,

    /// An address to which the firewall redirects connections of programs that know nothing of the
    /// tunnel, on Linux; the other end permits targets (--allow). ,never forbids compression. May
    /// be given several times.
    #[arg(long, value_name = "[ADDRESS:]PORT[,never]", value_parser = |text: &str| Forward::choosing(text, Destination::Redirect))]
    redirect: Vec<Forward>,

    /// The fingerprint of the listening end's certificate, which it prints when it starts.
    #[arg(long, value_name = "HEX", required_unless_present_any = ["ca", "insecure_plain"], conflicts_with = "ca")]
    fingerprint: Option<Fingerprint>,

    /// A PEM file of certificate authorities, one of which has issued the listening end's
    /// certificate.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// The name that the certificate must contain. Default: the host of --server.
    #[arg(long, value_name = "NAME", requires = "ca")]
    name: Option<String>,

    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, ClapArgs)]
struct CommonArgs {
    /// A file with the secret that both ends share, without which nobody can use the tunnel.
    /// Default: the environment variable GROUPWIRE_TUNNEL_TOKEN.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Use no TLS, for tests and measurements on this machine: anyone on the network path could
    /// read and change the bytes.
    #[arg(long)]
    insecure_plain: bool,

    /// How codecs are chosen for the bytes that this end sends: adaptive, never, or one
    /// codec for all, such as lz4 or zstd-3+history.
    #[arg(long, value_name = "POLICY", default_value = "adaptive")]
    policy: String,

    /// The limit of simultaneous connections; further ones are reset. Default: 4096, or as many as
    /// the system allows.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,

    /// How long to wait for open connections when the tunnel is stopped, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    drain: u64,

    #[command(flatten)]
    status: StatusArgs,

    /// The least severe messages to log on standard error.
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log: Level,

    /// The format of the log: text, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,
}

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    match args.end {
        End::Listen(args) => listen(args).await,
        End::Connect(args) => connect(args).await,
    }
    .map(|()| ExitCode::SUCCESS)
}

async fn listen(args: ListenArgs) -> Result<(), Box<dyn Error>> {
    let ListenArgs { listen, to, never, mut routes, allow, identity, common } = args;
    let screen = common.start();
    routes.extend(to.map(|target| Route { name: DEFAULT_ROUTE.to_owned(), target, never }));
    let identity = match (common.insecure_plain, identity.or_else(default_identity)) {
        (true, _) => None,
        (false, Some(path)) => Some(path),
        (false, None) => {
            return Err("there is no home directory to keep the certificate in: name a file with --identity FILE".into());
        }
    };
    if let Some(folder) = identity.as_ref().and_then(|file| file.parent()) {
        // If the folder cannot be made, the tunnel reports the error.
        let _ = create_private_folder(folder);
    }
    let (token, options) = (common.token()?, common.options()?);
    let config = ListenConfig {
        listen,
        routes: routes.clone(),
        allow: allow.clone(),
        token,
        identity,
        options,
    };
    let end = Listen::bind(config)?;
    screen.print(&format!("Listening on {}", end.local_addr()))?;
    for route in routes {
        screen.print(&format!(
            "  {} to {}{}",
            route.name,
            route.target,
            compression_note(route.never)
        ))?;
    }
    for rule in allow {
        screen.print(&format!("  programs may choose {rule}"))?;
    }
    match end.fingerprint() {
        Some(fingerprint) => {
            screen.print(&format!("At the other end: --fingerprint {fingerprint}"))?
        }
        None => screen.print("Without TLS: for tests and measurements on this machine")?,
    }
    let status = common.status.start(end.connections(), screen)?;
    end.run(stop_signal()).await;
    status.stop();
    Ok(())
}

async fn connect(args: ConnectArgs) -> Result<(), Box<dyn Error>> {
    let ConnectArgs { server, listen, never, mut forwards, fingerprint, ca, name, common, .. } =
        args;
    let screen = common.start();
    let default = || Destination::Route(DEFAULT_ROUTE.to_owned());
    forwards.extend(listen.map(|listen| Forward { listen, to: default(), never }));
    forwards.extend(args.socks.into_iter().chain(args.redirect));
    let host = server.rsplit_once(':').map_or(server.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let trust = match (fingerprint, ca) {
        _ if common.insecure_plain => None,
        (Some(fingerprint), _) => Some(Trust::Pinned(fingerprint)),
        (None, Some(file)) => Some(Trust::Authority { file, name: name.unwrap_or(host) }),
        (None, None) => {
            return Err("the listening end must be authenticated: use --fingerprint or --ca".into());
        }
    };
    let (token, options) = (common.token()?, common.options()?);
    let end =
        Connect::bind(ConnectConfig { forwards, server: server.clone(), token, trust, options })?;
    for Forward { listen, to, never } in end.forwards() {
        let what = match to {
            Destination::Route(route) => format!("to {route} at {server}"),
            Destination::Socks => format!("by SOCKS 5 through {server}"),
            _ => format!("for redirected connections through {server}"),
        };
        screen.print(&format!("{listen} {what}{}", compression_note(*never)))?;
    }
    let status = common.status.start(end.connections(), screen)?;
    end.run(stop_signal()).await;
    status.stop();
    Ok(())
}

fn compression_note(never: bool) -> &'static str {
    if never { ", never compressed" } else { "" }
}

/// The default file of the certificate: `groupwire/tunnel.pem` in `$XDG_DATA_HOME`, or in
/// `~/.local/share`. `None` if neither `XDG_DATA_HOME` nor `HOME` is an absolute path.
fn default_identity() -> Option<PathBuf> {
    identity_below(env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

fn identity_below(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification says to ignore paths that are not absolute.
    let data = data.map(PathBuf::from).filter(|data| data.is_absolute());
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute());
    let data = data.or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("groupwire/tunnel.pem"))
}

impl CommonArgs {
    fn start(&self) -> Arc<Screen> {
        let screen = Arc::new(Screen::new(self.log_format));
        start_log_on(self.log, self.log_format, LogTo(Arc::clone(&screen)));
        screen
    }

    fn token(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let token = match &self.token_file {
            Some(path) => fs::read_to_string(path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?,
            None => env::var(TOKEN).unwrap_or_default(),
        };
        let token = token.trim();
        match (&self.token_file, token) {
            (Some(path), "") => Err(format!("{} holds no token", path.display()).into()),
            _ => Ok(token.as_bytes().to_vec()),
        }
    }

    fn options(&self) -> Result<Options, Box<dyn Error>> {
        let mut options = Options::default();
        let policy = &self.policy;
        options.codecs = policy.parse().map_err(|error| format!("--policy {policy}: {error}"))?;
        options.max_connections = self.max_connections.map(|count| count as usize);
        options.drain = Duration::from_secs(self.drain);
        Ok(options)
    }
}

impl Screen {
    /// Prints a line before the table is drawn.
    fn print(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_file_follows_the_xdg_specification() {
        let file = |data: Option<&str>, home: Option<&str>| {
            let file = identity_below(data.map(OsString::from), home.map(OsString::from))?;
            file.to_str().map(str::to_owned)
        };
        let (data, home) = (Some("/data"), Some("/home/ada"));
        assert_eq!(file(data, home).as_deref(), Some("/data/groupwire/tunnel.pem"));
        let at_home = "/home/ada/.local/share/groupwire/tunnel.pem";
        assert_eq!(file(None, home).as_deref(), Some(at_home));
        assert_eq!(file(Some("data"), home).as_deref(), Some(at_home));
        assert_eq!(file(None, None), None);
    }
}
