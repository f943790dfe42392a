//! The options that say how the server stops.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;
use groupwire_server::DrainConfig;

/// The options that say how the server stops.
#[derive(Debug, Args)]
pub(crate) struct DrainArgs {
    /// How long the server still serves after SIGTERM or `groupwire admin drain`, in seconds:
    /// /readyz answers 503 at once, so that balancers send no new clients. A second signal ends the
    /// server at once.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(0..=3600)
    )]
    drain_wait: u64,

    /// How many clients per second are told to come back when the server stops: as many as the next
    /// server can take.
    #[arg(long, value_name = "PER SECOND", default_value = "1000")]
    drain_joins: NonZeroU32,
}

impl DrainArgs {
    pub(super) fn config(&self) -> DrainConfig {
        let wait = Duration::from_secs(self.drain_wait);
        DrainConfig { wait, joins_per_second: self.drain_joins }
    }
}
