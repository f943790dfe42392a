//! `groupwire agent`: an MCP server by which an AI agent joins rooms as a visible participant.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args as ClapArgs;
use groupwire_agent::{Agent, Config, HttpConfig, HttpListener, Limits, TokenSource, serve_stdio};
use groupwire_client::Trust;
use groupwire_server::random_secret;
use groupwire_server::store::create_private;
use groupwire_tunnel::address_of;

use crate::log::{Format, Level, start_log};
use crate::process::stop_signal;

/// The options of `groupwire agent`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example, as a program that an MCP host starts:
  groupwire agent --server wss://example.com --token-file token.txt --room plan --name \"Tidy bot\"")]
pub(crate) struct Args {
    /// The URL of the server: ws://host:port for WebSocket, wss://host:port for WebSocket over TLS,
    /// https://host:port for WebTransport, tcp://host:port for its TCP port.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:8080")]
    server: String,

    /// How the server is authenticated over https:// and wss://: by the system's root certificates
    /// ("roots") or those in a PEM file ("roots:FILE"), over https:// by a hash that is requested
    /// over plain HTTP at the same port ("ask", for trusted networks only), or by hashes of
    /// certificates, separated by commas. Default: ask on this machine, otherwise roots.
    #[arg(long, value_name = "HOW")]
    trust: Option<Trust>,

    /// A file with the token that the server requires. It is read again when the server wants
    /// another token.
    #[arg(long, value_name = "FILE", conflicts_with = "token_command")]
    token_file: Option<PathBuf>,

    /// A program that prints the token, with arguments separated by spaces; no shell is used. It is
    /// run again when the server wants another token.
    #[arg(long, value_name = "COMMAND")]
    token_command: Option<String>,

    /// A room that the agent may join. May be given several times.
    #[arg(long = "room", value_name = "NAME", required_unless_present = "any_room")]
    rooms: Vec<String>,

    /// The agent may join every room that its token permits.
    #[arg(long)]
    any_room: bool,

    /// The channel of shared data: the name that the application gives it.
    #[arg(long, value_name = "NAME", default_value = "shared", conflicts_with = "no_shared")]
    shared: String,

    /// Do not open shared data.
    #[arg(long)]
    no_shared: bool,

    /// The name of the agent, which everybody in its rooms sees.
    #[arg(long, value_name = "NAME")]
    name: String,

    /// Serve MCP by streamable HTTP at this address, path /mcp, instead of standard input and
    /// output. A port alone is open on this machine only.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address_of, requires = "secret_file")]
    listen: Option<SocketAddr>,

    /// The file with the secret that MCP hosts send to the listener as a bearer token. It is
    /// created with a random secret if it is missing.
    #[arg(long, value_name = "FILE", requires = "listen")]
    secret_file: Option<PathBuf>,

    /// A name under which MCP hosts address the listener, besides localhost, 127.0.0.1 and ::1. May
    /// be given several times.
    #[arg(long = "allow-host", value_name = "HOST[:PORT]", requires = "listen")]
    hosts: Vec<String>,

    /// The origin of web pages that may use the listener, such as `https://host.example:443`. May
    /// be given several times. Default: no web page may.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,

    /// The limit of rooms that the agent is in at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    max_rooms: u16,

    /// The limit of changes per second that the agent makes over a longer time: messages, presence,
    /// shared data. After a pause it may make four times as many at once.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_changes: u32,

    /// The least severe messages to log on standard error.
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log: Level,

    /// The format of the log: text, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,
}

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    // Standard output carries the messages of MCP.
    start_log(args.log, args.log_format);
    let agent = Agent::new(args.config())?;
    let outcome = match args.listen.zip(args.secret_file) {
        None => serve_stdio(agent.clone(), stop_signal()).await,
        Some((listen, file)) => {
            let secret = secret(&file)?;
            let config = HttpConfig { listen, secret, hosts: args.hosts, origins: args.origins };
            let listener = HttpListener::bind(agent.clone(), config).await?;
            eprintln!("Listening on http://{}/mcp", listener.local_addr()?);
            listener.run(stop_signal()).await
        }
    };
    agent.leave_all().await;
    if let Err(error) = &outcome {
        eprintln!("groupwire: {error}");
    }
    // A thread may still read standard input, which nothing can interrupt, and tokio would wait for
    // it.
    std::process::exit(i32::from(outcome.is_err()));
}

impl Args {
    fn config(&self) -> Config {
        let mut config = Config::new(&self.server, &self.name, &self.rooms);
        config.trust = self.trust.clone().unwrap_or_default();
        config.any_room = self.any_room;
        config.shared = (!self.no_shared).then(|| self.shared.clone());
        config.token = match (&self.token_file, &self.token_command) {
            (Some(file), _) => TokenSource::File(file.clone()),
            (None, Some(command)) => {
                TokenSource::Command(command.split_whitespace().map(str::to_owned).collect())
            }
            (None, None) => TokenSource::None,
        };
        config.limits = Limits {
            rooms: self.max_rooms.into(),
            changes_per_second: self.max_changes,
            burst: self.max_changes * 4,
            ..Limits::default()
        };
        config
    }
}

/// The secret in a file, which is created if it is missing.
fn secret(file: &Path) -> Result<String, Box<dyn Error>> {
    let cannot = |error: io::Error| format!("{}: {error}", file.display());
    if !file.exists() {
        let bytes: [u8; 32] = random_secret();
        let mut out = create_private(file).map_err(cannot)?;
        writeln!(out, "{}", URL_SAFE_NO_PAD.encode(bytes)).map_err(cannot)?;
        eprintln!("{} holds a new secret for MCP hosts", file.display());
    }
    Ok(fs::read_to_string(file).map_err(cannot)?.trim().to_owned())
}
