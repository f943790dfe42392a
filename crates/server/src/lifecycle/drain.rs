//! Stopping a server: it reports that it is not ready, waits for balancers to notice, and tells
//! each client when to come back.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// The first client may come back after this time, when the next server will probably be running.
const SOONEST: Duration = Duration::from_millis(300);

/// How a server that is asked to stop does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainConfig {
    /// How long the server still serves, not ready, so that balancers notice. None by default.
    pub wait: Duration,
    /// How many clients per second are told to come back: what the next server can take in. 1,000
    /// by default.
    pub joins_per_second: NonZeroU32,
}

impl Default for DrainConfig {
    fn default() -> Self {
        let joins_per_second = NonZeroU32::new(1_000).unwrap_or(NonZeroU32::MIN);
        DrainConfig { wait: Duration::ZERO, joins_per_second }
    }
}

/// Why a server says goodbye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The server stops.
    Stop,
    /// Another process has its sockets and takes its place.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix sockets carry sockets"))]
    HandOver,
}

/// The state of a server's shutdown.
pub(crate) struct Drain {
    config: DrainConfig,
    has_begun: AtomicBool,
    /// Set once it is time to say goodbye.
    due: watch::Sender<Option<Ending>>,
    /// The number of clients that were told when to come back.
    told: AtomicU64,
}

impl Drain {
    pub(crate) fn new(config: DrainConfig) -> Self {
        let (has_begun, due) = (AtomicBool::new(false), watch::Sender::new(None));
        Drain { config, has_begun, due, told: AtomicU64::new(0) }
    }

    /// Makes the server not ready, and lets it stop after a time: that of the configuration, or
    /// `wait`. A second call can make that sooner.
    pub(crate) fn stop_after(self: &Arc<Self>, wait: Option<Duration>) {
        let wait = self.begin(wait);
        tracing::info!(
            wait_seconds = wait.as_secs_f32(),
            "server is draining: it is not ready any more"
        );
        if wait.is_zero() {
            self.end_wait(Ending::Stop);
            return;
        }
        let drain = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            drain.end_wait(Ending::Stop);
        });
    }

    /// Makes the server not ready. Returns how long it still serves: `wait`, or the time in the
    /// configuration.
    fn begin(&self, wait: Option<Duration>) -> Duration {
        self.has_begun.store(true, Ordering::Relaxed);
        wait.unwrap_or(self.config.wait)
    }

    /// True once balancers should send no more new clients.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// The time has come to say goodbye. Returns false if it had come before.
    pub(crate) fn end_wait(&self, ending: Ending) -> bool {
        self.has_begun.store(true, Ordering::Relaxed);
        self.due.send_if_modified(|due| {
            let is_first = due.is_none();
            due.get_or_insert(ending);
            is_first
        })
    }

    /// True if clients are told to come back, instead of being served.
    pub(crate) fn is_due(&self) -> bool {
        self.due.borrow().is_some()
    }

    /// Returns once the time has come to say goodbye.
    pub(crate) async fn due(&self) -> Ending {
        // Waiting cannot fail: the sender is in `self`.
        let due = self.due.subscribe().wait_for(Option::is_some).await.ok().and_then(|due| *due);
        due.unwrap_or(Ending::Stop)
    }

    /// The time between two clients that come back.
    pub(crate) fn step(&self) -> Duration {
        Duration::from_secs(1) / self.config.joins_per_second.get()
    }

    /// Takes the next `count` of the times at which clients come back, each a [`step`](Self::step)
    /// after the one before. Returns the first.
    pub(crate) fn take_times(&self, count: usize) -> Duration {
        let before = self.told.fetch_add(count as u64, Ordering::Relaxed);
        self.time_of(before)
    }

    /// When the last of the clients that were told to come back does so.
    pub(crate) fn last_time(&self) -> Duration {
        self.time_of(self.told.load(Ordering::Relaxed).saturating_sub(1))
    }

    fn time_of(&self, client: u64) -> Duration {
        // There are fewer clients than file descriptors, which are numbered with 31 bits.
        SOONEST + self.step() * u32::try_from(client).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_clients_are_given_the_same_time() {
        let joins_per_second = NonZeroU32::new(500).unwrap();
        let drain = Drain::new(DrainConfig { joins_per_second, ..DrainConfig::default() });
        let ms = Duration::from_millis;
        assert_eq!([drain.take_times(3), drain.take_times(1)], [ms(300), ms(306)]);
        assert_eq!([drain.take_times(0), drain.take_times(2)], [ms(308), ms(308)]);
        assert_eq!(drain.last_time(), ms(310));
    }

    #[tokio::test]
    async fn a_drain_is_not_ready_at_once_and_due_when_its_wait_is_over() {
        let wait = Duration::from_secs(9);
        let drain = Drain::new(DrainConfig { wait, ..DrainConfig::default() });
        assert!(!drain.has_begun());
        assert_eq!(drain.begin(None), wait);
        assert_eq!(drain.begin(Some(Duration::ZERO)), Duration::ZERO);
        assert!(drain.has_begun() && !drain.is_due());
        assert!(drain.end_wait(Ending::Stop) && !drain.end_wait(Ending::HandOver));
        assert_eq!(drain.due().await, Ending::Stop);
        assert!(drain.is_due());
    }
}
