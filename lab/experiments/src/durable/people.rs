//! The clients of rooms, with the native client library. They write by their own clocks, keep the
//! transactions that they receive, and measure the time until their own ones come back.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use groupwire_client::{Channel, Event, Events, Incoming, Options, Qos, Room, SendOptions, Sent};
use oorandom::Rand64;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::listener::Listener;
use super::texts::{TextId, Texts};
use super::verdict::Told;
use crate::Result;

/// Clients that join at the same time: a listening socket queues some hundreds.
const JOINING: usize = 64;
/// The time in which all have to be in their rooms.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two checks whether a condition holds.
const LOOK: Duration = Duration::from_millis(2);

/// The channel on which all clients write.
pub(crate) const CHANNEL: &str = "lines";

/// The times at which a client writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// Never. A silent client counts the bytes that arrive, and decodes them at the end
    /// ([`Listener`]).
    Silent,
    /// After random pauses with this mean, so that transactions come at any time of a tick.
    Every(Duration),
    /// Whenever fewer than this number of transactions are not confirmed.
    Ahead(usize),
    /// This long after the last transaction was confirmed.
    After(Duration),
}

/// The room, number and role of a client.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) room: String,
    /// The port of the server that it connects to.
    pub(crate) port: u16,
    /// Its number, counted over all rooms.
    pub(crate) number: u32,
    pub(crate) pace: Pace,
}

/// The phases of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    Joining,
    Writing,
    /// No client writes any more; transactions that are under way still arrive.
    Listening,
    Over,
}

/// The results of one client.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) told: Told,
    pub(crate) sent: u64,
    /// For each confirmed transaction: when it was sent, and how long it took.
    pub(crate) confirmations: Vec<(Instant, Duration)>,
    /// The times at which transactions arrived.
    pub(crate) arrivals: Vec<Instant>,
}

/// The state that clients and the measuring thread share.
pub(crate) struct DurableState {
    texts: Texts,
    seed: u64,
    stage: watch::Sender<Stage>,
    joining: Semaphore,
    ready: AtomicUsize,
    /// Transactions that writers received, their own ones included.
    delivered: AtomicU64,
    confirmed: AtomicU64,
    sent: AtomicU64,
    /// When each writer sent the last of its transactions that are confirmed.
    latest: Mutex<HashMap<u32, Instant>>,
    failure: Mutex<Option<String>>,
}

impl DurableState {
    pub(crate) fn new(texts: Texts, seed: u64) -> Arc<Self> {
        Arc::new(DurableState {
            texts,
            seed,
            stage: watch::Sender::new(Stage::Joining),
            joining: Semaphore::new(JOINING),
            ready: AtomicUsize::new(0),
            delivered: AtomicU64::new(0),
            confirmed: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            latest: Mutex::default(),
            failure: Mutex::new(None),
        })
    }

    /// Begins a stage for all clients.
    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.send_replace(stage);
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    pub(crate) fn confirmed(&self) -> u64 {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// The number of writers of whom a transaction is confirmed that was sent after this time.
    pub(crate) fn confirmed_since(&self, time: Instant) -> usize {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.values().filter(|sent| **sent > time).count()
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Records a failure; only the first one is kept.
    fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until `count` clients are in their rooms.
    pub(crate) fn await_ready(&self, count: usize) -> Result<()> {
        let is_ready = await_that(PATIENCE, || {
            self.ready.load(Ordering::Relaxed) >= count || self.failure().is_some()
        });
        match self.failure() {
            Some(why) => Err(why.into()),
            None if !is_ready => Err("not everybody was in the rooms in time".into()),
            None => Ok(()),
        }
    }
}

/// Waits until a condition holds, and returns whether it does.
pub(crate) fn await_that(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > patience {
            return false;
        }
        sleep(LOOK);
    }
    true
}

/// Runs clients on a thread of their own until the last stage.
pub(crate) fn run<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    shared: &Arc<DurableState>,
    seats: Vec<Seat>,
) -> thread::ScopedJoinHandle<'scope, Vec<(Seat, Kept)>> {
    let shared = Arc::clone(shared);
    scope.spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                shared.fail(error.to_string());
                return Vec::new();
            }
        };
        runtime.block_on(async {
            let mut people = JoinSet::new();
            for seat in seats {
                let shared = Arc::clone(&shared);
                people.spawn(async move {
                    let kept = match seat.pace {
                        Pace::Silent => listen(&shared, &seat).await,
                        _ => live(&shared, &seat).await,
                    };
                    let kept = kept.unwrap_or_else(|why| {
                        shared.fail(format!("person {} in {}: {why}", seat.number, seat.room));
                        Kept::default()
                    });
                    (seat, kept)
                });
            }
            people.join_all().await
        })
    })
}

/// Joins a room as a newcomer, and returns all transactions that it receives.
pub(crate) fn read(shared: &DurableState, port: u16, room: &str) -> Result<Told> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(async {
        let seat = Seat { room: room.to_owned(), port, number: u32::MAX, pace: Pace::Silent };
        let mut person = Person::join(shared, &seat)?;
        person.synced().await?;
        Ok::<_, String>(person.kept.told)
    });
    Ok(told.map_err(|why| format!("{room} cannot be read: {why}"))?)
}

async fn listen(shared: &DurableState, seat: &Seat) -> std::result::Result<Kept, String> {
    let mut stage = shared.stage.subscribe();
    let mut listener = {
        let _turn = shared.joining.acquire().await.map_err(|error| error.to_string())?;
        Listener::join(seat.port, &seat.room, seat.number).await?
    };
    shared.ready.fetch_add(1, Ordering::Relaxed);
    tokio::select! {
        biased;
        over = stage.wait_for(|stage| matches!(stage, Stage::Over)) => {
            over.map_err(|error| error.to_string())?;
        }
        ended = listener.listen() => ended?,
    }
    let mut kept = Kept::default();
    for came in listener.finish()? {
        kept.told.lines.push((came.position, shared.texts.read(&came.text)));
        kept.arrivals.push(came.at);
    }
    Ok(kept)
}

async fn live(shared: &DurableState, seat: &Seat) -> std::result::Result<Kept, String> {
    let mut stage = shared.stage.subscribe();
    let mut person = {
        let _turn = shared.joining.acquire().await.map_err(|error| error.to_string())?;
        let mut person = Person::join(shared, seat)?;
        person.synced().await?;
        person
    };
    shared.ready.fetch_add(1, Ordering::Relaxed);
    let mut due = None;
    let mut ahead = 0;
    loop {
        while person.unconfirmed.len() < ahead {
            person.write()?;
        }
        let timer = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = stage.changed() => {
                changed.map_err(|error| error.to_string())?;
                (due, ahead) = match (*stage.borrow_and_update(), seat.pace) {
                    (Stage::Over, _) => return Ok(person.kept),
                    (Stage::Writing, Pace::Every(mean)) => (Some(person.next_due(mean)), 0),
                    (Stage::Writing, Pace::Ahead(count)) => (None, count),
                    (Stage::Writing, Pace::After(_)) => (Some(tokio::time::Instant::now()), 0),
                    _ => (None, 0),
                };
            }
            () = timer => {
                person.write()?;
                due = match seat.pace {
                    Pace::Every(mean) => Some(person.next_due(mean)),
                    _ => None,
                };
            }
            event = person.events.next() => {
                let before = person.kept.told.confirmed;
                person.take(event.ok_or("the session ended")?)?;
                if let Pace::After(pause) = seat.pace
                    && person.kept.told.confirmed > before
                    && matches!(*stage.borrow(), Stage::Writing)
                {
                    due = Some(tokio::time::Instant::now() + pause);
                }
            }
        }
    }
}

struct Person<'a> {
    shared: &'a DurableState,
    number: u32,
    _room: Room,
    channel: Channel,
    events: Events,
    random: Rand64,
    is_synced: bool,
    /// The times at which the unconfirmed transactions were sent.
    unconfirmed: VecDeque<Instant>,
    kept: Kept,
}

impl<'a> Person<'a> {
    fn join(shared: &'a DurableState, seat: &Seat) -> std::result::Result<Self, String> {
        let options = Options::new(&seat.room);
        let url = format!("ws://127.0.0.1:{}", seat.port);
        let (room, events) = Room::connect(&url, options).map_err(|error| error.to_string())?;
        let channel = room.channel(CHANNEL, Qos::transaction()).map_err(|e| e.to_string())?;
        Ok(Person {
            shared,
            number: seat.number,
            _room: room,
            channel,
            events,
            random: Rand64::new(u128::from(shared.seed) << 32 | u128::from(seat.number)),
            is_synced: false,
            unconfirmed: VecDeque::new(),
            kept: Kept::default(),
        })
    }

    /// Waits for the room's state.
    async fn synced(&mut self) -> std::result::Result<(), String> {
        while !self.is_synced {
            let event = self.events.next().await.ok_or("the session ended")?;
            self.take(event)?;
        }
        Ok(())
    }

    /// The time of the next text, if pauses have this mean: they last from zero to twice the mean.
    fn next_due(&mut self, mean: Duration) -> tokio::time::Instant {
        tokio::time::Instant::now() + mean.mul_f64(2.0 * self.random.rand_float())
    }

    fn write(&mut self) -> std::result::Result<(), String> {
        let line = TextId { author: self.number, number: self.kept.sent as u32 };
        let text = self.shared.texts.write(line);
        self.unconfirmed.push_back(Instant::now());
        let sent = self.channel.send(&*text, SendOptions::default());
        if sent.map_err(|error| error.to_string())? == Sent::NotNow {
            return Err("too many transactions are not confirmed".to_owned());
        }
        self.kept.sent += 1;
        self.shared.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn take(&mut self, event: Event) -> std::result::Result<(), String> {
        match event {
            Event::Message(message) => self.note(&message),
            Event::Synced { .. } => self.is_synced = true,
            Event::Gap { reason, .. } => return Err(format!("gap: {reason:?}")),
            Event::Error { error, fatal: true, .. } => return Err(error.to_string()),
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, message: &Incoming) {
        let line = self.shared.texts.read(&message.bytes);
        self.kept.told.lines.push((message.position.get(), line));
        self.kept.arrivals.push(Instant::now());
        self.shared.delivered.fetch_add(1, Ordering::Relaxed);
        // Own transactions come back in the order in which they were sent.
        if message.own
            && let Some(sent) = self.unconfirmed.pop_front()
        {
            self.kept.told.confirmed += 1;
            self.kept.confirmations.push((sent, sent.elapsed()));
            self.shared.confirmed.fetch_add(1, Ordering::Relaxed);
            let mut latest = self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner);
            latest.insert(self.number, sent);
        }
    }
}
