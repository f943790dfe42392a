//! What `GET /status` tells of the store.

use groupwire_store::{Error, Store, Usage};
use serde::Serialize;

/// The store's part of the answer to `GET /status`.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct StoreReport {
    /// Stored rooms, open or not.
    rooms: usize,
    /// What the quota is compared with.
    live_bytes: u64,
    /// The size of the store's files.
    disk_bytes: u64,
    /// Commits since the server started.
    commits: u64,
    /// Syncs since the server started.
    syncs: u64,
    state: State,
    /// Why the state is not [`State::Ok`].
    reason: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// The store takes transactions.
    Ok,
    /// Transactions wait, until there is space.
    NotNow,
    /// A write failed: the server ends.
    Poisoned,
}

impl StoreReport {
    pub(super) fn of(store: &Store) -> Self {
        let Usage { rooms, live, commits, syncs, .. } = store.usage();
        let refusal = store.refusal();
        let state = match &refusal {
            None => State::Ok,
            Some(Error::NotNow(_)) => State::NotNow,
            Some(_) => State::Poisoned,
        };
        let reason = refusal.map(|error| error.to_string());
        let disk_bytes = store.disk_bytes();
        StoreReport { rooms, live_bytes: live, disk_bytes, commits, syncs, state, reason }
    }
}

#[cfg(test)]
mod tests {
    use groupwire_store::{Append, NotNow, Options, Record, RoomLog};

    use super::*;

    fn append(store: &Store, position: u64) -> Result<(), Error> {
        let bytes = vec![0; 1000];
        let record = Record { position, channel: 0, author: 1, recipient: 0, counter: 1, bytes };
        let records = vec![record];
        let append =
            Append { room: "a".into(), incarnation: 1, records, meta: None, reserved: None };
        store.wait(|done| store.append(append, done))
    }

    #[test]
    fn the_report_counts_what_was_stored_and_says_why_no_more_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { max_bytes: 3000, ..Options::default() };
        let store = Store::open(folder.path(), options).unwrap();
        append(&store, 1).unwrap();
        append(&store, 2).unwrap();
        let report = StoreReport::of(&store);
        assert!(report.rooms == 1 && report.state == State::Ok && report.reason.is_none());
        assert!(report.commits >= 2 && report.syncs >= report.commits, "{report:?}");
        assert!(report.live_bytes > 2000 && report.disk_bytes > report.live_bytes);
        assert_eq!(append(&store, 3), Err(Error::NotNow(NotNow::Bytes)));
        let report = StoreReport::of(&store);
        assert_eq!(report.state, State::NotNow);
        assert!(report.reason.is_some_and(|reason| reason.contains("quota")));
    }
}
