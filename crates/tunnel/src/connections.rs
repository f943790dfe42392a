//! The connections of one end of a tunnel: their limit and the status of each.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use groupwire_ace::Report;
use tokio::sync::Notify;

use crate::{ConnectionError, Sizes};

/// The most ended connections whose status is kept until [`Connections::take_ended`]. If there are
/// more, the oldest are dropped. A status is a few hundred bytes, so this is below 1 MB.
const REMEMBERED: usize = 1024;

/// The number of a connection at one end of a tunnel: 1 for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionNumber(pub u64);

/// The status of an open or an ended connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The number of the connection.
    pub number: ConnectionNumber,
    /// The name of the route.
    pub route: String,
    /// The address that connected to this end.
    pub peer: SocketAddr,
    /// How long the connection has been open, or was open.
    pub age: Duration,
    /// Counters and forecasts of the stream; `None` if there was no stream yet.
    pub report: Option<Report>,
    /// Whether the bytes may be compressed. If not, both ends send them as they are.
    pub may_pack: bool,
    /// How the connection ended, with a message if it failed. `None`: it is open.
    pub outcome: Option<Result<(), String>>,
}

/// All connections of one end. Clones refer to the same connections.
#[derive(Debug, Clone)]
pub struct Connections {
    all: Arc<All>,
}

#[derive(Debug)]
struct All {
    limit: usize,
    table: Mutex<Table>,
    /// Notified when a connection ends.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Table {
    /// Connections opened so far: the number of the newest.
    opened: u64,
    open: BTreeMap<ConnectionNumber, Entry>,
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

    /// The open connections, in the order in which they were opened.
    pub fn open(&self) -> Vec<Status> {
        let table = self.table();
        let status = |entry: &Entry| Status { age: entry.since.elapsed(), ..entry.status.clone() };
        table.open.values().map(status).collect()
    }

    /// How many connections are open.
    pub fn count(&self) -> usize {
        self.table().open.len()
    }

    /// The connections that ended since the last call, at most the newest 1,024 of them.
    pub fn take_ended(&self) -> Vec<Status> {
        self.table().ended.drain(..).collect()
    }

    /// Adds a connection; `None` if the limit is reached.
    pub(crate) fn enter(&self, route: &str, peer: SocketAddr) -> Option<Connection> {
        let mut table = self.table();
        if table.open.len() >= self.all.limit {
            return None;
        }
        table.opened += 1;
        let number = ConnectionNumber(table.opened);
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

    /// Waits until no connection is open.
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

/// Handle of the task that serves a connection. The connection counts as ended when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    number: ConnectionNumber,
    all: Connections,
}

impl Connection {
    /// The sizes of a new stream, which depend on the number of open connections.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::among(self.all.count())
    }

    pub(crate) fn set_route(&self, route: &str) {
        self.change(|status| route.clone_into(&mut status.route));
    }

    pub(crate) fn set_report(&self, report: Report, may_pack: bool) {
        self.change(|status| (status.report, status.may_pack) = (Some(report), may_pack));
    }

    pub(crate) fn end(self, outcome: &Result<(), ConnectionError>) {
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
    async fn the_limit_holds_and_ended_connections_are_remembered() {
        let connections = Connections::new(2);
        let peer = SocketAddr::from(([127, 0, 0, 1], 7));
        let one = connections.enter("web", peer).unwrap();
        let two = connections.enter("web", peer).unwrap();
        assert!(connections.enter("web", peer).is_none());
        two.set_route("db");
        let routes: Vec<_> = connections.open().into_iter().map(|status| status.route).collect();
        assert_eq!(routes, ["web", "db"]);
        one.end(&Ok(()));
        two.end(&Err(ConnectionError::Silent(10)));
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
