//! One room's side of the store: loads the room, and stores its changes one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::room::{
    Config, RESERVED_AT_ONCE, Room, Stored, StoredSnapshot, StoredTransaction, Write,
};
use groupwire_session::{Authority, ChannelNo, Counter, ParticipantId, Position};
use groupwire_store::{Append, Damage, Error, Loaded, Part, Record, RoomLog};
use tokio::sync::mpsc::WeakUnboundedSender;

use super::{Durable, wall};
use crate::room::Message;
use crate::secret::random_number;

/// After this time, a change that the store could not take is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// Why a room cannot be loaded at present.
#[derive(Debug)]
pub(crate) struct LoadError(pub(crate) String);

/// What the room's task knows of the store.
pub(crate) struct RoomStore {
    durable: Arc<Durable>,
    room: String,
    incarnation: u64,
    /// The room's task, which is told when a change is durable.
    task: WeakUnboundedSender<Message>,
    /// Changes that are not durable. The first one is on its way to the store.
    waiting: VecDeque<Write>,
    /// The channels of all stored transactions: a snapshot covers them.
    channels: Vec<u32>,
    /// True while the log warns that the store takes nothing.
    is_refused: bool,
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
        channels: Vec<u32>,
    ) -> Self {
        let (room, incarnation) = (room.name().to_owned(), room.incarnation());
        let waiting = VecDeque::new();
        RoomStore { durable, room, incarnation, task, waiting, channels, is_refused: false }
    }

    /// True if everything is durable.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Stores a change after those before it.
    pub(crate) fn store(&mut self, write: Write) {
        for transaction in &write.transactions {
            if let Err(place) = self.channels.binary_search(&transaction.channel.get()) {
                self.channels.insert(place, transaction.channel.get());
            }
        }
        self.waiting.push_back(write);
        if self.waiting.len() == 1 {
            self.send();
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
                let Some(write) = self.waiting.pop_front() else { return Ok(None) };
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
                Err(error)
            }
        }
    }

    /// Tries the first change again, which the store could not take.
    pub(crate) fn again(&mut self) {
        self.send();
    }

    /// Hands the first change to the store.
    fn send(&mut self) {
        // What waited is stored in one commit.
        self.join_waiting();
        let Some(write) = self.waiting.front() else { return };
        let task = self.task.clone();
        let done = Box::new(move |answer| {
            if let Some(task) = task.upgrade() {
                let _ = task.send(Message::Stored(answer));
            }
        });
        let store = &self.durable.store;
        let (room, incarnation) = (self.room.clone(), self.incarnation);
        if let Some(snapshot) = &write.snapshot {
            let part = part(snapshot, &self.channels);
            return store.save_part(room, incarnation, part, write.facts.clone(), done);
        }
        let records = write.transactions.iter().map(record).collect();
        let meta = write.facts.clone();
        let reserved = write.reserved.map(ParticipantId::get);
        store.append(Append { room, incarnation, records, meta, reserved }, done);
    }

    /// Joins the changes that wait, up to the first snapshot, and separates that snapshot from the transactions before it.
    fn join_waiting(&mut self) {
        let mut joined = Write::default();
        while let Some(write) = self.waiting.pop_front() {
            let Write { transactions, facts, reserved, snapshot, .. } = write;
            joined.transactions.extend(transactions);
            joined.facts = facts.or(joined.facts);
            joined.reserved = reserved.or(joined.reserved);
            let Some(snapshot) = snapshot else { continue };
            let mut of_snapshot = Write::default();
            of_snapshot.snapshot = Some(snapshot);
            match joined.is_empty() {
                true => joined = of_snapshot,
                false => self.waiting.push_front(of_snapshot),
            }
            break;
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
) -> Result<(Room, Vec<u32>), LoadError> {
    let failed = |error: Error| LoadError(error.to_string());
    let name = config.name.clone();
    let config = Config { wall: wall(), load: random_number(), ..config };
    let Some(mut loaded) = durable.store.load(&name).map_err(failed)? else {
        return Ok((Room::new(config, authority), Vec::new()));
    };
    let is_damaged = !loaded.damage.is_empty();
    if is_damaged {
        loaded = after_damage(durable, &name, loaded)?;
    }
    let channels = {
        let parts = loaded.parts.iter().flat_map(|part| part.channels.iter().copied());
        let records = loaded.records.iter().map(|record| record.channel);
        let channels: std::collections::BTreeSet<u32> = parts.chain(records).collect();
        channels.into_iter().collect()
    };
    let last_participant = ParticipantId(loaded.reserved);
    let reserved = ParticipantId(loaded.reserved.saturating_add(RESERVED_AT_ONCE));
    let append = Append {
        room: name.clone(),
        incarnation: loaded.incarnation,
        reserved: Some(reserved.get()),
        ..Append::default()
    };
    durable.store.wait(|done| durable.store.append(append, done)).map_err(failed)?;
    let stored = stored(loaded, last_participant, reserved, is_damaged);
    match Room::load(config, authority, stored) {
        Ok(room) => Ok((room, channels)),
        Err(error) => Err(LoadError(format!(
            "room {name:?} was stored by another version, or is damaged: {error}; \
             `groupwire store export` keeps what is there, `groupwire store delete` removes it"
        ))),
    }
}

/// Takes a room back into use of which something could not be read. If transactions are missing, it begins a new
/// incarnation, so that its clients are told of a gap.
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

fn stored(
    loaded: Loaded,
    last_participant: ParticipantId,
    reserved: ParticipantId,
    is_damaged: bool,
) -> Stored {
    let Loaded { incarnation, meta, parts, records, head, .. } = loaded;
    let snapshot = parts.into_iter().next();
    let covered = snapshot.as_ref().map_or(0, |part| part.as_of);
    let first = records.iter().map(|record| record.position).find(|&position| position > covered);
    // Only damage opens a gap here: a room that is whole has all transactions behind its snapshot.
    let lost =
        if is_damaged { first.map_or(head, |first| first - 1).max(covered) } else { covered };
    Stored {
        incarnation,
        last_participant,
        reserved,
        facts: meta,
        lost: Position(if is_damaged { lost } else { 0 }),
        transactions: filled(records, lost, head),
        snapshot: snapshot
            .map(|part| StoredSnapshot { as_of: Position(part.as_of), content: part.bytes }),
    }
}

/// The transactions after position `after`. Where one is missing because it was damaged, an empty one of nobody takes its place, so
/// that the later ones keep theirs.
fn filled(records: Vec<Record>, after: u64, head: u64) -> Vec<StoredTransaction> {
    let mut next = after + 1;
    let mut all = Vec::with_capacity(records.len());
    let fill = |next: &mut u64, until: u64, all: &mut Vec<StoredTransaction>| {
        while *next < until {
            all.push(StoredTransaction {
                position: Position(*next),
                channel: ChannelNo(0),
                author: ParticipantId(0),
                counter: Counter(0),
                content: Vec::new(),
            });
            *next += 1;
        }
    };
    for record in records.into_iter().filter(|record| record.position > after) {
        fill(&mut next, record.position, &mut all);
        next = record.position + 1;
        all.push(StoredTransaction {
            position: Position(record.position),
            channel: ChannelNo(record.channel),
            author: ParticipantId(record.author),
            counter: Counter(record.counter),
            content: record.bytes,
        });
    }
    fill(&mut next, head + 1, &mut all);
    all
}

fn record(one: &StoredTransaction) -> Record {
    Record {
        position: one.position.get(),
        channel: one.channel.get(),
        author: one.author.get(),
        recipient: 0,
        counter: one.counter.get(),
        bytes: one.content.clone(),
    }
}

/// The store's only part of this room: the snapshot of everything.
fn part(snapshot: &StoredSnapshot, channels: &[u32]) -> Part {
    Part {
        name: "room".to_owned(),
        channels: channels.to_vec(),
        as_of: snapshot.as_of.get(),
        bytes: snapshot.content.clone(),
    }
}
