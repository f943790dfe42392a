//! What all handles and worlds of a simulation share, and how its time goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;
use std::time::Duration;

use crate::clients::state::State;
use crate::clients::tasks::{Tasks, lock};

/// More steps than this at one time are an endless loop.
const MOST_AT_ONCE: u32 = 1_000_000;

/// Why [`Simulation::advance`](crate::Simulation::advance) has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    /// [`Simulation::interrupt`](crate::Simulation::interrupt) was called.
    Interrupted,
    /// The time has come.
    Reached,
    /// Nothing will ever happen.
    Idle,
}

/// See the [module](self).
pub(crate) struct Shared {
    /// Nanoseconds, so that nobody waits for a lock to read the time.
    now: AtomicU64,
    pub(crate) state: Mutex<State>,
    pub(crate) tasks: Tasks,
    is_interrupted: AtomicBool,
    is_advancing: AtomicBool,
}

impl Shared {
    pub(crate) fn new(state: State) -> Shared {
        Shared {
            now: AtomicU64::new(0),
            state: Mutex::new(state),
            tasks: Tasks::default(),
            is_interrupted: AtomicBool::new(false),
            is_advancing: AtomicBool::new(false),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        Duration::from_nanos(self.now.load(Ordering::Relaxed))
    }

    pub(crate) fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
    }
}

/// Waking the future of `Simulation::block_on` interrupts, so that the future is polled.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.interrupt();
    }
}

/// The right to let the simulation go on, which one caller has at a time.
pub(crate) struct Advancing<'a>(&'a Shared);

impl<'a> Advancing<'a> {
    /// `None` if the simulation is running already.
    pub(crate) fn begin(shared: &'a Shared) -> Option<Advancing<'a>> {
        let is_running = shared.is_advancing.swap(true, Ordering::Acquire);
        // Made only then: when it is dropped, the next caller has the right.
        (!is_running).then(|| Advancing(shared))
    }

    /// Goes on until this time, or until it is interrupted; `None` if time stands still.
    pub(crate) fn advance(&self, until: Option<Duration>) -> Option<Advanced> {
        let shared = self.0;
        let mut count = 0;
        loop {
            while shared.tasks.run_one() {
                count += 1;
                if count > MOST_AT_ONCE {
                    return None;
                }
            }
            if shared.is_interrupted.swap(false, Ordering::Relaxed) {
                return Some(Advanced::Interrupted);
            }
            let mut state = lock(&shared.state);
            let before = state.now;
            let next = state.next().filter(|next| until.is_none_or(|until| *next <= until));
            if next.is_some() {
                state.step();
            } else if let Some(until) = until {
                state.now = before.max(until);
            }
            shared.now.store(state.now.as_nanos() as u64, Ordering::Relaxed);
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

impl Drop for Advancing<'_> {
    fn drop(&mut self) {
        self.0.is_advancing.store(false, Ordering::Release);
    }
}
