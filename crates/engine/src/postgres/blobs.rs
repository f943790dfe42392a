//! Blobs, one row each.

use bytes::Bytes;

use super::link::Link;
use crate::{MAX_BLOB, Unavailable};

pub(super) async fn put(link: &Link, name: &str, bytes: &Bytes) -> Result<(), Unavailable> {
    if bytes.len() > MAX_BLOB {
        return Err(Unavailable(format!("a blob has at most {MAX_BLOB} bytes")));
    }
    let sql = "INSERT INTO blobs VALUES ($1, $2) ON CONFLICT DO NOTHING";
    link.query(sql, &[&name, &bytes.as_ref()]).await?;
    Ok(())
}

pub(super) async fn get(link: &Link, name: &str) -> Result<Option<Bytes>, Unavailable> {
    let rows = link.query("SELECT bytes FROM blobs WHERE name = $1", &[&name]).await?;
    Ok(rows.first().map(|row| Bytes::copy_from_slice(row.get(0))))
}

pub(super) async fn list(link: &Link, prefix: &str) -> Result<Vec<String>, Unavailable> {
    let sql = "SELECT name FROM blobs WHERE starts_with(name, $1)";
    let rows = link.query(sql, &[&format!("{prefix}.")]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(super) async fn delete(link: &Link, name: &str) -> Result<(), Unavailable> {
    link.query("DELETE FROM blobs WHERE name = $1", &[&name]).await?;
    Ok(())
}
