//! Adaptive stream compression on tokio: a wrapper for any byte stream, and a pair of proxies for programs that cannot
//! be changed.
//!
//! - [`Stream`] packs what goes over any `AsyncRead + AsyncWrite`.
//! - [`Listen`] and [`Connect`] are the two ends of a tunnel: programs connect to the one, it goes on packed and over TLS
//!   to the other, and that connects to the programs on its side.

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
pub mod profile;
mod relay;
mod routes;
mod serve;
mod sockets;
mod stream;
mod tls;
mod workbench;

pub use groupwire_ace as ace;

pub use connect::{Connect, ConnectConfig};
pub use connections::{Connections, Status};
pub use error::{ConnectionError, StartError};
pub use listen::{Listen, ListenConfig};
pub use options::{Options, Sizes};
pub use policy::Codecs;
pub use preface::{Reason, Refusal};
pub use routes::{DEFAULT_ROUTE, Forward, Route, RouteError, address_of, target_of};
pub use stream::Stream;
pub use tls::{Fingerprint, Trust};
pub use workbench::Workbench;
