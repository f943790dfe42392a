//! PostgreSQL: logs are rows of one table, and the fence is the row with a log's last sequence.

mod blobs;
mod connect;
mod durability;
mod encrypted;
mod hints;
mod link;
mod log;
mod tables;

use async_trait::async_trait;
use bytes::Bytes;

use self::connect::Target;
use self::hints::Teller;
use self::link::Link;
use crate::name::is_key;
use crate::{
    Appended, Beat, Deployment, Durability, Engine, Entry, Hints, MAX_BEAT, OpenError, Options,
    Unavailable,
};

/// Connections for appends. A commit of one does not wait for those of the others, and the server
/// syncs what is committed at the same time together.
const APPENDING: u16 = 8;

/// A deployment in PostgreSQL.
pub(crate) struct Postgres {
    target: Target,
    deployment: Deployment,
    /// The connections for appends, by the log's number.
    appending: Vec<Link>,
    /// Reading and trimming.
    reading: Link,
    /// Blobs, which would hold other requests up.
    blobs: Link,
    /// Beats, and what is asked rarely.
    beating: Link,
    teller: Teller,
}

impl Postgres {
    pub(crate) async fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        let target = Target::new(url, &options)?;
        let live = target.first().await?;
        let found = tables::open(&live.client, &target, &options).await?;
        let deployment = found.check(&target.address, &options)?;
        Ok(Self {
            deployment,
            appending: (0..APPENDING).map(|_| Link::new(&target)).collect(),
            reading: Link::new(&target),
            blobs: Link::patient(&target),
            beating: Link::new(&target),
            teller: Teller::new(&target),
            target,
        })
    }
}

#[async_trait]
impl Engine for Postgres {
    fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    async fn append(&self, log: u16, expected: u64, bytes: Bytes) -> Appended {
        let link = &self.appending[usize::from(log % APPENDING)];
        let appended = log::append(link, log, expected, &bytes).await;
        if let Appended::Stored(_) = appended {
            self.teller.send(log);
        }
        appended
    }

    async fn read(
        &self,
        log: u16,
        after: u64,
        max_bytes: usize,
    ) -> Result<Vec<Entry>, Unavailable> {
        log::read(&self.reading, log, after, max_bytes).await
    }

    async fn last(&self, log: u16) -> Result<u64, Unavailable> {
        let sql = "SELECT last FROM heads WHERE log = $1";
        log::sequence(&self.reading, sql, log).await
    }

    async fn first(&self, log: u16) -> Result<u64, Unavailable> {
        let sql = "SELECT coalesce(min(sequence), 0) FROM entries WHERE log = $1";
        log::sequence(&self.reading, sql, log).await
    }

    async fn trim(&self, log: u16, before: u64) -> Result<(), Unavailable> {
        log::trim(&self.reading, log, before).await
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> Result<(), Unavailable> {
        key(name)?;
        blobs::put(&self.blobs, name, &bytes).await
    }

    async fn get_blob(&self, name: &str) -> Result<Option<Bytes>, Unavailable> {
        blobs::get(&self.blobs, name).await
    }

    async fn blobs(&self, prefix: &str) -> Result<Vec<String>, Unavailable> {
        key(prefix)?;
        blobs::list(&self.blobs, prefix).await
    }

    async fn delete_blob(&self, name: &str) -> Result<(), Unavailable> {
        blobs::delete(&self.blobs, name).await
    }

    async fn beat(&self, node: &str, bytes: Bytes) -> Result<(), Unavailable> {
        key(node)?;
        if bytes.len() > MAX_BEAT {
            return Err(Unavailable(format!("a beat has at most {MAX_BEAT} bytes")));
        }
        let sql = "INSERT INTO beats AS b VALUES ($1, 1, $2, now())
            ON CONFLICT (node) DO UPDATE SET revision = b.revision + 1, bytes = $2, time = now()";
        self.beating.query(sql, &[&node, &bytes.as_ref()]).await?;
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<Beat>, Unavailable> {
        let sql = "SELECT node, revision, bytes FROM beats
            WHERE time > now() - interval '1 day' ORDER BY node COLLATE \"C\"";
        let rows = self.beating.query(sql, &[]).await?;
        let beat = |row: &tokio_postgres::Row| Beat {
            node: row.get(0),
            revision: row.get::<_, i64>(1).cast_unsigned(),
            bytes: Bytes::copy_from_slice(row.get(2)),
        };
        Ok(rows.iter().map(beat).collect())
    }

    async fn hints(&self) -> Result<Hints, Unavailable> {
        Ok(hints::listen(&self.target))
    }

    async fn durability(&self) -> Result<Durability, Unavailable> {
        durability::durability(&self.beating, &self.target.address).await
    }
}

fn key(name: &str) -> Result<(), Unavailable> {
    if is_key(name) {
        Ok(())
    } else {
        Err(Unavailable(format!("the name {name:?} is not allowed")))
    }
}
