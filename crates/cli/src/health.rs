//! `groupwire health`: asks a running server whether it works. Container images that hold no other
//! program use it for their health check.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::time::timeout;

use crate::admin::request::{Body, SILENT, Server};

/// Most time for the answer. A server that takes longer does not serve its clients in time, either.
const PATIENCE: Duration = Duration::from_secs(4);

/// The options of `groupwire health`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// A listener of the server that has no TLS: unix:PATH of its administration, or
    /// http://HOST:PORT. No token is needed.
    #[arg(long, value_name = "URL", env = "GROUPWIRE_ADMIN", hide_env_values = true)]
    server: String,

    /// Ask whether the server may be sent new clients (/readyz), not only whether it answers
    /// (/healthz).
    #[arg(long)]
    ready: bool,
}

/// Prints the answer. Its exit code is 0 only if the server is healthy.
pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let server = Server::without_token(&args.server)?;
    let path = if args.ready { "/readyz" } else { "/healthz" };
    let answer = timeout(PATIENCE, server.ask("GET", path, Body::None)).await;
    print!("{}", answer.map_err(|_| SILENT)??);
    Ok(ExitCode::SUCCESS)
}
