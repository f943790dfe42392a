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
}

impl Drop for Events {
    fn drop(&mut self) {
        self.shared.drop_events();
    }
}
