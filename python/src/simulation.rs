//! Rooms in simulated time, for tests: `groupwire.testing.simulate`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groupwire_ffi::{self as ffi, Memory, Options};
use groupwire_simulation::{
    Advanced, Conditions, Direction, Identify, Identity, Join, Member, Restart, Settings,
    Simulation, SimulationOptions, Stuck,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::exception;
use crate::room::NativeRoom;

/// Delay and jitter in seconds, loss, bytes a second. What is None stays as it was.
type DirectionTuple = (Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// Both directions, to the server, from the server.
type ConditionsTuple = (DirectionTuple, DirectionTuple, DirectionTuple);

/// The user, and rights as lines of a name and patterns that tabs separate.
type IdentityTuple = (String, String);

/// A server, its rooms and their participants in simulated time.
#[pyclass(frozen, module = "groupwire._native")]
pub(crate) struct NativeSimulation {
    simulation: Simulation,
    /// By their numbers in Python.
    members: Mutex<Vec<Member>>,
    asking: Arc<Asking>,
}

/// The state of calls of `authenticate`.
#[derive(Default)]
struct Asking {
    /// True while it runs: it cannot use the simulation, which waits for it.
    is_running: AtomicBool,
    /// An exception that is no refusal.
    raised: Mutex<Option<PyErr>>,
}

#[pymethods]
impl NativeSimulation {
    /// `authenticate` takes a token, and returns why it refuses, or None, then the user and rights.
    #[new]
    fn new(
        seed: u64,
        durability: &str,
        tick: Option<f64>,
        away: Option<f64>,
        snapshot_after: Option<usize>,
        max_log_bytes: Option<usize>,
        authenticate: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let durability = match durability {
            "memory" => groupwire_client::Durability::Memory,
            "local" => groupwire_client::Durability::Local,
            "cluster" => groupwire_client::Durability::Cluster,
            _ => return Err(PyValueError::new_err("durability is memory, local or cluster")),
        };
        let (tick, away) = (tick.map(time).transpose()?, away.map(time).transpose()?);
        let settings = Settings { durability, tick, away, snapshot_after, max_log_bytes };
        let asking = Arc::<Asking>::default();
        let identify = authenticate.map(|ask| identify_by(ask, Arc::clone(&asking)));
        let simulation = Simulation::new(SimulationOptions { seed, settings, identify });
        Ok(NativeSimulation { simulation, members: Mutex::default(), asking })
    }

    /// Joins a room; returns it with the participant's number in the simulation.
    #[allow(clippy::too_many_arguments)]
    fn join(
        &self,
        room: &str,
        token: Vec<u8>,
        presence: Vec<u8>,
        small: bool,
        name: Option<String>,
        conditions: ConditionsTuple,
        datagrams: bool,
        identity: Option<IdentityTuple>,
    ) -> PyResult<(NativeRoom, usize)> {
        let simulation = self.usable()?;
        let join = Join {
            name,
            conditions: conditions_of(conditions)?,
            without_datagrams: !datagrams,
            identity: identity.map(identity_of),
        };
        let memory = if small { Memory::Small } else { Memory::Full };
        let (world, member) = simulation.world(join, room);
        let seed = simulation.random();
        let options = Options { token, presence, memory, ..Options::new(room) };
        let told = simulation.interrupter();
        let room = ffi::Room::connect_within(world, told, options, seed).map_err(exception)?;
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.push(member);
        Ok((NativeRoom::of(room), members.len() - 1))
    }

    /// Seconds since the beginning.
    fn now(&self) -> f64 {
        self.simulation.now().as_secs_f64()
    }

    /// Goes on by at most these seconds, or until a room has events. Returns false if the time has
    /// come without an event.
    fn advance(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let simulation = self.usable()?;
        let failed = |stuck: Stuck| PyRuntimeError::new_err(stuck.to_string());
        // At least a nanosecond, so that time goes on however small the number is.
        let by = time(seconds)?.max(Duration::from_nanos(1));
        let until = simulation.now().saturating_add(by);
        let advanced = py.detach(|| simulation.advance(Some(until))).map_err(failed)?;
        // What `authenticate` raised by mistake, or an interrupt of the keyboard.
        match self.asking.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(advanced == Advanced::Interrupted),
        }
    }

    fn change(&self, py: Python<'_>, member: usize, conditions: ConditionsTuple) -> PyResult<()> {
        let (member, conditions) = (self.member(member)?, conditions_of(conditions)?);
        self.with(py, |simulation| simulation.change(member, &conditions))
    }

    fn partition(&self, py: Python<'_>, member: usize, seconds: Option<f64>) -> PyResult<()> {
        let (member, seconds) = (self.member(member)?, seconds.map(time).transpose()?);
        self.with(py, |simulation| simulation.partition(member, seconds))
    }

    fn heal(&self, py: Python<'_>, member: usize) -> PyResult<()> {
        let member = self.member(member)?;
        self.with(py, |simulation| simulation.heal(member))
    }

    fn break_connection(&self, py: Python<'_>, member: usize) -> PyResult<()> {
        let member = self.member(member)?;
        self.with(py, |simulation| simulation.break_connection(member))
    }

    fn expire_token(&self, py: Python<'_>, member: usize) -> PyResult<()> {
        let member = self.member(member)?;
        self.with(py, |simulation| simulation.expire_token(member))
    }

    fn restart_server(
        &self,
        py: Python<'_>,
        down_for: f64,
        keeps_state: bool,
        goodbye: bool,
    ) -> PyResult<()> {
        let restart = Restart { down_for: time(down_for)?, keeps_state, goodbye };
        self.with(py, |simulation| simulation.restart_server(restart))
    }

    /// What is under way, in plain words.
    fn unsettled(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, Simulation::unsettled)
    }

    /// Seconds since something happened.
    fn quiet_for(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.quiet_for().as_secs_f64())
    }

    fn stir(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Simulation::stir)
    }

    fn log(&self, py: Python<'_>, lines: usize) -> PyResult<String> {
        self.with(py, |simulation| simulation.log(lines))
    }
}

impl NativeSimulation {
    /// Uses the simulation, without the interpreter's lock: another thread may hold the
    /// simulation's while it waits for the interpreter's.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Simulation) -> T + Send,
    ) -> PyResult<T> {
        let simulation = self.usable()?;
        Ok(py.detach(|| call(simulation)))
    }

    fn usable(&self) -> PyResult<&Simulation> {
        match self.asking.is_running.load(Ordering::Relaxed) {
            true => Err(PyRuntimeError::new_err("`authenticate` cannot use the simulation")),
            false => Ok(&self.simulation),
        }
    }

    fn member(&self, number: usize) -> PyResult<Member> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.get(number).copied().ok_or_else(|| PyValueError::new_err("no such participant"))
    }
}

/// Asks `authenticate`. What it raises ends the test: the package catches refusals.
fn identify_by(ask: Py<PyAny>, asking: Arc<Asking>) -> Identify {
    Box::new(move |token| {
        asking.is_running.store(true, Ordering::Relaxed);
        let answer = Python::attach(|py| {
            let answer: PyResult<(Option<String>, IdentityTuple)> =
                ask.call1(py, (token,)).and_then(|answer| answer.extract(py));
            match answer {
                Ok((None, identity)) => Ok(identity_of(identity)),
                Ok((Some(why), _)) => Err(why),
                Err(error) => {
                    let mut raised = asking.raised.lock().unwrap_or_else(PoisonError::into_inner);
                    *raised = Some(error);
                    Err("`authenticate` has failed".to_owned())
                }
            }
        });
        asking.is_running.store(false, Ordering::Relaxed);
        answer
    })
}

fn identity_of((user, rights): IdentityTuple) -> Identity {
    Identity { subject: user.into_bytes(), rights: rights.into_bytes() }
}

fn conditions_of((both, up, down): ConditionsTuple) -> PyResult<Conditions> {
    Ok(Conditions { both: direction(both)?, up: direction(up)?, down: direction(down)? })
}

fn direction((delay, jitter, loss, rate): DirectionTuple) -> PyResult<Direction> {
    let (delay, jitter) = (delay.map(time).transpose()?, jitter.map(time).transpose()?);
    Ok(Direction { delay, jitter, loss, rate })
}

/// Rounded up, so that what is to happen at a time has been reached.
fn time(seconds: f64) -> PyResult<Duration> {
    let nanos = (seconds * 1e9).ceil();
    if !(0.0..=1e18).contains(&nanos) {
        return Err(PyValueError::new_err(format!("a time is 0 to 1e9 seconds, not {seconds}")));
    }
    Ok(Duration::from_nanos(nanos as u64))
}
