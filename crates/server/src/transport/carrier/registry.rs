//! All open HTTP transports.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ends::{Reader, Writer};
use super::form::Id;
use super::state::Carrier;
use crate::hub::Hub;
use crate::transport::NoDatagrams;
use crate::transport::emulation::serve;

/// All open HTTP transports, by their ids.
#[derive(Default)]
pub(crate) struct Registry(Mutex<HashMap<Id, Arc<Carrier>>>);

impl Registry {
    /// Opens a transport and serves it; `None` if there are too many connections.
    pub(super) fn open(&self, hub: &Arc<Hub>) -> Option<Arc<Carrier>> {
        let carrier = Arc::new(Carrier::new(Id::random(), hub.config.http.alone));
        {
            let mut carriers = self.lock();
            let limit = hub.config.max_connections;
            if carriers.len().max(hub.connections.load(Ordering::Relaxed)) >= limit {
                return None;
            }
            carriers.insert(carrier.id, Arc::clone(&carrier));
        }
        let registered = Registered { hub: Arc::clone(hub), carrier: Arc::clone(&carrier) };
        let reader = Reader::new(Arc::clone(&carrier), hub.config.limits.max_packet);
        let writer = Writer(Arc::clone(&carrier));
        let datagrams = None::<(NoDatagrams, usize)>;
        let serving = serve(Arc::clone(hub), "HTTP requests", false, reader, writer, datagrams);
        tokio::spawn(async move {
            serving.await;
            drop(registered);
        });
        Some(carrier)
    }

    pub(super) fn find(&self, id: Id) -> Option<Arc<Carrier>> {
        self.lock().get(&id).map(Arc::clone)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, Arc<Carrier>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes an HTTP transport from the registry when it is no longer served.
struct Registered {
    hub: Arc<Hub>,
    carrier: Arc<Carrier>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.carrier.stop();
        self.hub.carriers.lock().remove(&self.carrier.id);
    }
}
