//! Adaptive stream compression on tokio: a wrapper for any byte stream, and a pair of proxies for
//! programs that cannot be changed.
//!
//! - [`Stream`] compresses the bytes that are written to any `AsyncRead + AsyncWrite`.
//! - [`Connect`] and [`Listen`] are the two ends of a tunnel. Programs connect to [`Connect`],
//!   which sends their bytes compressed and over TLS to [`Listen`], which connects to the programs
//!   on its side.

mod answered;
mod connect;
mod connections;
mod contention;
mod costs;
mod error;
mod listen;
mod options;
mod policy;
mod preface;
mod redirect;
mod relay;
mod routes;
mod serve;
mod sockets;
pub mod socks;
mod stream;
mod targets;
mod tls;
mod workbench;

pub use groupwire_ace as ace;

pub use connect::{Connect, ConnectConfig};
pub use connections::{ConnectionNumber, Connections, Status};
pub use error::{ConnectionError, StartError};
pub use listen::{Listen, ListenConfig};
pub use options::{Options, Sizes};
pub use policy::Codecs;
pub use preface::{Reason, Refusal};
pub use routes::{DEFAULT_ROUTE, Destination, Forward, Route, RouteError, address_of, target_of};
pub use stream::Stream;
pub use targets::{Allow, Target};
pub use tls::{Fingerprint, Trust};
pub use workbench::Workbench;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
