//! The parts of a server that figures come from, and whether the server is ready.

use std::sync::Arc;

use tokio::time::Instant;

use super::history::History;
use crate::certificate::keeper::Certificates;
use crate::cluster::figures::Counters;
use crate::durable::Durable;
use crate::rooms::context::RoomContext;
use crate::transport::context::TransportContext;
use crate::yjs::documents::Documents;

/// See the [module](self).
pub(crate) struct Sources {
    pub(crate) started: Instant,
    pub(crate) transports: Arc<TransportContext>,
    pub(crate) documents: Arc<Documents>,
    /// The certificate in use.
    pub(crate) certificates: Option<Arc<Certificates>>,
    /// The counters of a server of a cluster.
    pub(crate) cluster: Option<Arc<Counters>>,
    /// The figures of the last minutes; `None` on a server without administration.
    pub(crate) history: Option<History>,
}

impl Sources {
    /// The parts that rooms use, too.
    pub(super) fn rooms(&self) -> &RoomContext {
        self.transports.rooms.context()
    }

    /// True if balancers may send the server new clients.
    pub(crate) fn is_ready(&self) -> bool {
        let RoomContext { durable, drain, .. } = self.rooms();
        let is_failed = durable.as_deref().is_some_and(Durable::is_poisoned);
        let certificates = self.certificates.as_deref();
        let is_served = certificates.is_none_or(|certificates| certificates.facts().is_some());
        let is_cut_off = self.cluster.as_deref().is_some_and(Counters::is_cut_off);
        !is_failed && is_served && !is_cut_off && !drain.has_begun()
    }

    /// The end of the validity of the certificate that clients check, in seconds since 1970.
    pub(super) fn certificate_expiry(&self) -> Option<i64> {
        self.certificates.as_ref()?.expiry()
    }
}
