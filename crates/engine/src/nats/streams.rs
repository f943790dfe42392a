//! The streams of a deployment, and the names of their subjects.

use std::fmt::Display;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::jetstream::{Fault, JetStream, PAUSE};
use crate::{Deployment, OpenError, Options};

/// Streams with logs. One stream is one group of replicas with one leader: with three, each of
/// three servers can lead one.
const STREAMS: u16 = 3;
/// JetStream has no such stream.
const NO_STREAM: u64 = 10_059;
/// There is such a stream, but with another configuration.
const EXISTS: u64 = 10_058;
/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

/// The names of a deployment's streams and subjects.
pub(super) struct Names {
    cluster: String,
}

impl Names {
    pub(super) fn new(cluster: &str) -> Self {
        Self { cluster: cluster.into() }
    }

    /// The subject of a log.
    pub(super) fn log(&self, log: u16) -> String {
        format!("gw.{}.log.{}.{log}", self.cluster, log % STREAMS)
    }

    /// The stream that has a log.
    pub(super) fn stream(&self, log: u16) -> String {
        format!("GW_{}_{}", self.cluster, log % STREAMS)
    }

    /// All streams with logs.
    pub(super) fn streams(&self) -> impl Iterator<Item = String> {
        (0..STREAMS).map(|log| self.stream(log))
    }

    /// The subject of a chunk of a blob.
    pub(super) fn chunk(&self, blob: &str, index: impl Display) -> String {
        format!("gw.{}.blob.{blob}.{index}", self.cluster)
    }

    /// The name of the blob of which this is the subject of a chunk.
    pub(super) fn blob<'a>(&self, chunk: &'a str) -> Option<&'a str> {
        let name = chunk.strip_prefix("gw.")?.strip_prefix(&self.cluster)?;
        Some(name.strip_prefix(".blob.")?.rsplit_once('.')?.0)
    }

    /// The stream with blobs.
    pub(super) fn blobs(&self) -> String {
        format!("GW_{}_blobs", self.cluster)
    }

    /// The subject of a node's beat.
    pub(super) fn beat(&self, node: &str) -> String {
        format!("gw.{}.beat.{node}", self.cluster)
    }

    /// The stream with beats.
    pub(super) fn beats(&self) -> String {
        format!("GW_{}_beats", self.cluster)
    }

    /// The subject of hints, whose messages are not stored. A log's own subject would tell of an
    /// entry before it is stored, and bring its bytes to every server.
    pub(super) fn hints(&self) -> String {
        format!("gw.{}.hint", self.cluster)
    }
}

/// Reads the record of a deployment, and creates it if it is not there and the options say so.
pub(super) async fn open(
    jetstream: &JetStream,
    names: &Names,
    options: &Options,
) -> Result<Deployment, OpenError> {
    if let Some(record) = record(jetstream, names).await? {
        return Ok(record);
    }
    if !options.creates {
        let found = clusters(jetstream).await;
        let (address, wanted) = (jetstream.address.clone(), options.cluster.clone());
        return Err(OpenError::NoCluster { address, wanted, found });
    }
    create(jetstream, names, options).await?;
    // A server of a group may learn of a new stream later than the one that created it.
    let deadline = Instant::now() + jetstream.patience;
    while Instant::now() < deadline {
        if let Some(record) = record(jetstream, names).await? {
            return Ok(record);
        }
        sleep(PAUSE).await;
    }
    let why = format!("the stream {} was created, but is not found", names.stream(0));
    Err(failed(jetstream, &Fault::Silent(why)))
}

/// The record, which stands in the metadata of the first stream.
async fn record(jetstream: &JetStream, names: &Names) -> Result<Option<Deployment>, OpenError> {
    let info = match jetstream.api(&format!("STREAM.INFO.{}", names.stream(0)), &json!({})).await {
        Err(Fault::Refused(NO_STREAM, _)) => return Ok(None),
        Err(fault) => return Err(failed(jetstream, &fault)),
        Ok(info) => info,
    };
    let metadata = &info["config"]["metadata"];
    let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| text(key).parse::<u16>().ok();
    let (Some(format), Some(shards)) = (number("format"), number("shards")) else {
        let why = format!("the stream {} has no record of a cluster", names.stream(0));
        return Err(failed(jetstream, &Fault::Silent(why)));
    };
    Ok(Some(Deployment { format, shards, cluster: text("cluster"), id: text("id") }))
}

async fn create(jetstream: &JetStream, names: &Names, options: &Options) -> Result<(), OpenError> {
    let record = Deployment::new(options)?;
    let replicas =
        options.replicas.unwrap_or(if jetstream.server().cluster.is_some() { 3 } else { 1 });
    let of = |what: &str| format!("gw.{}.{what}.>", options.cluster);
    let last_only = json!({ "max_msgs_per_subject": 1 });
    add(jetstream, replicas, &names.blobs(), of("blob"), last_only).await?;
    let last_day = json!({ "max_msgs_per_subject": 1, "max_age": DAY, "discard": "old" });
    add(jetstream, replicas, &names.beats(), of("beat"), last_day).await?;
    // The first stream, which has the record, comes last: where it is, the others are. All others
    // are the same whatever the record says, so that creation can be begun again.
    for first in (0..STREAMS).rev() {
        let metadata = if first == 0 { as_metadata(&record) } else { json!({}) };
        let logs = of(&format!("log.{first}"));
        add(jetstream, replicas, &names.stream(first), logs, metadata).await?;
    }
    Ok(())
}

fn as_metadata(record: &Deployment) -> Value {
    json!({ "metadata": {
        "format": record.format.to_string(),
        "cluster": record.cluster,
        "id": record.id,
        "shards": record.shards.to_string(),
    } })
}

/// Creates a stream, if it is not there. Of two that create it at the same time, one is first.
async fn add(
    jetstream: &JetStream,
    replicas: u8,
    name: &str,
    subject: String,
    more: Value,
) -> Result<(), OpenError> {
    let mut config = json!({
        "name": name, "subjects": [subject], "num_replicas": replicas, "storage": "file",
        "retention": "limits", "discard": "new", "allow_direct": true,
    });
    if let (Value::Object(config), Value::Object(more)) = (&mut config, more) {
        config.extend(more);
    }
    match jetstream.api(&format!("STREAM.CREATE.{name}"), &config).await {
        Ok(_) | Err(Fault::Refused(EXISTS, _)) => Ok(()),
        Err(fault) => Err(failed(jetstream, &fault)),
    }
}

/// The names of the deployments that the account can see.
async fn clusters(jetstream: &JetStream) -> Vec<String> {
    let names = Names::new("*");
    let answer = jetstream.api("STREAM.NAMES", &json!({ "subject": names.log(0) })).await;
    let streams = answer.ok().and_then(|answer| answer["streams"].as_array().cloned());
    let name =
        |stream: Value| Some(stream.as_str()?.strip_prefix("GW_")?.strip_suffix("_0")?.to_owned());
    streams.unwrap_or_default().into_iter().filter_map(name).collect()
}

fn failed(jetstream: &JetStream, fault: &Fault) -> OpenError {
    let (cause, check) = match fault {
        Fault::Refused(code, why) => (
            format!("JetStream refuses: {why} ({code})"),
            "check that as many servers with JetStream run as there are replicas, their space, and the account's limits",
        ),
        Fault::Nobody => (
            "JetStream has no leader".into(),
            "check that more than half of the servers of NATS run and reach each other",
        ),
        Fault::Silent(why) => {
            (why.clone(), "check the servers of NATS, and what the user may publish and subscribe")
        }
    };
    OpenError::Unreachable { address: jetstream.address.clone(), cause, check }
}
