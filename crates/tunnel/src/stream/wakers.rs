//! The wakers of two tasks that wait for one transport.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

/// Which half of a stream a task waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Half {
    Reading,
    Writing,
}

/// The wakers of a stream's reader and writer.
///
/// A transport keeps one waker for each direction: that of the task which polled it last. Both
/// halves of a stream need both directions, because the reader writes acknowledgements and the
/// writer reads them. Therefore the transport is always polled with this waker, which wakes both
/// tasks.
#[derive(Debug, Default)]
pub(super) struct Wakers {
    waiting: Mutex<[Option<Waker>; 2]>,
    /// The time at which a task was woken, if it has not been polled since.
    due: Mutex<Option<Instant>>,
}

impl Wakers {
    /// Stores the waker of the task that waits for this half.
    pub(super) fn register(&self, half: Half, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut waiting[half as usize] {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Notes that a task has been woken and there is work to do.
    pub(super) fn set_due(&self) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        due.get_or_insert_with(Instant::now);
    }

    /// Returns how long work has been waiting for a task, and ends that wait.
    pub(super) fn take_due(&self) -> Option<Duration> {
        let due = self.due.lock().unwrap_or_else(PoisonError::into_inner).take();
        due.map(|due| due.elapsed())
    }

    /// Removes the waker of this half, whose task no longer waits.
    pub(super) fn forget(&self, half: Half) {
        drop(self.take(half));
    }

    /// Wakes the task of the opposite half, if it waits.
    pub(super) fn wake_other(&self, half: Half) {
        let other = match half {
            Half::Reading => Half::Writing,
            Half::Writing => Half::Reading,
        };
        if let Some(waker) = self.take(other) {
            waker.wake();
        }
    }

    fn take(&self, half: Half) -> Option<Waker> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting[half as usize].take()
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            mem::take(&mut *waiting)
        };
        if waiting.iter().any(Option::is_some) {
            self.set_due();
        }
        match waiting {
            [Some(one), Some(other)] if one.will_wake(&other) => one.wake(),
            both => both.into_iter().flatten().for_each(Waker::wake),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        fn so_far(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn the_transport_wakes_each_waiting_task_once() {
        let (reader, writer) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let wakers = Arc::new(Wakers::default());
        let transport = Waker::from(Arc::clone(&wakers));
        wakers.register(Half::Reading, &Waker::from(Arc::clone(&reader)));
        wakers.register(Half::Writing, &Waker::from(Arc::clone(&writer)));
        transport.wake_by_ref();
        transport.wake_by_ref();
        assert_eq!((reader.so_far(), writer.so_far()), (1, 1));

        wakers.register(Half::Reading, &Waker::from(Arc::clone(&reader)));
        wakers.wake_other(Half::Reading);
        assert_eq!((reader.so_far(), writer.so_far()), (1, 1));
        wakers.wake_other(Half::Writing);
        assert_eq!((reader.so_far(), writer.so_far()), (2, 1));

        wakers.register(Half::Reading, &Waker::from(Arc::clone(&reader)));
        wakers.forget(Half::Reading);
        transport.wake();
        assert_eq!((reader.so_far(), writer.so_far()), (2, 1));
    }

    #[test]
    fn a_task_that_waits_for_both_halves_is_woken_once() {
        let task = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&task));
        let wakers = Arc::new(Wakers::default());
        wakers.register(Half::Reading, &waker);
        wakers.register(Half::Writing, &waker);
        Waker::from(wakers).wake();
        assert_eq!(task.so_far(), 1);
    }
}
