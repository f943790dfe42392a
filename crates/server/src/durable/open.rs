//! Opens the store of a server. Only this file knows which store there is behind the traits.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use groupwire_store::{
    Keys, MemoryStore, OpenError, Options, Outbox, OutboxLimits, Store, Stores,
    close_store_to_others,
};

use super::config::DurableConfig;
use super::secrets::HmacSecrets;
use crate::error::Error;
use crate::tools::private_files::log_loose;

/// Commits of the store are at most this far apart. A transaction waits for the next tick anyway,
/// so this delays none by more than a tick, and at 1,000 transactions per second 20 of them share a
/// commit, which costs as much processor time as 20 records.
const GATHER: Duration = Duration::from_millis(20);

/// The longest wait for the end of the server whose place this one takes. It ends within some 5 s.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The time between two checks whether that server has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Opens the store, and makes the secrets of sessions under its keys. The arguments are those of
/// [`Durable::open`](super::Durable::open).
pub(super) fn open(
    config: &DurableConfig,
    tick: Duration,
    waits: bool,
    outbox: Option<OutboxLimits>,
) -> Result<(Stores, HmacSecrets), Error> {
    let gather = (tick / 2).min(GATHER);
    let options = Options { gather, outbox, ..config.options.clone() };
    let Some(folder) = &config.folder else {
        return Ok((Stores::new(MemoryStore::new(options)), HmacSecrets::random()));
    };
    close_store_to_others(folder).iter().for_each(log_loose);
    let keys = Keys::load_or_create(folder)?;
    let stores = Stores::new(open_folder(folder, &options, waits)?);
    let usage = stores.monitor.usage();
    tracing::info!(folder = %folder.display(), rooms = usage.rooms, bytes = usage.live, "store opened");
    Ok((stores, HmacSecrets::stored(keys)))
}

fn open_folder(folder: &Path, options: &Options, waits: bool) -> Result<Store, OpenError> {
    let until = Instant::now() + if waits { LONGEST_WAIT } else { Duration::ZERO };
    loop {
        match Store::open(folder, options.clone()) {
            Err(OpenError::InUse { .. }) if Instant::now() < until => thread::sleep(LOOK_AGAIN),
            opened => return opened,
        }
    }
}

/// An outbox that ends with the server.
pub(crate) fn outbox_in_memory(limits: OutboxLimits) -> Arc<dyn Outbox> {
    Arc::new(MemoryStore::new(Options { outbox: Some(limits), ..Options::default() }))
}
