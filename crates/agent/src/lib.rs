//! An MCP server by which an AI agent joins rooms of a Groupwire server as a visible participant.
//!
//! A model, or a program that drives one (the *host*), speaks the Model Context Protocol over
//! standard input and output ([`serve_stdio`]) or streamable HTTP ([`HttpListener`]). Each tool
//! call becomes an operation of the native client ([`groupwire_client`]), with the rights of the
//! agent's token and within its [`Limits`].
//!
//! ```no_run
//! use groupwire_agent::{Agent, Config, TokenSource, serve_stdio};
//!
//! # async fn example() -> Result<(), String> {
//! let mut config = Config::new("wss://example.com", "Tidy bot", ["plan"]);
//! config.token = TokenSource::File("token.txt".into());
//! let agent = Agent::new(config)?;
//! serve_stdio(agent.clone(), std::future::pending()).await?;
//! agent.leave_all().await;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! One task per room (`session`) folds the events of the client into an inbox (`inbox`), which has
//! no I/O. Tools read the inbox, and wait for changes of it. What arrives is kept within limits;
//! the oldest messages are dropped first, and results say so. Yjs documents (`documents`) are kept
//! as bytes, and as a document of a CRDT on a thread of its own once a tool reads one.

mod agent;
mod arguments;
mod buffer;
mod config;
mod documents;
mod error;
mod inbox;
mod limits;
mod results;
mod session;
mod shared;
mod texts;
mod token;
mod tools;
mod transports;

pub use agent::Agent;
pub use config::Config;
pub use error::ToolError;
pub use groupwire_client::Trust;
pub use limits::Limits;
pub use token::TokenSource;
pub use tools::tools;
pub use transports::{HttpConfig, HttpListener, serve_stdio};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
