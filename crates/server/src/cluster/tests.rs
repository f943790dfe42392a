mod administration;
mod bases;
mod requests;
mod users;

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use groupwire_engine::{Appended, Beat, Deployment, Durability, Engine, Entry, Hints, Unavailable};
use groupwire_session::Qos;
use groupwire_session::client::{Event, Status};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::config::ClusterConfig;
use super::open::Membership;
use super::person::Person;
use crate::durable::DurableConfig;
use crate::rooms::elsewhere::Place;
use crate::server::config::Config;
use crate::server::services::Services;

/// An engine in memory, which all servers of a test share.
struct MemoryEngine {
    deployment: Deployment,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    logs: BTreeMap<u16, Vec<Entry>>,
    blobs: BTreeMap<String, Bytes>,
    beats: BTreeMap<String, Beat>,
    hints: Vec<mpsc::Sender<u16>>,
    refuses_trims: bool,
}

impl MemoryEngine {
    fn new(shards: u16) -> Arc<Self> {
        let deployment =
            Deployment { format: 1, cluster: "test".into(), id: "1234".into(), shards };
        Arc::new(MemoryEngine { deployment, state: Mutex::default() })
    }

    fn with<T>(&self, call: impl FnOnce(&mut State) -> T) -> T {
        call(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Engine for MemoryEngine {
    fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    async fn append(&self, log: u16, expected: u64, bytes: Bytes) -> Appended {
        self.with(|state| {
            let entries = state.logs.entry(log).or_default();
            let last = entries.last().map_or(0, |entry| entry.sequence);
            if last != expected {
                return Appended::Fenced(Some(last));
            }
            let sequence = last + 1 + u64::from(log);
            entries.push(Entry { sequence, bytes });
            state.hints.retain(|hints| !hints.is_closed());
            state.hints.iter().for_each(|hints| _ = hints.try_send(log));
            Appended::Stored(sequence)
        })
    }

    async fn read(&self, log: u16, after: u64, _: usize) -> Result<Vec<Entry>, Unavailable> {
        Ok(self.with(|state| {
            let entries = state.logs.entry(log).or_default().iter();
            entries.filter(|entry| entry.sequence > after).take(20).cloned().collect()
        }))
    }

    async fn last(&self, log: u16) -> Result<u64, Unavailable> {
        let last = |state: &mut State| state.logs.get(&log)?.last().map(|entry| entry.sequence);
        Ok(self.with(last).unwrap_or_default())
    }

    async fn first(&self, log: u16) -> Result<u64, Unavailable> {
        let first = |state: &mut State| state.logs.get(&log)?.first().map(|entry| entry.sequence);
        Ok(self.with(first).unwrap_or_default())
    }

    async fn trim(&self, log: u16, before: u64) -> Result<(), Unavailable> {
        self.with(|state| match state.refuses_trims {
            true => Err(Unavailable("it is told to".into())),
            false => {
                state.logs.entry(log).or_default().retain(|entry| entry.sequence >= before);
                Ok(())
            }
        })
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> Result<(), Unavailable> {
        self.with(|state| state.blobs.insert(name.to_owned(), bytes));
        Ok(())
    }

    async fn get_blob(&self, name: &str) -> Result<Option<Bytes>, Unavailable> {
        Ok(self.with(|state| state.blobs.get(name).cloned()))
    }

    async fn blobs(&self, prefix: &str) -> Result<Vec<String>, Unavailable> {
        let prefix = format!("{prefix}.");
        let names = self.with(|state| state.blobs.keys().cloned().collect::<Vec<_>>());
        Ok(names.into_iter().filter(|name| name.starts_with(&prefix)).collect())
    }

    async fn delete_blob(&self, name: &str) -> Result<(), Unavailable> {
        self.with(|state| state.blobs.remove(name));
        Ok(())
    }

    async fn beat(&self, node: &str, bytes: Bytes) -> Result<(), Unavailable> {
        self.with(|state| {
            let revision = state.beats.get(node).map_or(0, |beat| beat.revision) + 1;
            let beat = Beat { node: node.to_owned(), revision, bytes };
            state.beats.insert(node.to_owned(), beat);
        });
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<Beat>, Unavailable> {
        Ok(self.with(|state| state.beats.values().cloned().collect()))
    }

    async fn hints(&self) -> Result<Hints, Unavailable> {
        let (sender, hints) = mpsc::channel(100);
        self.with(|state| state.hints.push(sender));
        Ok(hints)
    }

    async fn durability(&self) -> Result<Durability, Unavailable> {
        Err(Unavailable("it is in memory".into()))
    }
}

/// A server of a cluster. Dropping it is like a kill.
struct Node {
    services: Services,
    membership: Membership,
    _folder: TempDir,
}

impl Node {
    /// Three servers, which know each other and who has the room `demo`.
    async fn three(engine: &Arc<MemoryEngine>) -> Vec<Self> {
        let mut nodes = Vec::new();
        for name in ["a", "b", "c"] {
            nodes.push(Node::new(name, engine).await);
        }
        for node in &nodes {
            node.settled(&["demo"]).await;
            assert_eq!(node.services.admin.forward.as_ref().unwrap().others().len(), 2);
        }
        nodes
    }

    /// The beginning of the names of its transports, in hexadecimal.
    fn mark(&self) -> String {
        let mark = self.services.admin.forward.as_ref().unwrap().own_mark();
        mark.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    async fn new(name: &str, engine: &Arc<MemoryEngine>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "s".repeat(32)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let cluster = ClusterConfig {
            client_address: None,
            engine: Arc::clone(engine) as Arc<dyn Engine>,
            node: name.to_owned(),
            listen,
            advertise: listen.to_string(),
            secret,
            large: Vec::new(),
        };
        let config = Config {
            durable: Some(DurableConfig::new(folder.path().join("data"))),
            cluster: Some(cluster),
            ..Config::default()
        };
        let mut services = Services::new(config, None, None).unwrap();
        let member = services.member.take().unwrap();
        let rooms = Arc::clone(&services.rooms);
        let gate = Arc::clone(&services.transports.gate);
        let membership = member.begin(listener, 0, rooms, gate, services.routes_of_servers());
        Node { services, membership, _folder: folder }
    }

    /// Waits until the server knows of a server for each of these rooms.
    async fn settled(&self, rooms: &[&str]) {
        let elsewhere = self.services.rooms.elsewhere.clone().unwrap();
        let is_known = |room: &&str| !matches!(elsewhere.place(room), Place::Nowhere);
        let settling = async {
            while !rooms.iter().all(is_known) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_secs(30), settling).await.expect("shards have owners");
    }

    fn has(&self, room: &str) -> bool {
        let elsewhere = self.services.rooms.elsewhere.clone().unwrap();
        matches!(elsewhere.place(room), Place::Here)
    }
}

#[tokio::test]
async fn a_server_whose_name_has_the_mark_of_another_one_does_not_begin() {
    let engine = MemoryEngine::new(4);
    let mut nodes = vec![Node::new("gw-43833", &engine).await];
    nodes[0].settled(&["demo"]).await;
    let mut other = Node::new("gw-36113", &engine).await;
    assert_eq!(nodes[0].mark(), other.mark());
    let why = timeout(Duration::from_secs(30), other.membership.failed()).await.unwrap();
    assert!(why.contains("gw-36113 and gw-43833") && why.contains("another name"), "{why}");
    assert!(engine.with(|state| !state.beats.contains_key("gw-36113")), "it never beat");
    // Names that differ in their marks are fine, and the first server serves on.
    nodes.push(Node::new("gw-36114", &engine).await);
    nodes[1].settled(&["demo"]).await;
    assert!(nodes.iter().any(|node| node.has("demo")));
}

#[tokio::test]
async fn a_room_survives_the_death_of_its_server() {
    let engine = MemoryEngine::new(4);
    let mut nodes = Node::three(&engine).await;
    assert_eq!(nodes.iter().filter(|node| node.has("demo")).count(), 1);
    let at = nodes.iter().position(|node| node.has("demo")).unwrap();
    let owner = nodes.remove(at);
    let (mut ada, mut bob) = (Person::new(b""), Person::new(b""));
    let text = ada.open(&nodes[0].services, "text", Qos::transaction()).await;
    bob.open(&nodes[1].services, "text", Qos::transaction()).await;
    for round in 0..10_u8 {
        ada.send(text, &[round; 100]);
        assert_eq!(ada.message(&nodes[0].services).await, [round; 100]);
        assert_eq!(bob.message(&nodes[1].services).await, [round; 100]);
    }
    // The owner is killed: its tasks end without a word, and its listener is gone.
    let Node { services, membership, .. } = owner;
    drop(membership);
    drop(services);
    let reconnects = |event| (event == Event::Status(Status::Reconnecting)).then_some(());
    ada.until(&nodes[0].services, reconnects).await;
    ada.send(text, b"after");
    let resumed = |event| match event {
        Event::Joined { resumed, .. } => Some(resumed),
        _ => None,
    };
    assert!(ada.until(&nodes[0].services, resumed).await, "the session goes on");
    assert_eq!(ada.message(&nodes[0].services).await, b"after");
    assert_eq!(bob.message(&nodes[1].services).await, b"after");
    assert_eq!(nodes.iter().filter(|node| node.has("demo")).count(), 1);
}
