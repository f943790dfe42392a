//! One document's side of the store: its updates are records of a room in the store, and its merged updates are the part of that room's
//! snapshot.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use groupwire_store::{Append, Damage, Error, Loaded, Part, Record, RoomLog};
use groupwire_yjs::Document;
use tokio::sync::mpsc::WeakUnboundedSender;
use tokio::sync::oneshot;

use super::pace::Cost;
use super::task::Message;
use crate::durable::Durable;
use crate::secret::random_number;

/// After this time, updates that the store could not take are tried again.
const RETRY: Duration = Duration::from_millis(500);

/// While more bytes wait for the store, their senders are not read.
const MOST_WAITING: usize = 4 << 20;

/// The only channel, and the only part of the snapshot.
const CHANNEL: u32 = 0;
const PART: &str = "yjs";

/// Bytes of updates that are too few to be stored merged for them.
const FEW_BYTES: usize = 64 << 10;

/// What an update costs in the store beside its bytes.
const OVERHEAD: usize = 64;

/// What the document's task knows of the store.
pub(super) struct Storage {
    durable: Arc<Durable>,
    /// The name of the document in the store.
    name: String,
    incarnation: u64,
    /// The position of the last update that is durable.
    head: u64,
    task: WeakUnboundedSender<Message>,
    /// Updates that the store has been given.
    under_way: Vec<Vec<u8>>,
    waiting: Vec<Vec<u8>>,
    /// The bytes of both.
    bytes: usize,
    /// Connections that are not read before fewer bytes wait.
    held: Vec<(oneshot::Sender<Cost>, Cost)>,
    /// True while the log warns that the store takes nothing.
    is_refused: bool,
    /// Bytes in the store since the last merge, with overhead.
    apart: usize,
    /// A merged document is on its way to the store.
    is_saving: bool,
}

/// A document as it was stored.
pub(super) struct Found {
    pub(super) document: Document,
    incarnation: u64,
    head: u64,
    apart: usize,
}

/// Reads a document from the store.
///
/// # Errors
/// Why it cannot be read, for the operator.
pub(super) fn load(durable: &Durable, name: &str) -> Result<Found, String> {
    let failed = |error: Error| error.to_string();
    let Some(mut loaded) = durable.store.load(name).map_err(failed)? else {
        let document = Document::default();
        return Ok(Found { document, incarnation: random_number(), head: 0, apart: 0 });
    };
    if !loaded.damage.is_empty() {
        loaded = after_damage(durable, name, loaded)?;
    }
    let Loaded { incarnation, head, parts, records, .. } = loaded;
    let apart = records.iter().map(|record| record.bytes.len() + OVERHEAD).sum();
    let parts = parts.iter().map(|part| part.bytes.as_slice());
    let updates = parts.chain(records.iter().map(|record| record.bytes.as_slice()));
    let document = Document::of(updates.filter(|bytes| !bytes.is_empty())).map_err(|error| {
        format!(
            "{name:?} is no document of Yjs, or was stored by a newer version: {error}; \
             `groupwire store export` keeps what is there, `groupwire store delete` removes it"
        )
    })?;
    Ok(Found { document, incarnation, head, apart })
}

/// Takes a document back into use of which something could not be read. Its clients have what is missing, or nobody has.
fn after_damage(durable: &Durable, name: &str, loaded: Loaded) -> Result<Loaded, String> {
    let failed = |error: Error| error.to_string();
    for damage in &loaded.damage {
        tracing::error!(room = name, %damage, "stored document is damaged; what can be read is kept");
    }
    let is_whole = |damage: &Damage| matches!(damage, Damage::Part { replaced: true, .. });
    let incarnation = match loaded.damage.iter().all(is_whole) {
        true => loaded.incarnation,
        false => random_number(),
    };
    let store = &durable.store;
    store.wait(|done| store.begin_again(name.to_owned(), incarnation, done)).map_err(failed)?;
    store.load(name).map_err(failed)?.ok_or_else(|| format!("{name:?} is gone"))
}

impl Storage {
    /// Takes the document out of what was found.
    pub(super) fn new(
        durable: Arc<Durable>,
        name: String,
        found: &Found,
        task: WeakUnboundedSender<Message>,
    ) -> Self {
        Storage {
            durable,
            name,
            incarnation: found.incarnation,
            head: found.head,
            task,
            under_way: Vec::new(),
            waiting: Vec::new(),
            bytes: 0,
            held: Vec::new(),
            is_refused: false,
            apart: found.apart,
            is_saving: false,
        }
    }

    /// True if everything is durable.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.waiting.is_empty() && !self.is_saving
    }

    /// Stores an update after those before it. `done` hears of the cost when the next message may be read.
    pub(super) fn store(&mut self, update: Vec<u8>, done: oneshot::Sender<Cost>, cost: Cost) {
        self.bytes += update.len();
        self.waiting.push(update);
        self.held.push((done, cost));
        self.release();
        if self.under_way.is_empty() {
            self.send();
        }
    }

    /// The store has answered. Returns the updates that are durable now, and sends the next ones.
    ///
    /// # Errors
    /// The document is no longer that of the store, or the store has failed: the document has to end.
    pub(super) fn on_stored(&mut self, answer: Result<(), Error>) -> Result<Vec<Vec<u8>>, Error> {
        match answer {
            Ok(()) => {
                if mem::take(&mut self.is_refused) {
                    tracing::info!(room = self.name, "the store takes updates again");
                }
                let stored = mem::take(&mut self.under_way);
                self.head += stored.len() as u64;
                let bytes: usize = stored.iter().map(Vec::len).sum();
                self.apart += bytes + OVERHEAD * stored.len();
                self.bytes -= bytes;
                self.release();
                if !self.waiting.is_empty() {
                    self.send();
                }
                Ok(stored)
            }
            Err(Error::NotNow(why)) => {
                if !mem::replace(&mut self.is_refused, true) {
                    tracing::warn!(room = self.name, %why, "the store takes no updates");
                }
                let task = self.task.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(RETRY).await;
                    task.upgrade().map(|task| task.send(Message::StoreAgain))
                });
                Ok(Vec::new())
            }
            Err(error) => {
                self.note_failure(&error);
                Err(error)
            }
        }
    }

    /// Tries the updates again that the store could not take.
    pub(super) fn again(&mut self) {
        let mut all = mem::take(&mut self.under_way);
        all.append(&mut self.waiting);
        self.waiting = all;
        self.send();
    }

    /// Whether there is so much in the store since the last merge that it is worth another one.
    pub(super) fn wants_merged(&self, size: usize) -> bool {
        !self.is_saving && self.apart > size.max(FEW_BYTES)
    }

    /// Stores the merged document in the place of its updates. The store keeps these for a day.
    pub(super) fn save(&mut self, bytes: Vec<u8>) {
        self.is_saving = true;
        self.apart = 0;
        let part = Part { name: PART.into(), channels: vec![CHANNEL], as_of: self.head, bytes };
        let done = self.answer(Message::Saved);
        let (name, incarnation) = (self.name.clone(), self.incarnation);
        self.durable.store.save_part(name, incarnation, part, None, Vec::new(), done);
    }

    /// The store has answered. Returns whether the merged document is stored.
    ///
    /// # Errors
    /// As for [`Storage::on_stored`].
    pub(super) fn on_saved(&mut self, answer: Result<(), Error>) -> Result<bool, Error> {
        self.is_saving = false;
        match answer {
            Ok(()) => Ok(true),
            // The updates are there.
            Err(Error::NotNow(why)) => {
                tracing::warn!(room = self.name, %why, "merged document not stored");
                Ok(false)
            }
            Err(error) => {
                self.note_failure(&error);
                Err(error)
            }
        }
    }

    /// Hands all updates that wait to the store, as one commit.
    fn send(&mut self) {
        self.under_way = mem::take(&mut self.waiting);
        let numbered = self.under_way.iter().zip(self.head + 1..);
        let records = numbered.map(|(update, position)| Record {
            position,
            channel: CHANNEL,
            author: 0,
            recipient: 0,
            counter: 0,
            bytes: update.clone(),
        });
        let append = Append {
            room: self.name.clone(),
            incarnation: self.incarnation,
            records: records.collect(),
            ..Append::default()
        };
        self.durable.store.append(append, self.answer(Message::Stored));
    }

    fn answer(&self, message: fn(Result<(), Error>) -> Message) -> groupwire_store::Done {
        let task = self.task.clone();
        Box::new(move |answer| {
            if let Some(task) = task.upgrade() {
                let _ = task.send(message(answer));
            }
        })
    }

    /// Lets connections be read, if few bytes wait.
    fn release(&mut self) {
        if self.bytes <= MOST_WAITING {
            for (done, cost) in self.held.drain(..) {
                // The connection may have ended.
                let _ = done.send(cost);
            }
        }
    }

    fn note_failure(&self, error: &Error) {
        if let Error::Poisoned(why) = error {
            self.durable.fail(why.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use groupwire_store::Options;
    use groupwire_yjs::StateVector;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;
    use crate::durable::DurableConfig;

    const NAME: &str = "yjs:plan";
    const COST: Cost = Cost { bytes: 1, deliveries: 1 };

    struct Stored {
        durable: Arc<Durable>,
        storage: Storage,
        document: Document,
        task: UnboundedSender<Message>,
        answers: UnboundedReceiver<Message>,
        _folder: tempfile::TempDir,
    }

    impl Stored {
        fn new(max_bytes: u64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let options = Options { max_bytes, ..Options::default() };
            let config = DurableConfig { options, ..DurableConfig::new(folder.path()) };
            let (durable, _) = Durable::open(&config, Duration::ZERO, false, None).unwrap();
            let durable = Arc::new(durable);
            let (task, answers) = unbounded_channel();
            let found = load(&durable, NAME).unwrap();
            let storage = Storage::new(durable.clone(), NAME.into(), &found, task.downgrade());
            let document = found.document;
            Stored { durable, storage, document, task, answers, _folder: folder }
        }

        /// Stores an update of `length` octets. Returns the receiver of its cost, which is sent when the next message may be read.
        fn write(&mut self, clock: u8, length: usize) -> oneshot::Receiver<Cost> {
            let size = [length as u8 & 0x7f | 0x80, (length >> 7) as u8 & 0x7f | 0x80];
            let size = [size[0], size[1], (length >> 14) as u8 & 0x7f | 0x80, (length >> 21) as u8];
            let head = [1, 1, 5, clock, 3, 1, 1, b't'];
            let update = [&head[..], &size, &vec![7; length], &[0]].concat();
            let (done, heard) = oneshot::channel();
            self.storage.store(update, done, COST);
            heard
        }

        /// Waits for the store. Returns how many updates are durable now.
        async fn answer(&mut self) -> usize {
            match self.answers.recv().await.unwrap() {
                Message::Stored(answer) => {
                    let stored = self.storage.on_stored(answer).unwrap();
                    let count = stored.len();
                    stored.into_iter().for_each(|update| self.document.add(update).unwrap());
                    count
                }
                Message::StoreAgain => {
                    self.storage.again();
                    0
                }
                Message::Saved(answer) => usize::from(self.storage.on_saved(answer).unwrap()),
                _ => panic!("the store sends no other message"),
            }
        }

        fn found(&self) -> Found {
            load(&self.durable, NAME).unwrap()
        }
    }

    #[tokio::test]
    async fn what_is_durable_is_found_merged_or_not() {
        let mut stored = Stored::new(1 << 30);
        (0..3).for_each(|clock| drop(stored.write(clock, 1000)));
        assert!(!stored.storage.is_idle());
        assert_eq!((stored.answer().await, stored.answer().await), (1, 2), "two share a commit");
        assert!(stored.storage.is_idle() && !stored.storage.wants_merged(0));
        drop(stored.write(3, 80_000));
        assert_eq!(stored.answer().await, 1);
        let found = stored.found();
        assert!(found.document.is_alike(&stored.document) && found.head == 4);
        assert!(found.apart > 83_000 && stored.storage.wants_merged(0));
        stored.storage.save(stored.document.merge().to_vec());
        assert_eq!(stored.answer().await, 1);
        drop(stored.write(4, 10));
        assert_eq!(stored.answer().await, 1);
        let mut found = stored.found();
        assert!(found.document.is_alike(&stored.document) && found.apart < 200);
        let all = StateVector::default();
        assert_eq!(found.document.diff(&all), stored.document.diff(&all));
        assert_eq!(found.incarnation, stored.storage.incarnation);
    }

    #[tokio::test]
    async fn while_much_waits_for_the_store_senders_are_not_read() {
        let mut stored = Stored::new(1 << 30);
        assert_eq!(stored.write(0, 1000).await, Ok(COST), "few bytes wait");
        let mut heard = stored.write(1, MOST_WAITING);
        assert!(heard.try_recv().is_err());
        while heard.try_recv().is_err() {
            stored.answer().await;
        }
        assert_eq!(stored.document.state_vector().get(5), 2);
    }

    #[tokio::test]
    async fn updates_wait_while_the_store_is_full() {
        let mut stored = Stored::new(10_000);
        drop(stored.write(0, 1000));
        assert_eq!(stored.answer().await, 1);
        drop(stored.write(1, 20_000));
        for _ in 0..4 {
            assert_eq!(stored.answer().await, 0, "it is tried again and again");
        }
        assert!(!stored.storage.is_idle() && stored.storage.is_refused);
        assert_eq!(stored.found().head, 1);
        // When the document is deleted meanwhile, it ends.
        stored.durable.store.wait(|done| stored.durable.store.delete(NAME.into(), done)).unwrap();
        let ended = async {
            loop {
                match stored.answers.recv().await.unwrap() {
                    Message::Stored(answer) => match stored.storage.on_stored(answer) {
                        Ok(_) => {}
                        Err(error) => return error,
                    },
                    _ => stored.storage.again(),
                }
            }
        };
        assert!(matches!(ended.await, Error::Position { .. } | Error::NoRoom));
        drop(stored.task);
    }
}
