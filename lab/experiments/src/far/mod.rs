//! Two machines: the agent of the far one (`groupwire-lab far`), and the near side, which
//! experiments reach it by (`--far`). lab/far.md says how to use them.
//!
//! What the two say to each other goes through a tunnel of the product, which brings TLS with a
//! pinned certificate and a token that is compared in constant time. Only the packets that are
//! measured go beside it, over sockets of their own.

mod agent;
mod near;
mod protocol;
mod sockets;

pub(crate) use near::{Access, Near};
pub(crate) use protocol::{MAX_PACKET, Relay, Serve};
pub(crate) use sockets::Opened;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use groupwire_tunnel::{Codecs, Listen, ListenConfig, Options as TunnelOptions, Route};
use tokio::runtime::Runtime;

use crate::Result;
use crate::options::Program;
use agent::Agent;

/// The fewest bytes of a token: 16 random ones cannot be guessed.
const SHORTEST_TOKEN: usize = 16;
/// The most connections of the tunnel at a time: some experiments run a scheme on each.
const CONNECTIONS: usize = 16;
/// The routes of the tunnel.
const CONTROL: &str = "control";
const SINK: &str = "sink";

/// The options of `groupwire-lab far`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The address to listen on, such as 0.0.0.0:7000.
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,

    /// The file with the secret that the near machine has to show, of at least 16 bytes.
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,

    /// The file with the certificate and its key, which is made if it is not there.
    #[arg(long, value_name = "FILE", default_value = "groupwire-far.pem")]
    certificate: PathBuf,

    /// The first of 16 ports for measured packets, over UDP and TCP. Default: any free ones.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..=65_520))]
    data: Option<u16>,

    /// Also run the servers of the experiment web while it is measured. They ask for no token.
    #[arg(long)]
    web: bool,

    #[command(flatten)]
    program: Program,

    /// The most seconds that a measurement may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u64).range(1..=36_000))]
    longest: u64,
}

/// Serves the near machine until the process is ended.
///
/// # Errors
/// A token that is missing or short, an address or a file that cannot be used.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let token = read_token(&options.token_file)?;
    let agent = Agent::start(options, &token)?;
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let mut tunnel = TunnelOptions::default();
        (tunnel.codecs, tunnel.max_connections) = (Codecs::Never, Some(CONNECTIONS));
        let route = |name: &str, target: SocketAddr| Route {
            name: name.to_owned(),
            target: target.to_string(),
            never: false,
        };
        let listen = Listen::bind(ListenConfig {
            listen: options.listen,
            allow: Vec::new(),
            routes: vec![route(CONTROL, agent.control), route(SINK, agent.sink)],
            token,
            identity: Some(options.certificate.clone()),
            options: tunnel,
        })?;
        let fingerprint = listen.fingerprint().map(|one| one.to_string()).unwrap_or_default();
        println!("listening on {}, certificate {fingerprint}", listen.local_addr());
        listen.run(std::future::pending()).await;
        Ok(ExitCode::SUCCESS)
    })
}

/// The token in a file, without the line's end.
fn read_token(path: &PathBuf) -> Result<Vec<u8>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let token = text.trim_end().as_bytes().to_vec();
    if token.len() < SHORTEST_TOKEN {
        let why = format!(
            "{name} has to hold a token of at least {SHORTEST_TOKEN} bytes; make one by openssl rand -hex 16"
        );
        return Err(why.into());
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_token_is_refused() {
        let path = std::env::temp_dir().join(format!("groupwire-token-{}", std::process::id()));
        std::fs::write(&path, "fifteen bytes..\n").unwrap();
        assert!(read_token(&path).unwrap_err().to_string().contains("at least 16 bytes"));
        std::fs::write(&path, "sixteen bytes...\n").unwrap();
        assert_eq!(read_token(&path).unwrap(), b"sixteen bytes...");
        std::fs::remove_file(&path).unwrap();
        assert!(read_token(&path).is_err());
    }
}
