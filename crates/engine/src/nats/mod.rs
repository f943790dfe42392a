//! NATS JetStream: logs are subjects of three streams, and the fence is a header of each message.

mod blobs;
mod connect;
mod jetstream;
mod log;
mod monitoring;
mod streams;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::mpsc;

use self::jetstream::JetStream;
use self::streams::Names;
use crate::name::is_key;
use crate::{
    Appended, Beat, Deployment, Durability, Engine, Entry, Hints, MAX_BEAT, OpenError, Options,
    Unavailable,
};

/// A deployment in NATS.
pub(crate) struct Nats {
    jetstream: JetStream,
    names: Names,
    deployment: Deployment,
    /// [`Options::monitoring`].
    monitoring: Vec<String>,
}

impl Nats {
    pub(crate) async fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        let jetstream = connect::connect(url, &options).await?;
        let names = Names::new(&options.cluster);
        let found = streams::open(&jetstream, &names, &options).await?;
        let deployment = found.check(&jetstream.address, &options)?;
        Ok(Self { jetstream, names, deployment, monitoring: options.monitoring })
    }
}

#[async_trait]
impl Engine for Nats {
    fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    async fn append(&self, log: u16, expected: u64, bytes: Bytes) -> Appended {
        let appended = self.append_fenced(log, expected, bytes).await;
        if let Appended::Stored(_) = appended {
            // A hint that cannot be sent is a lost one, which readers expect.
            let _ = self.jetstream.hint(self.names.hints(), log.to_string()).await;
        }
        appended
    }

    async fn read(
        &self,
        log: u16,
        after: u64,
        max_bytes: usize,
    ) -> Result<Vec<Entry>, Unavailable> {
        self.read_log(log, after, max_bytes).await
    }

    async fn last(&self, log: u16) -> Result<u64, Unavailable> {
        self.sequence(log, json!({ "last_by_subj": self.names.log(log) })).await
    }

    async fn first(&self, log: u16) -> Result<u64, Unavailable> {
        self.sequence(log, json!({ "seq": 1, "next_by_subj": self.names.log(log) })).await
    }

    async fn trim(&self, log: u16, before: u64) -> Result<(), Unavailable> {
        // Without its last message, a subject begins again at the sequence 0, and the fence is
        // gone. An answer from a replica that is behind is too small, which keeps more.
        let seq = before.min(self.last(log).await?);
        if seq > 0 {
            self.purge(
                &self.names.stream(log),
                json!({ "filter": self.names.log(log), "seq": seq }),
            )
            .await?;
        }
        Ok(())
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> Result<(), Unavailable> {
        self.put_chunks(name, bytes).await
    }

    async fn get_blob(&self, name: &str) -> Result<Option<Bytes>, Unavailable> {
        self.get_chunks(name).await
    }

    async fn blobs(&self, prefix: &str) -> Result<Vec<String>, Unavailable> {
        self.list_blobs(prefix).await
    }

    async fn delete_blob(&self, name: &str) -> Result<(), Unavailable> {
        key(name)?;
        self.purge(&self.names.blobs(), json!({ "filter": self.names.chunk(name, "*") })).await
    }

    async fn beat(&self, node: &str, bytes: Bytes) -> Result<(), Unavailable> {
        key(node)?;
        if bytes.len() > MAX_BEAT {
            return Err(Unavailable(format!("a beat has at most {MAX_BEAT} bytes")));
        }
        self.jetstream.publish(self.names.beat(node), None, bytes).await?;
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<Beat>, Unavailable> {
        // JetStream answers at most 1024 subjects.
        let request = json!({ "multi_last": [self.names.beat(">")], "batch": 1024 });
        let prefix = self.names.beat("");
        let messages = self.jetstream.direct(&self.names.beats(), &request).await?;
        let mut beats: Vec<Beat> = messages
            .into_iter()
            .filter_map(|message| {
                let node = message.subject.strip_prefix(&prefix)?.to_owned();
                Some(Beat { node, revision: message.sequence, bytes: message.bytes })
            })
            .collect();
        beats.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(beats)
    }

    async fn hints(&self) -> Result<Hints, Unavailable> {
        let mut subscriber = self.jetstream.listen(self.names.hints()).await?;
        // More than all logs of a deployment: a full queue says that all have to be read.
        let (sender, receiver) = mpsc::channel(1024);
        tokio::spawn(async move {
            loop {
                let message = tokio::select! {
                    message = subscriber.next() => message,
                    () = sender.closed() => None,
                };
                let Some(message) = message else { return };
                let text = std::str::from_utf8(&message.payload).unwrap_or_default();
                if let Ok(log) = text.parse() {
                    let _ = sender.try_send(log);
                }
            }
        });
        Ok(receiver)
    }

    async fn durability(&self) -> Result<Durability, Unavailable> {
        monitoring::durability(&self.jetstream, &self.names, &self.monitoring).await
    }
}

impl Nats {
    async fn purge(&self, stream: &str, request: serde_json::Value) -> Result<(), Unavailable> {
        self.jetstream.api(&format!("STREAM.PURGE.{stream}"), &request).await?;
        Ok(())
    }
}

/// Refuses a name of a node or blob that would be read as several subjects.
fn key(name: &str) -> Result<(), Unavailable> {
    if is_key(name) {
        Ok(())
    } else {
        Err(Unavailable(format!("the name {name:?} is not allowed")))
    }
}
