//! What connections to documents use of the server.

use std::sync::Arc;

use super::documents::Documents;
use crate::transport::context::TransportContext;

/// See the [module](self).
pub(crate) struct DocumentContext {
    pub(crate) transports: Arc<TransportContext>,
    pub(crate) documents: Arc<Documents>,
}
