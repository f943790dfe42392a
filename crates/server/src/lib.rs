//! The Groupwire server: rooms over HTTP, WebSocket, WebTransport and TCP in one process, with the
//! web pages of the whiteboard, the puzzle and the inspector embedded.
//!
//! One task per room drives a [`groupwire_session::Room`]; one task per connection moves packets
//! between its socket and its room. Rooms share no state, so a busy room does not slow down the
//! others.
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
mod arrivals;
mod certificate;
mod cluster;
mod durable;
mod ends;
mod error;
mod figures;
mod inspect;
mod lifecycle;
mod listen;
mod metrics;
mod rooms;
mod server;
mod tls;
mod tools;
mod traces;
mod transport;
mod user_http;
mod web;
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
pub use cluster::config::{ClientAddress, ClientAddressError, ClusterConfig};
pub use durable::{DurableConfig, Modes, ModesError};
pub use error::{CertificateError, Error};
pub use groupwire_engine as engine;
pub use groupwire_session as session;
pub use groupwire_store as store;
pub use lifecycle::drain::DrainConfig;
pub use rooms::codecs::{Codecs, codecs_named, quick_codecs};
pub use rooms::observer::Observer;
pub use server::Server;
pub use server::config::Config;
pub use tools::secret::{is_same_secret, random_number, random_secret};
pub use traces::{Traces, TracesConfig};
pub use web::limits::HttpLimits;
pub use web::origins::Origins;
pub use webhook::{
    EventKind, EventKinds, SecretsError, UnknownEvent, WebhookConfig, WebhookPauses, WebhookSecrets,
};
pub use webtransport::config::WebTransportConfig;
pub use yjs::config::YjsLimits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
