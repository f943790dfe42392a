//! People in rooms: they write by their own clocks, keep what they are told, and take the time until their own transactions
//! come back. They are the clients that programs have.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use groupwire_client::{Channel, Event, Events, Incoming, Options, Qos, Room, SendOptions, Sent};
use oorandom::Rand64;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::line::{Line, Texts};
use super::listener::Listener;
use super::verdict::Told;
use crate::Result;

/// People who join at a time: a listening socket queues some hundreds.
const JOINING: usize = 64;
/// The time in which all have to be in their rooms.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two looks whether something is done.
const LOOK: Duration = Duration::from_millis(2);

/// The channel that everybody writes on.
pub(super) const CHANNEL: &str = "lines";

/// When a person writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// Never. Who is silent counts what comes, and decodes it in the end ([`Listener`]).
    Silent,
    /// After random pauses with this mean, so that transactions come at any time of a tick.
    Every(Duration),
    /// Whenever fewer than so many transactions are not confirmed.
    Ahead(usize),
}

/// Who somebody is.
#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) room: String,
    /// Counted over all rooms.
    pub(super) number: u32,
    pub(super) pace: Pace,
}

/// What everybody does now.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stage {
    Joining,
    Writing,
    /// Nobody writes, and what is on its way still comes.
    Listening,
    Over,
}

/// What one person has at the end.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) told: Told,
    pub(super) sent: u64,
    /// For each confirmed transaction: when it was sent, and how long it took.
    pub(super) confirmations: Vec<(Instant, Duration)>,
    /// When each transaction came.
    pub(super) arrivals: Vec<Instant>,
}

/// What people and those who measure them share.
pub(super) struct Shared {
    port: u16,
    texts: Texts,
    seed: u64,
    stage: watch::Sender<Stage>,
    joining: Semaphore,
    ready: AtomicUsize,
    /// Transactions that came to those who write, their own ones included.
    delivered: AtomicU64,
    confirmed: AtomicU64,
    sent: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(port: u16, texts: Texts, seed: u64) -> Arc<Self> {
        Arc::new(Shared {
            port,
            texts,
            seed,
            stage: watch::Sender::new(Stage::Joining),
            joining: Semaphore::new(JOINING),
            ready: AtomicUsize::new(0),
            delivered: AtomicU64::new(0),
            confirmed: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            failure: Mutex::new(None),
        })
    }

    /// Tells everybody what to do.
    pub(super) fn tell(&self, stage: Stage) {
        self.stage.send_replace(stage);
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    pub(super) fn confirmed(&self) -> u64 {
        self.confirmed.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Notes that something went wrong; the first counts.
    fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until so many people are in their rooms.
    pub(super) fn await_ready(&self, count: usize) -> Result<()> {
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

/// Waits until something is so, and returns whether it is.
pub(super) fn await_that(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > patience {
            return false;
        }
        sleep(LOOK);
    }
    true
}

/// Runs people on a thread of their own until all is over.
pub(super) fn run<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    shared: &Arc<Shared>,
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

/// Joins a room, and returns all that somebody is told who was not there before.
pub(super) fn read(shared: &Shared, room: &str) -> Result<Told> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(async {
        let seat = Seat { room: room.to_owned(), number: u32::MAX, pace: Pace::Silent };
        let mut person = Person::join(shared, &seat)?;
        person.synced().await?;
        Ok::<_, String>(person.kept.told)
    });
    Ok(told.map_err(|why| format!("{room} cannot be read: {why}"))?)
}

async fn listen(shared: &Shared, seat: &Seat) -> std::result::Result<Kept, String> {
    let mut stage = shared.stage.subscribe();
    let mut listener = {
        let _turn = shared.joining.acquire().await.map_err(|error| error.to_string())?;
        Listener::join(shared.port, &seat.room, seat.number).await?
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

async fn live(shared: &Shared, seat: &Seat) -> std::result::Result<Kept, String> {
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
                    _ => (None, 0),
                };
            }
            () = timer => {
                person.write()?;
                if let Pace::Every(mean) = seat.pace {
                    due = Some(person.next_due(mean));
                }
            }
            event = person.events.next() => {
                person.take(event.ok_or("the session ended")?)?;
            }
        }
    }
}

struct Person<'a> {
    shared: &'a Shared,
    number: u32,
    _room: Room,
    channel: Channel,
    events: Events,
    random: Rand64,
    is_synced: bool,
    /// When the transactions were sent that are not confirmed.
    unconfirmed: VecDeque<Instant>,
    kept: Kept,
}

impl<'a> Person<'a> {
    fn join(shared: &'a Shared, seat: &Seat) -> std::result::Result<Self, String> {
        let options = Options::new(&seat.room);
        let url = format!("ws://127.0.0.1:{}", shared.port);
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

    /// When the next text is due, if the pauses have this mean: from none to twice the mean.
    fn next_due(&mut self, mean: Duration) -> tokio::time::Instant {
        tokio::time::Instant::now() + mean.mul_f64(2.0 * self.random.rand_float())
    }

    fn write(&mut self) -> std::result::Result<(), String> {
        let line = Line { author: self.number, number: self.kept.sent as u32 };
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
        }
    }
}
