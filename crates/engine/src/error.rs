//! Why a deployment could not be opened.

use std::path::PathBuf;

use thiserror::Error;

/// Why a deployment could not be opened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// An option or the URL is wrong.
    #[error("{0}")]
    Options(String),
    /// A file with a credential, certificate or key cannot be used.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault of the file.
        why: String,
    },
    /// No server of the service can be used at the moment.
    #[error("cannot use the engine at {address}: {cause}; {check}")]
    Unreachable {
        /// The addresses, without passwords.
        address: String,
        /// The fault of the connection or the service.
        cause: String,
        /// The things to check.
        check: &'static str,
    },
    /// The service refuses the caller, or lacks something: trying again does not help.
    #[error("cannot use the engine at {address}: {cause}; {check}")]
    Unusable {
        /// The addresses, without passwords.
        address: String,
        /// The fault of the service, or of the caller's credentials.
        cause: String,
        /// The things to check.
        check: &'static str,
    },
    /// The service's program is too old.
    #[error("the engine at {address} has version {found}; upgrade it to {wanted} or newer")]
    OldService {
        /// The addresses, without passwords.
        address: String,
        /// The version of the service.
        found: String,
        /// The oldest version that works.
        wanted: &'static str,
    },
    /// The service has no deployment of the name, or another one in its place.
    #[error(
        "the engine at {address} has no cluster {wanted:?}{}; give the name of an existing cluster, or create this one",
        others(found)
    )]
    NoCluster {
        /// The addresses, without passwords.
        address: String,
        /// The name in the options.
        wanted: String,
        /// The names of deployments that are there, as far as they are visible.
        found: Vec<String>,
    },
    /// The deployment was created with another number of shards.
    #[error(
        "the cluster has {found} shards, not {wanted}: the number is fixed at creation; set it to {found}"
    )]
    OtherShards {
        /// The number of the deployment.
        found: u16,
        /// The number in the options.
        wanted: u16,
    },
    /// The deployment's format is newer than this program.
    #[error(
        "the cluster has format {found}, and this program knows formats up to {known}; upgrade this server"
    )]
    NewerFormat {
        /// The format of the deployment.
        found: u16,
        /// The newest one that this program knows.
        known: u16,
    },
    /// The engine is not part of this program.
    #[error("this program was built without this engine; build it with the feature {0:?}")]
    NotBuilt(&'static str),
}

fn others(found: &[String]) -> String {
    if found.is_empty() { String::new() } else { format!(", but has {}", found.join(", ")) }
}
