//! Blobs of the logs of shards at the engine, and their end.

use groupwire_engine::{Engine, Unavailable};

/// The name of a blob at the engine, which takes points and no slashes.
pub(super) fn blob(name: &str) -> String {
    name.replace('/', ".")
}

/// Deletes the blobs of a shard that belong to records before this number, which a base has made
/// superfluous. Among them are those whose records were never stored. A server that still reads
/// such a record goes on from the base.
pub(super) async fn sweep(engine: &dyn Engine, shard: u16, number: u64) {
    match delete(engine, shard, number).await {
        Ok(0) => {}
        Ok(count) => tracing::debug!(shard, count, "blobs before a base deleted"),
        // The sweep after the next base deletes these blobs, too.
        Err(error) => tracing::debug!(shard, %error, "blobs before a base not deleted"),
    }
}

async fn delete(engine: &dyn Engine, shard: u16, number: u64) -> Result<usize, Unavailable> {
    let mut names = engine.blobs(&format!("{shard:04}")).await?;
    names.retain(|name| number_of(name).is_some_and(|of_record| of_record < number));
    for name in &names {
        engine.delete_blob(name).await?;
    }
    Ok(names.len())
}

/// The number of the record in the name of a blob of a shard.
fn number_of(name: &str) -> Option<u64> {
    name.split('.').nth(1)?.parse().ok()
}
