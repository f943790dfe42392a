//! A thread that delivers parcels at their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// The most parcels under way: 12 MB of full packets, more than any path of these experiments
/// holds.
const MOST: usize = 8192;

/// Delivers parcels at their time, late by the time in which the kernel wakes a thread: less than
/// 0.1 ms, if a core is free.
#[derive(Debug)]
pub(super) struct Courier<T> {
    shared: Arc<ParcelQueue<T>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ParcelQueue<T> {
    bag: Mutex<Bag<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Bag<T> {
    /// The parcel that is due next comes first. Parcels that are due at the same time keep their
    /// order.
    parcels: BinaryHeap<Reverse<Parcel<T>>>,
    accepted: u64,
    closed: bool,
}

#[derive(Debug)]
struct Parcel<T> {
    due: Instant,
    number: u64,
    content: T,
}

impl<T: Send + 'static> Courier<T> {
    /// Starts a thread that calls `deliver`.
    pub(super) fn start(mut deliver: impl FnMut(T) + Send + 'static) -> io::Result<Self> {
        let bag = Bag { parcels: BinaryHeap::new(), accepted: 0, closed: false };
        let shared = Arc::new(ParcelQueue { bag: Mutex::new(bag), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("courier".into());
        let thread = thread.spawn(move || {
            while let Some(content) = theirs.next() {
                deliver(content);
            }
        })?;
        Ok(Courier { shared, thread: Some(thread) })
    }
}

impl<T> Courier<T> {
    /// Accepts a parcel to be delivered at `due`. Returns false if it is dropped, because there are
    /// too many.
    pub(super) fn send(&self, due: Instant, content: T) -> bool {
        let mut bag = self.shared.bag.lock().unwrap_or_else(PoisonError::into_inner);
        if bag.parcels.len() >= MOST {
            return false;
        }
        let number = bag.accepted;
        bag.accepted += 1;
        bag.parcels.push(Reverse(Parcel { due, number, content }));
        let is_next = bag.parcels.peek().is_some_and(|next| next.0.number == number);
        drop(bag);
        if is_next {
            self.shared.changed.notify_one();
        }
        true
    }
}

impl<T> ParcelQueue<T> {
    /// Waits for the next parcel that is due; `None` once the courier is gone.
    fn next(&self) -> Option<T> {
        let mut bag = self.bag.lock().unwrap_or_else(PoisonError::into_inner);
        while !bag.closed {
            let now = Instant::now();
            let due = bag.parcels.peek().map(|next| next.0.due);
            bag = match due {
                Some(due) if due <= now => return bag.parcels.pop().map(|next| next.0.content),
                Some(due) => {
                    let woken = self.changed.wait_timeout(bag, due - now);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(bag).unwrap_or_else(PoisonError::into_inner),
            };
        }
        None
    }
}

impl<T> Drop for Courier<T> {
    fn drop(&mut self) {
        self.shared.bag.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread only panics if the delivering function does, and then the panic was shown
            // on standard error.
            let _ = thread.join();
        }
    }
}

impl<T> PartialEq for Parcel<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Parcel<T> {}

impl<T> PartialOrd for Parcel<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Parcel<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn parcels_come_when_they_are_due_and_not_before() {
        let (sender, receiver) = channel();
        let courier = Courier::start(move |(number, due): (u32, Instant)| {
            sender.send((number, due, Instant::now())).unwrap();
        });
        let courier = courier.unwrap();
        let start = Instant::now();
        for (number, ms) in [(0, 30), (1, 10), (2, 10), (3, 20), (4, 0)] {
            let due = start + Duration::from_millis(ms);
            assert!(courier.send(due, (number, due)));
        }
        let come: Vec<_> = (0..5).map(|_| receiver.recv().unwrap()).collect();
        assert_eq!(come.iter().map(|one| one.0).collect::<Vec<_>>(), [4, 1, 2, 3, 0]);
        assert!(come.iter().all(|(_, due, at)| at >= due));
    }

    #[test]
    fn too_much_is_refused_and_what_is_left_is_dropped() {
        let courier = Courier::start(|()| panic!("nothing is due")).unwrap();
        let due = Instant::now() + Duration::from_secs(3600);
        assert_eq!((0..10_000).filter(|_| courier.send(due, ())).count(), MOST);
    }
}
