//! The option to take a running server's place.

use clap::Args;

/// The option to take a running server's place.
#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// Take the place of the server that runs on the folder of --data: take over its listening
    /// sockets, let it say goodbye to its clients, wait for its end, and go on with its rooms. If
    /// this process cannot start, the other one goes on. If none runs, start as usual.
    #[arg(long, requires = "data")]
    upgrade: bool,
}

impl UpgradeArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.upgrade
    }
}
