//! Rooms in simulated time, for tests: `groupwire.testing.simulate`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groupwire_ffi::{self as ffi, Memory, Options};
use groupwire_simulation::{
    Advanced, Conditions, Direction, Identify, Identity, Join, Member, Restart, Settings,
    Simulation, SimulationOptions,
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
    /// True while `authenticate` runs, in which the simulation cannot be used.
    is_asking: Arc<AtomicBool>,
}

#[pymethods]
impl NativeSimulation {
    /// `authenticate` takes a token and returns the user and rights, or raises to refuse.
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
        let is_asking = Arc::new(AtomicBool::new(false));
        let identify = authenticate.map(|ask| identify_by(ask, Arc::clone(&is_asking)));
        let simulation = Simulation::new(SimulationOptions { seed, settings, identify });
        Ok(NativeSimulation { simulation, members: Mutex::default(), is_asking })
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
        let told = {
            let simulation = simulation.clone();
            move || simulation.interrupt()
        };
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
        // At least a nanosecond, so that time goes on however small the number is.
        let by = time(seconds)?.max(Duration::from_nanos(1));
        let until = simulation.now().saturating_add(by);
        let advanced = py.detach(|| simulation.advance(Some(until)));
        let advanced = advanced.map_err(|stuck| PyRuntimeError::new_err(stuck.to_string()))?;
        Ok(advanced == Advanced::Interrupted)
    }

    fn change(&self, member: usize, conditions: ConditionsTuple) -> PyResult<()> {
        let conditions = conditions_of(conditions)?;
        self.usable()?.change(self.member(member)?, &conditions);
        Ok(())
    }

    fn partition(&self, member: usize, seconds: Option<f64>) -> PyResult<()> {
        let seconds = seconds.map(time).transpose()?;
        self.usable()?.partition(self.member(member)?, seconds);
        Ok(())
    }

    fn heal(&self, member: usize) -> PyResult<()> {
        self.usable()?.heal(self.member(member)?);
        Ok(())
    }

    fn break_connection(&self, member: usize) -> PyResult<()> {
        self.usable()?.break_connection(self.member(member)?);
        Ok(())
    }

    fn expire_token(&self, member: usize) -> PyResult<()> {
        self.usable()?.expire_token(self.member(member)?);
        Ok(())
    }

    fn restart_server(&self, down_for: f64, keeps_state: bool, goodbye: bool) -> PyResult<()> {
        let down_for = time(down_for)?;
        self.usable()?.restart_server(Restart { down_for, keeps_state, goodbye });
        Ok(())
    }

    /// What is under way, in plain words.
    fn unsettled(&self) -> PyResult<Vec<String>> {
        Ok(self.usable()?.unsettled())
    }

    /// Seconds since something happened.
    fn quiet_for(&self) -> PyResult<f64> {
        Ok(self.usable()?.quiet_for().as_secs_f64())
    }

    fn stir(&self) -> PyResult<()> {
        self.usable()?.stir();
        Ok(())
    }

    fn log(&self, lines: usize) -> PyResult<String> {
        Ok(self.usable()?.log(lines))
    }
}

impl NativeSimulation {
    fn usable(&self) -> PyResult<&Simulation> {
        match self.is_asking.load(Ordering::Relaxed) {
            true => Err(PyRuntimeError::new_err("`authenticate` cannot use the simulation")),
            false => Ok(&self.simulation),
        }
    }

    fn member(&self, number: usize) -> PyResult<Member> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.get(number).copied().ok_or_else(|| PyValueError::new_err("no such participant"))
    }
}

fn identify_by(ask: Py<PyAny>, is_asking: Arc<AtomicBool>) -> Identify {
    Box::new(move |token| {
        is_asking.store(true, Ordering::Relaxed);
        let answer = Python::attach(|py| {
            let answer = ask.call1(py, (token,)).and_then(|answer| answer.extract(py));
            answer.map_err(|error| error.value(py).to_string())
        });
        is_asking.store(false, Ordering::Relaxed);
        answer.map(identity_of)
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
