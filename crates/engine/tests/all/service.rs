//! What tests of both engines share: a service that runs, and how to append until it is decided.

use std::time::Duration;

use bytes::Bytes;
use groupwire_engine::{Appended, Engine, Entry, OpenError, Options, open};
use tokio::time::sleep;

/// Reads before a test fails: a minute of empty answers.
const ATTEMPTS: u32 = 1200;

/// A service that runs.
pub(crate) trait Service: Sync {
    fn url(&self) -> String;

    /// Options for a deployment that is created.
    fn options(&self, cluster: &str) -> Options {
        Options { creates: true, ..Options::new(cluster) }
    }
}

impl dyn Service + '_ {
    /// Creates a deployment, or opens it.
    pub(crate) async fn open(&self, cluster: &str) -> Box<dyn Engine> {
        self.open_with(self.options(cluster)).await.unwrap()
    }

    pub(crate) async fn open_with(&self, options: Options) -> Result<Box<dyn Engine>, OpenError> {
        open(&self.url(), options).await
    }

    /// Opens a deployment while the service starts.
    pub(crate) async fn wait(&self, cluster: &str) -> Box<dyn Engine> {
        self.wait_with(&self.options(cluster)).await
    }

    pub(crate) async fn wait_with(&self, options: &Options) -> Box<dyn Engine> {
        for _ in 0..300 {
            match self.open_with(options.clone()).await {
                Ok(engine) => return engine,
                Err(error) => println!("not yet: {error}"),
            }
            sleep(Duration::from_millis(200)).await;
        }
        panic!("the service did not start")
    }
}

/// Appends until the service has decided, as the only writer of the log. Returns the sequence and
/// the number of appends that were `Unknown`.
pub(crate) async fn append(engine: &dyn Engine, log: u16, after: u64, bytes: &Bytes) -> (u64, u32) {
    for unknown in 0.. {
        match engine.append(log, after, bytes.clone()).await {
            Appended::Stored(sequence) => return (sequence, unknown),
            Appended::Unknown(why) => println!("log {log} after {after}: {why}"),
            Appended::Fenced(last) => {
                let next = next(engine, log, after).await;
                assert_eq!(&next.bytes, bytes, "log {log} after {after}: last is {last:?}");
                return (next.sequence, unknown);
            }
        }
    }
    unreachable!("the loop has no end")
}

/// The entry after a sequence, which is there: a replica may be behind.
async fn next(engine: &dyn Engine, log: u16, after: u64) -> Entry {
    for _ in 0..ATTEMPTS {
        match engine.read(log, after, 1).await {
            Ok(entries) if !entries.is_empty() => return entries.into_iter().next().unwrap(),
            answer => println!("reading log {log} after {after}: {answer:?}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("log {log} has nothing after {after}, but an append there is fenced")
}

/// All entries after a sequence, up to one that is known to be there.
pub(crate) async fn read(engine: &dyn Engine, log: u16, after: u64, last: u64) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for _ in 0..ATTEMPTS {
        let from = all.last().map_or(after, |entry| entry.sequence);
        if from >= last {
            return all;
        }
        match engine.read(log, from, 1 << 20).await {
            Ok(entries) if !entries.is_empty() => all.extend(entries),
            answer => {
                println!("reading log {log} after {from}: {answer:?}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
    panic!("log {log} does not reach {last}: {all:?}")
}
