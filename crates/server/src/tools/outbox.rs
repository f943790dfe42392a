//! A small queue from a room's task to a connection's task. A tokio channel would take more than a
//! kilobyte for each connection, and most connections are idle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Makes the two ends of a queue that holds at most `most` items.
pub(crate) fn outbox<T>(most: usize) -> (Outbox<T>, Outgoing<T>) {
    let state = State { waiting: VecDeque::new(), most, is_over: false };
    let queue = Arc::new(Queue { state: Mutex::new(state), wake: Notify::new() });
    (Outbox(Arc::clone(&queue)), Outgoing(queue))
}

/// The sending end; dropping it closes the queue.
pub(crate) struct Outbox<T>(Arc<Queue<T>>);

/// The receiving end.
pub(crate) struct Outgoing<T>(Arc<Queue<T>>);

struct Queue<T> {
    state: Mutex<State<T>>,
    /// Notified when an item was added or the queue was closed.
    wake: Notify,
}

struct State<T> {
    waiting: VecDeque<T>,
    most: usize,
    /// True if one of the ends was dropped.
    is_over: bool,
}

impl<T> Outbox<T> {
    /// Adds an item. Returns false if the item was dropped, because the queue is full or closed.
    pub(crate) fn put(&self, what: T) -> bool {
        let mut state = self.0.lock();
        if state.is_over || state.waiting.len() >= state.most {
            return false;
        }
        state.waiting.push_back(what);
        debug_assert!(state.waiting.len() <= state.most, "no more items wait than may wait");
        drop(state);
        self.0.wake.notify_one();
        true
    }
}

impl<T> Drop for Outbox<T> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.wake.notify_one();
    }
}

impl<T> Outgoing<T> {
    /// Waits for the next item; `None` if the queue is empty and closed. The future may be dropped
    /// without losing an item.
    pub(crate) async fn next(&mut self) -> Option<T> {
        loop {
            {
                let mut state = self.0.lock();
                if let Some(what) = state.waiting.pop_front() {
                    return Some(what);
                }
                if state.is_over {
                    return None;
                }
            }
            self.0.wake.notified().await;
        }
    }
}

impl<T> Drop for Outgoing<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_over = true;
        state.waiting.clear();
    }
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn items_come_in_order_and_no_more_wait_than_allowed() {
        let (outbox, mut outgoing) = outbox(2);
        assert!(outbox.put(1) && outbox.put(2) && !outbox.put(3));
        assert_eq!((outgoing.next().await, outgoing.next().await), (Some(1), Some(2)));
        let taking = tokio::spawn(async move { (outgoing.next().await, outgoing.next().await) });
        tokio::task::yield_now().await;
        assert!(outbox.put(4));
        drop(outbox);
        assert_eq!(taking.await.ok(), Some((Some(4), None)));
    }

    #[tokio::test]
    async fn nothing_is_queued_for_a_receiver_that_was_dropped() {
        let (outbox, outgoing) = outbox(2);
        assert!(outbox.put(1));
        drop(outgoing);
        assert!(!outbox.put(2));
    }
}
