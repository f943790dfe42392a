//! All rooms of the server, by name, and the state that all tasks share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_session::limits::{MAX_STORED_PART, MAX_TRANSACTION};
use groupwire_session::{Durability, Error, Identity, Limits, LinkId, Room, refusal, room};
use tokio::sync::mpsc::WeakUnboundedSender;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::task::{Close, Driver, Leave, Message, Outbound, RoomTask, drive};
use crate::access::{Bans, Gate};
use crate::addresses::Addresses;
use crate::arrivals::Arrivals;
use crate::certificate::keeper::Certificates;
use crate::durable::{Durable, HmacSecrets};
use crate::ends::emulation::path::Emulations;
use crate::figures::events::Events;
use crate::inspect::recordings::Recordings;
use crate::inspect::report_streams::ReportStreams;
use crate::lifecycle::drain::{Drain, Ending};
use crate::lifecycle::sockets::Handover;
use crate::metrics::history::History;
use crate::rooms::authority::SharedAuthority;
use crate::rooms::store::{self, LoadError, RoomStore};
use crate::rooms::totals::Totals;
use crate::server::config::Config;
use crate::tools::open_table::OpenTable;
use crate::tools::secret::{random_number, random_secret};
use crate::traces::Span;
use crate::transport::http::registry::HttpTransports;
use crate::webhook::{self, RoomEvents, WebhookConfig};
use crate::webtransport::offer::Offer;
use crate::yjs::documents::Documents;

/// A stored room remembers the counters of this many participants who left, so that each can resume.
const MAX_STORED_FORMER: usize = 10_000;

/// The longest time that a room takes to end, and the time between two checks whether it has.
const LONGEST_END: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The state that all tasks of a server share: configuration, rooms and counters.
pub(crate) struct Hub {
    pub(crate) config: Config,
    pub(crate) started: Instant,
    /// The state of the server's shutdown.
    pub(crate) drain: Arc<Drain>,
    /// The listening sockets, for the process that takes this one's place.
    pub(crate) handover: Handover,
    /// Decides who may join.
    pub(crate) gate: Arc<Gate>,
    /// Open connections, over all transports.
    pub(crate) connections: AtomicUsize,
    /// Connections that have ended since the start.
    pub(crate) ended_connections: AtomicU64,
    /// Limits for each address that clients come from.
    pub(crate) addresses: Arc<Addresses>,
    /// Takes clients in as fast as the server can serve them.
    pub(crate) arrivals: Arc<Arrivals>,
    /// What is counted for `GET /metrics` beside the totals of rooms.
    pub(crate) events: Arc<Events>,
    pub(crate) http_transports: HttpTransports,
    /// What `GET /transports` says about WebTransport; `None` if the server has none.
    pub(crate) webtransport: Option<Arc<Offer>>,
    /// The certificate in use.
    certificates: Option<Arc<Certificates>>,
    /// The rooms that inspectors show, with the streams of reports to these inspectors.
    pub(crate) report_streams: ReportStreams,
    /// The recordings of rooms.
    pub(crate) recordings: Recordings,
    /// The emulated networks of rooms.
    pub(crate) emulations: Arc<Emulations>,
    /// The figures of the last minutes.
    pub(crate) history: History,
    /// The documents of Yjs.
    pub(crate) documents: Arc<Documents>,
    /// The store of rooms; `None` if rooms end with the server.
    pub(crate) durable: Option<Arc<Durable>>,
    /// The events for the webhook; `None` if there is none.
    pub(crate) webhook: Option<Arc<webhook::Queue>>,
    /// Makes and checks the secrets of sessions.
    pub(crate) secrets: Arc<HmacSecrets>,
    rooms: Mutex<OpenTable<Message>>,
    /// Rooms that nobody may open at present, because what is stored of them is being replaced.
    held: Mutex<HashSet<String>>,
    /// The place for an export or an import over HTTP: one at a time, because each takes as much disk as the rooms.
    pub(crate) copying: Arc<Semaphore>,
    last_link: AtomicU64,
    /// The rights of the server's own participants of rooms.
    own_rights: [u8; 16],
    /// The sum of the counters of closed rooms.
    closed: Mutex<Totals>,
}

impl Hub {
    /// Opens the store, if the configuration has one.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if the store cannot be opened, [`Error::Bans`](crate::Error::Bans) if its bans cannot.
    pub(crate) fn new(
        config: Config,
        certificates: Option<Arc<Certificates>>,
        webtransport: Option<Arc<Offer>>,
    ) -> Result<Self, crate::Error> {
        let emulates = config.emulate || config.admin.is_some();
        let (durable, secrets) = match &config.durable {
            Some(durable) => {
                let tick = config.room.timing.tick;
                let outbox = config.webhook.as_ref().map(|_| webhook::outbox_limits());
                let (durable, keys) = Durable::open(durable, tick, config.upgrade, outbox)?;
                (Some(Arc::new(durable)), HmacSecrets::stored(keys))
            }
            None => (None, HmacSecrets::random()),
        };
        // The store has locked the folder.
        let bans = Bans::open(config.durable.as_ref().map(|durable| durable.folder.as_path()))?;
        let store = durable.as_ref().map(|durable| Arc::clone(&durable.store));
        let queue = |webhook: &WebhookConfig| webhook::Queue::new(webhook.clone(), store.clone());
        Ok(Hub {
            webhook: config.webhook.as_ref().map(queue).map(Arc::new),
            gate: Arc::new(Gate::new(Arc::clone(&config.authenticator), bans)),
            durable,
            secrets: Arc::new(secrets),
            report_streams: ReportStreams::default(),
            recordings: Recordings::default(),
            emulations: Arc::new(Emulations::new(emulates)),
            history: History::default(),
            drain: Arc::new(Drain::new(config.drain)),
            handover: Handover::default(),
            addresses: Arc::new(Addresses::new(config.addresses.clone())),
            arrivals: Arc::new(Arrivals::new(config.arrivals)),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            ended_connections: AtomicU64::new(0),
            events: Arc::default(),
            http_transports: HttpTransports::default(),
            webtransport,
            documents: Arc::new(Documents::new(&config.yjs.clone().unwrap_or_default())),
            certificates,
            rooms: Mutex::default(),
            held: Mutex::new(HashSet::new()),
            copying: Arc::new(Semaphore::new(1)),
            config,
            last_link: AtomicU64::new(0),
            own_rights: random_secret(),
            closed: Mutex::new(Totals::default()),
        })
    }

    pub(crate) fn next_link(&self) -> LinkId {
        LinkId(self.last_link.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The identity of the server's own participants of rooms. No token can have these rights, which are random.
    pub(crate) fn own_identity(&self) -> Identity {
        Identity { subject: Vec::new(), rights: self.own_rights.to_vec() }
    }

    /// Hands a joining connection to its room, which is created if there is none. Returns the sender of messages to the room.
    pub(crate) fn join(
        self: &Arc<Self>,
        name: &str,
        message: Message,
    ) -> Result<mpsc::UnboundedSender<Message>, NotJoined> {
        // The lock is held, so that the room cannot close between the look-up and the message.
        let mut rooms = self.rooms();
        if self.drain.is_due() {
            return Err(NotJoined::Stopping { retry: self.drain.take_times(1) });
        }
        if self.is_held(name) {
            return Err(Error::NotNow { what: "an administrator restores the room" }.into());
        }
        let message = match rooms.enter(name) {
            None => message,
            Some(room) => match room.send(message) {
                Ok(()) => return Ok(room.clone()),
                // The room's task has ended, which only a bug can cause: create the room anew.
                Err(mpsc::error::SendError(message)) => message,
            },
        };
        let limit = self.config.max_rooms;
        let Some(spare) = rooms.make_place(limit) else {
            return Err(Error::TooMany { what: "rooms on this server", limit }.into());
        };
        for room in spare {
            let _ = room.send(Message::MakeWay);
        }
        let span = match &message {
            Message::Join { connection, .. } => connection.trace.room.clone(),
            _ => Span::NONE,
        };
        // How many messages may wait is said at `Message`.
        let (sender, receiver) = mpsc::unbounded_channel();
        let _ = sender.send(message);
        rooms.insert(name, sender.clone());
        drop(rooms);
        let config = room::Config {
            name: name.to_owned(),
            incarnation: random_number(),
            costs: crate::rooms::costs::known(),
            ..self.config.room.clone()
        };
        let task = RoomTask {
            messages: receiver,
            observer: self.config.observer.clone(),
            secrets: Arc::clone(&self.secrets),
            keep_empty: self.config.keep_empty,
            events: Arc::clone(&self.events),
            arrivals: Arc::clone(&self.arrivals),
            drain: Arc::clone(&self.drain),
            webhook: self.webhook.clone().map(|queue| RoomEvents::new(queue, name)),
        };
        tokio::spawn(Arc::clone(self).run_room(config, task, sender.downgrade(), span));
        tracing::info!(room = name, "room opened");
        Ok(sender)
    }

    /// Makes a room, or loads it from the store, and drives it until it closes. `span` is that of the client for which it is made.
    async fn run_room(
        self: Arc<Self>,
        config: room::Config,
        task: RoomTask,
        sender: WeakUnboundedSender<Message>,
        span: Span,
    ) {
        let name = config.name.clone();
        let authority =
            Box::new(SharedAuthority::new(Arc::clone(&self.config.authority), self.own_identity()));
        let durable = self.durable.clone().map(|durable| (durable.mode(&name), durable));
        let (room, store) = match durable {
            None | Some((Durability::Memory, _)) => (Box::new(Room::new(config, authority)), None),
            Some((durability, durable)) => {
                let limits = Limits {
                    max_former: MAX_STORED_FORMER,
                    max_snapshot: config.limits.max_snapshot.max(MAX_STORED_PART),
                    // Several of the largest transactions have to fit.
                    max_log_bytes: config.limits.max_log_bytes.max(4 * MAX_TRANSACTION),
                    max_partless_bytes: config.limits.max_partless_bytes.max(2 * MAX_TRANSACTION),
                    ..config.limits.clone()
                };
                let config = room::Config { durability, limits, ..config };
                let stored = Arc::clone(&durable);
                let span = span.part("load");
                let loading =
                    tokio::task::spawn_blocking(move || store::load(&durable, config, authority));
                match loading.await.expect("loading a room does not panic") {
                    Ok(room) => {
                        let store = RoomStore::new(stored, &room, sender, self.webhook.clone());
                        (Box::new(room), Some(store))
                    }
                    Err(error) => {
                        span.fail("not-loaded");
                        return self.refuse_room(&name, task, &error);
                    }
                }
            }
        };
        drop(span);
        self.rooms().set_ready(&name);
        let leave = |waiting: &_, leave| self.leave(&name, waiting, leave);
        drive(room, store, task, leave).await;
    }

    /// Closes the connections that wait for a room that cannot be loaded. Their clients try again.
    fn refuse_room(&self, name: &str, mut task: RoomTask, error: &LoadError) {
        tracing::error!(room = name, error = %error.0, "room cannot be loaded");
        self.rooms().remove(name);
        while let Ok(message) = task.messages.try_recv() {
            if let Message::Join { mut connection, .. } = message {
                let reason = Error::NotNow { what: "the server cannot load the room" };
                self.events.refusals.count(&reason);
                connection.trace.refused(&reason);
                let packet = refusal(&reason);
                let close = Close { packet, reason: Some(reason) };
                connection.packets.put(Outbound::Close(Box::new(close)));
            }
        }
    }

    /// Does what a room without participants asks for, unless a message for it is waiting. Returns true if it did.
    fn leave(&self, name: &str, waiting: &mpsc::UnboundedReceiver<Message>, leave: Leave) -> bool {
        let mut rooms = self.rooms();
        if !waiting.is_empty() {
            return false;
        }
        match leave {
            Leave::WhenNeeded => rooms.offer(name),
            Leave::Now(why, stats) => {
                rooms.remove(name);
                self.events.closings.count(why);
                *self.closed() += Totals::from(stats).counters();
            }
        }
        true
    }

    /// The number of open rooms, and the sum of the counters of all rooms, closed ones included.
    pub(crate) async fn stats(&self) -> (usize, Totals) {
        let (count, mut sum, answers) = {
            // The lock is held, so that no room closes between the question and the sum of the closed ones.
            let rooms = self.rooms();
            let ask = |room: &mpsc::UnboundedSender<Message>| {
                let (answer, answered) = oneshot::channel();
                let _ = room.send(Message::Stats { answer });
                answered
            };
            let answers: Vec<_> = rooms.ready().map(|(_, room)| ask(room)).collect();
            (rooms.len(), *self.closed(), answers)
        };
        for answer in answers {
            sum += answer.await.unwrap_or_default().into();
        }
        (count, sum)
    }

    /// Runs `call` in the task of a room and returns its result; `None` if there is no such room.
    pub(crate) async fn with_room<T: Send + 'static>(
        &self,
        name: &str,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        let room = self.rooms().get(name)?.clone();
        let (answer, answered) = oneshot::channel();
        let call = move |driver: &mut Driver, now| drop(answer.send(call(driver, now)));
        room.send(Message::Call(Box::new(call))).ok()?;
        answered.await.ok()
    }

    /// As [`Hub::with_room`]. A stored room that is not open is opened for it.
    pub(crate) async fn with_stored_room<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let is_stored = self.durable.as_ref().is_some_and(|durable| durable.store.contains(name));
        if !is_stored && !self.is_open(name) {
            return Err(NoAnswer::NoRoom);
        }
        let (answer, answered) = oneshot::channel();
        let call = move |driver: &mut Driver, now| drop(answer.send(call(driver, now)));
        let sent = self.join(name, Message::Call(Box::new(call)));
        sent.map_err(|_| NoAnswer::NotNow)?;
        answered.await.map_err(|_| NoAnswer::NotNow)
    }

    /// Ends a room, and lets nobody open it while the result exists.
    pub(crate) async fn hold(self: &Arc<Self>, name: &str) -> Result<Held, NoAnswer> {
        if !self.held().insert(name.to_owned()) {
            return Err(NoAnswer::NotNow);
        }
        let held = Held { hub: Arc::clone(self), name: name.to_owned() };
        self.end_stored(name);
        let gone = async {
            while self.is_open(name) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(LONGEST_END, gone).await.map_err(|_| NoAnswer::NotNow)?;
        Ok(held)
    }

    /// Deletes the stored rooms that the rules name and that are not open.
    pub(crate) fn forget(&self, durable: &Durable) {
        // The lock is held, so that none of them opens meanwhile.
        let rooms = self.rooms();
        durable.forget(|room| rooms.get(room).is_some());
    }

    /// Ends a room whose stored content was deleted or replaced, if it is open. Its participants come back to what is stored.
    #[cfg_attr(not(unix), allow(dead_code, reason = "commands come over a Unix socket"))]
    pub(crate) fn end_stored(&self, name: &str) {
        if let Some(room) = self.rooms().get(name) {
            let _ = room.send(Message::EndStored);
        }
    }

    /// The names of all rooms, except those that are being loaded: requests about all rooms do not wait for the store.
    pub(crate) fn names(&self) -> Vec<String> {
        self.rooms().ready().map(|(name, _)| name.clone()).collect()
    }

    /// True if the server takes no further connection. The refused connection is counted.
    pub(crate) fn refuses_connection(&self) -> bool {
        let limit = self.config.max_connections;
        let is_full = self.connections.load(Ordering::Relaxed) >= limit;
        if is_full {
            self.events.refusals.count(&Error::TooMany { what: "connections", limit });
        }
        is_full
    }

    /// True if balancers may send the server new clients.
    pub(crate) fn is_ready(&self) -> bool {
        let is_failed = self.durable.as_deref().is_some_and(Durable::is_poisoned);
        let certificates = self.certificates.as_deref();
        let is_served = certificates.is_none_or(|certificates| certificates.facts().is_some());
        !is_failed && is_served && !self.drain.has_begun()
    }

    /// The end of the validity of the certificate that clients check, in seconds since 1970.
    pub(crate) fn certificate_expiry(&self) -> Option<i64> {
        self.certificates.as_ref()?.expiry()
    }

    /// Makes the server not ready, and lets it stop after a time: that of the configuration, or `wait`. A second call can make
    /// that sooner.
    pub(crate) fn begin_drain(self: &Arc<Self>, wait: Option<Duration>) {
        let wait = self.drain.begin(wait);
        tracing::info!(
            wait_seconds = wait.as_secs_f32(),
            "server is draining: it is not ready any more"
        );
        if wait.is_zero() {
            self.drain.end_wait(Ending::Stop);
            return;
        }
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            hub.drain.end_wait(Ending::Stop);
        });
    }

    /// Closes every room's connections and waits until all are closed. Clients that still come are told to come back, too.
    pub(crate) async fn shut_down(&self) {
        {
            let rooms = self.rooms();
            self.drain.end_wait(Ending::Stop);
            for room in rooms.tasks() {
                let _ = room.send(Message::Shutdown);
            }
        }
        self.documents.shut_down();
        while self.connections.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // HTTP may not have handed its last answer to the kernel yet.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// Does what a client has to wait for before it may join, unless the server says goodbye before: stopping does not wait for a hook.
    pub(crate) async fn unless_stopping<T>(
        &self,
        entering: impl Future<Output = Result<T, NotJoined>>,
    ) -> Result<T, NotJoined> {
        tokio::select! {
            entered = entering => entered,
            _ = self.drain.due() => Err(NotJoined::Stopping { retry: self.drain.take_times(1) }),
        }
    }

    /// True if the room may not be opened at present, because its stored content is being replaced.
    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.held().contains(name)
    }

    /// True if a room is open.
    fn is_open(&self, name: &str) -> bool {
        self.rooms().get(name).is_some()
    }

    fn held(&self) -> MutexGuard<'_, HashSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rooms(&self) -> MutexGuard<'_, OpenTable<Message>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, Totals> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A room that nobody may open.
pub(crate) struct Held {
    hub: Arc<Hub>,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.hub.held().remove(&self.name);
    }
}

/// Why a room did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It is neither open nor stored.
    NoRoom,
    /// It cannot be opened, or ends at this moment.
    NotNow,
}

/// Why a connection was not handed to a room.
pub(crate) enum NotJoined {
    Refused(Error),
    /// The server stops: the client may come back after this time.
    Stopping {
        retry: Duration,
    },
    /// More clients come than the server can serve: this one comes back after this time.
    Deferred {
        retry: Duration,
    },
}

impl From<Error> for NotJoined {
    fn from(error: Error) -> Self {
        NotJoined::Refused(error)
    }
}

#[cfg(test)]
mod tests;
