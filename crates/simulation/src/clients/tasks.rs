//! The tasks of a simulation, which run one after the other, in the order in which they were woken.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use groupwire_client::world::BoxFuture;

/// Tasks that have not ended.
#[derive(Default)]
pub(crate) struct Tasks {
    woken: Arc<Mutex<VecDeque<u64>>>,
    sleeping: Mutex<BTreeMap<u64, Task>>,
    count: AtomicU64,
}

struct Task {
    future: BoxFuture<()>,
    waker: Arc<TaskWaker>,
}

struct TaskWaker {
    id: u64,
    is_woken: AtomicBool,
    woken: Arc<Mutex<VecDeque<u64>>>,
}

impl Tasks {
    /// Adds a task, which runs soon.
    pub(crate) fn spawn(&self, future: BoxFuture<()>) {
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        let woken = Arc::clone(&self.woken);
        let waker = Arc::new(TaskWaker { id, is_woken: AtomicBool::new(false), woken });
        lock(&self.sleeping).insert(id, Task { future, waker: Arc::clone(&waker) });
        waker.wake();
    }

    /// Lets the task run that was woken first; returns false if none was.
    pub(crate) fn run_one(&self) -> bool {
        let Some(id) = lock(&self.woken).pop_front() else { return false };
        // Nothing is locked while it runs: it may add and wake tasks.
        let Some(mut task) = lock(&self.sleeping).remove(&id) else { return true };
        task.waker.is_woken.store(false, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&task.waker));
        if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            lock(&self.sleeping).insert(id, task);
        }
        true
    }

    /// Drops all tasks.
    pub(crate) fn clear(&self) {
        // Dropped after the lock was released: a task may wake others when it is dropped.
        let tasks = std::mem::take(&mut *lock(&self.sleeping));
        drop(tasks);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::Relaxed) {
            lock(&self.woken).push_back(self.id);
        }
    }
}

/// Locks what is consistent whenever it is unlocked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
