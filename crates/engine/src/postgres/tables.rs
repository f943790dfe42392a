//! The tables of a deployment, in a schema of its own.

use tokio_postgres::Client;

use super::connect::Target;
use crate::{Deployment, OpenError, Options};

/// PostgreSQL 14, as the number that it reports.
const OLDEST: i32 = 140_000;

/// Reads the record of a deployment, and creates it if it is not there and the options say so.
pub(super) async fn open(
    client: &Client,
    target: &Target,
    options: &Options,
) -> Result<Deployment, OpenError> {
    let run = async {
        let row = client
            .query_one("SELECT current_setting('server_version_num')::int, version()", &[])
            .await?;
        if row.get::<_, i32>(0) < OLDEST {
            return Ok(Err(OpenError::OldService {
                address: target.address.clone(),
                found: row.get(1),
                wanted: "14",
            }));
        }
        if let Some(record) = record(client, target).await? {
            return Ok(Ok(record));
        }
        if options.creates {
            let record = match Deployment::new(options) {
                Ok(record) => record,
                Err(error) => return Ok(Err(error)),
            };
            client.batch_execute(&creation(&target.schema, &record)).await?;
            if let Some(record) = self::record(client, target).await? {
                return Ok(Ok(record));
            }
        }
        let (address, wanted) = (target.address.clone(), options.cluster.clone());
        Ok(Err(OpenError::NoCluster { address, wanted, found: clusters(client).await? }))
    };
    run.await.map_err(|error| target.failed(&error))?
}

async fn record(
    client: &Client,
    target: &Target,
) -> Result<Option<Deployment>, tokio_postgres::Error> {
    let table = format!("\"{}\".deployment", target.schema);
    let there = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(None);
    }
    let sql = "SELECT format, cluster, id, shards FROM deployment";
    let row = client.query_opt(sql, &[]).await?;
    Ok(row.map(|row| Deployment {
        format: u16::try_from(row.get::<_, i32>(0)).unwrap_or(u16::MAX),
        cluster: row.get(1),
        id: row.get(2),
        shards: u16::try_from(row.get::<_, i32>(3)).unwrap_or(u16::MAX),
    }))
}

/// One transaction. PostgreSQL fails if two create the same schema, so that one waits for the
/// other. Bytes of entries are not compressed: they are already.
fn creation(schema: &str, record: &Deployment) -> String {
    let Deployment { format, cluster, id, shards } = record;
    format!(
        "BEGIN;
        SELECT pg_advisory_xact_lock(hashtext('{schema}'));
        CREATE SCHEMA IF NOT EXISTS \"{schema}\";
        CREATE TABLE IF NOT EXISTS deployment (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            format integer NOT NULL, cluster text NOT NULL, id text NOT NULL,
            shards integer NOT NULL);
        CREATE TABLE IF NOT EXISTS heads (
            log integer PRIMARY KEY, last bigint NOT NULL) WITH (fillfactor = 20);
        CREATE TABLE IF NOT EXISTS entries (
            log integer, sequence bigint, bytes bytea NOT NULL, PRIMARY KEY (log, sequence));
        ALTER TABLE entries ALTER COLUMN bytes SET STORAGE EXTERNAL;
        CREATE TABLE IF NOT EXISTS blobs (name text PRIMARY KEY, bytes bytea NOT NULL);
        ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;
        CREATE UNLOGGED TABLE IF NOT EXISTS beats (
            node text PRIMARY KEY, revision bigint NOT NULL, bytes bytea NOT NULL,
            time timestamptz NOT NULL);
        INSERT INTO deployment (format, cluster, id, shards)
            VALUES ({format}, '{cluster}', '{id}', {shards}) ON CONFLICT DO NOTHING;
        INSERT INTO heads SELECT log, 0
            FROM generate_series(0, (SELECT shards FROM deployment)) AS log ON CONFLICT DO NOTHING;
        COMMIT;"
    )
}

/// The names of the deployments in the database.
async fn clusters(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let sql = "SELECT substr(nspname::text, 11) FROM pg_namespace
        WHERE nspname LIKE 'groupwire\\_%' ORDER BY 1";
    Ok(client.query(sql, &[]).await?.iter().map(|row| row.get(0)).collect())
}
