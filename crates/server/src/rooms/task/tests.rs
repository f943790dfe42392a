use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use super::*;
use crate::arrivals::Arrivals;
use crate::durable::{Durable, DurableConfig, HmacSecrets};
use crate::lifecycle::drain::Drain;
use crate::store::Options;
use crate::webhook::OfWrite;
use groupwire_session::room::{Config, StoredPart, StoredTransaction, Write};
use groupwire_session::{AllowAll, ChannelNo, Counter};

/// What rooms are made of, without store, webhook and observer.
fn context() -> Arc<RoomContext> {
    Arc::new(RoomContext {
        config: Config::new("", 0),
        keep_empty: Duration::from_secs(3600),
        authority: Arc::new(AllowAll),
        observer: None,
        secrets: Arc::new(HmacSecrets::random()),
        events: Arc::default(),
        arrivals: Arc::new(Arrivals::new(Default::default())),
        drain: Arc::new(Drain::new(Default::default())),
        durable: None,
        webhook: None,
    })
}

fn transaction() -> StoredTransaction {
    StoredTransaction {
        position: Position(1),
        channel: ChannelNo(1),
        author: ParticipantId(1),
        recipient: ParticipantId(0),
        counter: Counter(1),
        content: vec![0; 100],
    }
}

/// The store of a room, which takes nothing. A transaction waits for it.
fn stored(room: &Room, task: &mpsc::UnboundedSender<Message>) -> RoomStore {
    let options = Options { max_bytes: 0, ..Options::default() };
    let config = DurableConfig { options, ..DurableConfig::in_memory() };
    let durable = Arc::new(Durable::open(&config, Duration::ZERO, false, None).unwrap().0);
    let mut store = RoomStore::new(durable, room, tell_room(task.downgrade()), None);
    let mut write = Write::default();
    write.transactions.push(transaction());
    store.store(write, OfWrite::default());
    store
}

#[tokio::test]
async fn a_room_for_whose_store_too_much_waits_ends() {
    let room = Box::new(Room::new(Config::new("demo", 1), Box::new(AllowAll)));
    let (sender, messages) = mpsc::unbounded_channel();
    let mut store = stored(&room, &sender);
    let mut large = Write::default();
    let (name, channels) = ("part".to_owned(), vec![ChannelNo(1)]);
    // Nobody reads or writes these pages, so that they take no memory.
    let content = vec![0; 300 << 20];
    large.parts.push(StoredPart { name, channels, as_of: Position(1), content });
    store.store(large, OfWrite::default());
    let left = Cell::new(None);
    let (answer, _answered) = oneshot::channel();
    sender.send(Message::Stats { answer }).unwrap();
    drive(room, Some(store), messages, context(), |_, leave| {
        left.set(Some(leave));
        true
    })
    .await;
    assert!(matches!(left.get(), Some(Leave::Now(Closing::Ended, _))), "{:?}", left.get());
}

#[tokio::test]
async fn an_empty_room_whose_store_takes_nothing_sleeps() {
    const MOST: usize = 1000;
    let room = Box::new(Room::new(Config::new("demo", 1), Box::new(AllowAll)));
    let (sender, messages) = mpsc::unbounded_channel();
    let store = stored(&room, &sender);
    let leave = |_: &_, _| panic!("its transaction is not stored yet");
    let mut driving = Box::pin(drive(room, Some(store), messages, context(), leave));
    let polls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&polls);
    tokio::spawn(poll_fn(move |context| match driving.as_mut().poll(context) {
        Poll::Pending if counter.fetch_add(1, Ordering::Relaxed) < MOST => Poll::Pending,
        _ => Poll::Ready(()),
    }));
    let (answer, answered) = oneshot::channel();
    sender.send(Message::Stats { answer }).unwrap();
    answered.await.unwrap();
    tokio::time::pause();
    // In this time the room has nothing to do, unless the store is asked again and answers.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let polls = polls.load(Ordering::Relaxed);
    assert!(polls < MOST, "{polls} polls in a minute");
}
