//! The Groupwire server: rooms over HTTP, WebSocket, WebTransport and TCP in one process, with the web pages of the
//! whiteboard, the puzzle and the inspector embedded.
//!
//! One task per room drives a [`groupwire_session::Room`]; one task per connection moves packets between its socket
//! and its room. Rooms share no state, so a busy room does not slow down the others.
//!
//! ```no_run
//! use groupwire_server::{Config, Server};
//!
//! # async fn example() -> Result<(), groupwire_server::Error> {
//! let server = Server::bind(Config::default()).await?;
//! println!("http://{}/", server.local_addr());
//! server.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await
//! # }
//! ```

mod access;
mod addresses;
pub mod admin;
mod admin_http;
mod answers;
mod arrivals;
mod assets;
mod authority;
mod certificate;
mod codecs;
mod config;
mod costs;
mod cross_origin;
mod drain;
mod durable;
mod error;
mod fetch;
mod handover;
mod history;
mod host;
mod http_connection;
mod hub;
mod inspect;
mod listen;
mod memory;
mod metrics;
mod observer;
mod open_table;
mod origins;
mod pattern;
mod private_files;
#[cfg(unix)]
mod private_socket;
#[cfg(not(unix))]
#[path = "no_private_socket.rs"]
mod private_socket;
mod quiet;
mod room;
mod routes;
mod sampling;
mod secret;
mod seldom;
mod server;
mod status;
mod tickets;
mod tls;
mod totals;
mod traces;
mod transport;
mod wall;
mod webhook;
mod webtransport;
mod yjs;

pub use access::{
    Admission, Answer, Authenticator, ByRights, HookAuthenticator, HookConfig, JoinRequest,
    JwtAuthenticator, JwtConfig, KeySource, Refusal, Rights, UserLimits,
};
pub use addresses::{AddressLimits, TrustedProxy, TrustedProxyError};
pub use admin_http::config::{AdminConfig, AdminListen};
pub use admin_http::token::{AdminToken, AdminTokenError};
pub use arrivals::ArrivalLimits;
pub use certificate::acme::config::{AcmeConfig, AcmeConfigError, AcmeDirectory, AcmeDomain};
pub use certificate::config::{Certificate, CertificateConfig, WallClock};
pub use certificate::error::CertificateError;
pub use codecs::{Codecs, codecs_named, quick_codecs};
pub use config::{Config, HttpLimits};
pub use drain::DrainConfig;
pub use durable::{DurableConfig, Modes, ModesError};
pub use error::Error;
pub use groupwire_session as session;
pub use groupwire_store as store;
pub use observer::Observer;
pub use origins::Origins;
pub use secret::{is_same_secret, random_number};
pub use server::Server;
pub use traces::{Traces, TracesConfig};
pub use webhook::{
    EventKind, EventKinds, SecretsError, UnknownEvent, WebhookConfig, WebhookPauses, WebhookSecrets,
};
pub use webtransport::config::WebTransportConfig;
pub use yjs::config::YjsLimits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
