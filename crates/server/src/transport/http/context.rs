//! What the requests of HTTP transports use of the server.

use std::sync::Arc;

use super::registry::HttpTransports;
use crate::transport::context::TransportContext;
use crate::web::limits::HttpLimits;

/// See the [module](self).
pub(super) struct HttpContext {
    pub(super) transports: Arc<TransportContext>,
    pub(super) limits: HttpLimits,
    /// All open HTTP transports.
    pub(super) registry: HttpTransports,
}
