//! Says where the room of a name is, and opens, asks and holds rooms of this server.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Error;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{mpsc, oneshot};

use super::directory::Directory;
use super::elsewhere::Place;
use super::mirror::MirrorRoom;
use super::opening::{Opening, open};
use super::refused::{NoAnswer, NotJoined};
use super::task::{Driver, Message};
use crate::traces::Span;

/// The longest time that a room takes to end, and the time between two checks whether it has.
const LONGEST_END: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The clients of a room that no server has come back after this time.
const TAKEN_OVER: Duration = Duration::from_millis(500);

/// Where a room is.
pub(crate) enum Location<'a> {
    /// On this server.
    Here(LocalRoom<'a>),
    /// On another server, to which messages of connections are passed on.
    There(UnboundedSender<Message>),
    /// On another server, and this one has a mirror of it.
    Mirrored(MirrorRoom<'a>),
    /// On no server at this moment.
    Nowhere,
}

/// A handle of a room of this server, open or not.
pub(crate) struct LocalRoom<'a> {
    directory: &'a Arc<Directory>,
    name: &'a str,
}

impl Directory {
    /// Where the room of this name is.
    pub(crate) fn locate<'a>(self: &'a Arc<Self>, name: &'a str) -> Location<'a> {
        match self.elsewhere.as_ref().map_or(Place::Here, |it| it.place(name)) {
            Place::Here => Location::Here(LocalRoom { directory: self, name }),
            Place::There(room) => Location::There(room),
            Place::Mirrored(owner) => {
                Location::Mirrored(MirrorRoom { directory: self, name, owner })
            }
            Place::Nowhere => Location::Nowhere,
        }
    }

    /// Runs `call` in the task of a room and returns its result; `None` if the room is not open.
    pub(crate) async fn with_room<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        self.locate(name).here()?.call(call).await
    }

    /// As [`Directory::with_room`]. A stored room that is not open is opened for it.
    pub(crate) async fn with_stored_room<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let room = self.locate(name).here().ok_or(NoAnswer::NotHere)?;
        room.open_and_call(call).await
    }

    /// As [`Directory::with_room`]. A room that is not open is opened for it, as for a client that
    /// joins.
    ///
    /// # Errors
    /// The room cannot be opened, ends at this moment, or is not on this server.
    pub(crate) async fn with_entered_room<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Result<T, NotJoined> {
        let room = self.locate(name).here();
        let room = room.ok_or(NotJoined::Deferred { retry: TAKEN_OVER })?;
        let (message, answered) = question(call);
        room.join(message)?;
        answered.await.map_err(|_| NotJoined::Deferred { retry: TAKEN_OVER })
    }

    /// Ends a room, and lets nobody open it while the result exists.
    pub(crate) async fn hold(self: &Arc<Self>, name: &str) -> Result<Held, NoAnswer> {
        self.locate(name).here().ok_or(NoAnswer::NotHere)?.hold().await
    }

    /// Ends a room whose stored content was deleted or replaced, if it is open. Its participants
    /// come back to what is stored.
    pub(crate) fn end_stored(self: &Arc<Self>, name: &str) {
        if let Some(room) = self.locate(name).here() {
            room.end_stored();
        }
    }
}

impl<'a> Location<'a> {
    /// Hands the message with which a connection joins to the room. Returns the sender of further
    /// messages.
    ///
    /// # Errors
    /// As of [`LocalRoom::join`]; or no server has the room.
    pub(crate) fn join(&self, message: Message) -> Result<UnboundedSender<Message>, NotJoined> {
        match self {
            Location::Here(room) => room.join(message),
            Location::There(room) => {
                let _ = room.send(message);
                Ok(room.clone())
            }
            Location::Mirrored(mirror) => mirror.join(message),
            Location::Nowhere => Err(NotJoined::Deferred { retry: TAKEN_OVER }),
        }
    }

    /// The room, if this server has it.
    fn here(self) -> Option<LocalRoom<'a>> {
        match self {
            Location::Here(room) => Some(room),
            Location::There(_) | Location::Mirrored(_) | Location::Nowhere => None,
        }
    }
}

impl LocalRoom<'_> {
    /// Hands a message to the room, which is opened if it is not open. Returns the sender of
    /// further messages.
    ///
    /// # Errors
    /// The room cannot be opened, or the server stops.
    pub(crate) fn join(&self, message: Message) -> Result<UnboundedSender<Message>, NotJoined> {
        let LocalRoom { directory, name } = self;
        let drain = &directory.context.drain;
        // The lock is held, so that the room cannot close between the look-up and the message.
        let mut rooms = directory.rooms();
        if drain.is_due() {
            return Err(NotJoined::stopping(drain));
        }
        if directory.held().contains(*name) {
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
        let limit = directory.max_rooms;
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
        let (sender, messages) = mpsc::unbounded_channel();
        let _ = sender.send(message);
        rooms.insert(name, sender.clone());
        drop(rooms);
        let opening =
            Opening { name: (*name).to_owned(), messages, sender: sender.downgrade(), span };
        tokio::spawn(open(Arc::clone(directory), Arc::clone(&directory.context), opening));
        tracing::info!(room = name, "room opened");
        Ok(sender)
    }

    async fn hold(&self) -> Result<Held, NoAnswer> {
        let LocalRoom { directory, name } = self;
        if !directory.held().insert((*name).to_owned()) {
            return Err(NoAnswer::NotNow);
        }
        let held = Held { directory: Arc::clone(directory), name: (*name).to_owned() };
        self.end_stored();
        let gone = async {
            while self.is_open() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(LONGEST_END, gone).await.map_err(|_| NoAnswer::NotNow)?;
        Ok(held)
    }

    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        let room = self.directory.rooms().get(self.name)?.clone();
        let (message, answered) = question(call);
        room.send(message).ok()?;
        answered.await.ok()
    }

    async fn open_and_call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        if !self.is_stored() && !self.is_open() {
            return Err(NoAnswer::NoRoom);
        }
        let (message, answered) = question(call);
        self.join(message).map_err(|_| NoAnswer::NotNow)?;
        answered.await.map_err(|_| NoAnswer::NotNow)
    }

    fn end_stored(&self) {
        if let Some(room) = self.directory.rooms().get(self.name) {
            let _ = room.send(Message::EndStored);
        }
    }

    fn is_open(&self) -> bool {
        self.directory.rooms().get(self.name).is_some()
    }

    fn is_stored(&self) -> bool {
        let durable = self.directory.context.durable.as_ref();
        durable.is_some_and(|durable| durable.stores.directory.contains(self.name))
    }
}

/// The message that runs `call` in the task of a room, and its answer.
fn question<T: Send + 'static>(
    call: impl FnOnce(&mut Driver, Duration) -> T + Send + 'static,
) -> (Message, oneshot::Receiver<T>) {
    let (answer, answered) = oneshot::channel();
    let call = move |driver: &mut Driver, now| drop(answer.send(call(driver, now)));
    (Message::Call(Box::new(call)), answered)
}

/// A room that nobody may open.
pub(crate) struct Held {
    directory: Arc<Directory>,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        let was_held = self.directory.held().remove(&self.name);
        debug_assert!(was_held, "a held room is released once: {:?}", self.name);
    }
}
