//! What all transports use of the server.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Error;

use super::connections::Connections;
use crate::access::Gate;
use crate::addresses::Addresses;
use crate::arrivals::Arrivals;
use crate::ends::emulation::path::Emulations;
use crate::figures::events::Events;
use crate::rooms::directory::Directory;
use crate::rooms::refused::NotJoined;
use crate::traces::Traces;
use crate::web::origins::Origins;

/// See the [module](self).
pub(crate) struct TransportContext {
    pub(crate) rooms: Arc<Directory>,
    /// Decides who may join.
    pub(crate) gate: Arc<Gate>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) events: Arc<Events>,
    pub(crate) traces: Traces,
    /// The emulated networks of rooms.
    pub(crate) emulations: Arc<Emulations>,
    /// True if every connection may ask for the emulated network of its room.
    pub(crate) is_demonstration: bool,
    /// The origins of web pages that may use the server.
    pub(crate) origins: Origins,
}

impl TransportContext {
    /// The most bytes of a packet.
    pub(crate) fn max_packet(&self) -> usize {
        self.rooms.context().config.limits.max_packet
    }

    /// A connection that has taken no packet for this long is closed.
    pub(crate) fn dead(&self) -> Duration {
        self.rooms.context().config.timing.dead
    }

    /// Does what a client has to wait for before it may join, once the server can take it in. If
    /// the server says goodbye before, the client does not wait: stopping does not wait for a hook.
    pub(crate) async fn admit<T>(
        &self,
        entering: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, NotJoined> {
        let drain = &self.rooms.context().drain;
        let admitted = async {
            // Admission comes before costly work such as checking the token.
            self.arrivals.admit().await.map_err(|retry| NotJoined::Deferred { retry })?;
            Ok(entering.await?)
        };
        tokio::select! {
            entered = admitted => entered,
            _ = drain.due() => Err(NotJoined::stopping(drain)),
        }
    }
}
