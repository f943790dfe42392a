//! What `GET /status` tells of the store.

use groupwire_store::{Error, Monitor, Usage};
use serde::Serialize;

use crate::figures::figure::figures;

/// The store's part of the answer to `GET /status`.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct StoreReport {
    #[serde(flatten)]
    pub(crate) figures: StoreFigures,
    state: State,
    /// Why the state is not [`State::Ok`].
    reason: Option<String>,
}

figures! {
    /// Figures of the store.
    struct StoreFigures {
        /// Stored rooms, open or not.
        Gauge rooms as "rooms": usize;
        /// Bytes that the quota is compared with.
        Gauge live_bytes as "live_bytes": u64;
        /// The quota of bytes of all rooms.
        Gauge max_bytes as "max_bytes": u64;
        /// Size of the store's files.
        Gauge disk_bytes as "disk_bytes": u64;
        /// Commits since the server started.
        Counter commits as "commits": u64;
        /// Syncs since the server started.
        Counter syncs as "syncs": u64;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
    pub(super) fn of(store: &dyn Monitor) -> Self {
        let Usage { rooms, live, commits, syncs, .. } = store.usage();
        let refusal = store.refusal();
        let state = match &refusal {
            None => State::Ok,
            Some(Error::NotNow(_)) => State::NotNow,
            Some(_) => State::Poisoned,
        };
        let reason = refusal.map(|error| error.to_string());
        let (disk_bytes, max_bytes) = (store.disk_bytes(), store.max_bytes());
        let figures =
            StoreFigures { rooms, live_bytes: live, max_bytes, disk_bytes, commits, syncs };
        StoreReport { figures, state, reason }
    }

    /// All states by name, with whether the store is in them.
    pub(crate) fn states(&self) -> [(&'static str, bool); 3] {
        [("ok", State::Ok), ("not_now", State::NotNow), ("poisoned", State::Poisoned)]
            .map(|(name, state)| (name, self.state == state))
    }
}

#[cfg(test)]
mod tests {
    use groupwire_store::{Append, NotNow, Options, Record, RoomLog, Store, wait};

    use super::*;

    fn append(store: &Store, position: u64) -> Result<(), Error> {
        let bytes = vec![0; 1000];
        let record = Record { position, channel: 0, author: 1, recipient: 0, counter: 1, bytes };
        let records = vec![record];
        let append = Append { room: "a".into(), incarnation: 1, records, ..Append::default() };
        wait(|done| store.append(append, done))
    }

    #[test]
    fn the_report_counts_what_was_stored_and_says_why_no_more_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { max_bytes: 3000, ..Options::default() };
        let store = Store::open(folder.path(), options).unwrap();
        append(&store, 1).unwrap();
        append(&store, 2).unwrap();
        let report = StoreReport::of(&store);
        let StoreFigures { rooms, live_bytes, max_bytes, disk_bytes, commits, syncs } =
            report.figures;
        assert!(rooms == 1 && report.state == State::Ok && report.reason.is_none());
        assert!(commits >= 2 && syncs >= commits, "{report:?}");
        assert!(live_bytes > 2000 && disk_bytes > live_bytes && max_bytes == 3000);
        assert_eq!(append(&store, 3), Err(Error::NotNow(NotNow::Bytes)));
        let report = StoreReport::of(&store);
        assert_eq!(report.state, State::NotNow);
        assert_eq!(report.states(), [("ok", false), ("not_now", true), ("poisoned", false)]);
        assert!(report.reason.is_some_and(|reason| reason.contains("quota")));
    }
}
