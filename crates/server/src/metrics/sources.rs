//! Where the figures of a server come from, and whether it is ready.

use std::sync::Arc;

use tokio::time::Instant;

use super::history::History;
use crate::addresses::Addresses;
use crate::arrivals::Arrivals;
use crate::certificate::keeper::Certificates;
use crate::durable::Durable;
use crate::figures::events::Events;
use crate::lifecycle::drain::Drain;
use crate::rooms::directory::Directory;
use crate::transport::connections::Connections;
use crate::webhook::Queue;
use crate::yjs::documents::Documents;

/// See the [module](self).
pub(crate) struct Sources {
    pub(crate) started: Instant,
    pub(crate) rooms: Arc<Directory>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) events: Arc<Events>,
    pub(crate) durable: Option<Arc<Durable>>,
    pub(crate) webhook: Option<Arc<Queue>>,
    /// The certificate in use.
    pub(crate) certificates: Option<Arc<Certificates>>,
    pub(crate) drain: Arc<Drain>,
    /// The figures of the last minutes; `None` on a server without administration.
    pub(crate) history: Option<History>,
}

impl Sources {
    /// True if balancers may send the server new clients.
    pub(crate) fn is_ready(&self) -> bool {
        let is_failed = self.durable.as_deref().is_some_and(Durable::is_poisoned);
        let certificates = self.certificates.as_deref();
        let is_served = certificates.is_none_or(|certificates| certificates.facts().is_some());
        !is_failed && is_served && !self.drain.has_begun()
    }

    /// The end of the validity of the certificate that clients check, in seconds since 1970.
    pub(super) fn certificate_expiry(&self) -> Option<i64> {
        self.certificates.as_ref()?.expiry()
    }
}
