//! What the requests of users use of the server.

use std::sync::Arc;

use crate::cluster::http::Forward;
use crate::transport::context::TransportContext;
use crate::web::limits::HttpLimits;

/// See the [module](self).
pub(crate) struct UserContext {
    pub(super) transports: Arc<TransportContext>,
    pub(super) limits: HttpLimits,
    /// Passes requests on to other servers; `None` if there are none.
    pub(super) forward: Option<Arc<Forward>>,
}

impl UserContext {
    pub(crate) fn new(
        transports: Arc<TransportContext>,
        limits: HttpLimits,
        forward: Option<Arc<Forward>>,
    ) -> Self {
        UserContext { transports, limits, forward }
    }
}
