//! The options of the administration listener.

use std::path::PathBuf;

use clap::Args;
use groupwire_server::{AdminConfig, AdminListen, AdminToken};

/// What the user can do if the listener needs a token.
pub(super) const ADVICE: &str = "\nMake one with `(umask 077; openssl rand -hex 32 > admin-token)`, and name the file with \
    --admin-token-file; or let --admin-listen name a loopback address or unix:PATH.";

/// The options of the administration listener.
#[derive(Debug, Args)]
pub(crate) struct AdminArgs {
    /// The address for administration: the inspector, recordings, emulated networks, metrics. Or
    /// unix:PATH for a Unix socket that only this user may open. Port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    admin_listen: AdminListen,

    /// The file with the token of the administration: at least 32 characters, readable by this user
    /// only. Default: on a loopback address a random token, which is printed at the start.
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,

    /// A further host name by which the administration may be addressed, such as that of a proxy.
    /// May be given several times.
    #[arg(long = "admin-host", value_name = "NAME", value_delimiter = ',')]
    admin_hosts: Vec<String>,

    /// Do not listen for administration.
    #[arg(long, conflicts_with_all = ["admin_token_file", "admin_hosts"])]
    no_admin: bool,
}

impl AdminArgs {
    /// The configuration of the listener; `None` for none.
    pub(super) fn config(&self) -> Result<Option<AdminConfig>, String> {
        if self.no_admin {
            return Ok(None);
        }
        let token = self.admin_token_file.as_ref().map(AdminToken::from_file).transpose();
        let token = token.map_err(|error| format!("--admin-token-file: {error}"))?;
        let (listen, hosts) = (self.admin_listen.clone(), self.admin_hosts.clone());
        Ok(Some(AdminConfig { listen, token, hosts }))
    }
}
