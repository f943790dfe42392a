//! Participants that join all at once, and come back when their server does. Few of them write now
//! and then, so that a returning client has something to receive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use groupwire_client::{Event, Options, Qos, SendOptions, Status};
use tokio::time::{MissedTickBehavior, interval};

use super::counting::Counting;
use super::door::Door;
use super::participants::Participants;
use crate::Result;

const CHANNEL: &str = "lines";
/// The longest time until all participants are in their rooms.
const PATIENCE: Duration = Duration::from_secs(120);
/// One of this number of participants writes,
const PEOPLE_PER_WRITER: u32 = 10;
/// and no more than this in a room: everybody there reads what they write, and the clients of this
/// process shall not be what is measured.
const MOST_WRITERS: u32 = 2;
/// Where most people only count packets, one of this number of readers decodes them.
const PEOPLE_PER_SAMPLE: u32 = 10;
/// The time between two transactions of a writer.
const PAUSE: Duration = Duration::from_secs(1);

/// The difference between the priority of these clients and the higher one of the server, which is
/// the priority that this process began with.
const BACK: i32 = 10;

/// See the [module](self). Dropping this ends them.
pub(super) struct Crowd {
    people: Arc<People>,
    _participants: Participants,
}

#[derive(Default)]
struct People(Mutex<BTreeMap<u32, Person>>);

/// The state of one participant.
#[derive(Debug, Clone, Copy, Default)]
struct Person {
    is_synced: bool,
    is_connected: bool,
    /// The number of joins and resumes.
    joins: u32,
    away_since: Option<Instant>,
    /// The longest time away.
    away: Duration,
    has_failed: bool,
}

impl Crowd {
    /// Lets `count` people join, all at once. `counts`: most of them do not decode what comes after
    /// the room's state, and cannot come back after a break.
    pub(super) fn join(
        door: &Door,
        port: u16,
        (count, rooms): (u32, u32),
        counts: bool,
    ) -> Result<Self> {
        let people = Arc::new(People::default());
        people.all().extend((0..count).map(|number| (number, Person::default())));
        let participants = Participants::live(count, stand_back, {
            let (people, door) = (Arc::clone(&people), Arc::new(door.clone()));
            move |number| {
                let (people, door) = (Arc::clone(&people), Arc::clone(&door));
                async move {
                    // A participant that returns before the end has failed.
                    let _ = match counts && !decodes(number / rooms) {
                        true => counting(&door, port, (number, rooms), &people).await,
                        false => person(&door, port, (number, rooms), &people).await,
                    };
                    people.change(number, Person::fail);
                }
            }
        })?;
        Ok(Crowd { people, _participants: participants })
    }

    /// Waits until every participant has been admitted at least `joins` times, and has the room's
    /// state. Returns how long it took; participants that take too long have failed.
    pub(super) fn await_all(&self, joins: u32) -> Duration {
        let start = Instant::now();
        let is_in = |person: &Person| {
            person.has_failed || (person.is_synced && person.is_connected && person.joins >= joins)
        };
        while !self.people.all().values().all(is_in) {
            if start.elapsed() > PATIENCE {
                let mut people = self.people.all();
                people.values_mut().filter(|person| !is_in(person)).for_each(Person::fail);
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        start.elapsed()
    }

    /// The longest time that each participant was away, in ascending order.
    pub(super) fn away(&self) -> Vec<Duration> {
        let mut away: Vec<_> = self.people.all().values().map(|person| person.away).collect();
        away.sort();
        away
    }

    /// The number of participants that lost something, ended, or took too long.
    pub(super) fn failures(&self) -> usize {
        self.people.all().values().filter(|person| person.has_failed).count()
    }
}

impl People {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u32, Person>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, number: u32, change: impl FnOnce(&mut Person)) {
        if let Some(person) = self.all().get_mut(&number) {
            change(person);
        }
    }
}

impl Person {
    fn fail(&mut self) {
        self.has_failed = true;
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Synced { .. } => self.is_synced = true,
            Event::Joined { .. } => self.joins += 1,
            Event::Status(Status::Connected) => {
                self.is_connected = true;
                if let Some(since) = self.away_since.take() {
                    self.away = self.away.max(since.elapsed());
                }
            }
            Event::Status(Status::Reconnecting) => {
                self.is_connected = false;
                self.away_since.get_or_insert_with(Instant::now);
            }
            Event::Gap { .. } | Event::Error { fatal: true, .. } => self.fail(),
            _ => {}
        }
    }
}

/// Lowers the priority of this thread: elsewhere the processors of the crowd's own machines do its
/// work, and here it shall not take them from the server. The people in other rooms, which are
/// observed, keep their priority.
fn stand_back() {
    #[cfg(target_os = "linux")]
    {
        // On Linux the call concerns the thread. Every user may lower a priority.
        let own = rustix::process::getpriority_process(None).unwrap_or_default();
        let _ = rustix::process::setpriority_process(None, own + BACK);
    }
}

async fn person(
    door: &Door,
    port: u16,
    (number, rooms): (u32, u32),
    people: &People,
) -> Option<()> {
    let (room, mut events) = door.enter(port, &room_of(number, rooms), number)?;
    let channel = room.channel(CHANNEL, Qos::transaction()).ok()?;
    let is_writer = is_writer(number / rooms);
    let mut clock = interval(PAUSE);
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = clock.tick(), if is_writer => {
                let text = format!(r#"{{"by":{number},"text":"somebody writes a line"}}"#);
                channel.send(&*text, SendOptions::default()).ok()?;
            }
            event = events.next() => {
                let event = event?;
                people.change(number, |person| person.note(&event));
            }
        }
    }
}

/// A person who only counts what comes after the room's state.
async fn counting(
    door: &Door,
    port: u16,
    (number, rooms): (u32, u32),
    people: &People,
) -> Option<()> {
    let options = door.options(&room_of(number, rooms), number);
    let options = Options { seed: u64::from(number) + 1, ..options };
    let counting = Counting::new(port, options, CHANNEL)?;
    counting.live(|event| people.change(number, |person| person.note(event))).await.ok()
}

fn room_of(number: u32, rooms: u32) -> String {
    format!("crowd {}", number % rooms)
}

/// True if the person who came into a room after `earlier` others writes.
fn is_writer(earlier: u32) -> bool {
    earlier.is_multiple_of(PEOPLE_PER_WRITER) && earlier / PEOPLE_PER_WRITER < MOST_WRITERS
}

/// True if the person who came into a room after `earlier` others decodes what comes, though most
/// do not.
pub(super) fn decodes(earlier: u32) -> bool {
    is_writer(earlier) || earlier.is_multiple_of(PEOPLE_PER_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_people_write() {
        let writers = |people| (0..people).filter(|earlier| is_writer(*earlier)).count();
        assert_eq!([writers(1), writers(10), writers(20), writers(10_000)], [1, 1, 2, 2]);
    }

    #[test]
    fn the_longest_time_away_counts() {
        let mut person = Person::default();
        person.note(&Event::Status(Status::Connected));
        assert_eq!((person.is_connected, person.away), (true, Duration::ZERO));
        for _ in 0..2 {
            person.note(&Event::Status(Status::Reconnecting));
            assert!(!person.is_connected);
            thread::sleep(Duration::from_millis(2));
            person.note(&Event::Status(Status::Connected));
        }
        assert!(person.away >= Duration::from_millis(2));
        assert!(!person.has_failed);
    }
}
