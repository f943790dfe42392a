//! Blobs as chunks, each the only message of its subject, so that storing again changes nothing.

use async_nats::HeaderMap;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, json};

use super::jetstream::{Fault, Stored};
use super::{Nats, key};
use crate::{MAX_BLOB, Unavailable};

/// Bytes of a chunk: half of the largest message.
const CHUNK: usize = 512 << 10;
/// Chunks on their way at a time: 2 MiB, enough for 1 Gbit/s at 16 ms.
const AT_A_TIME: usize = 4;
/// The header of each chunk with the length of the whole blob.
const LENGTH: &str = "Groupwire-Length";
/// JetStream has no message of that subject.
const NO_MESSAGE: u64 = 10_037;

impl Nats {
    pub(super) async fn put_chunks(&self, name: &str, bytes: Bytes) -> Result<(), Unavailable> {
        key(name)?;
        if bytes.len() > MAX_BLOB {
            return Err(Unavailable(format!("a blob has at most {MAX_BLOB} bytes")));
        }
        let mut headers = HeaderMap::new();
        headers.insert(LENGTH, bytes.len().to_string().as_str());
        stream::iter(0..chunks(bytes.len()))
            .map(|index| {
                let end = bytes.len().min((index + 1) * CHUNK);
                let chunk = bytes.slice(index * CHUNK..end);
                let subject = self.names.chunk(name, index);
                self.jetstream.publish(subject, Some(headers.clone()), chunk)
            })
            .buffer_unordered(AT_A_TIME)
            .try_for_each(|_| async { Ok(()) })
            .await?;
        Ok(())
    }

    pub(super) async fn get_chunks(&self, name: &str) -> Result<Option<Bytes>, Unavailable> {
        key(name)?;
        let Some(first) = self.chunk(name, 0).await? else { return Ok(None) };
        let length = first.headers.get(LENGTH).and_then(|text| text.as_str().parse().ok());
        let length: usize = length
            .filter(|length| *length <= MAX_BLOB)
            .ok_or_else(|| Unavailable(format!("the blob {name} has no length")))?;
        let mut bytes = BytesMut::with_capacity(length);
        bytes.extend_from_slice(&first.bytes);
        let mut rest = stream::iter(1..chunks(length))
            .map(|index| self.chunk(name, index))
            .buffered(AT_A_TIME);
        while let Some(chunk) = rest.next().await {
            let Some(chunk) = chunk? else { return Ok(None) };
            bytes.extend_from_slice(&chunk.bytes);
        }
        Ok((bytes.len() == length).then(|| bytes.freeze()))
    }

    pub(super) async fn list_blobs(&self, prefix: &str) -> Result<Vec<String>, Unavailable> {
        key(prefix)?;
        let request = json!({ "subjects_filter": self.names.chunk(prefix, ">") });
        let info =
            self.jetstream.api(&format!("STREAM.INFO.{}", self.names.blobs()), &request).await?;
        let subjects = info["state"]["subjects"].as_object().into_iter().flat_map(Map::keys);
        // Also the chunks of a blob whose whole name is the prefix match.
        let start = format!("{prefix}.");
        let names = subjects.filter_map(|subject| self.names.blob(subject));
        let mut names: Vec<_> =
            names.filter(|name| name.starts_with(&start)).map(str::to_owned).collect();
        // One subject for each chunk.
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// A chunk, unless the leader says that there is none: a replica may be behind.
    async fn chunk(&self, name: &str, index: usize) -> Result<Option<Stored>, Unavailable> {
        let request = json!({ "last_by_subj": self.names.chunk(name, index) });
        let blobs = self.names.blobs();
        if let Some(chunk) = self.jetstream.direct(&blobs, &request).await?.pop() {
            return Ok(Some(chunk));
        }
        match self.jetstream.api(&format!("STREAM.MSG.GET.{blobs}"), &request).await {
            Err(Fault::Refused(NO_MESSAGE, _)) => Ok(None),
            Err(fault) => Err(fault.into()),
            Ok(_) => Err(Unavailable("a replica of the blobs is behind".into())),
        }
    }
}

/// The number of chunks of a blob. An empty one has an empty chunk.
fn chunks(length: usize) -> usize {
    length.div_ceil(CHUNK).max(1)
}
