//! Opening a room: it is made, or loaded from the store, and driven until it closes.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::limits::{MAX_STORED_PART, MAX_TRANSACTION};
use groupwire_session::{Durability, Error, Limits, Room, goodbye, refusal, room};
use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};

use super::authority::SharedAuthority;
use super::context::RoomContext;
use super::costs;
use super::directory::Directory;
use super::store::{self, LoadError, RoomStore};
use super::task::{Close, Message, drive, tell_room};
use crate::durable::Durable;
use crate::tools::secret::random_number;
use crate::traces::Span;

/// A stored room remembers the counters of this many participants who left, so that each can
/// resume.
const MAX_STORED_FORMER: usize = 10_000;

/// The clients of a room that another server has come back after this time.
const MOVED: Duration = Duration::from_millis(200);

/// A room that has its place in the directory, and is not open yet.
pub(super) struct Opening {
    pub(super) name: String,
    pub(super) messages: UnboundedReceiver<Message>,
    pub(super) sender: WeakUnboundedSender<Message>,
    /// The span of the client for which the room is opened.
    pub(super) span: Span,
}

/// Opens a room and drives it until it closes.
pub(super) async fn open(directory: Arc<Directory>, context: Arc<RoomContext>, opening: Opening) {
    let Opening { name, messages, sender, span } = opening;
    let own = directory.own_identity();
    let authority = Box::new(SharedAuthority::new(Arc::clone(&context.authority), own));
    let config = room::Config {
        name: name.clone(),
        incarnation: random_number(),
        costs: costs::known(),
        ..context.config.clone()
    };
    let durable = context.durable.clone().map(|durable| (durable.mode(&name), durable));
    let (room, store) = match durable {
        None | Some((Durability::Memory, _)) => (Box::new(Room::new(config, authority)), None),
        Some((durability, durable)) => {
            let config = room::Config { durability, limits: stored_limits(&config), ..config };
            let loading = span.part("load");
            let loaded = load(Arc::clone(&durable), config, authority).await;
            let room = match loaded {
                Ok(room) => room,
                Err(error) => {
                    loading.fail("not-loaded");
                    return refuse(&directory, &context, &name, messages, &error);
                }
            };
            let tell = tell_room(sender);
            let store = RoomStore::new(durable, &room, tell, context.webhook.clone());
            (Box::new(room), Some(store))
        }
    };
    drop(span);
    directory.set_ready(&name);
    let leave = |waiting: &_, leave| directory.leave(&name, waiting, leave);
    drive(room, store, messages, context, leave).await;
}

/// Loads a room in a thread that may wait for the disk.
async fn load(
    durable: Arc<Durable>,
    config: room::Config,
    authority: Box<SharedAuthority>,
) -> Result<Room, LoadError> {
    let loading = tokio::task::spawn_blocking(move || store::load(&durable, config, authority));
    loading.await.expect("loading a room does not panic")
}

/// The limits of a stored room.
fn stored_limits(config: &room::Config) -> Limits {
    let limits = &config.limits;
    Limits {
        max_former: MAX_STORED_FORMER,
        max_snapshot: limits.max_snapshot.max(MAX_STORED_PART),
        // Several of the largest transactions have to fit.
        max_log_bytes: limits.max_log_bytes.max(4 * MAX_TRANSACTION),
        max_partless_bytes: limits.max_partless_bytes.max(2 * MAX_TRANSACTION),
        ..limits.clone()
    }
}

/// Closes the connections that wait for a room that cannot be loaded. Their clients try again.
fn refuse(
    directory: &Directory,
    context: &RoomContext,
    name: &str,
    mut messages: UnboundedReceiver<Message>,
    error: &LoadError,
) {
    match error {
        LoadError::Moved => tracing::info!(room = name, "room is not loaded: it has moved"),
        LoadError::Failed(error) => tracing::error!(room = name, error, "room cannot be loaded"),
    }
    directory.remove(name);
    while let Ok(message) = messages.try_recv() {
        let Message::Join { mut connection, .. } = message else { continue };
        let last = match error {
            LoadError::Moved => Close { packet: goodbye(MOVED), reason: None },
            LoadError::Failed(_) => {
                let reason = Error::NotNow { what: "the server cannot load the room" };
                context.events.refusals.count(&reason);
                connection.trace.refused(&reason);
                Close { packet: refusal(&reason), reason: Some(reason) }
            }
        };
        connection.outlet.close(last);
    }
}
