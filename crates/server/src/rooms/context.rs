//! What every room of a server is made of.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::{Authority, room};

use super::observer::Observer;
use crate::arrivals::Arrivals;
use crate::durable::{Durable, HmacSecrets};
use crate::figures::events::Events;
use crate::lifecycle::drain::Drain;
use crate::webhook::Queue;

/// See the [module](self).
pub(crate) struct RoomContext {
    /// The configuration of each room, without its name and incarnation.
    pub(crate) config: room::Config,
    /// How long a room is kept while it has no participants.
    pub(crate) keep_empty: Duration,
    pub(crate) authority: Arc<dyn Authority + Send + Sync>,
    /// Follows the transactions of all rooms; `None` for no observer.
    pub(crate) observer: Option<Arc<dyn Observer + Send + Sync>>,
    /// Makes and checks the secrets of sessions.
    pub(crate) secrets: Arc<HmacSecrets>,
    pub(crate) events: Arc<Events>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) drain: Arc<Drain>,
    /// The store of rooms; `None` if rooms end with the server.
    pub(crate) durable: Option<Arc<Durable>>,
    /// The events for the webhook; `None` if there is none.
    pub(crate) webhook: Option<Arc<Queue>>,
}
