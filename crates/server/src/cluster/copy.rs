//! The folder with a server's copy of all rooms. What is damaged of it is in the engine, too, so a
//! damaged copy is set aside and made again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groupwire_store::{
    Monitor, OpenError, Options, Replica, Store, close_store_to_others, set_aside, wait,
    write_private,
};

use crate::durable::{DurableConfig, OutboxLimits};
use crate::error::Error;
use crate::tools::private_files::log_loose;

/// The file that names the deployment of which the folder has a copy.
const DEPLOYMENT: &str = "deployment";

/// The file that says what is damaged of the copy, if the next start has to set it aside.
const DAMAGED: &str = "damaged";

/// See the [module](self).
pub(super) struct CopyFolder(PathBuf);

impl CopyFolder {
    pub(super) fn new(folder: &Path) -> Self {
        CopyFolder(folder.to_owned())
    }

    /// Opens the copy of the rooms of a deployment. This blocks.
    ///
    /// # Errors
    /// The folder cannot be used, or has rooms that no cluster knows or that another one has.
    pub(super) fn open(
        &self,
        durable: &DurableConfig,
        outbox: Option<OutboxLimits>,
        deployment: &str,
    ) -> Result<Arc<Store>, Error> {
        let folder = &self.0;
        close_store_to_others(folder).iter().for_each(log_loose);
        let known = self.read(DEPLOYMENT)?;
        if known.is_none() && has_rooms(folder, &durable.options)? {
            return Err(Error::Cluster(format!(
                "{} has rooms of a server that ran alone: give --data another folder, and take the rooms \
                 into the cluster with `groupwire store export` and `groupwire admin import`",
                folder.display()
            )));
        }
        let options = Options { outbox, is_cache: true, ..durable.options.clone() };
        let store = Arc::new(self.open_store(options)?);
        let usage = Monitor::usage(&*store);
        if known.as_deref() != Some(deployment) {
            if usage.rooms > 0 {
                return Err(Error::Cluster(format!(
                    "{} is a copy of the rooms of another cluster. Check --engine and --cluster-name. If that \
                     cluster is gone, save its rooms with `groupwire store export`, and give --data another folder",
                    folder.display()
                )));
            }
            wait(|done| store.clear(done)).map_err(|error| Error::Cluster(error.to_string()))?;
            let written = write_private(folder.join(DEPLOYMENT), deployment.as_bytes());
            written.map_err(|why| self.failed(DEPLOYMENT, &why))?;
        }
        tracing::info!(folder = %folder.display(), rooms = usage.rooms, "copy of the rooms opened");
        Ok(store)
    }

    /// The copy is damaged: the next start sets it aside.
    pub(super) fn give_up(&self, why: &str) {
        if let Err(error) = write_private(self.0.join(DAMAGED), why.as_bytes()) {
            tracing::error!(%error, folder = %self.0.display(), "delete this folder: its copy of the rooms is damaged");
        }
    }

    /// Opens the store. A damaged one is set aside first.
    fn open_store(&self, options: Options) -> Result<Store, Error> {
        if let Some(why) = self.read(DAMAGED)? {
            self.set_aside(&why)?;
        }
        match Store::open(&self.0, options.clone()) {
            Err(error @ OpenError::Damaged { .. }) => {
                self.set_aside(&error.to_string())?;
                Ok(Store::open(&self.0, options)?)
            }
            opened => Ok(opened?),
        }
    }

    fn set_aside(&self, why: &str) -> Result<(), Error> {
        let kept = self.0.join("rooms.damaged");
        tracing::error!(
            why, kept = %kept.display(),
            "the copy of the rooms is damaged: it is kept aside, and made again from the engine"
        );
        set_aside(&self.0)?;
        match fs::remove_file(self.0.join(DAMAGED)) {
            Err(why) if why.kind() != ErrorKind::NotFound => Err(self.failed(DAMAGED, &why)),
            _ => Ok(()),
        }
    }

    fn read(&self, name: &str) -> Result<Option<String>, Error> {
        match fs::read_to_string(self.0.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    fn failed(&self, name: &str, why: &std::io::Error) -> Error {
        Error::Cluster(format!("{}: {why}", self.0.join(name).display()))
    }
}

/// True if the folder has rooms that no cluster knows.
fn has_rooms(folder: &Path, options: &Options) -> Result<bool, Error> {
    if !folder.exists() {
        return Ok(false);
    }
    let store = Store::open(folder, options.clone())?;
    Ok(Monitor::usage(&store).rooms > 0)
}
