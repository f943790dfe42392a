//! Knows which server has which shard at this moment.

use std::sync::{Arc, PoisonError, RwLock};

use super::peers::Peers;
use super::shards::shard_of;
use crate::rooms::elsewhere::{Elsewhere, Place};

/// The server that has a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Here,
    There {
        node: String,
        address: String,
    },
    /// Nobody, as far as this server knows.
    Nowhere,
}

/// See the [module](self).
pub(super) struct Routes {
    routes: RwLock<Vec<Route>>,
    peers: Arc<Peers>,
}

impl Routes {
    pub(super) fn new(shards: u16, peers: Arc<Peers>) -> Self {
        Routes { routes: RwLock::new(vec![Route::Nowhere; usize::from(shards)]), peers }
    }

    pub(super) fn set(&self, shard: u16, route: Route) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = routes.get_mut(usize::from(shard)) {
            *place = route;
        }
    }

    /// The shard of a room.
    pub(super) fn shard_of(&self, room: &str) -> u16 {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        shard_of(room, routes.len() as u16)
    }

    /// True if this server has the shard of the room.
    pub(super) fn is_here(&self, room: &str) -> bool {
        self.route(room) == Route::Here
    }

    fn route(&self, room: &str) -> Route {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        let shard = shard_of(room, routes.len() as u16);
        routes.get(usize::from(shard)).cloned().unwrap_or(Route::Nowhere)
    }
}

impl Elsewhere for Routes {
    fn place(&self, room: &str) -> Place {
        match self.route(room) {
            Route::Here => Place::Here,
            Route::There { node, address } => Place::There(self.peers.sender(&node, &address)),
            Route::Nowhere => Place::Nowhere,
        }
    }
}
