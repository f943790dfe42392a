//! What the tasks of rooms run on: the thread that serves all rooms of a process, or a world.

use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use groupwire_client::world::World;
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

use crate::error::{Code, Error};

/// The runtime of the process with this id. Never dropped: that would wait for its thread, in a
/// process that is about to end.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// How often, and how long each time, to wait for another thread that is starting the runtime. A
/// process that was forked at that moment would wait forever: the other thread is not in it.
const TRIES: u32 = 1000;
const TRY: Duration = Duration::from_millis(1);

/// What the tasks of a room run on.
pub(crate) enum Host {
    Thread(Handle),
    /// A world, and what to call when events came.
    World(Arc<dyn World>, Arc<dyn Fn() + Send + Sync>),
}

impl Host {
    /// Makes the thread known to the client, as long as the guard is there. A world is known to it.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        match self {
            Host::Thread(runtime) => Some(runtime.enter()),
            Host::World(..) => None,
        }
    }
}

/// The runtime of this process, which the first call starts.
///
/// # Errors
/// [`Code::Internal`] if the operating system gives no thread; [`Code::Forked`] if this process was
/// forked while its parent started the runtime.
pub(crate) fn handle() -> Result<Handle, Error> {
    let pid = std::process::id();
    for _ in 0..TRIES {
        let mut runtime = match RUNTIME.try_lock() {
            Ok(runtime) => runtime,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(TRY);
                continue;
            }
        };
        if let Some((owner, runtime)) = &*runtime
            && *owner == pid
        {
            return Ok(runtime.handle().clone());
        }
        let started = start()?;
        let handle = started.handle().clone();
        // Dropping the runtime of the parent would wait for a thread that is not in this process.
        std::mem::forget(runtime.replace((pid, started)));
        return Ok(handle);
    }
    Err(Error::own(
        Code::Forked,
        "this process was forked while its parent connected: fork before the first connect",
    ))
}

fn start() -> Result<Runtime, Error> {
    // One thread, because a client mostly waits. Names are resolved on threads of their own, which
    // end after some seconds.
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("groupwire")
        .enable_all()
        .build()
        .map_err(|error| Error::own(Code::Internal, format!("no thread could be started: {error}")))
}
