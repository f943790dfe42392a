//! What the requests of the administration use of the server. Each handler takes the part that it
//! needs.

use std::sync::Arc;

use axum::extract::FromRef;

use super::transfers::Transfers;
use crate::access::Gate;
use crate::durable::Durable;
use crate::inspect::InspectContext;
use crate::lifecycle::drain::Drain;
use crate::metrics::sources::Sources;
use crate::rooms::directory::Directory;
use crate::transport::context::TransportContext;

/// See the [module](self).
#[derive(Clone)]
pub(crate) struct AdminContext {
    pub(crate) rooms: Arc<Directory>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) drain: Arc<Drain>,
    /// The store of rooms; `None` if rooms end with the server.
    pub(crate) durable: Option<Arc<Durable>>,
    pub(crate) transfers: Arc<Transfers>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) inspect: Arc<InspectContext>,
    pub(crate) transports: Arc<TransportContext>,
}

macro_rules! parts {
    ($($field:ident: $Part:ty;)*) => {
        $(impl FromRef<AdminContext> for $Part {
            fn from_ref(context: &AdminContext) -> Self {
                context.$field.clone()
            }
        })*
    };
}

parts! {
    rooms: Arc<Directory>;
    gate: Arc<Gate>;
    drain: Arc<Drain>;
    durable: Option<Arc<Durable>>;
    transfers: Arc<Transfers>;
    sources: Arc<Sources>;
}
