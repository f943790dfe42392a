//! The application's receiver of a room's events.

use std::collections::VecDeque;
use std::sync::Arc;

use groupwire_session::client::Event;

use crate::shared::SharedSession;

/// The events of a room, in order. Dropping this ends only the events, not the session.
///
/// The crate's documentation says what happens to an application that [does not
/// read](crate#an-application-that-does-not-read).
pub struct Events {
    shared: Arc<SharedSession>,
    batch: VecDeque<Event>,
}

impl Events {
    pub(crate) fn new(shared: Arc<SharedSession>) -> Self {
        Events { shared, batch: VecDeque::new() }
    }

    /// The next event; `None` when the session is over. The future may be dropped without losing an
    /// event.
    pub async fn next(&mut self) -> Option<Event> {
        while self.batch.is_empty() {
            if !self.shared.take_unread(&mut self.batch) {
                return None;
            }
            if self.batch.is_empty() {
                self.shared.event_ready.notified().await;
            }
        }
        self.batch.pop_front()
    }

    /// True if the application has taken all events, and all own transactions are confirmed.
    pub(crate) fn is_settled(&self) -> bool {
        self.batch.is_empty() && self.shared.is_settled()
    }

    /// Waits for events and swaps all that are queued for the empty `batch`. With many events this
    /// is cheaper than [`Events::next`] for each. Returns false if the session is over. The future
    /// may be dropped without losing an event.
    ///
    /// ```no_run
    /// # async fn example(mut events: groupwire_client::Events) {
    /// let mut batch = std::collections::VecDeque::new();
    /// while events.next_batch(&mut batch).await {
    ///     for event in batch.drain(..) {
    ///         println!("{event:?}");
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn next_batch(&mut self, batch: &mut VecDeque<Event>) -> bool {
        batch.clear();
        if let Some(event) = self.next().await {
            std::mem::swap(&mut self.batch, batch);
            debug_assert!(self.batch.is_empty(), "the caller's queue was emptied before");
            batch.push_front(event);
        }
        !batch.is_empty()
    }

    /// Swaps all that is queued for the empty `batch` without waiting, for a program that looks for
    /// events at times of its own, such as a game between two frames. Returns false if the session
    /// is over and all its events were taken.
    ///
    /// ```no_run
    /// # fn frame(events: &mut groupwire_client::Events) {
    /// let mut batch = std::collections::VecDeque::new();
    /// let goes_on = events.take_batch(&mut batch);
    /// for event in batch.drain(..) {
    ///     println!("{event:?}");
    /// }
    /// # }
    /// ```
    pub fn take_batch(&mut self, batch: &mut VecDeque<Event>) -> bool {
        batch.clear();
        if !self.batch.is_empty() {
            std::mem::swap(&mut self.batch, batch);
            return true;
        }
        self.shared.take_unread(batch)
    }

    /// Tells another task when there is something for [`Events::take_batch`].
    pub fn readiness(&self) -> Readiness {
        Readiness { shared: Arc::clone(&self.shared) }
    }
}

/// Waits for events on behalf of a program that takes them elsewhere by [`Events::take_batch`].
pub struct Readiness {
    shared: Arc<SharedSession>,
}

impl Readiness {
    /// Waits until events came to a queue that was empty, or the session is over. It completes once
    /// each time that happens, so all events have to be taken before the next wait. Beside
    /// [`Events::next`] it must not be used: one of both would wait for what the other has seen.
    ///
    /// ```no_run
    /// # async fn example(events: groupwire_client::Events, wake: impl Fn()) {
    /// let readiness = events.readiness();
    /// while readiness.wait().await {
    ///     wake();
    /// }
    /// # }
    /// ```
    ///
    /// Returns false if the session is over.
    pub async fn wait(&self) -> bool {
        self.shared.event_ready.notified().await;
        !self.shared.is_over()
    }

    /// Lets [`wait`](Self::wait) complete as if events had come, because the program has other news
    /// than events, such as own changes of shared data.
    ///
    /// ```no_run
    /// # fn example(events: groupwire_client::Events, data: groupwire_client::data::SharedData) {
    /// let readiness = events.readiness();
    /// data.lock().counter("likes").add(1).expect("a whole number");
    /// readiness.wake();
    /// # }
    /// ```
    pub fn wake(&self) {
        self.shared.event_ready.notify_one();
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.shared.drop_events();
    }
}
