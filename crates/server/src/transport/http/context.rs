//! What the requests of HTTP transports use of the server.

use std::sync::Arc;

use super::form::HttpTransportId;
use super::registry::HttpTransports;
use crate::cluster::http::{Forward, Node};
use crate::transport::context::TransportContext;
use crate::web::limits::HttpLimits;

/// See the [module](self).
pub(crate) struct HttpContext {
    pub(super) transports: Arc<TransportContext>,
    pub(super) limits: HttpLimits,
    /// All open HTTP transports of this server.
    pub(super) registry: HttpTransports,
    /// Passes requests for transports of other servers on; `None` if there are no others.
    forward: Option<Arc<Forward>>,
}

impl HttpContext {
    pub(crate) fn new(
        transports: Arc<TransportContext>,
        limits: HttpLimits,
        forward: Option<Arc<Forward>>,
    ) -> Self {
        HttpContext { transports, limits, registry: HttpTransports::default(), forward }
    }

    /// The id of a new transport.
    pub(super) fn new_id(&self) -> HttpTransportId {
        HttpTransportId::random(self.forward.as_ref().map(|forward| forward.own_mark()))
    }

    /// The other server that has opened a transport, if it lives.
    pub(super) fn elsewhere(&self, id: HttpTransportId) -> Option<(&Forward, Node)> {
        let forward = self.forward.as_deref()?;
        Some((forward, forward.marked(id.mark())?))
    }
}
