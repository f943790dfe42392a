//! The connections of a tunnel's end: how many there may be, and how each is doing.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use groupwire_ace::Report;
use tokio::sync::Notify;

use crate::{ConnectionError, Sizes};

/// Ended connections that are remembered for whoever asks; older ones are forgotten.
const REMEMBERED: usize = 1024;

/// A connection, as it is or was.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The how manieth it is, from 1.
    pub number: u64,
    /// Its route.
    pub route: String,
    /// Who connected to this end.
    pub peer: SocketAddr,
    /// How long it has been open, or was.
    pub age: Duration,
    /// What was done; `None` if it did not come so far.
    pub report: Option<Report>,
    /// Whether its bytes may be packed; otherwise both ends leave them as they are.
    pub may_pack: bool,
    /// How it ended, in words if it failed. `None`: it is open.
    pub outcome: Option<Result<(), String>>,
}

/// All connections of one end. Clones share.
#[derive(Debug, Clone)]
pub struct Connections {
    all: Arc<All>,
}

#[derive(Debug)]
struct All {
    limit: usize,
    table: Mutex<Table>,
    /// Told when a connection ends.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Table {
    opened: u64,
    open: BTreeMap<u64, Entry>,
    ended: VecDeque<Status>,
}

#[derive(Debug)]
struct Entry {
    status: Status,
    since: Instant,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Self {
        let all = All { limit, table: Mutex::default(), ended: Notify::new() };
        Connections { all: Arc::new(all) }
    }

    /// Those that are open, in the order in which they were opened.
    pub fn open(&self) -> Vec<Status> {
        let table = self.table();
        let status = |entry: &Entry| Status { age: entry.since.elapsed(), ..entry.status.clone() };
        table.open.values().map(status).collect()
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.table().open.len()
    }

    /// Those that have ended since this was called for the last time, at most the last 1,024 of them.
    pub fn take_ended(&self) -> Vec<Status> {
        self.table().ended.drain(..).collect()
    }

    /// Notes a new connection; `None` if there are as many as may be.
    pub(crate) fn enter(&self, route: &str, peer: SocketAddr) -> Option<Connection> {
        let mut table = self.table();
        if table.open.len() >= self.all.limit {
            return None;
        }
        table.opened += 1;
        let number = table.opened;
        let status = Status {
            number,
            route: route.to_owned(),
            peer,
            age: Duration::ZERO,
            report: None,
            may_pack: true,
            outcome: None,
        };
        table.open.insert(number, Entry { status, since: Instant::now() });
        drop(table);
        Some(Connection { number, all: self.clone() })
    }

    /// Waits until none is open.
    pub(crate) async fn none_left(&self) {
        loop {
            let ended = self.all.ended.notified();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.all.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection's entry. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    all: Connections,
}

impl Connection {
    /// How large its stream may be, with so many others.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::among(self.all.count())
    }

    pub(crate) fn is_for(&self, route: &str) {
        self.change(|status| route.clone_into(&mut status.route));
    }

    pub(crate) fn reports(&self, report: Report, may_pack: bool) {
        self.change(|status| (status.report, status.may_pack) = (Some(report), may_pack));
    }

    pub(crate) fn ends(self, outcome: &Result<(), ConnectionError>) {
        let outcome = outcome.as_ref().map_err(ToString::to_string).copied();
        self.change(|status| status.outcome = Some(outcome));
    }

    fn change(&self, change: impl FnOnce(&mut Status)) {
        if let Some(entry) = self.all.table().open.get_mut(&self.number) {
            change(&mut entry.status);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut table = self.all.table();
        if let Some(Entry { mut status, since }) = table.open.remove(&self.number) {
            status.age = since.elapsed();
            status.outcome.get_or_insert_with(|| Err(ConnectionError::Closed.to_string()));
            if table.ended.len() == REMEMBERED {
                table.ended.pop_front();
            }
            table.ended.push_back(status);
        }
        drop(table);
        self.all.all.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn there_are_no_more_than_the_limit_and_the_end_is_remembered() {
        let connections = Connections::new(2);
        let peer = SocketAddr::from(([127, 0, 0, 1], 7));
        let one = connections.enter("web", peer).unwrap();
        let two = connections.enter("web", peer).unwrap();
        assert!(connections.enter("web", peer).is_none());
        two.is_for("db");
        let routes: Vec<_> = connections.open().into_iter().map(|status| status.route).collect();
        assert_eq!(routes, ["web", "db"]);
        one.ends(&Ok(()));
        two.ends(&Err(ConnectionError::Silent(10)));
        connections.none_left().await;
        let ended = connections.take_ended();
        assert_eq!(ended.len(), 2);
        assert_eq!(ended[0].outcome, Some(Ok(())));
        assert!(ended[1].outcome.as_ref().unwrap().as_ref().unwrap_err().contains("10 s"));
        drop(connections.enter("web", peer));
        assert_eq!(connections.take_ended().len(), 1);
        for _ in 0..REMEMBERED + 5 {
            drop(connections.enter("web", peer));
        }
        assert_eq!(connections.take_ended().len(), REMEMBERED);
    }
}
