//! `groupwire tunnel`: two proxies that carry programs' connections packed and over TLS.

mod line;
mod record;
mod screen;
mod status;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use clap::{Args as ClapArgs, Subcommand};
use groupwire_tunnel::profile;
use groupwire_tunnel::{
    Codecs, Connect, ConnectConfig, DEFAULT_ROUTE, Fingerprint, Forward, Listen, ListenConfig,
    Options, Route, Trust, address_of, target_of,
};

use self::screen::{LogTo, Screen};
use self::status::StatusArgs;
use crate::process::{Format, Level, asked_to_stop, start_log};

/// Where the token is looked for, unless it is in a file.
const TOKEN: &str = "GROUPWIRE_TUNNEL_TOKEN";

/// The options of `groupwire tunnel`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, Subcommand)]
enum End {
    /// The end at the servers: takes connections of the other end, and makes those to programs.
    Listen(ListenArgs),
    /// The end at the clients: takes connections of programs, and makes those to the other end.
    Connect(ConnectArgs),
}

#[derive(Debug, ClapArgs)]
struct ListenArgs {
    /// Where the other end connects to. Other machines reach 0.0.0.0 or an address of a network.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address_of)]
    listen: SocketAddr,

    /// The program that connections go to if the other end names no route.
    #[arg(long, value_name = "HOST:PORT", value_parser = target_of, required_unless_present = "routes")]
    to: Option<String>,

    /// Never compress what goes --to the program: for what is secret and mixed with what others can choose.
    #[arg(long, requires = "to")]
    never: bool,

    /// A further program, by a name; with ,never nothing that goes there is ever compressed. May be given several times.
    #[arg(long = "route", value_name = "NAME=HOST:PORT[,never]")]
    routes: Vec<Route>,

    /// A PEM file with a certificate and its key. If there is none, a certificate is made and kept there. Default:
    /// groupwire/tunnel.pem in $XDG_DATA_HOME or ~/.local/share.
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

    /// Where programs connect to. A port alone is open on this machine only.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address_of, required_unless_present = "forwards")]
    listen: Option<SocketAddr>,

    /// Never compress what comes in by --listen.
    #[arg(long, requires = "listen")]
    never: bool,

    /// Where programs connect to, and the route by which it goes; with ,never nothing of it is ever compressed. May be
    /// given several times.
    #[arg(long = "forward", value_name = "[ADDRESS:]PORT=NAME[,never]")]
    forwards: Vec<Forward>,

    /// The fingerprint of the other end's certificate, which it prints when it starts.
    #[arg(long, value_name = "HEX", required_unless_present_any = ["ca", "insecure_plain"], conflicts_with = "ca")]
    fingerprint: Option<Fingerprint>,

    /// Certificates of authorities, PEM, one of which has to stand behind the other end's certificate.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// The name that the certificate has to be for. Default: the host of --server.
    #[arg(long, value_name = "NAME", requires = "ca")]
    name: Option<String>,

    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, ClapArgs)]
struct CommonArgs {
    /// A file with the secret that both ends share, so that not everybody can use the tunnel. Default: the environment's
    /// GROUPWIRE_TUNNEL_TOKEN.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// No TLS, for tests and measurements on this machine: whoever sees the connection reads and changes it.
    #[arg(long)]
    insecure_plain: bool,

    /// How codecs are chosen for what this end sends: adaptive, never, ace-2005 (after groupwire ace profile), or always
    /// one codec, such as lz4 or zstd-3+history.
    #[arg(long, value_name = "POLICY", default_value = "adaptive")]
    policy: String,

    /// Connections at the same time; further ones are reset. Default: 4096, or as many as the system allows.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,

    /// When asked to stop: how long to wait for open connections, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    drain: u64,

    #[command(flatten)]
    status: StatusArgs,

    /// How much to log on standard error.
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log: Level,

    /// How to log: for people, or one JSON object per line.
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
    let ListenArgs { listen, to, never, mut routes, identity, common } = args;
    let screen = common.start();
    routes.extend(to.map(|target| Route { name: DEFAULT_ROUTE.to_owned(), target, never }));
    let identity = match (common.insecure_plain, identity.or_else(default_identity)) {
        (true, _) => None,
        (false, Some(path)) => Some(path),
        (false, None) => {
            return Err("there is no home to keep the certificate in: --identity".into());
        }
    };
    let (token, options) = (common.token()?, common.options()?);
    let config = ListenConfig { listen, routes: routes.clone(), token, identity, options };
    let end = Listen::bind(config)?;
    screen.say(&format!("Listening on {}", end.local_addr()))?;
    for route in routes {
        screen.say(&format!("  {} to {}{}", route.name, route.target, unpacked(route.never)))?;
    }
    match end.fingerprint() {
        Some(fingerprint) => {
            screen.say(&format!("At the other end: --fingerprint {fingerprint}"))?
        }
        None => screen.say("Without TLS: for tests and measurements on this machine")?,
    }
    let status = common.status.start(end.connections(), screen)?;
    end.run(asked_to_stop()).await;
    status.stop();
    Ok(())
}

async fn connect(args: ConnectArgs) -> Result<(), Box<dyn Error>> {
    let ConnectArgs { server, listen, never, mut forwards, fingerprint, ca, name, common } = args;
    let screen = common.start();
    forwards.extend(listen.map(|listen| Forward {
        listen,
        route: DEFAULT_ROUTE.to_owned(),
        never,
    }));
    let host = server.rsplit_once(':').map_or(server.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let trust = match (fingerprint, ca) {
        _ if common.insecure_plain => None,
        (Some(fingerprint), _) => Some(Trust::Pinned(fingerprint)),
        (None, Some(file)) => Some(Trust::Authority { file, name: name.unwrap_or(host) }),
        (None, None) => return Err("say how the other end is known: --fingerprint or --ca".into()),
    };
    let (token, options) = (common.token()?, common.options()?);
    let end =
        Connect::bind(ConnectConfig { forwards, server: server.clone(), token, trust, options })?;
    for Forward { listen, route, never } in end.forwards() {
        screen.say(&format!("{listen} to {route} at {server}{}", unpacked(*never)))?;
    }
    let status = common.status.start(end.connections(), screen)?;
    end.run(asked_to_stop()).await;
    status.stop();
    Ok(())
}

fn unpacked(never: bool) -> &'static str {
    if never { ", never compressed" } else { "" }
}

/// Beside the profile of this machine.
fn default_identity() -> Option<PathBuf> {
    profile::default_path().map(|profile| profile.with_file_name("tunnel.pem"))
}

impl CommonArgs {
    fn start(&self) -> Arc<Screen> {
        let screen = Arc::new(Screen::new());
        start_log(self.log, self.log_format, LogTo(Arc::clone(&screen)));
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
        options.codecs = match self.policy.as_str() {
            "ace-2005" => {
                let path =
                    profile::default_path().ok_or("there is no home to find a profile in")?;
                let training = profile::load(&path)
                    .map_err(|error| format!("{error}\nRun groupwire ace profile first."))?;
                Codecs::Ace2005(training)
            }
            name => name.parse().map_err(|error| format!("--policy {name}: {error}"))?,
        };
        options.max_connections = self.max_connections.map(|count| count as usize);
        options.drain = Duration::from_secs(self.drain);
        Ok(options)
    }
}

impl Screen {
    /// Says something at the start.
    fn say(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        out.flush()
    }
}
