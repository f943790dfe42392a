//! The directory of rooms: the open ones by name, those that are held, and the totals of closed
//! ones. `location.rs` finds and opens rooms in it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groupwire_session::{Identity, LinkId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use super::context::RoomContext;
use super::elsewhere::Elsewhere;
use super::task::{Leave, Message};
use super::totals::Totals;
use crate::durable::Durable;
use crate::lifecycle::drain::Ending;
use crate::tools::open_table::OpenTable;
use crate::tools::secret::random_secret;

/// See the [module](self).
pub(crate) struct Directory {
    pub(super) context: Arc<RoomContext>,
    /// Knows the rooms of other servers; `None` if this server has all rooms.
    pub(crate) elsewhere: Option<Arc<dyn Elsewhere>>,
    /// The most rooms that are open at the same time.
    pub(super) max_rooms: usize,
    rooms: Mutex<OpenTable<Message>>,
    /// The open mirrors of rooms that other servers have.
    mirrors: Mutex<OpenTable<Message>>,
    /// Rooms that nobody may open at present, because what is stored of them is being replaced.
    held: Mutex<HashSet<String>>,
    last_link: AtomicU64,
    /// The rights of the server's own participants of rooms.
    own_rights: [u8; 16],
    /// The sum of the counters of closed rooms.
    closed: Mutex<Totals>,
}

impl Directory {
    pub(crate) fn new(
        context: RoomContext,
        elsewhere: Option<Arc<dyn Elsewhere>>,
        max_rooms: usize,
    ) -> Self {
        Directory {
            context: Arc::new(context),
            elsewhere,
            max_rooms,
            rooms: Mutex::default(),
            mirrors: Mutex::default(),
            held: Mutex::default(),
            last_link: AtomicU64::new(0),
            own_rights: random_secret(),
            closed: Mutex::default(),
        }
    }

    /// What every room of this server is made of.
    pub(crate) fn context(&self) -> &RoomContext {
        &self.context
    }

    /// The number of a new connection, which no other connection of this server has.
    pub(crate) fn next_link(&self) -> LinkId {
        LinkId(self.last_link.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The identity of the server's own participants of rooms. No token can have these rights,
    /// which are random.
    pub(crate) fn own_identity(&self) -> Identity {
        Identity { subject: Vec::new(), rights: self.own_rights.to_vec() }
    }

    /// The number of open rooms, and the sum of the counters of all rooms, closed ones included.
    pub(crate) async fn stats(&self) -> (usize, Totals) {
        let (count, mut sum, answers) = {
            // The lock is held, so that no room closes between the question and the sum of the
            // closed ones.
            let rooms = self.rooms();
            let ask = |room: &UnboundedSender<Message>| {
                let (answer, answered) = oneshot::channel();
                let _ = room.send(Message::Stats { answer });
                answered
            };
            let mirrors = self.mirrors();
            let all = rooms.ready().chain(mirrors.ready());
            let answers: Vec<_> = all.map(|(_, room)| ask(room)).collect();
            (rooms.len(), *self.closed(), answers)
        };
        for answer in answers {
            sum += answer.await.unwrap_or_default().into();
        }
        (count, sum)
    }

    /// The names of all open rooms, except those that are being loaded: requests about all rooms do
    /// not wait for the store.
    pub(crate) fn names(&self) -> Vec<String> {
        self.rooms().ready().map(|(name, _)| name.clone()).collect()
    }

    /// Deletes the stored rooms that the rules of the configuration name and that are not open.
    pub(crate) fn forget(&self, durable: &Durable) {
        // The lock is held, so that none of them opens meanwhile.
        let rooms = self.rooms();
        durable.forget(|room| rooms.get(room).is_some());
    }

    /// Lets all rooms say goodbye to their participants. From now on no room is opened.
    pub(crate) fn shut_down(&self) {
        let rooms = self.rooms();
        self.context.drain.end_wait(Ending::Stop);
        for room in rooms.tasks().chain(self.mirrors().tasks()) {
            let _ = room.send(Message::Shutdown);
        }
    }

    /// Ends the rooms that `moved` names, because this server may not speak for them any more.
    /// Their participants come back to the server that has them then.
    pub(crate) fn end_moved(&self, moved: impl Fn(&str) -> bool) {
        for (_, room) in self.rooms().all().filter(|(name, _)| moved(name)) {
            let _ = room.send(Message::Moved);
        }
    }

    /// The task of the room answers from now on.
    pub(super) fn set_ready(&self, name: &str) {
        self.rooms().set_ready(name);
    }

    /// Removes a room that cannot be opened.
    pub(super) fn remove(&self, name: &str) {
        self.rooms().remove(name);
    }

    /// Does what a room without participants asks for, unless a message for it is waiting. Returns
    /// true if it did.
    pub(super) fn leave(
        &self,
        name: &str,
        waiting: &UnboundedReceiver<Message>,
        leave: Leave,
    ) -> bool {
        let mut rooms = self.rooms();
        if !waiting.is_empty() {
            return false;
        }
        match leave {
            Leave::WhenNeeded => rooms.offer(name),
            Leave::Now(why, stats) => {
                debug_assert!(rooms.get(name).is_some(), "a room is closed once: {name:?}");
                rooms.remove(name);
                self.context.events.closings.count(why);
                self.add_closed(Totals::from(stats));
            }
        }
        true
    }

    /// Does what a mirror without participants asks for, unless a message for it is waiting.
    /// Returns true if it did.
    pub(super) fn leave_mirror(
        &self,
        name: &str,
        waiting: &UnboundedReceiver<Message>,
        leave: Leave,
    ) -> bool {
        let mut mirrors = self.mirrors();
        if !waiting.is_empty() {
            return false;
        }
        if let Leave::Now(_, stats) = leave {
            mirrors.remove(name);
            self.add_closed(Totals::from(stats));
        }
        true
    }

    /// Adds what a room has counted to the sum of closed rooms.
    fn add_closed(&self, room: Totals) {
        let mut closed = self.closed();
        let mut all = *closed;
        all += room;
        *closed += room.counters();
        debug_assert_eq!(
            closed.counters(),
            all.counters(),
            "closing a room changes no counter of the server"
        );
    }

    /// Adds a room that a test drives.
    #[cfg(test)]
    pub(crate) fn add(&self, name: &str, task: UnboundedSender<Message>) {
        self.rooms().insert(name, task);
    }

    pub(super) fn held(&self) -> MutexGuard<'_, HashSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn rooms(&self) -> MutexGuard<'_, OpenTable<Message>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn mirrors(&self) -> MutexGuard<'_, OpenTable<Message>> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, Totals> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
