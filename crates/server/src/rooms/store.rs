//! One room's side of the store: loads the room, and stores its changes one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::room::{Config, RESERVED_AT_ONCE, Room, Write};
use groupwire_session::{Authority, Durability, ParticipantId, Position};

use super::stored::{part, record, stored};
use crate::durable::{Append, Damage, Durable, Loaded, StoreError as Error, wait};
use crate::tools::secret::random_number;
use crate::tools::wall::wall;
use crate::webhook::{Event, OfWrite, Queue};

/// After this time, a change that the store could not take is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// The most bytes of changes and events that wait for a store that does not answer: the
/// transactions of a room that may wait (32 MiB), and three of the largest parts of a snapshot (64
/// MiB each). Beyond it the room ends, and is loaded again once the store answers; what was not
/// durable, its participants send again.
const MOST_WAITING: usize = 224 << 20;

/// The memory that a change or a transaction takes beside its content, about.
const FLAT_COST: usize = 128;

/// Why a room cannot be loaded at present.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// Another server has the room now.
    Moved,
    /// The store cannot be read, or refuses the room.
    Failed(String),
}

impl LoadError {
    fn of(error: Error) -> Self {
        match error {
            Error::Moved => LoadError::Moved,
            error => LoadError::Failed(error.to_string()),
        }
    }
}

/// What the room's task is told, so that it calls [`RoomStore::on_news`].
pub(crate) enum StoreNews {
    /// The store answered the room's last change.
    Answer(Result<(), Error>),
    /// The store may take the change that it refused.
    Again,
}

/// Passes news to the room's task.
pub(crate) type Tell = Arc<dyn Fn(StoreNews) + Send + Sync>;

/// The handle of a room's task on the store.
pub(crate) struct RoomStore {
    durable: Arc<Durable>,
    room: String,
    incarnation: u64,
    tell: Tell,
    /// Changes that are not durable. The first one is on its way to the store.
    waiting: VecDeque<Change>,
    /// The bytes of all of them.
    bytes: usize,
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
    /// Events after the change that do not depend on it. The webhook receives them after the change
    /// is stored, or once the store has refused the change for good.
    later: Vec<Event>,
    /// The bytes of all this, about.
    size: usize,
}

/// The stage of durability: all transactions up to `position` and all numbers of participants up to
/// `reserved` are durable.
pub(crate) struct Stage {
    pub(crate) position: Option<Position>,
    pub(crate) reserved: Option<ParticipantId>,
}

impl RoomStore {
    pub(crate) fn new(
        durable: Arc<Durable>,
        room: &Room,
        tell: Tell,
        webhook: Option<Arc<Queue>>,
    ) -> Self {
        let (room, incarnation) = (room.name().to_owned(), room.incarnation());
        let waiting = VecDeque::new();
        RoomStore {
            durable,
            room,
            incarnation,
            tell,
            waiting,
            bytes: 0,
            webhook,
            is_refused: false,
        }
    }

    /// True if more waits for the store than may wait: the room has to end.
    pub(crate) fn is_overfull(&self) -> bool {
        self.bytes > MOST_WAITING
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
            self.push(write, events.transactions);
        }
        let mut of_parts = events.parts.into_iter();
        for part in parts {
            let mut write = Write::default();
            write.parts.push(part);
            self.push(write, of_parts.next().unwrap_or_default());
        }
        if is_idle && !self.waiting.is_empty() {
            self.send();
        }
    }

    fn push(&mut self, write: Write, events: Vec<Event>) {
        debug_assert!(
            write.parts.is_empty() || (write.parts.len() == 1 && write.transactions.is_empty()),
            "a change is either one part of a snapshot or has none"
        );
        debug_assert!(
            self.is_continued_by(&write),
            "the positions of waiting transactions continue"
        );
        let size = FLAT_COST + size_of_write(&write) + size_of_events(&events);
        self.bytes += size;
        self.waiting.push_back(Change { write, events, later: Vec::new(), size });
    }

    /// True if the transactions are those after the last one that waits.
    fn is_continued_by(&self, write: &Write) -> bool {
        let mut waiting = self.waiting.iter().rev();
        let last = waiting.find_map(|change| change.write.transactions.last());
        let last = last.map(|one| one.position.get());
        let positions = || write.transactions.iter().map(|one| one.position.get());
        let first = last.map(|last| last + 1).or_else(|| positions().next());
        positions().eq((first.unwrap_or_default()..).take(write.transactions.len()))
    }

    /// Passes events of the room to the webhook, after the events of earlier changes.
    pub(crate) fn send_events(&mut self, events: Vec<Event>) {
        match self.waiting.back_mut() {
            // While the store takes no changes, events do not wait here.
            Some(change) if !self.is_refused => {
                let size = size_of_events(&events);
                change.size += size;
                self.bytes += size;
                change.later.extend(events);
            }
            _ => self.put(events),
        }
    }

    fn put(&self, events: Vec<Event>) {
        if let Some(webhook) = &self.webhook {
            webhook.put(&self.room, events);
        }
    }

    /// Returns what has become durable, and sends the next change, or the refused one again.
    ///
    /// # Errors
    /// The room is no longer that of the store, or the store has failed: the room has to end.
    pub(crate) fn on_news(&mut self, news: StoreNews) -> Result<Option<Stage>, Error> {
        match news {
            StoreNews::Answer(answer) => self.on_answer(answer),
            StoreNews::Again => {
                self.send();
                Ok(None)
            }
        }
    }

    fn on_answer(&mut self, answer: Result<(), Error>) -> Result<Option<Stage>, Error> {
        match answer {
            Ok(()) => {
                if self.is_refused {
                    self.is_refused = false;
                    tracing::info!("the store takes transactions again");
                }
                let Some(Change { write, later, size, .. }) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.bytes -= size;
                debug_assert!(
                    self.bytes == 0 || !self.waiting.is_empty(),
                    "the bytes that wait are those of the changes that wait"
                );
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
                let tell = Arc::clone(&self.tell);
                tokio::spawn(async move {
                    tokio::time::sleep(RETRY).await;
                    tell(StoreNews::Again);
                });
                Ok(None)
            }
            Err(error) => {
                if let Error::Poisoned(why) = &error {
                    self.durable.fail(why.clone());
                }
                let waiting = std::mem::take(&mut self.waiting);
                self.bytes = 0;
                self.put(waiting.into_iter().flat_map(|change| change.later).collect());
                Err(error)
            }
        }
    }

    /// Hands the first change to the store.
    fn send(&mut self) {
        // Changes that waited are stored in one commit.
        self.join_waiting();
        let Some(Change { write, events, .. }) = self.waiting.front() else { return };
        let tell = Arc::clone(&self.tell);
        let webhook = self.webhook.clone().filter(|_| !events.is_empty());
        let done = Box::new(move |answer: Result<(), Error>| {
            if let (Some(webhook), Ok(())) = (&webhook, &answer) {
                webhook.wake();
            }
            tell(StoreNews::Answer(answer));
        });
        let log = &self.durable.stores.log;
        let (room, incarnation) = (self.room.clone(), self.incarnation);
        let events = events.iter().map(|event| event.to_bytes()).collect();
        if let Some(stored) = write.parts.first() {
            let facts = write.facts.clone();
            return log.save_part(room, incarnation, part(stored), facts, events, done);
        }
        let records = write.transactions.iter().map(record).collect();
        let meta = write.facts.clone();
        let reserved = write.reserved.map(ParticipantId::get);
        log.append(Append { room, incarnation, records, meta, reserved, events }, done);
    }

    /// Joins the changes that wait, up to the first part of a snapshot.
    fn join_waiting(&mut self) {
        let Some(mut joined) = self.waiting.pop_front() else { return };
        while joined.write.parts.is_empty()
            && self.waiting.front().is_some_and(|next| next.write.parts.is_empty())
            && let Some(Change { write, events, later, size }) = self.waiting.pop_front()
        {
            joined.size += size;
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

fn size_of_write(write: &Write) -> usize {
    let transactions: usize =
        write.transactions.iter().map(|one| one.content.len() + FLAT_COST).sum();
    let parts: usize = write.parts.iter().map(|part| part.content.len()).sum();
    transactions + parts + write.facts.as_ref().map_or(0, Vec::len)
}

fn size_of_events(events: &[Event]) -> usize {
    events.iter().map(Event::size).sum()
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
    let name = config.name.clone();
    let config = Config { wall: wall(), load: random_number(), ..config };
    let Some(mut loaded) = durable.stores.log.load(&name).map_err(LoadError::of)? else {
        if config.durability == Durability::Cluster {
            // Another server may have the room by now, and have stored it. An append of nothing
            // succeeds only if none has: otherwise clients would take the room for another one.
            let nothing = Append { room: name, ..Append::default() };
            wait(|done| durable.stores.log.append(nothing, done)).map_err(LoadError::of)?;
        }
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
    let reserved = match wait(|done| durable.stores.log.append(append, done)) {
        Ok(()) => reserved,
        // The room can be read. It takes no new participants and no transactions until the store
        // has space.
        Err(Error::NotNow(why)) => {
            tracing::warn!(room = name, %why, "stored room is opened, and the store takes nothing");
            last_participant
        }
        Err(error) => return Err(LoadError::of(error)),
    };
    let stored = stored(loaded, last_participant, reserved);
    Room::load(config, authority, stored).map_err(|error| {
        LoadError::Failed(format!(
            "room {name:?} was stored by another version, or is damaged: {error}; \
             `groupwire store export` keeps what is there, `groupwire store delete` removes it"
        ))
    })
}

/// Opens a room of which a part could not be read. If transactions are missing, the room begins a
/// new incarnation, so that its clients are told of a gap.
fn after_damage(durable: &Durable, name: &str, loaded: Loaded) -> Result<Loaded, LoadError> {
    let is_whole = |damage: &Damage| matches!(damage, Damage::Part { replaced: true, .. });
    let incarnation = match loaded.damage.iter().all(is_whole) {
        true => loaded.incarnation,
        false => random_number(),
    };
    for damage in &loaded.damage {
        tracing::error!(room = name, %damage, "stored room is damaged; what can be read is kept");
    }
    let log = &durable.stores.log;
    wait(|done| log.begin_again(name.to_owned(), incarnation, done)).map_err(LoadError::of)?;
    let again = log.load(name).map_err(LoadError::of)?;
    again.ok_or_else(|| LoadError::Failed(format!("room {name:?} is gone")))
}

#[cfg(test)]
mod tests {
    use groupwire_session::room::{Config, StoredPart, StoredTransaction};
    use groupwire_session::{AllowAll, ChannelNo, Counter};

    use super::*;
    use crate::durable::DurableConfig;
    use crate::webhook::{RoomEvents, WebhookConfig};

    fn transactions(positions: std::ops::RangeInclusive<u64>) -> Write {
        let transaction = |position| StoredTransaction {
            position: Position(position),
            channel: ChannelNo(1),
            author: ParticipantId(1),
            recipient: ParticipantId(0),
            counter: Counter(position as u32),
            content: vec![0; 100],
        };
        let mut write = Write::default();
        write.transactions.extend(positions.map(transaction));
        write
    }

    #[tokio::test]
    async fn what_waits_for_the_store_is_counted_until_the_store_has_it() {
        let config = DurableConfig::in_memory();
        let durable = Arc::new(Durable::open(&config, Duration::ZERO, false, None).unwrap().0);
        let config = Config { durability: Durability::Local, ..Config::new("demo", 1) };
        let room = load(&durable, config, Box::new(AllowAll)).unwrap();
        let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let tell = Arc::new(move |news| drop(sender.send(news)));
        let mut store = RoomStore::new(durable, &room, tell, None);
        let queue = Arc::new(Queue::new(WebhookConfig::example(), None));
        let mut webhook = RoomEvents::new(queue, "demo");
        let mut event = || webhook.snapshot("part", Position(1), 1, false);
        for position in 1..=10 {
            let events = OfWrite { transactions: event(), parts: Vec::new() };
            store.store(transactions(position..=position), events);
            store.send_events(event());
            assert!(store.bytes as u64 > position * 200 && !store.is_overfull());
        }
        while !store.is_idle() {
            store.on_news(answers.recv().await.unwrap()).unwrap();
        }
        assert_eq!(store.bytes, 0);
        let mut large = Write::default();
        let content = vec![0; MOST_WAITING];
        let (name, channels) = ("part".to_owned(), vec![ChannelNo(1)]);
        store.store(transactions(11..=11), OfWrite::default());
        large.parts.push(StoredPart { name, channels, as_of: Position(10), content });
        store.store(large, OfWrite::default());
        assert!(store.is_overfull());
        assert!(store.on_news(StoreNews::Answer(Err(Error::Incarnation))).is_err());
        assert!(store.is_idle() && store.bytes == 0);
    }
}
