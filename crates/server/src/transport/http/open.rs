//! Opens HTTP transports (docs/transports.md, T9).

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::Response;

use super::context::HttpContext;
use super::ends::{Reader, Writer};
use super::state::HttpTransport;
use crate::ends::NoDatagrams;
use crate::transport::emulation::serve;
use crate::web::answers::{refused_address, too_many};

/// Opens a transport of a client with this address and serves it.
///
/// # Errors
/// The answer to a client that is refused: there are too many connections, all together or from its
/// address.
pub(super) fn open(
    context: &Arc<HttpContext>,
    client: IpAddr,
) -> Result<Arc<HttpTransport>, Box<Response>> {
    let HttpContext { transports, limits, registry, .. } = &**context;
    let handshake = transports.addresses.handshake(client);
    let counted =
        handshake.and_then(|()| transports.addresses.open(client)).map_err(|refusal| {
            tracing::debug!(%client, "connection refused: {}", refusal.why());
            refused_address(refusal)
        })?;
    let transport = Arc::new(HttpTransport::new(context.new_id(), limits.alone));
    let connections = &transports.connections;
    if connections.refuse() || !registry.insert(&transport, connections.limit()) {
        return Err(too_many().into());
    }
    let registered = Registered { context: Arc::clone(context), transport: Arc::clone(&transport) };
    let reader = Reader::new(Arc::clone(&transport), transports.max_packet());
    let writer = Writer(Arc::clone(&transport));
    let datagrams = None::<(NoDatagrams, usize)>;
    let serving = serve(Arc::clone(transports), "HTTP requests", false, reader, writer, datagrams);
    tokio::spawn(async move {
        serving.await;
        drop((registered, counted));
    });
    Ok(transport)
}

/// Removes an HTTP transport from the registry when it is no longer served.
struct Registered {
    context: Arc<HttpContext>,
    transport: Arc<HttpTransport>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.transport.close();
        self.context.registry.remove(self.transport.id);
    }
}
