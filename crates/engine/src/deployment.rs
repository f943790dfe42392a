//! The record that a deployment gets when it is created.

#[cfg(feature = "service")]
use crate::{OpenError, Options};

/// The record of a deployment, which is made once, when it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The version of log records that all servers of the deployment read.
    pub format: u16,
    /// The name of the deployment.
    pub cluster: String,
    /// A random text. A deployment that was deleted and created again has another one.
    pub id: String,
    /// The number of shards.
    pub shards: u16,
}

#[cfg(feature = "service")]
impl Deployment {
    /// The record of a new deployment.
    pub(crate) fn new(options: &Options) -> Result<Self, OpenError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)
            .map_err(|error| OpenError::Options(format!("no randomness: {error}")))?;
        Ok(Self {
            format: options.log_version,
            cluster: options.cluster.clone(),
            id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            shards: options.shards,
        })
    }

    /// Checks a record that was found against the options.
    pub(crate) fn check(self, address: &str, options: &Options) -> Result<Self, OpenError> {
        if self.cluster != options.cluster {
            return Err(OpenError::NoCluster {
                address: address.into(),
                wanted: options.cluster.clone(),
                found: vec![self.cluster],
            });
        }
        if self.format > options.log_version {
            let known = options.log_version;
            return Err(OpenError::NewerFormat { found: self.format, known });
        }
        if self.shards != options.shards {
            return Err(OpenError::OtherShards { found: self.shards, wanted: options.shards });
        }
        Ok(self)
    }
}
