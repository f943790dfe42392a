//! The thread on which participants of one kind live.

use std::thread;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Result;

/// Participants that live on a thread of their own until this is dropped.
pub(super) struct Participants {
    end: watch::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Participants {
    /// Lets `count` participants live, each by its number. `prepare` is called on their thread
    /// before.
    pub(super) fn live<L: Future<Output = ()> + Send + 'static>(
        count: u32,
        prepare: fn(),
        person: impl Fn(u32) -> L + Send + 'static,
    ) -> Result<Self> {
        let (end, mut over) = watch::channel(());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = thread::spawn(move || {
            prepare();
            runtime.block_on(async {
                let mut people = JoinSet::new();
                (0..count).for_each(|number| _ = people.spawn(person(number)));
                let _ = over.changed().await;
            });
        });
        Ok(Participants { end, thread: Some(thread) })
    }
}

impl Drop for Participants {
    fn drop(&mut self) {
        self.end.send_replace(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
