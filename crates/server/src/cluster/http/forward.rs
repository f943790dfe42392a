//! Passes HTTP requests on to the server that can answer them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderName, Request, Uri, header};
use axum::response::Response;
use sha2::{Digest, Sha256};

use super::peer::{NotForwarded, Peer};
use crate::cluster::figures::{Counters, count};
use crate::cluster::routes::{Node, Route, Routes};
use crate::cluster::tls::ClusterTls;

/// Headers that belong to one connection (RFC 9110, section 7.6.1), and are not passed on.
const OF_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The beginning of names that a server gives away, by which other servers know whose they are.
pub(crate) type Mark = [u8; 4];

/// The server that has a room.
pub(crate) enum Owner {
    Here,
    There(Node),
    /// No server has it at this moment, as far as this one knows.
    Nowhere,
}

/// Passes requests on to other servers.
pub(crate) struct Forward {
    /// The name of this server.
    own: String,
    routes: Arc<Routes>,
    tls: ClusterTls,
    counters: Arc<Counters>,
    /// Other servers by their addresses.
    peers: Mutex<HashMap<String, Arc<Peer>>>,
}

impl Forward {
    pub(in crate::cluster) fn new(
        own: String,
        routes: Arc<Routes>,
        tls: ClusterTls,
        counters: Arc<Counters>,
    ) -> Self {
        Forward { own, routes, tls, counters, peers: Mutex::default() }
    }

    /// The name of this server.
    pub(crate) fn own_name(&self) -> &str {
        &self.own
    }

    /// The mark of this server.
    pub(crate) fn own_mark(&self) -> Mark {
        mark(&self.own)
    }

    /// The other server of this mark, if it lives.
    pub(crate) fn marked(&self, wanted: Mark) -> Option<Node> {
        let is_own = wanted == self.own_mark();
        self.others().into_iter().find(|node| !is_own && mark(&node.name) == wanted)
    }

    /// All other servers that live.
    pub(crate) fn others(&self) -> Vec<Node> {
        self.routes.nodes()
    }

    /// The server that has a room.
    pub(crate) fn owner_of(&self, room: &str) -> Owner {
        match self.routes.route(room) {
            Route::Here => Owner::Here,
            Route::There(node) => Owner::There(node),
            Route::Nowhere => Owner::Nowhere,
        }
    }

    /// Passes a request on. Only its method, path, query, headers and body count.
    ///
    /// # Errors
    /// The server does not answer. What it has read of the body is lost.
    pub(crate) async fn send(
        &self,
        node: &Node,
        request: Request<Body>,
    ) -> Result<Response, NotForwarded> {
        let (parts, body) = request.into_parts();
        let mut uri = parts.uri.into_parts();
        uri.scheme = Some(Scheme::HTTPS);
        uri.authority = Some(Authority::from_static("groupwire-cluster"));
        let mut passed = Request::new(body);
        *passed.method_mut() = parts.method;
        *passed.uri_mut() = Uri::from_parts(uri).unwrap_or_default();
        *passed.headers_mut() = parts.headers;
        OF_CONNECTION.iter().for_each(|name| drop(passed.headers_mut().remove(name)));
        count(&self.counters.forwarded);
        let answer = self.peer(node).send(node, &self.tls, passed).await;
        let answer = answer.inspect_err(|_| count(&self.counters.not_forwarded))?;
        // The version of HTTP is that of the connection, and no part of the answer.
        let (parts, body) = answer.into_parts();
        let mut passed = Response::new(body);
        *passed.status_mut() = parts.status;
        *passed.headers_mut() = parts.headers;
        Ok(passed)
    }

    fn peer(&self, node: &Node) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(peer) = peers.get(&node.address) {
            return Arc::clone(peer);
        }
        let live = self.others();
        peers.retain(|address, _| live.iter().any(|node| node.address == *address));
        Arc::clone(peers.entry(node.address.clone()).or_default())
    }
}

/// The mark of a server. No two servers that live have the same: the driver of the cluster sees to
/// that.
pub(in crate::cluster) fn mark(node: &str) -> Mark {
    let hash = Sha256::digest(node.as_bytes());
    [hash[0], hash[1], hash[2], hash[3]]
}
