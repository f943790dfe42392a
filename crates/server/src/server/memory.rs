//! Decides when free memory is worth giving back to the system: some time after many connections
//! have ended, or many clients have joined, each of which needs for its handshakes and its first
//! packets several times the memory that it keeps.
//!
//! Allocators keep most of what is freed for later, which after a storm is far more than the server
//! needs.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::arrivals::Arrivals;
use crate::transport::connections::Connections;

/// The time between two decisions. An ended connection counts from the second decision on: by then
/// its participant has been away for 10 s, and the room has forgotten it.
const LOOK: Duration = Duration::from_secs(15);

/// The fewest ended connections, or joins, for which memory is given back: this many held some MB.
const MANY: u64 = 100;

/// At least one connection has to end for this many open ones: where people come and go all the
/// time, freed memory is reused at once.
const OPEN_PER_ENDED: u64 = 10;

/// See the [module](self).
#[derive(Debug, Default)]
struct Decision {
    /// The number of connections that had ended, or of joins, when memory was given back last.
    given_back: u64,
    /// The number at the last call.
    ended: u64,
}

impl Decision {
    /// Returns true if memory is to be given back now. `ended`: the number of connections that have
    /// ended since the server started, or of clients that have joined.
    fn is_due(&mut self, ended: u64, open: u64) -> bool {
        let forgotten = std::mem::replace(&mut self.ended, ended);
        let is_due = forgotten - self.given_back >= MANY.max(open / OPEN_PER_ENDED);
        if is_due {
            self.given_back = forgotten;
        }
        is_due
    }
}

/// Calls [`Config::give_back_memory`](crate::Config::give_back_memory) when it is due. Never ends.
pub(super) async fn give_back(
    call: Option<fn()>,
    connections: Arc<Connections>,
    arrivals: Arc<Arrivals>,
) {
    let Some(call) = call else { return std::future::pending().await };
    let (mut after_ends, mut after_joins) = (Decision::default(), Decision::default());
    loop {
        sleep(LOOK).await;
        let ended = connections.ended();
        let joined = arrivals.figures().admitted;
        let open = connections.open() as u64;
        // The two decisions are made before the call, so that a call serves both.
        let (ends, joins) = (after_ends.is_due(ended, open), after_joins.is_due(joined, open));
        if ends || joins {
            tracing::debug!(ended, joined, open, "free memory is given back");
            // The call takes milliseconds. It runs in a thread of its own, so that rooms go on.
            let _ = spawn_blocking(call).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn counters() -> (Arc<Connections>, Arc<Arrivals>) {
        let connections = Connections::new(usize::MAX, Arc::default());
        (Arc::new(connections), Arc::new(Arrivals::new(Default::default())))
    }

    #[test]
    fn memory_is_given_back_one_look_after_many_connections_ended() {
        let mut decision = Decision::default();
        assert!(!decision.is_due(0, 1000));
        assert!(!decision.is_due(1000, 0), "their participants may still be away");
        assert!(decision.is_due(1000, 0));
        assert!(!decision.is_due(1000, 0), "once is enough");
    }

    #[test]
    fn few_connections_are_not_worth_it_until_they_add_up() {
        let mut decision = Decision::default();
        let due: Vec<bool> = (1..=6).map(|look| decision.is_due(look * 40, 0)).collect();
        assert_eq!(due, [false, false, false, true, false, false]);
    }

    #[test]
    fn of_many_open_connections_a_tenth_has_to_end() {
        let mut decision = Decision::default();
        assert!(!decision.is_due(900, 10_000));
        assert!(!decision.is_due(1000, 10_000));
        assert!(decision.is_due(1000, 10_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_nobody_leaves_calls_nothing_and_one_whose_clients_left_calls_once() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let call: fn() = || _ = CALLS.fetch_add(1, Ordering::Relaxed);
        let (connections, arrivals) = counters();
        let giving =
            tokio::spawn(give_back(Some(call), Arc::clone(&connections), Arc::clone(&arrivals)));
        let people: Vec<_> = (0..MANY).map(|_| connections.count("WebSocket")).collect();
        sleep(10 * LOOK).await;
        assert_eq!(CALLS.load(Ordering::Relaxed), 0);
        drop(people);
        for _ in 0..10 {
            sleep(LOOK).await;
        }
        giving.abort();
        // The call runs in a thread of its own: the runtime waits for it when it ends, and so does
        // this.
        let _ = giving.await;
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_whose_clients_have_joined_calls_once() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let call: fn() = || _ = CALLS.fetch_add(1, Ordering::Relaxed);
        let (connections, arrivals) = counters();
        let giving =
            tokio::spawn(give_back(Some(call), Arc::clone(&connections), Arc::clone(&arrivals)));
        for _ in 0..MANY {
            arrivals.admit().await.unwrap();
        }
        for _ in 0..10 {
            sleep(LOOK).await;
        }
        giving.abort();
        // The call runs in a thread of its own: the runtime waits for it when it ends, and so does
        // this.
        let _ = giving.await;
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }
}
