//! The simulation, as a test uses it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use groupwire_client::world::World;
use groupwire_client::{Error, Events, Options, Room};
use groupwire_session::Identity;

use crate::clients::path::Conditions;
use crate::clients::server::{Restart, Settings};
use crate::clients::shared::{Advanced, Advancing, Shared};
use crate::clients::state::{Identify, State};
use crate::clients::tasks::lock;
use crate::clients::world::{MemberWorld, sleep_until};

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

/// The simulation cannot go on, or not to where it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; what happened last:\n{log}")]
pub struct Stuck {
    why: String,
    log: String,
}

impl Simulation {
    /// A server without participants, at time 0.
    pub fn new(options: SimulationOptions) -> Simulation {
        let SimulationOptions { seed, settings, identify } = options;
        let shared = Arc::new(Shared::new(State::new(seed, settings, identify)));
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
        let seed = state.random.any();
        let world = MemberWorld::new(Arc::clone(&self.shared), member, seed);
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
        let waker = Waker::from(Arc::clone(&self.shared));
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
        let Some(advancing) = Advancing::begin(&self.shared) else {
            return Err(Stuck {
                why: "the simulation is running already".into(),
                log: String::new(),
            });
        };
        advancing.advance(until).ok_or_else(|| self.stuck("time does not go on"))
    }

    /// Lets [`advance`](Self::advance) end, because the program has something to do at this time.
    pub fn interrupt(&self) {
        self.shared.interrupt();
    }

    /// Does the same as [`interrupt`](Self::interrupt) whenever it is called, for tasks of the
    /// simulation: it does not keep the simulation alive.
    pub fn interrupter(&self) -> impl Fn() + Send + Sync + use<> {
        let shared = Arc::downgrade(&self.shared);
        move || {
            if let Some(shared) = shared.upgrade() {
                shared.interrupt();
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

/// Ends all tasks with the last handle of a simulation: they hold what is shared, which holds them.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.tasks.clear();
    }
}
