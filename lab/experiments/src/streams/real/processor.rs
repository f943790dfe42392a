//! The core that a thread runs on, and the share of it that is left.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Rounds of work between two looks at the clock.
const ROUNDS: u64 = 2000;
/// The shortest time over which work is measured: several turns of all processes that share the
/// core.
const IDLE_TIME: Duration = Duration::from_millis(100);

/// The processor core that an end of a connection runs on. If there is only one, both ends share
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Core {
    Server,
    Client,
}

impl Core {
    pub(super) fn number(self) -> usize {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        match self {
            Core::Server => 0,
            Core::Client => 1 % cores,
        }
    }
}

/// Pins this thread, and the threads and processes that it starts, to a core.
///
/// # Errors
/// A call to the operating system fails.
#[cfg(target_os = "linux")]
pub(super) fn pin(core: usize) -> io::Result<()> {
    let mut cores = rustix::thread::CpuSet::new();
    if core >= rustix::thread::CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    cores.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &cores)?)
}

/// Lets this thread, and what it starts, go before others: the network does not get slower when
/// processors are busy. It takes rights that not everybody has.
///
/// # Errors
/// A call to the operating system fails.
#[cfg(target_os = "linux")]
pub(super) fn hurry() -> io::Result<()> {
    /// Higher than the usual priority 0, and lower than that of the system's own threads.
    const NICE: i32 = -15;
    // On Linux the call concerns the thread.
    Ok(rustix::process::setpriority_process(None, NICE)?)
}

/// Other systems have no emulated network, so cores do not matter.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub(super) fn pin(_core: usize) -> io::Result<()> {
    Ok(())
}

/// Other systems have no emulated network, so priorities do not matter.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub(super) fn hurry() -> io::Result<()> {
    Ok(())
}

/// Does floating-point operations, over and over, as the paper's dummy processes do (section 5.1).
pub(super) fn work(rounds: u64) {
    let mut value = black_box(1.000_000_1f64);
    for _ in 0..rounds {
        value = black_box(value * 1.000_000_3 + 1e-9).sqrt();
    }
    black_box(value);
}

/// The rounds of such work that a core does per second for a thread that asks for all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed(f64);

impl Speed {
    /// The current speed, measured over this time.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(super) fn of(core: Core, time: Duration) -> io::Result<Speed> {
        let measure = || {
            pin(core.number())?;
            let (start, mut rounds) = (Instant::now(), 0);
            while start.elapsed() < time {
                work(ROUNDS);
                rounds += ROUNDS;
            }
            Ok(Speed(rounds as f64 / start.elapsed().as_secs_f64()))
        };
        let done = thread::scope(|scope| scope.spawn(measure).join());
        done.unwrap_or_else(|_| Err(io::Error::other("what measured a core panicked")))
    }

    /// The speed while no other process works on the core.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(super) fn idle(core: Core) -> io::Result<Speed> {
        Speed::of(core, IDLE_TIME)
    }

    /// The speed as a share of that of an idle core.
    pub(super) fn share_of(self, idle: Speed) -> f64 {
        (self.0 / idle.0).min(1.0)
    }
}
