//! What a process is told by the answers of its store, which come while it does something else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use groupwire_store::{Done, Error};

pub(super) enum News {
    /// The store answered the last change of a room that was opened under this number.
    Answer { room: usize, load: u64, outcome: Result<(), Error> },
    /// The numbers that a room needs to open are reserved, or are not.
    Reserved { room: usize, load: u64, outcome: Result<(), Error> },
    /// A room ends here: another node may have it.
    Moved { room: usize, load: u64 },
}

#[derive(Clone, Default)]
pub(super) struct Inbox(Arc<Mutex<VecDeque<News>>>);

impl Inbox {
    pub(super) fn put(&self, news: News) {
        self.0.lock().expect("nobody panics").push_back(news);
    }

    pub(super) fn take(&self) -> Option<News> {
        self.0.lock().expect("nobody panics").pop_front()
    }

    /// Puts news back that were not handled.
    pub(super) fn put_back(&self, news: News) {
        self.0.lock().expect("nobody panics").push_front(news);
    }

    /// Puts the news that are made of an outcome.
    pub(super) fn done(
        &self,
        news: impl FnOnce(Result<(), Error>) -> News + Send + 'static,
    ) -> Done {
        let inbox = self.clone();
        Box::new(move |outcome| inbox.put(news(outcome)))
    }
}
