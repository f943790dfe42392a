//! The outside service of servers that share rooms: ordered logs with a fence, blobs, and beats.
//!
//! An [`Engine`] keeps a deployment: one log for each shard of rooms, and the control log. An
//! append names the last sequence that the writer knows, and is stored only if the log still ends
//! there, so of two writers one is *fenced*. The engine looks into no entry.
//!
//! There are two engines, each behind a feature of Cargo: `nats` for NATS JetStream and `postgres`
//! for PostgreSQL. [`open`] chooses by the scheme of the URL.
//!
//! ```no_run
//! use groupwire_engine::{Appended, Options, open};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options { creates: true, ..Options::new("production") };
//! let engine = open("nats://nats-0:4222,nats://nats-1:4222", options).await?;
//! let last = engine.last(7).await?;
//! match engine.append(7, last, "a batch of changes".into()).await {
//!     Appended::Stored(sequence) => println!("stored at {sequence}"),
//!     Appended::Fenced(_) => println!("another server has written to the log"),
//!     Appended::Unknown(why) => println!("try again with the same bytes: {why}"),
//! }
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "service")]
mod credentials;
mod deployment;
mod engine;
mod error;
mod name;
#[cfg(feature = "nats")]
mod nats;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "service")]
mod tls;

pub use deployment::Deployment;
pub use engine::{
    Appended, Beat, Durability, Engine, Entry, Hints, MAX_BEAT, MAX_BLOB, MAX_ENTRY, ServerSync,
    Syncs, Unavailable,
};
pub use error::OpenError;
pub use options::{Options, Tls};

/// Opens a deployment, and creates it if [`Options::creates`] says so.
///
/// The URL is `nats://HOST:PORT` or `tls://HOST:PORT`, several of them with commas between, or
/// `postgres://USER@HOST:PORT/DATABASE`. It has to be called within a runtime of tokio.
pub async fn open(url: &str, options: Options) -> Result<Box<dyn Engine>, OpenError> {
    name::check("cluster", &options.cluster)?;
    match url.split_once("://").map(|(scheme, _)| scheme) {
        #[cfg(feature = "nats")]
        Some("nats" | "tls") => Ok(Box::new(nats::Nats::open(url, options).await?)),
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            Ok(Box::new(postgres::Postgres::open(url, options).await?))
        }
        #[cfg(not(feature = "nats"))]
        Some("nats" | "tls") => Err(OpenError::NotBuilt("nats")),
        #[cfg(not(feature = "postgres"))]
        Some("postgres" | "postgresql") => Err(OpenError::NotBuilt("postgres")),
        _ => Err(OpenError::Options(
            "the URL of the engine begins with neither nats:// nor tls:// nor postgres://".into(),
        )),
    }
}
