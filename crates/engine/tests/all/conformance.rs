//! The laws of every engine, on any service.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use groupwire_engine::{Appended, Engine, MAX_BEAT, MAX_BLOB, MAX_ENTRY, OpenError, Options};
use tokio::time::{sleep, timeout};

use super::service::{Service, append, read};

/// Longer than any engine takes on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks all laws, one after the other: a service takes seconds to start.
pub(crate) async fn all(service: &dyn Service) {
    let engine = &*service.open("laws").await;
    order(engine).await;
    bounds(engine).await;
    fence(service).await;
    trims(engine).await;
    blobs(engine).await;
    beats(engine).await;
    hints(service).await;
    records(service).await;
    races(service).await;
    neighbours(service).await;
}

/// Entries are read in order, each once; sequences grow; the control log is a log like the others.
async fn order(engine: &dyn Engine) {
    assert_eq!(engine.read(0, 0, 1000).await.unwrap(), []);
    assert_eq!((engine.last(0).await.unwrap(), engine.first(0).await.unwrap()), (0, 0));
    for log in [0, 3, 64] {
        let mut last = 0;
        let mut sequences = Vec::new();
        for number in 0..20 {
            let (sequence, _) = append(engine, log, last, &text(log, number)).await;
            assert!(sequence > last);
            last = sequence;
            sequences.push(sequence);
        }
        let entries = read(engine, log, 0, last).await;
        assert_eq!(entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), sequences);
        for (number, entry) in entries.iter().enumerate() {
            assert_eq!(entry.bytes, text(log, number));
        }
        assert_eq!(read(engine, log, sequences[9], last).await, entries[10..]);
        // The end of the log.
        assert_eq!(engine.read(log, last, 1000).await.unwrap(), []);
        let first = async || engine.first(log).await.unwrap();
        settled(first, |first| *first == sequences[0]).await;
    }
}

/// Reading keeps to the number of bytes, but for a first entry; the longest entry is stored.
async fn bounds(engine: &dyn Engine) {
    let mut last = 0;
    for number in 0..10_u8 {
        last = append(engine, 6, last, &Bytes::from(vec![number; 30_000])).await.0;
    }
    let some = settled(async || engine.read(6, 0, 100_000).await.unwrap(), |some| some.len() > 1);
    let bytes: usize = some.await.iter().map(|entry| entry.bytes.len()).sum();
    assert!(bytes <= 100_000, "{bytes}");
    let one = settled(async || engine.read(6, 0, 10).await.unwrap(), |some| !some.is_empty()).await;
    assert_eq!((one.len(), one[0].bytes.len()), (1, 30_000));
    assert_eq!(read(engine, 6, 0, last).await.len(), 10);

    let longest = Bytes::from(vec![7; MAX_ENTRY]);
    let (sequence, _) = append(engine, 6, last, &longest).await;
    assert_eq!(read(engine, 6, last, sequence).await[0].bytes, longest);
    let empty = append(engine, 6, sequence, &Bytes::new()).await.0;
    assert_eq!(read(engine, 6, sequence, empty).await[0].bytes, Bytes::new());

    let longer = Bytes::from(vec![7; MAX_ENTRY + 1]);
    assert!(matches!(engine.append(6, empty, longer).await, Appended::Unknown(_)));
    assert_eq!(append(engine, 6, empty, &text(6, 0)).await.1, 0);
}

/// Of 20 writers at the same sequence, one wins; the others are fenced, and nothing of theirs is
/// stored.
async fn fence(service: &dyn Service) {
    let engines = join_all((0..4).map(|_| service.open("fence"))).await;
    let mut last = 0;
    for round in 0..25 {
        let appends = (0..20).map(|writer| {
            let bytes = Bytes::from(format!("{round} by {writer}"));
            let engine = &engines[writer % engines.len()];
            async move { (bytes.clone(), engine.append(9, last, bytes).await) }
        });
        let results = join_all(appends).await;
        let stored: Vec<_> = results
            .iter()
            .filter_map(|(bytes, appended)| match appended {
                Appended::Stored(sequence) => Some((bytes, *sequence)),
                Appended::Fenced(_) => None,
                Appended::Unknown(why) => panic!("nothing is wrong with the service: {why}"),
            })
            .collect();
        let [(bytes, sequence)] = stored[..] else { panic!("round {round}: {results:?}") };
        for (_, appended) in &results {
            let known = matches!(appended, Appended::Fenced(Some(n)) if *n != sequence);
            assert!(!known, "{appended:?} is not {sequence}");
        }
        assert_eq!(read(&*engines[0], 9, last, sequence).await[0].bytes, bytes);
        last = sequence;
    }
    assert_eq!(read(&*engines[0], 9, 0, last).await.len(), 25);
    // A sequence of the future is not the last one, either.
    assert!(matches!(engines[0].append(9, last + 7, text(9, 0)).await, Appended::Fenced(_)));
    assert!(matches!(engines[0].append(9, 0, text(9, 0)).await, Appended::Fenced(_)));
}

/// Only the front is trimmed, and the last entry stays with its fence.
async fn trims(engine: &dyn Engine) {
    let mut sequences = vec![0];
    for number in 0..10 {
        let last = sequences[number];
        sequences.push(append(engine, 12, last, &text(12, number)).await.0);
    }
    engine.trim(12, sequences[4]).await.unwrap();
    let first = async || engine.first(12).await.unwrap();
    settled(first, |first| *first == sequences[4]).await;
    let left = async || {
        let entries = read(engine, 12, 0, sequences[10]).await;
        entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>()
    };
    settled(left, |left| left == &sequences[4..]).await;
    // Less than before, and more than there is.
    engine.trim(12, sequences[2]).await.unwrap();
    settled(first, |first| *first == sequences[4]).await;
    engine.trim(12, u64::MAX).await.unwrap();
    settled(first, |first| *first == sequences[10]).await;
    assert!(matches!(engine.append(12, 0, text(12, 0)).await, Appended::Fenced(_)));
    append(engine, 12, sequences[10], &text(12, 10)).await;
    // The neighbours are whole, and an empty log is no fault.
    let neighbour = async || engine.read(0, 0, 1 << 20).await.unwrap();
    settled(neighbour, |entries| entries.len() == 20).await;
    engine.trim(13, 5).await.unwrap();
}

async fn blobs(engine: &dyn Engine) {
    assert_eq!(engine.get_blob("none").await.unwrap(), None);
    for (name, length) in [("a", 0), ("a.0", 1), ("b", 512 << 10), ("c.d-e_f", (3 << 20) + 7)] {
        let bytes: Bytes = (0..length).map(|at| (at % 251) as u8).collect();
        for _ in 0..2 {
            engine.put_blob(name, bytes.clone()).await.unwrap();
        }
        let got = async || engine.get_blob(name).await.ok().flatten();
        assert!(settled(got, Option::is_some).await == Some(bytes), "{name}");
    }
    engine.put_blob("c.e.f", Bytes::new()).await.unwrap();
    let listed = async |prefix: &str| {
        let mut names = engine.blobs(prefix).await.unwrap();
        names.sort_unstable();
        names
    };
    let below_c = async || listed("c").await;
    assert_eq!(settled(below_c, |names| names.len() == 2).await, ["c.d-e_f", "c.e.f"]);
    assert_eq!(listed("c.e").await, ["c.e.f"]);
    assert_eq!(listed("a").await, ["a.0"]);
    assert!(listed("c.d").await.is_empty() && listed("none").await.is_empty());
    engine.delete_blob("c.e.f").await.unwrap();
    settled(below_c, |names| names.len() == 1).await;
    engine.blobs("c.*").await.unwrap_err();
    engine.delete_blob("a").await.unwrap();
    let gone = async || engine.get_blob("a").await.unwrap();
    settled(gone, Option::is_none).await;
    let kept = async || engine.get_blob("a.0").await.ok().flatten();
    assert_eq!(settled(kept, Option::is_some).await.unwrap().len(), 1);
    engine.delete_blob("a").await.unwrap();

    let most = Bytes::from(vec![1; MAX_BLOB]);
    engine.put_blob("most", most.clone()).await.unwrap();
    let got = async || engine.get_blob("most").await.ok().flatten();
    assert!(settled(got, Option::is_some).await == Some(most));
    engine.delete_blob("most").await.unwrap();
    engine.put_blob("more", Bytes::from(vec![1; MAX_BLOB + 1])).await.unwrap_err();
    for name in ["", "a.", "a b", "*", "a.>"] {
        engine.put_blob(name, Bytes::new()).await.unwrap_err();
        engine.beat(name, Bytes::new()).await.unwrap_err();
    }
}

async fn beats(engine: &dyn Engine) {
    assert_eq!(engine.nodes().await.unwrap(), []);
    engine.beat("node-0.example", "1".into()).await.unwrap();
    engine.beat("b", "2".into()).await.unwrap();
    let nodes = async || engine.nodes().await.unwrap();
    let before = settled(nodes, |nodes| nodes.len() == 2).await;
    let said: Vec<_> = before.iter().map(|beat| (&*beat.node, &*beat.bytes)).collect();
    assert_eq!(said, [("b", &b"2"[..]), ("node-0.example", b"1")]);

    // The same beat again has another revision.
    engine.beat("b", "2".into()).await.unwrap();
    let revision = before[0].revision;
    let after = settled(nodes, |nodes| nodes.len() == 2 && nodes[0].revision > revision).await;
    assert_eq!(after[1], before[1]);
    engine.beat("b", Bytes::from(vec![1; MAX_BEAT + 1])).await.unwrap_err();
}

/// An append is told to listeners on other connections.
async fn hints(service: &dyn Service) {
    let (writer, reader) = (service.open("hints").await, service.open("hints").await);
    let mut hints = reader.hints().await.unwrap();
    let mut last = 0;
    // The listener may not listen at once.
    for number in 0.. {
        last = append(&*writer, 64, last, &text(64, number)).await.0;
        match timeout(Duration::from_millis(300), hints.recv()).await {
            Ok(log) => return assert_eq!(log, Some(64)),
            Err(_) => assert!(number < 100, "no hint came"),
        }
    }
}

/// The record of a deployment decides who may open it.
async fn records(service: &dyn Service) {
    let options = Options { creates: false, ..service.options("record") };
    let error = failure(service, options.clone()).await;
    assert!(
        matches!(&error, OpenError::NoCluster { wanted, found, .. }
        if wanted == "record" && found.contains(&"laws".into())),
        "{error}"
    );

    let eight = Options { shards: 8, log_version: 2, creates: true, ..options.clone() };
    let created = service.open_with(eight.clone()).await.unwrap();
    let deployment = created.deployment();
    assert_eq!((deployment.format, deployment.shards, &*deployment.cluster), (2, 8, "record"));
    let again = Options { log_version: 3, creates: false, ..eight.clone() };
    let again = service.open_with(again).await.unwrap();
    assert_eq!(again.deployment(), deployment);
    append(&*again, 8, 0, &text(8, 0)).await;

    for creates in [false, true] {
        let other = Options { shards: 64, creates, ..eight.clone() };
        let error = failure(service, other).await;
        assert_eq!(error, OpenError::OtherShards { found: 8, wanted: 64 });
        let old = Options { log_version: 1, creates, ..eight.clone() };
        let error = failure(service, old).await;
        assert_eq!(error, OpenError::NewerFormat { found: 2, known: 1 });
    }
    for name in ["", "a.b", "a*", "a\"b", "a b"] {
        let error = failure(service, service.options(name)).await;
        assert!(matches!(error, OpenError::Options(_)), "{error}");
    }
}

async fn failure(service: &dyn Service, options: Options) -> OpenError {
    service.open_with(options).await.err().expect("it is not opened")
}

/// Of several servers that create a deployment at the same time, one does.
async fn races(service: &dyn Service) {
    let engines = join_all((0..5).map(|_| service.open("race"))).await;
    let ids: BTreeSet<_> = engines.iter().map(|engine| &engine.deployment().id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

/// Two deployments on one service do not see each other.
async fn neighbours(service: &dyn Service) {
    let (one, other) = (service.open("one").await, service.open("one_0").await);
    assert_ne!(one.deployment().id, other.deployment().id);
    append(&*one, 0, 0, &text(0, 1)).await;
    one.put_blob("blob", "1".into()).await.unwrap();
    one.beat("node", "1".into()).await.unwrap();
    let (last, _) = append(&*other, 0, 0, &text(0, 2)).await;
    assert_eq!(other.get_blob("blob").await.unwrap(), None);
    assert_eq!(other.nodes().await.unwrap(), []);
    assert_eq!(read(&*other, 0, 0, last).await.len(), 1);
}

/// An answer, asked for again until it is as wanted: a replica may be behind.
async fn settled<T>(ask: impl AsyncFn() -> T, wanted: impl Fn(&T) -> bool) -> T {
    let asking = async {
        loop {
            let answer = ask().await;
            if wanted(&answer) {
                return answer;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, asking).await.expect("the answer comes")
}

fn text(log: u16, number: usize) -> Bytes {
    Bytes::from(format!("entry {number} of log {log}"))
}
