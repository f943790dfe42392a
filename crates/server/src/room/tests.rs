use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use groupwire_session::room::{Config, StoredTransaction, Write};
use groupwire_session::{AllowAll, ChannelNo, Counter};
use groupwire_store::Options;

use super::*;
use crate::durable::{Durable, DurableConfig};
use crate::webhook::OfWrite;

/// A room's task with these messages, without webhook and observer.
fn task(messages: mpsc::UnboundedReceiver<Message>) -> RoomTask {
    RoomTask {
        messages,
        observer: None,
        secrets: Arc::new(HmacSecrets::random()),
        keep_empty: Duration::from_secs(3600),
        events: Arc::default(),
        arrivals: Arc::new(Arrivals::new(Default::default())),
        drain: Arc::new(Drain::new(Default::default())),
        webhook: None,
    }
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

#[tokio::test]
async fn an_empty_room_whose_store_takes_nothing_sleeps() {
    const MOST: usize = 1000;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { max_bytes: 0, ..Options::default() };
    let config = DurableConfig { options, ..DurableConfig::new(folder.path()) };
    let durable = Arc::new(Durable::open(&config, Duration::ZERO, false, None).unwrap().0);
    let room = Box::new(Room::new(Config::new("demo", 1), Box::new(AllowAll)));
    let (sender, messages) = mpsc::unbounded_channel();
    let mut store = RoomStore::new(durable, &room, sender.downgrade(), None);
    let mut write = Write::default();
    write.transactions.push(transaction());
    store.store(write, OfWrite::default());
    let leave = |_: &_, _| panic!("its transaction is not stored yet");
    let mut driving = Box::pin(drive(room, Some(store), task(messages), leave));
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
