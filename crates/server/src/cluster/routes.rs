//! Knows which server has which shard at this moment, and which servers live.

use std::sync::{Arc, PoisonError, RwLock};

use groupwire_cluster::NodeName;

use super::peers::Peers;
use super::shards::shard_of;
use crate::rooms::elsewhere::{Elsewhere, Place};
use crate::tools::pattern::matches;

/// The server that has a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Here,
    There(Node),
    /// Nobody, as far as this server knows.
    Nowhere,
}

/// Another server of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// The host and port by which other servers reach it.
    pub(crate) address: String,
}

impl Node {
    pub(super) fn of(name: &NodeName, address: &[u8]) -> Self {
        let address = String::from_utf8_lossy(address).into_owned();
        Node { name: name.as_str().to_owned(), address }
    }
}

/// See the [module](self).
pub(crate) struct Routes {
    routes: RwLock<Vec<Route>>,
    /// The other servers that live, by name.
    nodes: RwLock<Vec<Node>>,
    peers: Arc<Peers>,
    /// Patterns of the names of rooms that this server mirrors.
    large: Vec<String>,
}

impl Routes {
    /// `large`: patterns of the names of rooms that this server mirrors instead of passing clients
    /// on.
    pub(super) fn new(shards: u16, peers: Arc<Peers>, large: Vec<String>) -> Self {
        let routes = RwLock::new(vec![Route::Nowhere; usize::from(shards)]);
        Routes { routes, nodes: RwLock::default(), peers, large }
    }

    /// From now on these other servers live.
    pub(super) fn set_nodes(&self, nodes: Vec<Node>) {
        *self.nodes.write().unwrap_or_else(PoisonError::into_inner) = nodes;
    }

    /// The other servers that live, by name.
    pub(super) fn nodes(&self) -> Vec<Node> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, shard: u16, route: Route) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = routes.get_mut(usize::from(shard)) {
            *place = route;
        }
    }

    /// The number of shards.
    pub(super) fn count(&self) -> u16 {
        self.routes.read().unwrap_or_else(PoisonError::into_inner).len() as u16
    }

    /// The shard of a room.
    pub(super) fn shard_of(&self, room: &str) -> u16 {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        shard_of(room, routes.len() as u16)
    }

    /// True if this server has the shard of the room.
    pub(super) fn is_here(&self, room: &str) -> bool {
        self.has(self.shard_of(room))
    }

    /// True if this server has the shard.
    pub(super) fn has(&self, shard: u16) -> bool {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        routes.get(usize::from(shard)) == Some(&Route::Here)
    }

    /// The shards that this server has.
    pub(super) fn here(&self) -> impl Iterator<Item = u16> {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        let here = (0..).zip(routes.iter()).filter(|(_, route)| **route == Route::Here);
        here.map(|(shard, _)| shard).collect::<Vec<_>>().into_iter()
    }

    /// A shard that this server has, if it has one.
    pub(super) fn any_here(&self) -> Option<u16> {
        self.here().next()
    }

    /// The server that has the room.
    pub(super) fn route(&self, room: &str) -> Route {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        let shard = shard_of(room, routes.len() as u16);
        routes.get(usize::from(shard)).cloned().unwrap_or(Route::Nowhere)
    }
}

impl Elsewhere for Routes {
    fn place(&self, room: &str) -> Place {
        match self.route(room) {
            Route::Here => Place::Here,
            Route::There(Node { name, address }) => {
                let owner = self.peers.sender(&name, &address);
                match self.large.iter().any(|pattern| matches(pattern, room)) {
                    true => Place::Mirrored(owner),
                    false => Place::There(owner),
                }
            }
            Route::Nowhere => Place::Nowhere,
        }
    }
}
