//! People who write into stored rooms all the time and upload snapshots, and the check of what they
//! were told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groupwire_client::{Event, Events, Options, Qos, Room, SendOptions, Status};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const ROOMS: usize = 3;
const PEOPLE: usize = 4;
/// The bytes that follow each line, so that the server wants a snapshot every some hundred lines.
const FILLING: usize = 400;
/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
const FOREVER: Duration = Duration::from_secs(120);

/// Everybody in all rooms.
pub(crate) struct People {
    shared: Arc<PeopleState>,
    /// The number of the room and the task of each person.
    tasks: Vec<(usize, JoinHandle<Person>)>,
}

/// What the test sees of all people.
#[derive(Default)]
struct PeopleState {
    is_over: AtomicBool,
    confirmed: AtomicUsize,
    snapshots: AtomicUsize,
    rooms: [Written; ROOMS],
    /// How far each person is, for a test that fails.
    progress: Mutex<BTreeMap<String, String>>,
}

/// What the people of one room have done.
#[derive(Default)]
struct Written {
    confirmed: AtomicUsize,
    /// The people who have finished, and their lines.
    people: AtomicUsize,
    lines: AtomicUsize,
}

/// One person, with all lines that it was told, in their order.
struct Person {
    name: String,
    /// The number of its room.
    room: usize,
    lines: Vec<String>,
    sent: usize,
    /// The number of its own lines that it was told.
    confirmed: usize,
    /// Own lines that were confirmed as part of a snapshot, which comes next.
    covered: Vec<String>,
    status: Option<Status>,
    shared: Arc<PeopleState>,
}

impl People {
    /// Lets all clients join and begin to write.
    pub(crate) fn join(url: &str) -> Self {
        let shared = Arc::new(PeopleState::default());
        let tasks = (0..ROOMS * PEOPLE)
            .map(|at| {
                let room = at % ROOMS;
                let person = Person::new(format!("{at}"), room, Arc::clone(&shared));
                (room, tokio::spawn(person.write(url.to_owned())))
            })
            .collect();
        People { shared, tasks }
    }

    /// The number of transactions that were confirmed to their senders.
    pub(crate) fn confirmed(&self) -> usize {
        self.shared.confirmed.load(Ordering::Relaxed)
    }

    /// Waits for further confirmations.
    pub(crate) async fn progress(&self, further: usize) {
        self.wait_for(|| self.confirmed(), further).await;
    }

    /// Waits for further confirmations in each room.
    pub(crate) async fn progress_in_each_room(&self, further: usize) {
        for room in &self.shared.rooms {
            self.wait_for(|| room.confirmed.load(Ordering::Relaxed), further).await;
        }
    }

    async fn wait_for(&self, confirmed: impl Fn() -> usize, further: usize) {
        let before = confirmed();
        let progress = async {
            while confirmed() < before + further {
                assert!(self.tasks.iter().all(|(_, task)| !task.is_finished()), "somebody gave up");
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(FOREVER, progress).await.expect("confirmations after a restart");
    }

    /// Lets everybody finish, and checks that every line has one position, the same for everybody.
    /// Returns a summary.
    pub(crate) async fn finish(self) -> String {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let mut rooms: BTreeMap<usize, Vec<Person>> = BTreeMap::new();
        for (room, task) in self.tasks {
            let Ok(person) = timeout(FOREVER, task).await else {
                panic!("not everything is confirmed: {:#?}", self.shared.progress.lock().unwrap());
            };
            let person = person.unwrap();
            rooms.entry(room).or_default().push(person);
        }
        rooms.values().for_each(|people| check(people));
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        let (confirmed, snapshots) = (count(&self.shared.confirmed), count(&self.shared.snapshots));
        format!("{confirmed} confirmed, none lost, repeated or moved; {snapshots} snapshots")
    }
}

impl Person {
    fn new(name: String, room: usize, shared: Arc<PeopleState>) -> Self {
        let (lines, covered) = (Vec::new(), Vec::new());
        Person { name, room, lines, sent: 0, confirmed: 0, covered, status: None, shared }
    }

    /// Writes numbered lines, a few at a time, until the test is over and everything is confirmed.
    async fn write(mut self, url: String) -> Self {
        let name = format!("room {}", self.room);
        let (room, mut events) = Room::connect(&url, Options::new(&name)).unwrap();
        let lines = room.channel("lines", Qos::transaction()).unwrap();
        room.provide("lines", &[&lines]).unwrap();
        while !self.is_over() || self.confirmed < self.sent {
            while self.sent - self.confirmed < 5 && !self.is_over() {
                let line = format!("{} {}{:FILLING$}", self.name, self.sent, "");
                lines.send(&*line, SendOptions::default()).unwrap();
                self.sent += 1;
            }
            self.note_next(&mut events, &room).await;
        }
        let written = &self.shared.rooms[self.room];
        written.lines.fetch_add(self.sent, Ordering::Relaxed);
        written.people.fetch_add(1, Ordering::Release);
        // The others may still be waiting for a server: their last lines come, too.
        loop {
            let came = self.note_next(&mut events, &room).await;
            if self.has_all() && !came {
                return self;
            }
        }
    }

    /// Waits for an event, but not for long, and notes it. Returns false if none came.
    async fn note_next(&mut self, events: &mut Events, room: &Room) -> bool {
        let Ok(event) = timeout(Duration::from_millis(20), events.next()).await else {
            return false;
        };
        let event = event.unwrap();
        if let Event::Status(status) = event {
            self.status = Some(status);
        }
        self.note(event, room);
        let Person { sent, confirmed, lines, covered, status, .. } = &self;
        let (lines, covered) = (lines.len(), covered.len());
        let progress = format!(
            "room {}: {sent} sent, {confirmed} confirmed, {lines} lines, {covered} covered, {status:?}",
            self.room
        );
        self.shared.progress.lock().unwrap().insert(self.name.clone(), progress);
        true
    }

    /// True if everybody in the room has finished, and this person was told of all lines.
    fn has_all(&self) -> bool {
        let written = &self.shared.rooms[self.room];
        written.people.load(Ordering::Acquire) == PEOPLE
            && self.lines.len() >= written.lines.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    fn note(&mut self, event: Event, room: &Room) {
        match event {
            Event::Message(message) => {
                let line = String::from_utf8(message.bytes).unwrap().trim_end().to_owned();
                assert_eq!(message.own, self.wrote(&line), "{line}");
                self.put(message.position.get(), line);
            }
            Event::SnapshotWanted { part, as_of } => {
                assert_eq!(self.lines.len() as u64, as_of.get(), "it was not told of everything");
                room.snapshot(&part, as_of, self.lines.join("\n").as_bytes()).unwrap();
                self.shared.snapshots.fetch_add(1, Ordering::Relaxed);
            }
            Event::Snapshot { as_of, bytes, .. } => {
                let lines: Vec<String> =
                    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
                assert_eq!(lines.len() as u64, as_of.get(), "another snapshot");
                assert!(lines.starts_with(&self.lines), "the snapshot has another order");
                let own = lines[self.lines.len()..].iter().filter(|line| self.wrote(line));
                assert!(own.eq(&self.covered), "the snapshot confirms other lines");
                self.covered.clear();
                self.lines = lines;
            }
            // A room of which nothing is stored yet begins anew.
            Event::Gap { reason, .. } => assert_eq!(self.lines.len(), 0, "gap: {reason:?}"),
            Event::Error { error, fatal: true, .. } => panic!("{error}"),
            _ => {}
        }
    }

    /// Notes a line, which has to be the next one, or an own one in a snapshot that comes next.
    fn put(&mut self, position: u64, line: String) {
        if self.wrote(&line) {
            self.confirmed += 1;
            self.shared.confirmed.fetch_add(1, Ordering::Relaxed);
            self.shared.rooms[self.room].confirmed.fetch_add(1, Ordering::Relaxed);
        }
        let next = self.lines.len() as u64 + 1;
        if position == 0 {
            return self.covered.push(line);
        }
        assert_eq!(position, next, "lost, repeated or moved: {line}");
        assert!(self.covered.is_empty(), "no snapshot came");
        self.lines.push(line);
    }

    /// True if the line is this person's own one.
    fn wrote(&self, line: &str) -> bool {
        line.split_once(' ').is_some_and(|(name, _)| name == self.name)
    }
}

/// Checks what all people of a room were told.
fn check(people: &[Person]) {
    let all = &people[0].lines;
    for one in people {
        assert_eq!(&one.lines, all, "two people were told different orders");
        assert_eq!(one.confirmed, one.sent);
    }
    let mut next: BTreeMap<&str, usize> = BTreeMap::new();
    for line in all {
        let (name, number) = line.split_once(' ').unwrap();
        let next = next.entry(name).or_default();
        assert_eq!(number.parse::<usize>().unwrap(), *next, "lost, repeated or out of order");
        *next += 1;
    }
    let sent: usize = people.iter().map(|one| one.sent).sum();
    assert_eq!(all.len(), sent);
}
