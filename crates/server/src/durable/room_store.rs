//! One room's side of the store: loads the room, and stores its changes one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::room::{
    Config, RESERVED_AT_ONCE, Room, Stored, StoredPart, StoredTransaction, Write,
};
use groupwire_session::{Authority, ChannelNo, Counter, ParticipantId, Position};
use groupwire_store::{Append, Damage, Error, Loaded, Part, Record, RoomLog};
use tokio::sync::mpsc::WeakUnboundedSender;

use super::Durable;
use crate::room::Message;
use crate::secret::random_number;
use crate::wall::wall;
use crate::webhook::{Event, OfWrite, Queue};

/// After this time, a change that the store could not take is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// Why a room cannot be loaded at present.
#[derive(Debug)]
pub(crate) struct LoadError(pub(crate) String);

/// The handle of a room's task on the store.
pub(crate) struct RoomStore {
    durable: Arc<Durable>,
    room: String,
    incarnation: u64,
    /// The room's task, which is told when a change is durable.
    task: WeakUnboundedSender<Message>,
    /// Changes that are not durable. The first one is on its way to the store.
    waiting: VecDeque<Change>,
    /// The events for the webhook, if there is one.
    webhook: Option<Arc<Queue>>,
    /// True after the log has warned that the store takes no changes.
    is_refused: bool,
}

/// A change that waits for the store.
#[derive(Default)]
struct Change {
    /// The write has either no parts of a snapshot, or one part and nothing else.
    write: Write,
    /// The events of the change, which are stored in the same commit.
    events: Vec<Event>,
    /// Events after the change that do not depend on it. The webhook receives them after the change is stored, or once the store has
    /// refused the change for good.
    later: Vec<Event>,
}

/// What has become durable: all transactions up to `position`, and numbers of participants up to `reserved`.
pub(crate) struct Stage {
    pub(crate) position: Option<Position>,
    pub(crate) reserved: Option<ParticipantId>,
}

impl RoomStore {
    pub(crate) fn new(
        durable: Arc<Durable>,
        room: &Room,
        task: WeakUnboundedSender<Message>,
        webhook: Option<Arc<Queue>>,
    ) -> Self {
        let (room, incarnation) = (room.name().to_owned(), room.incarnation());
        let waiting = VecDeque::new();
        RoomStore { durable, room, incarnation, task, waiting, webhook, is_refused: false }
    }

    /// True if everything is durable.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Stores a change, with its events, after those before it.
    pub(crate) fn store(&mut self, mut write: Write, events: OfWrite) {
        let is_idle = self.waiting.is_empty();
        let parts = std::mem::take(&mut write.parts);
        if !write.is_empty() {
            let events = events.transactions;
            self.waiting.push_back(Change { write, events, ..Change::default() });
        }
        let mut of_parts = events.parts.into_iter();
        for part in parts {
            let mut write = Write::default();
            write.parts.push(part);
            let events = of_parts.next().unwrap_or_default();
            self.waiting.push_back(Change { write, events, ..Change::default() });
        }
        if is_idle && !self.waiting.is_empty() {
            self.send();
        }
    }

    /// Passes events of the room to the webhook, after the events of earlier changes.
    pub(crate) fn tell(&mut self, events: Vec<Event>) {
        match self.waiting.back_mut() {
            // While the store takes no changes, events do not wait here.
            Some(change) if !self.is_refused => change.later.extend(events),
            _ => self.put(events),
        }
    }

    fn put(&self, events: Vec<Event>) {
        if let Some(webhook) = &self.webhook {
            webhook.put(&self.room, events);
        }
    }

    /// The store has answered. Returns what has become durable, and sends the next change.
    ///
    /// # Errors
    /// The room is no longer that of the store, or the store has failed: the room has to end.
    pub(crate) fn on_answer(&mut self, answer: Result<(), Error>) -> Result<Option<Stage>, Error> {
        match answer {
            Ok(()) => {
                if self.is_refused {
                    self.is_refused = false;
                    tracing::info!("the store takes transactions again");
                }
                let Some(Change { write, later, .. }) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.put(later);
                if !self.waiting.is_empty() {
                    self.send();
                }
                let position = write.transactions.last().map(|last| last.position);
                Ok(Some(Stage { position, reserved: write.reserved }))
            }
            Err(Error::NotNow(why)) => {
                if !std::mem::replace(&mut self.is_refused, true) {
                    tracing::warn!(%why, "the store takes no transactions");
                }
                let task = self.task.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(RETRY).await;
                    if let Some(task) = task.upgrade() {
                        let _ = task.send(Message::StoreAgain);
                    }
                });
                Ok(None)
            }
            Err(error) => {
                if let Error::Poisoned(why) = &error {
                    self.durable.fail(why.clone());
                }
                let waiting = std::mem::take(&mut self.waiting);
                self.put(waiting.into_iter().flat_map(|change| change.later).collect());
                Err(error)
            }
        }
    }

    /// Sends the first change again, which the store could not take.
    pub(crate) fn again(&mut self) {
        self.send();
    }

    /// Hands the first change to the store.
    fn send(&mut self) {
        // Changes that waited are stored in one commit.
        self.join_waiting();
        let Some(Change { write, events, .. }) = self.waiting.front() else { return };
        let task = self.task.clone();
        let webhook = self.webhook.clone().filter(|_| !events.is_empty());
        let done = Box::new(move |answer: Result<(), Error>| {
            if let (Some(webhook), Ok(())) = (&webhook, &answer) {
                webhook.wake();
            }
            if let Some(task) = task.upgrade() {
                let _ = task.send(Message::Stored(answer));
            }
        });
        let store = &self.durable.store;
        let (room, incarnation) = (self.room.clone(), self.incarnation);
        let events = events.iter().map(|event| event.to_bytes()).collect();
        if let Some(stored) = write.parts.first() {
            let facts = write.facts.clone();
            return store.save_part(room, incarnation, part(stored), facts, events, done);
        }
        let records = write.transactions.iter().map(record).collect();
        let meta = write.facts.clone();
        let reserved = write.reserved.map(ParticipantId::get);
        store.append(Append { room, incarnation, records, meta, reserved, events }, done);
    }

    /// Joins the changes that wait, up to the first part of a snapshot.
    fn join_waiting(&mut self) {
        let Some(mut joined) = self.waiting.pop_front() else { return };
        while joined.write.parts.is_empty()
            && self.waiting.front().is_some_and(|next| next.write.parts.is_empty())
            && let Some(Change { write, events, later }) = self.waiting.pop_front()
        {
            joined.write.transactions.extend(write.transactions);
            joined.write.facts = write.facts.or(joined.write.facts);
            joined.write.reserved = write.reserved.or(joined.write.reserved);
            joined.events.extend(std::mem::take(&mut joined.later));
            joined.events.extend(events);
            joined.later = later;
        }
        self.waiting.push_front(joined);
    }
}

/// Loads a room from the store, or makes a new one.
///
/// # Errors
/// The store cannot be read, or takes no changes at present.
pub(crate) fn load(
    durable: &Durable,
    config: Config,
    authority: Box<dyn Authority + Send>,
) -> Result<Room, LoadError> {
    let failed = |error: Error| LoadError(error.to_string());
    let name = config.name.clone();
    let config = Config { wall: wall(), load: random_number(), ..config };
    let Some(mut loaded) = durable.store.load(&name).map_err(failed)? else {
        return Ok(Room::new(config, authority));
    };
    if !loaded.damage.is_empty() {
        loaded = after_damage(durable, &name, loaded)?;
    }
    let last_participant = ParticipantId(loaded.reserved);
    let reserved = ParticipantId(loaded.reserved.saturating_add(RESERVED_AT_ONCE));
    let append = Append {
        room: name.clone(),
        incarnation: loaded.incarnation,
        reserved: Some(reserved.get()),
        ..Append::default()
    };
    let reserved = match durable.store.wait(|done| durable.store.append(append, done)) {
        Ok(()) => reserved,
        // The room can be read. It takes no new participants and no transactions until the store has space.
        Err(Error::NotNow(why)) => {
            tracing::warn!(room = name, %why, "stored room is opened, and the store takes nothing");
            last_participant
        }
        Err(error) => return Err(failed(error)),
    };
    let stored = stored(loaded, last_participant, reserved);
    Room::load(config, authority, stored).map_err(|error| {
        LoadError(format!(
            "room {name:?} was stored by another version, or is damaged: {error}; \
             `groupwire store export` keeps what is there, `groupwire store delete` removes it"
        ))
    })
}

/// Opens a room of which a part could not be read. If transactions are missing, the room begins a new incarnation, so that its
/// clients are told of a gap.
fn after_damage(durable: &Durable, name: &str, loaded: Loaded) -> Result<Loaded, LoadError> {
    let failed = |error: Error| LoadError(error.to_string());
    let is_whole = |damage: &Damage| matches!(damage, Damage::Part { replaced: true, .. });
    let incarnation = match loaded.damage.iter().all(is_whole) {
        true => loaded.incarnation,
        false => random_number(),
    };
    for damage in &loaded.damage {
        tracing::error!(room = name, %damage, "stored room is damaged; what can be read is kept");
    }
    durable
        .store
        .wait(|done| durable.store.begin_again(name.to_owned(), incarnation, done))
        .map_err(failed)?;
    let again = durable.store.load(name).map_err(failed)?;
    again.ok_or_else(|| LoadError(format!("room {name:?} is gone")))
}

fn stored(loaded: Loaded, last_participant: ParticipantId, reserved: ParticipantId) -> Stored {
    let Loaded { incarnation, meta, parts, records, head, .. } = loaded;
    let part = |part: Part| StoredPart {
        name: part.name,
        channels: part.channels.into_iter().map(ChannelNo).collect(),
        as_of: Position(part.as_of),
        content: part.bytes,
    };
    let transaction = |record: Record| StoredTransaction {
        position: Position(record.position),
        channel: ChannelNo(record.channel),
        author: ParticipantId(record.author),
        recipient: ParticipantId(record.recipient),
        counter: Counter(record.counter),
        content: record.bytes,
    };
    Stored {
        incarnation,
        last_participant,
        reserved,
        facts: meta,
        head: Position(head),
        parts: parts.into_iter().map(part).collect(),
        transactions: records.into_iter().map(transaction).collect(),
    }
}

fn record(one: &StoredTransaction) -> Record {
    Record {
        position: one.position.get(),
        channel: one.channel.get(),
        author: one.author.get(),
        recipient: one.recipient.get(),
        counter: one.counter.get(),
        bytes: one.content.clone(),
    }
}

fn part(stored: &StoredPart) -> Part {
    Part {
        name: stored.name.clone(),
        channels: stored.channels.iter().map(|channel| channel.get()).collect(),
        as_of: stored.as_of.get(),
        bytes: stored.content.clone(),
    }
}
