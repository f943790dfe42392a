//! Whether the servers that hold the streams sync, as their monitoring over HTTP says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::jetstream::JetStream;
use super::streams::Names;
use crate::{Durability, ServerSync, Syncs, Unavailable};

/// A server on the same network answers within milliseconds; one that is down may not answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A replica that the leader has not heard for this time is down: they talk each second.
const SILENT: Duration = Duration::from_secs(3);
/// Bytes of an answer, at most.
const ANSWER: u64 = 1 << 20;

pub(super) async fn durability(
    jetstream: &JetStream,
    names: &Names,
    monitoring: &[String],
) -> Result<Durability, Unavailable> {
    let mut holders = BTreeSet::new();
    let mut offline = BTreeSet::new();
    let mut replicas = u16::MAX;
    for stream in names.streams() {
        let info = jetstream.api(&format!("STREAM.INFO.{stream}"), &json!({})).await?;
        let here = info["config"]["num_replicas"].as_u64().unwrap_or(1);
        replicas = replicas.min(u16::try_from(here).unwrap_or(1));
        let cluster = &info["cluster"];
        let others = || cluster["replicas"].as_array().into_iter().flatten();
        let silent = others().filter(|replica| is_offline(replica)).map(|replica| &replica["name"]);
        offline.extend(silent.filter_map(Value::as_str).map(str::to_owned));
        let found = others().map(|replica| &replica["name"]).chain([&cluster["leader"]]);
        holders.extend(found.filter_map(Value::as_str).map(str::to_owned));
    }
    if holders.is_empty() {
        holders.insert(jetstream.server().server_name);
    }
    let mut answers = BTreeMap::new();
    let mut silent = Vec::new();
    let addresses = match monitoring {
        [] => derived(jetstream),
        given => given.iter().cloned().collect(),
    };
    for (address, answer) in
        join_all(addresses.iter().map(|a| async move { (a, ask(a).await) })).await
    {
        match answer {
            Ok(answer) => {
                let name = answer["server_name"].as_str().unwrap_or_default().to_owned();
                answers.insert(name, answer);
            }
            Err(why) => silent.push(format!("{address}: {why}")),
        }
    }
    let why = if silent.is_empty() { "no address is known".into() } else { silent.join("; ") };
    let judge = |name: String| match answers.get(&name) {
        None if offline.contains(&name) => {
            ServerSync { name, version: String::new(), syncs: Syncs::Offline }
        }
        answer => judge(answer, name, &why),
    };
    let servers = holders.into_iter().map(judge).collect();
    let replication = format!("{replicas} replicas of each stream, of which most acknowledge");
    Ok(Durability { servers, copies: replicas / 2 + 1, replication })
}

/// True if the leader of a stream does not reach a replica of it.
fn is_offline(replica: &Value) -> bool {
    let silent = Duration::from_nanos(replica["active"].as_u64().unwrap_or_default());
    replica["offline"] == true || silent >= SILENT
}

/// Port 8222 of the servers in the URL, and of those that the connected server knows.
fn derived(jetstream: &JetStream) -> BTreeSet<String> {
    let known = jetstream.server().connect_urls;
    let urls = jetstream.address.split(", ").chain(known.iter().map(String::as_str));
    let hosts = urls.filter_map(|url| url.rsplit_once(':'));
    hosts.map(|(host, _)| format!("http://{host}:8222")).collect()
}

fn judge(answer: Option<&Value>, name: String, silent: &str) -> ServerSync {
    let Some(answer) = answer else {
        let why = format!("its monitoring was not found; name its address ({silent})");
        return ServerSync { name, version: String::new(), syncs: Syncs::Unknown(why) };
    };
    let version = answer["version"].as_str().unwrap_or_default().to_owned();
    let config = &answer["jetstream"]["config"];
    let syncs = match (config["sync_always"].as_bool(), config["sync_interval"].as_u64()) {
        (Some(true), _) => Syncs::Always,
        // The server leaves a `false` out.
        (_, Some(interval)) => Syncs::Lazily(format!(
            "every {} s; set sync_interval: always in jetstream {{}} of its configuration",
            interval / 1_000_000_000
        )),
        _ => Syncs::Unknown("its monitoring does not tell of JetStream".into()),
    };
    ServerSync { name, version, syncs }
}

/// Asks a server for its variables, over plain HTTP.
async fn ask(address: &str) -> Result<Value, String> {
    let host = address.strip_prefix("http://").ok_or("only http:// can be asked")?;
    let host = host.trim_end_matches('/');
    let exchange = async {
        let mut stream = TcpStream::connect(host).await?;
        let request = format!("GET /varz HTTP/1.0\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = timeout(PATIENCE, exchange)
        .await
        .map_err(|_| "no answer".to_owned())?
        .map_err(|error| error.to_string())?;
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n").map(|at| &answer[at + 4..]);
    serde_json::from_slice(body.unwrap_or_default()).map_err(|error| format!("no JSON: {error}"))
}
