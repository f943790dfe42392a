//! The `groupwire` command.

mod admin;
mod agent;
#[cfg(target_env = "musl")]
mod allocator;
mod config;
mod health;
mod log;
mod manual;
mod process;
mod replay;
mod serve;
mod store;
mod token;
mod tunnel;

use std::error::Error;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// The network layer for real-time collaboration: rooms, channels, small messages, in time.
#[derive(Debug, Parser)]
#[command(name = "groupwire", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server, with the whiteboard and the puzzle on it.
    Serve(Box<serve::Args>),
    /// Check the configuration file of a server, or print an example of one.
    Config(config::Args),
    /// Send a recorded session through a running server and compare the messages that arrive.
    Replay(replay::Args),
    /// Inspect, copy and repair the folder of stored rooms.
    Store(store::Args),
    /// Make a token for trying a server that requires JSON web tokens.
    Token(token::Args),
    /// List the rooms and people of a running server, kick participants, delete rooms, drain the
    /// server.
    Admin(admin::Args),
    /// Ask a running server whether it works; the exit code says it to health checks.
    Health(health::Args),
    /// Carry the connections of programs between two machines, compressed and encrypted.
    Tunnel(tunnel::Args),
    /// Let an AI agent join rooms as a visible participant: an MCP server.
    Agent(Box<agent::Args>),
    /// Print the script by which a shell completes commands and options.
    Completions(manual::CompletionsArgs),
    /// Write the manual pages into a folder.
    Man(manual::ManArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    run().await.unwrap_or_else(|error| {
        eprintln!("groupwire: {error}");
        ExitCode::FAILURE
    })
}

async fn run() -> Result<ExitCode, Box<dyn Error>> {
    let (cli, warnings) = config::parse::<Cli>()?;
    match cli.command {
        Command::Serve(args) => serve::run(*args, warnings).await,
        Command::Config(args) => config::run(args, Cli::command()),
        Command::Replay(args) => replay::run(args).await,
        Command::Store(args) => store::run(args),
        Command::Token(args) => token::run(&args),
        Command::Admin(args) => admin::run(args).await,
        Command::Health(args) => health::run(args).await,
        Command::Tunnel(args) => tunnel::run(args).await,
        Command::Agent(args) => agent::run(*args).await,
        Command::Completions(args) => {
            Ok(manual::print_completions(&args, config::with_layers(Cli::command())))
        }
        Command::Man(args) => manual::write_pages(&args, config::with_layers(Cli::command())),
    }
}
