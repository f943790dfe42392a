//! The simulation itself, and its clients.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use groupwire_client::world::{BoxFuture, Link, LinkEvent, World};
use groupwire_client::{DialError, Error, Events, Options, Room};
use groupwire_session::Identity;

use crate::connection::{Number, Opening};
use crate::path::Conditions;
use crate::random::Random;
use crate::server::{Restart, Settings};
use crate::state::{Identify, State};
use crate::tasks::{Tasks, lock};

/// More steps than this at one time are an endless loop.
const MOST_AT_ONCE: u32 = 1_000_000;

/// What [`Simulation::block_on`] waits at most, in simulated time.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// The number of log lines in an error.
const TOLD: usize = 40;

/// How often [`Simulation::settle`] looks.
const LOOK: Duration = Duration::from_millis(50);

/// A server, its rooms and their participants in simulated time, over simulated networks. Clones
/// are the same simulation.
///
/// Nothing happens but in [`block_on`](Simulation::block_on) and
/// [`advance`](Simulation::advance), and the same calls give the same results with the same seed.
#[derive(Clone)]
pub struct Simulation {
    shared: Arc<Shared>,
    _end: Arc<End>,
}

/// The options of [`Simulation::new`].
#[derive(Default)]
pub struct SimulationOptions {
    /// All chance comes from this number.
    pub seed: u64,
    /// What the server does.
    pub settings: Settings,
    /// Decides who may join. Without it everybody may do everything.
    pub identify: Option<Identify>,
}

/// How a participant joins, beside the options of a [`Room`].
#[derive(Default)]
pub struct Join {
    /// Its name in the log: a, b, c and so on if there is none.
    pub name: Option<String>,
    /// Its network.
    pub conditions: Conditions,
    /// The network lets only streams through.
    pub without_datagrams: bool,
    /// Its identity, whatever its token is.
    pub identity: Option<Identity>,
}

/// A participant's number in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member(usize);

/// Why [`Simulation::advance`] has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    /// [`Simulation::interrupt`] was called.
    Interrupted,
    /// The time has come.
    Reached,
    /// Nothing will ever happen.
    Idle,
}

/// The simulation cannot go on, or not to where it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; what happened last:\n{log}")]
pub struct Stuck {
    why: String,
    log: String,
}

struct Shared {
    /// Nanoseconds, so that nobody waits for a lock to read the time.
    now: AtomicU64,
    state: Mutex<State>,
    tasks: Tasks,
    is_interrupted: AtomicBool,
    is_advancing: AtomicBool,
}

impl Simulation {
    /// A server without participants, at time 0.
    pub fn new(options: SimulationOptions) -> Simulation {
        let SimulationOptions { seed, settings, identify } = options;
        let shared = Shared {
            now: AtomicU64::new(0),
            state: Mutex::new(State::new(seed, settings, identify)),
            tasks: Tasks::default(),
            is_interrupted: AtomicBool::new(false),
            is_advancing: AtomicBool::new(false),
        };
        let shared = Arc::new(shared);
        Simulation { _end: Arc::new(End(Arc::clone(&shared))), shared }
    }

    /// The time since the beginning.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }

    /// A participant joins the room that its options name.
    ///
    /// # Errors
    /// A room name, token or presence above its limit.
    pub fn join(&self, join: Join, options: Options) -> Result<(Room, Events, Member), Error> {
        let (world, member) = self.world(join, &options.room);
        let options = Options { seed: self.random(), ..options };
        let (room, events) = Room::connect_within(world, options)?;
        Ok((room, events, member))
    }

    /// The world of a participant that joins a room by [`Room::connect_within`], with a seed of
    /// [`random`](Self::random).
    pub fn world(&self, join: Join, room: &str) -> (Arc<dyn World>, Member) {
        let Join { name, conditions, without_datagrams, identity } = join;
        let mut state = lock(&self.shared.state);
        let member = state.add_member(name, room, &conditions, !without_datagrams, identity);
        let random = Mutex::new(Random::new(state.random.any()));
        let world = MemberWorld { shared: Arc::clone(&self.shared), member, random };
        (Arc::new(world), Member(member))
    }

    /// A random number from the simulation's seed.
    pub fn random(&self) -> u64 {
        lock(&self.shared.state).random.any()
    }

    /// Runs a task until it ends, whenever the simulation goes on. All tasks end with the last
    /// handle of the simulation, so a task that owns one keeps itself alive.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.shared.tasks.spawn(Box::pin(task));
    }

    /// Completes after this time.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        sleep_until(Arc::clone(&self.shared), self.now().saturating_add(time))
    }

    /// Goes on until the future completes.
    ///
    /// # Errors
    /// If it cannot complete any more, or not within a day.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Stuck> {
        let mut future = pin!(future);
        let end = self.now().saturating_add(PATIENCE);
        let woken = Arc::new(Woken { shared: Arc::clone(&self.shared) });
        let waker = Waker::from(woken);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(output);
            }
            if self.advance(Some(end))? != Advanced::Interrupted {
                let is_idle = lock(&self.shared.state).next().is_none();
                let why = if is_idle { "nothing will happen any more" } else { "it took a day" };
                return Err(self.stuck(why));
            }
        }
    }

    /// Goes on until this time, or until it is [interrupted](Self::interrupt).
    ///
    /// # Errors
    /// If time stands still because something happens again and again, or if the simulation is
    /// running already.
    pub fn advance(&self, until: Option<Duration>) -> Result<Advanced, Stuck> {
        if self.shared.is_advancing.swap(true, Ordering::Acquire) {
            return Err(Stuck {
                why: "the simulation is running already".into(),
                log: String::new(),
            });
        }
        let advancing = Advancing(&self.shared);
        let advanced = self.shared.advance(until);
        drop(advancing);
        advanced.ok_or_else(|| self.stuck("time does not go on"))
    }

    /// Lets [`advance`](Self::advance) end, because the program has something to do at this time.
    pub fn interrupt(&self) {
        self.shared.is_interrupted.store(true, Ordering::Relaxed);
    }

    /// Does the same as [`interrupt`](Self::interrupt) whenever it is called, for tasks of the
    /// simulation: it does not keep the simulation alive.
    pub fn interrupter(&self) -> impl Fn() + Send + Sync + use<> {
        let shared = Arc::downgrade(&self.shared);
        move || {
            if let Some(shared) = shared.upgrade() {
                shared.is_interrupted.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Goes on until all these rooms are connected and have their transactions confirmed, nothing
    /// is under way, and nothing has happened for the time `quiet`. Three seconds are longer than
    /// any timer that a room runs after the last message. Leave out rooms that are cut off without
    /// an end.
    ///
    /// # Errors
    /// If that takes more than ten minutes of simulated time.
    pub async fn settle(&self, rooms: &[&Room], quiet: Duration) -> Result<(), Stuck> {
        let begin = self.now();
        lock(&self.shared.state).stir();
        loop {
            let mut reasons = self.unsettled();
            for room in rooms {
                if !room.is_joined() {
                    reasons.push("a participant is not connected".to_owned());
                }
                if room.pending() > 0 {
                    reasons.push("a participant has transactions that are not confirmed".into());
                }
            }
            if reasons.is_empty() && self.quiet_for() >= quiet {
                return Ok(());
            }
            if self.now() - begin > Duration::from_secs(600) {
                let why = reasons.join("; ");
                return Err(self.stuck(&format!("not settled within ten minutes: {why}")));
            }
            self.sleep(LOOK).await;
        }
    }

    /// What of the networks and the server is under way, in plain words.
    pub fn unsettled(&self) -> Vec<String> {
        lock(&self.shared.state).unsettled()
    }

    /// The time since something happened for which a test that settles waits: a message, a
    /// participant that came or left.
    pub fn quiet_for(&self) -> Duration {
        self.now().saturating_sub(lock(&self.shared.state).last_stir)
    }

    /// Something happens for which a test that settles waits.
    pub fn stir(&self) {
        lock(&self.shared.state).stir();
    }

    /// Changes the conditions that are named of a participant's network.
    pub fn change(&self, member: Member, conditions: &Conditions) {
        lock(&self.shared.state).change(member.0, conditions);
    }

    /// Cuts a participant off the network, for a time or until [`heal`](Self::heal). Nobody is
    /// told: connections stay open and carry nothing.
    pub fn partition(&self, member: Member, time: Option<Duration>) {
        lock(&self.shared.state).cut(member.0, time.unwrap_or(Duration::MAX));
    }

    /// Ends a partition.
    pub fn heal(&self, member: Member) {
        lock(&self.shared.state).heal(member.0);
    }

    /// Breaks the connection of a participant: both ends notice at once, and what is under way is
    /// lost.
    pub fn break_connection(&self, member: Member) {
        lock(&self.shared.state).break_connections(member.0);
    }

    /// The server asks a participant for another token, as when its token expires soon.
    pub fn expire_token(&self, member: Member) {
        lock(&self.shared.state).expire_token(member.0);
    }

    /// The server ends, and another one takes its place.
    pub fn restart_server(&self, restart: Restart) {
        lock(&self.shared.state).restart(restart);
    }

    /// The last things that happened, in plain words: at most 2,000 lines.
    pub fn log(&self, lines: usize) -> String {
        lock(&self.shared.state).log.text(lines)
    }

    fn stuck(&self, why: &str) -> Stuck {
        Stuck { why: why.to_owned(), log: self.log(TOLD) }
    }
}

impl Shared {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.now.load(Ordering::Relaxed))
    }

    /// `None` if time stands still.
    fn advance(&self, until: Option<Duration>) -> Option<Advanced> {
        let mut count = 0;
        loop {
            while self.tasks.run_one() {
                count += 1;
                if count > MOST_AT_ONCE {
                    return None;
                }
            }
            if self.is_interrupted.swap(false, Ordering::Relaxed) {
                return Some(Advanced::Interrupted);
            }
            let mut state = lock(&self.state);
            let before = state.now;
            let next = state.next().filter(|next| until.is_none_or(|until| *next <= until));
            if next.is_some() {
                state.step();
            } else if let Some(until) = until {
                state.now = before.max(until);
            }
            self.now.store(state.now.as_nanos() as u64, Ordering::Relaxed);
            count = if state.now > before { 0 } else { count + 1 };
            match (next, until) {
                (Some(_), _) if count > MOST_AT_ONCE => return None,
                (Some(_), _) => {}
                (None, Some(_)) => return Some(Advanced::Reached),
                (None, None) => return Some(Advanced::Idle),
            }
        }
    }
}

/// Marks the simulation as running.
struct Advancing<'a>(&'a Shared);

impl Drop for Advancing<'_> {
    fn drop(&mut self) {
        self.0.is_advancing.store(false, Ordering::Release);
    }
}

/// Ends all tasks with the last handle of a simulation: they hold what is shared, which holds them.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.tasks.clear();
    }
}

/// Interrupts the simulation, so that the future of [`Simulation::block_on`] is polled.
struct Woken {
    shared: Arc<Shared>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.shared.is_interrupted.store(true, Ordering::Relaxed);
    }
}

/// What surrounds one participant.
struct MemberWorld {
    shared: Arc<Shared>,
    member: usize,
    /// Its own, so that nobody waits for the simulation to draw a number.
    random: Mutex<Random>,
}

impl World for MemberWorld {
    fn now(&self) -> Duration {
        self.shared.now()
    }

    fn sleep_until(&self, at: Duration) -> BoxFuture<()> {
        Box::pin(sleep_until(Arc::clone(&self.shared), at))
    }

    fn random(&self) -> u64 {
        lock(&self.random).any()
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.shared.tasks.spawn(task);
    }

    fn dial(&self) -> BoxFuture<Result<Box<dyn Link>, DialError>> {
        let number = lock(&self.shared.state).dial(self.member);
        let link = SimulatedLink { shared: Arc::clone(&self.shared), number };
        Box::pin(Dialing { link: Some(link) })
    }
}

/// Waits until a connection is open.
struct Dialing {
    link: Option<SimulatedLink>,
}

impl Future for Dialing {
    type Output = Result<Box<dyn Link>, DialError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let refused = || Poll::Ready(Err(DialError::Io(ErrorKind::ConnectionRefused.into())));
        let Some(link) = &self.link else { return refused() };
        let opening = {
            let mut state = lock(&link.shared.state);
            let Some(connection) = state.connection(link.number) else { return refused() };
            connection.wait(cx.waker());
            connection.opening
        };
        match opening {
            Opening::Waiting => Poll::Pending,
            Opening::Refused => refused(),
            Opening::Open => match self.link.take() {
                Some(link) => Poll::Ready(Ok(Box::new(link))),
                None => refused(),
            },
        }
    }
}

/// A participant's end of a connection.
struct SimulatedLink {
    shared: Arc<Shared>,
    number: Number,
}

impl Link for SimulatedLink {
    fn max_datagram(&self) -> usize {
        lock(&self.shared.state).connection(self.number).map_or(0, |one| one.max_datagram())
    }

    fn send(&mut self, packet: Vec<u8>) {
        lock(&self.shared.state).send(self.number, packet);
    }

    fn send_datagram(&mut self, packet: Vec<u8>) {
        lock(&self.shared.state).send_datagram(self.number, packet);
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<LinkEvent> {
        let mut state = lock(&self.shared.state);
        let Some(connection) = state.connection(self.number) else {
            return Poll::Ready(LinkEvent::Closed);
        };
        if let Some(event) = connection.next(read) {
            return Poll::Ready(event);
        }
        connection.wait(cx.waker());
        Poll::Pending
    }
}

impl Drop for SimulatedLink {
    fn drop(&mut self) {
        lock(&self.shared.state).close(self.number);
    }
}

/// Completes at this time.
async fn sleep_until(shared: Arc<Shared>, at: Duration) {
    if shared.now() >= at {
        return;
    }
    // Replaced by each poll, and empty once the sleep was dropped.
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let to_wake = Arc::downgrade(&waker);
    lock(&shared.state).plan(at, move |_| {
        let waker = to_wake.upgrade().and_then(|waker| lock(&waker).take());
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    std::future::poll_fn(move |cx| {
        if shared.now() >= at {
            return Poll::Ready(());
        }
        *lock(&waker) = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}
