//! NATS: a server alone, and three.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use groupwire_engine::{Options, Syncs};
use groupwire_ports::free_port;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::sleep;

use super::program::{Program, find, signal, skip};
use super::service::{Service, append, read};
use super::{conformance, faults};

/// Servers of NATS.
pub(crate) struct Nats {
    program: PathBuf,
    folder: TempDir,
    /// The ports for clients and for monitoring.
    ports: Vec<(u16, u16)>,
    servers: Vec<Program>,
}

impl Nats {
    /// Starts servers, whose configurations end with `more`. `None` if there is no `nats-server`.
    pub(crate) fn start<const N: usize>(more: &str) -> Option<Self> {
        let cached =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/tools/nats/2.15.1/bin");
        let Some(program) = find("nats-server", &[cached]) else {
            skip("nats-server");
            return None;
        };
        let folder = TempDir::new().unwrap();
        let [clients, monitors, routes] =
            [[(); N]; 3].map(|all| all.map(|()| free_port().unwrap()));
        for index in 0..N {
            let urls: Vec<String> = routes.map(|port| format!("nats://127.0.0.1:{port}")).into();
            let cluster = match N {
                1 => String::new(),
                _ => format!(
                    "cluster {{ name: test, listen: \"127.0.0.1:{}\", routes: {urls:?} }}",
                    routes[index]
                ),
            };
            let text = format!(
                "server_name: n{index}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\n{cluster}\n{more}",
                clients[index], monitors[index],
            );
            let store = folder.path().join(format!("store-{index}"));
            let text = text.replace("STORE", &format!("store_dir: {store:?}"));
            fs::write(folder.path().join(format!("{index}.conf")), text).unwrap();
        }
        let ports = clients.into_iter().zip(monitors).collect();
        let mut nats = Self { program, folder, ports, servers: Vec::new() };
        nats.servers = (0..N).map(|index| nats.run(index)).collect();
        Some(nats)
    }

    fn run(&self, index: usize) -> Program {
        let config = self.folder.path().join(format!("{index}.conf"));
        Program::start(Command::new(&self.program).arg("-c").arg(config))
    }

    /// The index of the server that leads a stream.
    async fn leader(&self, stream: &str) -> usize {
        let client = async_nats::connect(self.url().split(',').collect::<Vec<_>>()).await.unwrap();
        let subject = format!("$JS.API.STREAM.INFO.{stream}");
        let info = client.request(subject, "".into()).await.unwrap();
        let info: Value = serde_json::from_slice(&info.payload).unwrap();
        info["config"]["num_replicas"].as_u64().filter(|n| *n == 3).expect("three replicas");
        info["cluster"]["leader"].as_str().unwrap()[1..].parse().unwrap()
    }
}

impl Service for Nats {
    fn url(&self) -> String {
        let urls: Vec<String> =
            self.ports.iter().map(|(port, _)| format!("nats://127.0.0.1:{port}")).collect();
        urls.join(",")
    }

    fn options(&self, cluster: &str) -> Options {
        let monitoring = self.ports.iter().map(|(_, port)| format!("http://127.0.0.1:{port}"));
        Options { creates: true, monitoring: monitoring.collect(), ..Options::new(cluster) }
    }
}

pub(crate) const SYNCED: &str = "jetstream { STORE, sync_interval: always }";

#[tokio::test(flavor = "multi_thread")]
async fn nats_alone_conforms() {
    let Some(nats) = Nats::start::<1>(SYNCED) else { return };
    let service: &dyn Service = &nats;
    service.wait("start").await;
    conformance::all(service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_servers_of_nats_conform() {
    let Some(nats) = Nats::start::<3>(SYNCED) else { return };
    let service: &dyn Service = &nats;
    service.wait("start").await;
    conformance::all(service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_of_nats_is_killed() {
    let Some(mut nats) = Nats::start::<3>(SYNCED) else { return };
    let engine = (&nats as &dyn Service).wait("kill").await;
    let leader = nats.leader("GW_kill_1").await;
    faults::survive(&*engine, async {
        nats.servers[leader].kill();
        sleep(Duration::from_secs(9)).await;
        nats.servers[leader] = nats.run(leader);
        sleep(Duration::from_secs(2)).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_of_nats_stops_for_a_while() {
    let Some(nats) = Nats::start::<3>(SYNCED) else { return };
    let engine = (&nats as &dyn Service).wait("stop").await;
    let leader = nats.leader("GW_stop_1").await;
    faults::survive(&*engine, async {
        signal("STOP", &[nats.servers[leader].0.id()]);
        sleep(Duration::from_secs(12)).await;
        signal("CONT", &[nats.servers[leader].0.id()]);
        sleep(Duration::from_secs(2)).await;
    })
    .await;
}

/// A replica that takes requests and does not answer is asked a third of what is read.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_replica_of_nats_does_not_answer_is_read_from_another_one() {
    let Some(nats) = Nats::start::<3>(SYNCED) else { return };
    let engine = (&nats as &dyn Service).wait("read").await;
    let (last, _) = append(&*engine, 0, 0, &"entry".into()).await;
    read(&*engine, 0, 0, last).await;
    // The engine goes to another server if this is the one that it is connected to.
    signal("STOP", &[nats.servers[2].0.id()]);
    sleep(Duration::from_secs(10)).await;
    for _ in 0..20 {
        assert!(engine.read(0, 0, 1 << 20).await.is_ok());
    }
    signal("CONT", &[nats.servers[2].0.id()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_alone_is_killed_and_starts_again() {
    let Some(mut nats) = Nats::start::<1>(SYNCED) else { return };
    let engine = (&nats as &dyn Service).wait("alone").await;
    faults::survive(&*engine, async {
        for _ in 0..3 {
            nats.servers[0].kill();
            sleep(Duration::from_millis(300)).await;
            nats.servers[0] = nats.run(0);
            sleep(Duration::from_secs(2)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_tells_whether_it_syncs() {
    let Some(nats) = Nats::start::<1>(SYNCED) else { return };
    let engine = (&nats as &dyn Service).wait("sync").await;
    let found = engine.durability().await.unwrap();
    assert_eq!((found.copies, found.servers.len()), (1, 1), "{found:?}");
    assert_eq!((&*found.servers[0].name, &found.servers[0].syncs), ("n0", &Syncs::Always));
    assert!(found.servers[0].version.starts_with("2."), "{found:?}");

    let Some(mut nats) = Nats::start::<3>("jetstream { STORE }") else { return };
    (&nats as &dyn Service).wait("sync").await;
    nats.servers[1].kill();
    let engine = (&nats as &dyn Service).wait("sync").await;
    // The streams that the killed server led have another leader after some seconds, and that one
    // notices after some more that a replica is down.
    let found = loop {
        match engine.durability().await {
            Ok(found) if found.servers.iter().any(|it| it.syncs == Syncs::Offline) => break found,
            not_yet => println!("not yet: {not_yet:?}"),
        }
    };
    assert_eq!((found.copies, found.servers.len()), (2, 3));
    for server in found.servers {
        match &*server.name {
            "n1" => assert_eq!(server.syncs, Syncs::Offline),
            _ => assert!(matches!(server.syncs, Syncs::Lazily(_)), "{server:?}"),
        }
    }
}
