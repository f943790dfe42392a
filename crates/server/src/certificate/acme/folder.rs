//! The files of ACME: the account, the certificate with its key, and a lock, so that one process at
//! a time orders.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use fs4::{FileExt, TryLockError};
use instant_acme::AccountCredentials;
use serde::{Deserialize, Serialize};

use super::config::AcmeConfig;
use crate::tools::private_files::{
    close_to_others, create_private_folder, log_loose, open_or_create_private, write_private,
};

/// The files of one directory. Only this user can read them.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

/// The account with its private key.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredAccount {
    /// The mail address that the authority was told last.
    pub(super) contact: Option<String>,
    pub(super) credentials: AccountCredentials,
}

/// Keeps other processes from ordering with the same files until it is dropped.
#[derive(Debug)]
pub(super) struct OrderLock {
    _file: File,
}

impl Folder {
    /// The folder for the configuration's directory.
    pub(super) fn of(config: &AcmeConfig) -> Self {
        Folder(config.folder.join(config.directory.folder_name()))
    }

    /// Makes the folder if it is missing, and makes sure that it can be written.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn open(config: &AcmeConfig) -> io::Result<Self> {
        let folder = Folder::of(config);
        create_private_folder(&folder.0)?;
        close_to_others(&folder.0).iter().for_each(log_loose);
        folder.lock_file()?;
        Ok(folder)
    }

    /// The path of the certificate: first its private key, then its chain. They are in one file,
    /// which is replaced as a whole, so that a crash cannot leave one without the other.
    pub(super) fn certificate(&self) -> PathBuf {
        self.0.join("certificate.pem")
    }

    pub(super) fn write_certificate(&self, pem: &str) -> io::Result<()> {
        write_private(self.certificate(), pem.as_bytes())
    }

    /// The account; `None` if there is none yet.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn account(&self) -> io::Result<Option<StoredAccount>> {
        match fs::read(self.account_path()) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write_account(&self, account: &StoredAccount) -> io::Result<()> {
        write_private(self.account_path(), &serde_json::to_vec_pretty(account)?)
    }

    /// Forgets an account that the authority does not know any more.
    pub(super) fn remove_account(&self) -> io::Result<()> {
        fs::remove_file(self.account_path())
    }

    pub(super) fn account_path(&self) -> PathBuf {
        self.0.join("account.json")
    }

    /// Takes the lock; `None` if another process has it. If a process ends, the system drops its
    /// lock.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn lock(&self) -> io::Result<Option<OrderLock>> {
        let file = self.lock_file()?;
        match FileExt::try_lock(&file) {
            Ok(()) => Ok(Some(OrderLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn lock_file(&self) -> io::Result<File> {
        open_or_create_private(self.0.join("lock"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_has_the_lock_and_nobody_else_reads_the_files() {
        let parent = tempfile::tempdir().unwrap();
        let config = AcmeConfig::new(Vec::new(), parent.path().join("data/acme"));
        let (folder, other) = (Folder::open(&config).unwrap(), Folder::open(&config).unwrap());
        let lock = folder.lock().unwrap();
        assert!(lock.is_some());
        assert!(other.lock().unwrap().is_none());
        drop(lock);
        assert!(other.lock().unwrap().is_some());
        assert!(folder.account().unwrap().is_none());
        folder.write_certificate("secret").unwrap();
        fs::write(folder.account_path(), "{").unwrap();
        assert!(folder.account().is_err());
        folder.remove_account().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(folder.path()), mode(&folder.certificate())), (0o700, 0o600));
        }
    }
}
