//! Logs: fenced appends, reading in order, trimming.

use bytes::Bytes;

use super::link::Link;
use crate::{Appended, Entry, MAX_ENTRY, Unavailable};

/// Stores an entry if `heads` has the expected sequence. Of two appends at the same time, one
/// waits for the row of the other and then finds another sequence there. The entries alone would
/// not do: a writer that slept while entries were appended and trimmed would find its place free.
const APPEND: &str = "
    WITH head AS (UPDATE heads SET last = last + 1 WHERE log = $1 AND last = $2 RETURNING last)
    INSERT INTO entries SELECT $1, last, $3::bytea FROM head RETURNING sequence";

/// The sum of the bytes up to an entry bounds an answer. The lengths are known without reading the
/// bytes.
const READ: &str = "
    SELECT sequence, bytes FROM (
        SELECT sequence, bytes, sum(octet_length(bytes)) OVER next AS sum,
            row_number() OVER next AS number
        FROM entries WHERE log = $1 AND sequence > $2
        WINDOW next AS (ORDER BY sequence) ORDER BY sequence LIMIT 4096
    ) AS bounded WHERE number = 1 OR sum <= $3 ORDER BY sequence";

pub(super) async fn append(link: &Link, log: u16, expected: u64, bytes: &Bytes) -> Appended {
    if bytes.len() > MAX_ENTRY {
        let length = bytes.len();
        return Appended::Unknown(format!("an entry of {length} bytes exceeds {MAX_ENTRY}"));
    }
    let (number, last) = (i32::from(log), signed(expected));
    let appended = link.query(APPEND, &[&number, &last, &bytes.as_ref()]).await;
    match appended.as_deref() {
        Err(error) => Appended::Unknown(error.0.clone()),
        Ok([row]) => Appended::Stored(row.get::<_, i64>(0).cast_unsigned()),
        Ok(_) => {
            let last = sequence(link, "SELECT last FROM heads WHERE log = $1", log).await;
            Appended::Fenced(last.ok())
        }
    }
}

pub(super) async fn read(
    link: &Link,
    log: u16,
    after: u64,
    max_bytes: usize,
) -> Result<Vec<Entry>, Unavailable> {
    let (log, after) = (i32::from(log), signed(after));
    let most = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let rows = link.query(READ, &[&log, &after, &most]).await?;
    let entry = |row: &tokio_postgres::Row| Entry {
        sequence: row.get::<_, i64>(0).cast_unsigned(),
        bytes: Bytes::copy_from_slice(row.get(1)),
    };
    Ok(rows.iter().map(entry).collect())
}

/// The sequence that a query for one row has as its answer.
pub(super) async fn sequence(link: &Link, sql: &'static str, log: u16) -> Result<u64, Unavailable> {
    let log = i32::from(log);
    let rows = link.query(sql, &[&log]).await?;
    Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()))
}

pub(super) async fn trim(link: &Link, log: u16, before: u64) -> Result<(), Unavailable> {
    let sql = "DELETE FROM entries WHERE log = $1 AND sequence < $2
        AND sequence < (SELECT last FROM heads WHERE log = $1)";
    let (log, before) = (i32::from(log), signed(before));
    link.query(sql, &[&log, &before]).await?;
    Ok(())
}

/// PostgreSQL has no unsigned numbers. No log reaches the largest signed one.
fn signed(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
