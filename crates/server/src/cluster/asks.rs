//! Carries out the requests of the cluster's state machine at the engine.

use groupwire_cluster::{Answer, Entry, ListedBeat, MAX_PAYLOAD, MAX_RECORD, Request};
use groupwire_engine::{Appended, Engine, MAX_BLOB, MAX_ENTRY};
use tokio::time::Instant;

use super::blobs::blob;
use super::figures::{Counters, count};

// What the state machine asks for, the engine takes.
const _: () = assert!(MAX_PAYLOAD <= MAX_BLOB && MAX_RECORD <= MAX_ENTRY);

/// Carries a request out. The engine has a time limit for each. `node`: the name of this server.
pub(super) async fn ask(
    engine: &dyn Engine,
    node: &str,
    request: Request,
    counters: &Counters,
) -> Answer {
    let began = matches!(request, Request::Append { .. }).then(Instant::now);
    let answer = carry_out(engine, node, request).await;
    match (&answer, began) {
        (Answer::Failed, _) => count(&counters.unanswered),
        (_, Some(began)) => counters.appends.add(began.elapsed()),
        _ => {}
    }
    answer
}

async fn carry_out(engine: &dyn Engine, node: &str, request: Request) -> Answer {
    match request {
        Request::Append { shard, expected, bytes } => {
            match engine.append(shard, expected, bytes.into()).await {
                Appended::Stored(sequence) => Answer::Stored(sequence),
                Appended::Fenced(last) => Answer::Fenced(last),
                Appended::Unknown(why) => failed(&why),
            }
        }
        Request::Read { shard, after, max_bytes } => {
            let entries = engine.read(shard, after, max_bytes).await;
            answer(entries, |entries| {
                let entry = |entry: groupwire_engine::Entry| Entry {
                    sequence: entry.sequence,
                    bytes: entry.bytes.into(),
                };
                Answer::Entries(entries.into_iter().map(entry).collect())
            })
        }
        Request::Last { shard } => answer(engine.last(shard).await, Answer::Last),
        Request::Trim { shard, before } => {
            answer(engine.trim(shard, before).await, |()| Answer::Done)
        }
        Request::PutBlob { name, bytes } => {
            answer(engine.put_blob(&blob(&name), bytes.into()).await, |()| Answer::Done)
        }
        Request::GetBlob { name } => answer(engine.get_blob(&blob(&name)).await, |blob| {
            Answer::Blob(blob.map(|bytes| bytes.to_vec()))
        }),
        Request::Beat { bytes } => answer(engine.beat(node, bytes.into()).await, |()| Answer::Done),
        Request::Nodes => answer(engine.nodes().await, |beats| {
            let beat = |beat: groupwire_engine::Beat| ListedBeat {
                node: beat.node,
                revision: beat.revision,
                bytes: beat.bytes.into(),
            };
            Answer::Nodes(beats.into_iter().map(beat).collect())
        }),
    }
}

fn answer<T>(
    outcome: Result<T, groupwire_engine::Unavailable>,
    answer: impl FnOnce(T) -> Answer,
) -> Answer {
    match outcome {
        Ok(found) => answer(found),
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(why: &str) -> Answer {
    tracing::debug!(why, "the engine did not answer");
    Answer::Failed
}
