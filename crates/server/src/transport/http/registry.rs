//! All open HTTP transports.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::form::HttpTransportId;
use super::state::HttpTransport;

/// All open HTTP transports, by their ids.
#[derive(Default)]
pub(crate) struct HttpTransports(Mutex<HashMap<HttpTransportId, Arc<HttpTransport>>>);

impl HttpTransports {
    /// Adds a transport, unless there are `limit` already. Returns false if there are.
    pub(super) fn insert(&self, transport: &Arc<HttpTransport>, limit: usize) -> bool {
        let mut transports = self.lock();
        let has_space = transports.len() < limit;
        if has_space {
            let former = transports.insert(transport.id, Arc::clone(transport));
            debug_assert!(former.is_none(), "two HTTP transports have the same id");
        }
        has_space
    }

    pub(super) fn find(&self, id: HttpTransportId) -> Option<Arc<HttpTransport>> {
        self.lock().get(&id).map(Arc::clone)
    }

    pub(super) fn remove(&self, id: HttpTransportId) {
        self.lock().remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HttpTransportId, Arc<HttpTransport>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
