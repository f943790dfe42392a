//! Many people in many rooms, and how long each of them is away when the server is replaced.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use groupwire_client::{Event, Events, Options, Qos, Room, SendOptions, Status};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::visitor::FOREVER;

/// The pause between two lines of a person.
const PAUSE: Duration = Duration::from_secs(2);

/// See the [module](self).
pub(super) struct Crowd {
    shared: Arc<CrowdState>,
    tasks: Vec<JoinHandle<Member>>,
}

#[derive(Default)]
struct CrowdState {
    is_over: AtomicBool,
    here: AtomicUsize,
    /// The number of joins of all clients.
    joins: AtomicUsize,
}

/// The results of all people.
pub(super) struct Outcome {
    /// The transactions that were sent, all of which were confirmed.
    pub(super) sent: usize,
    /// How long each person was without a connection, each time, the shortest first.
    away: Vec<Duration>,
}

impl Crowd {
    /// Lets all clients join and begin to write.
    pub(super) async fn join(url: &str, people: usize, rooms: usize) -> Self {
        let shared = Arc::<CrowdState>::default();
        let tasks = (0..people).map(|at| {
            let (room, events) =
                Room::connect(url, Options::new(&format!("room {}", at % rooms))).unwrap();
            let member = Member::new(Arc::clone(&shared));
            tokio::spawn(member.write(room, events, PAUSE * at as u32 / people as u32))
        });
        let tasks = tasks.collect();
        let crowd = Crowd { shared, tasks };
        crowd.joined(people).await;
        crowd
    }

    /// Waits until there were this many joins in all.
    pub(super) async fn joined(&self, joins: usize) {
        let joined = async {
            while self.shared.joins.load(Ordering::Relaxed) < joins {
                assert!(self.tasks.iter().all(|task| !task.is_finished()), "somebody gave up");
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(FOREVER, joined).await.expect("everybody is back");
    }

    pub(super) fn here(&self) -> usize {
        self.shared.here.load(Ordering::Relaxed)
    }

    /// Lets all clients finish their unconfirmed transactions.
    pub(super) async fn finish(self) -> Outcome {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let mut outcome = Outcome { sent: 0, away: Vec::new() };
        for task in self.tasks {
            let member = timeout(FOREVER, task).await.expect("everything is confirmed").unwrap();
            outcome.sent += member.sent;
            outcome.away.extend(member.away);
        }
        outcome.away.sort();
        outcome
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |share: f64| match self.away.len() {
            0 => 0.0,
            count => self.away[((count - 1) as f64 * share) as usize].as_secs_f64(),
        };
        let (times, sent) = (self.away.len(), self.sent);
        write!(f, "{sent} transactions, each once; away {times} times: ")?;
        write!(f, "median {:.2} s, 99 % {:.2} s, longest {:.2} s", of(0.5), of(0.99), of(1.0))
    }
}

/// One person.
struct Member {
    shared: Arc<CrowdState>,
    sent: usize,
    own: usize,
    /// The position of the last line that it was told.
    last: u64,
    away: Vec<Duration>,
    away_since: Option<Instant>,
}

impl Member {
    fn new(shared: Arc<CrowdState>) -> Self {
        Member { shared, sent: 0, own: 0, last: 0, away: Vec::new(), away_since: None }
    }

    /// Writes now and then until the test is over and everything is confirmed.
    async fn write(mut self, room: Room, mut events: Events, first: Duration) -> Self {
        let lines = room.channel("lines", Qos::transaction()).unwrap();
        let mut next = Instant::now() + first;
        loop {
            let is_over = self.shared.is_over.load(Ordering::Relaxed);
            if is_over && self.own == self.sent {
                return self;
            }
            if !is_over && Instant::now() >= next {
                lines.send("a line of some length", SendOptions::default()).unwrap();
                self.sent += 1;
                next += PAUSE;
            }
            let patience = next.saturating_duration_since(Instant::now());
            let patience = patience.clamp(Duration::from_millis(1), Duration::from_millis(200));
            if let Ok(event) = timeout(patience, events.next()).await {
                self.note(event.expect("the session goes on"));
            }
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Message(message) => {
                assert_eq!(message.position.get(), self.last + 1, "lost, repeated or moved");
                self.last += 1;
                self.own += usize::from(message.own);
            }
            Event::Joined { .. } => {
                self.away.extend(self.away_since.take().map(|since| since.elapsed()));
                self.shared.here.fetch_add(1, Ordering::Relaxed);
                self.shared.joins.fetch_add(1, Ordering::Relaxed);
            }
            Event::Status(Status::Reconnecting) if self.away_since.is_none() => {
                self.away_since = Some(Instant::now());
                self.shared.here.fetch_sub(1, Ordering::Relaxed);
            }
            Event::Gap { reason, .. } => assert_eq!(self.last, 0, "gap: {reason:?}"),
            Event::Error { error, fatal: true, .. } => panic!("{error}"),
            _ => {}
        }
    }
}
