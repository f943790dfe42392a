//! What the requests of the administration use of the server. Each handler takes the part that it
//! needs.

use std::sync::Arc;

use axum::extract::FromRef;

use super::transfers::Transfers;
use crate::access::Gate;
use crate::cluster::control::Control;
use crate::cluster::http::Forward;
use crate::durable::Durable;
use crate::inspect::InspectContext;
use crate::lifecycle::drain::Drain;
use crate::metrics::sources::Sources;
use crate::rooms::directory::Directory;
use crate::transport::context::TransportContext;

/// See the [module](self).
#[derive(Clone)]
pub(crate) struct AdminContext {
    pub(crate) transports: Arc<TransportContext>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) inspect: Arc<InspectContext>,
    pub(crate) transfers: Arc<Transfers>,
    /// Passes requests on to other servers; `None` if there are none.
    pub(crate) forward: Option<Arc<Forward>>,
    /// Changes bans on all servers; `None` if there are no others.
    pub(crate) control: Option<Control>,
}

macro_rules! parts {
    ($($Part:ty: |$context:ident| $part:expr;)*) => {
        $(impl FromRef<AdminContext> for $Part {
            fn from_ref($context: &AdminContext) -> Self {
                $part.clone()
            }
        })*
    };
}

parts! {
    Arc<Directory>: |it| it.transports.rooms;
    Arc<Gate>: |it| it.transports.gate;
    Arc<Drain>: |it| it.transports.rooms.context().drain;
    Option<Arc<Durable>>: |it| it.transports.rooms.context().durable;
    Arc<Sources>: |it| it.sources;
    Arc<Transfers>: |it| it.transfers;
    Option<Arc<Forward>>: |it| it.forward;
    Option<Control>: |it| it.control;
}
