//! Opens HTTP transports (docs/transports.md, T9).

use std::sync::Arc;

use super::ends::{Reader, Writer};
use super::form::HttpTransportId;
use super::state::HttpTransport;
use crate::hub::Hub;
use crate::transport::emulation::serve;
use crate::transport::ends::NoDatagrams;

/// Opens a transport and serves it; `None` if there are too many connections.
pub(super) fn open(hub: &Arc<Hub>) -> Option<Arc<HttpTransport>> {
    let limit = hub.config.max_connections;
    let transport = Arc::new(HttpTransport::new(HttpTransportId::random(), hub.config.http.alone));
    if hub.refuses_connection() || !hub.http_transports.insert(&transport, limit) {
        return None;
    }
    let registered = Registered { hub: Arc::clone(hub), transport: Arc::clone(&transport) };
    let reader = Reader::new(Arc::clone(&transport), hub.config.room.limits.max_packet);
    let writer = Writer(Arc::clone(&transport));
    let datagrams = None::<(NoDatagrams, usize)>;
    let serving = serve(Arc::clone(hub), "HTTP requests", false, reader, writer, datagrams);
    tokio::spawn(async move {
        serving.await;
        drop(registered);
    });
    Some(transport)
}

/// Removes an HTTP transport from the registry when it is no longer served.
struct Registered {
    hub: Arc<Hub>,
    transport: Arc<HttpTransport>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.transport.close();
        self.hub.http_transports.remove(self.transport.id);
    }
}
