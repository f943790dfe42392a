//! The options of certificates by ACME.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use groupwire_server::{AcmeConfig, AcmeDirectory, AcmeDomain};

use super::tls::ENCRYPTED;

/// The name of the folder in that of --data.
const FOLDER: &str = "acme";

/// The group of options that say where the files are.
pub(super) const FILES: &str = "acme_files";

/// The options of certificates by ACME.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new(FILES).multiple(true)))]
pub(crate) struct AcmeArgs {
    /// Order a certificate for this name, and renew it: from Let's Encrypt, unless --acme-directory
    /// names another authority. With this option you agree to the authority's terms. TCP port 443
    /// of the name must lead to --listen. May be given several times, for further names of this
    /// server.
    #[arg(
        long = "acme",
        value_name = "DOMAIN",
        value_delimiter = ',',
        conflicts_with_all = ["cert", "key"],
        requires = FILES,
        group = ENCRYPTED
    )]
    domains: Vec<AcmeDomain>,

    /// The address of the authority's ACME directory. For trying, Let's Encrypt has
    /// `https://acme-staging-v02.api.letsencrypt.org/directory`, whose certificates browsers
    /// refuse.
    #[arg(long = "acme-directory", value_name = "ADDRESS", requires = "domains", default_value_t)]
    directory: AcmeDirectory,

    /// A mail address that the authority may write to.
    #[arg(long = "acme-contact", value_name = "MAIL", requires = "domains")]
    contact: Option<String>,

    /// The folder for the account's key and the certificate with its key. Default: the folder acme
    /// in that of --data.
    #[arg(long = "acme-folder", value_name = "FOLDER", requires = "domains", group = FILES)]
    folder: Option<PathBuf>,
}

impl AcmeArgs {
    /// The first name.
    pub(super) fn name(&self) -> Option<AcmeDomain> {
        self.domains.first().cloned()
    }

    /// The configuration; `None` without --acme. `data` is the folder of stored rooms, `root` a
    /// certificate that is trusted beside the system's.
    pub(super) fn config(&self, data: Option<&Path>, root: Option<&Path>) -> Option<AcmeConfig> {
        let folder = self.folder.clone().or_else(|| Some(data?.join(FOLDER)))?;
        if self.domains.is_empty() {
            return None;
        }
        let mut config = AcmeConfig::new(self.domains.clone(), folder);
        config.directory = self.directory.clone();
        config.root = root.map(Path::to_owned);
        config.contact.clone_from(&self.contact);
        Some(config)
    }
}
