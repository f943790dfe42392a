//! PostgreSQL: a server in a folder of its own.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groupwire_engine::{Appended, Options, Syncs};
use groupwire_ports::free_port;
use tempfile::TempDir;
use tokio::time::sleep;

use super::program::{Program, find, folders, signal, skip};
use super::service::{Service, append};
use super::{conformance, faults};

/// A server of PostgreSQL.
pub(crate) struct Postgres {
    bin: PathBuf,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    settings: Vec<String>,
    server: Option<Program>,
}

impl Postgres {
    /// Starts a server with settings such as `fsync=off`. `None` if it is not installed.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let mut postgres = Self::prepare(settings)?;
        postgres.server = Some(postgres.run());
        Some(postgres)
    }

    /// Makes the folder of a server, which does not run yet.
    pub(crate) fn prepare(settings: &[&str]) -> Option<Self> {
        // Debian keeps them out of the PATH.
        let Some(initdb) = find("initdb", &folders(Path::new("/usr/lib/postgresql"))) else {
            skip("initdb");
            return None;
        };
        let bin = initdb.parent().unwrap().to_owned();
        let folder = TempDir::new().unwrap();
        let port = free_port().unwrap();
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let postgres = Self { bin, folder, port, settings, server: None };
        postgres.give(postgres.folder.path());
        let made = postgres
            .command("initdb")
            .args(["--username=groupwire", "--auth=trust", "--no-sync", "--no-instructions"])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success());
        Some(postgres)
    }

    pub(crate) fn launch(&mut self) {
        self.server = Some(self.run());
    }

    fn run(&self) -> Program {
        let mut command = self.command("postgres");
        command.args(["-p", &self.port.to_string(), "-c", "unix_socket_directories="]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        Program::start(&mut command)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.arg("-D").arg(self.data()).current_dir(self.folder.path());
        if let Some((user, group)) = Self::user() {
            command.uid(user).gid(group);
        }
        command
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Gives a file to the user of the server.
    pub(crate) fn give(&self, path: &Path) {
        if let Some((user, group)) = Self::user() {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }

    /// PostgreSQL does not run as root: if the tests do, it is another user, and its group.
    fn user() -> Option<(u32, u32)> {
        let me = Command::new("id").arg("-u").output().unwrap().stdout;
        if me != b"0\n" {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").unwrap();
        ["postgres", "nobody"].iter().find_map(|name| {
            let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
            let fields: Vec<&str> = line.split(':').collect();
            Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
        })
    }

    fn family(&self) -> Vec<u32> {
        self.server.as_ref().unwrap().family()
    }

    /// A connection of the tests' own.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        let (client, connection) =
            tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

impl Service for Postgres {
    fn url(&self) -> String {
        format!("postgres://groupwire@127.0.0.1:{}/postgres", self.port)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let service: &dyn Service = &postgres;
    service.wait("start").await;
    conformance::all(service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_killed_and_starts_again() {
    // What a session would be without settings of its own must not matter.
    let settings = ["synchronous_commit=off", "default_transaction_isolation=serializable"];
    let Some(mut postgres) = Postgres::start(&settings) else { return };
    let engine = (&postgres as &dyn Service).wait("kill").await;
    let unknown = faults::survive(&*engine, async {
        for _ in 0..3 {
            signal("KILL", &postgres.family());
            postgres.server = None;
            sleep(Duration::from_millis(300)).await;
            postgres.launch();
            sleep(Duration::from_secs(2)).await;
        }
    })
    .await;
    assert!(unknown > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_stops_for_a_while() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let options = Options { patience: Duration::from_secs(1), ..postgres.options("stop") };
    (&postgres as &dyn Service).wait("stop").await;
    let engine = (&postgres as &dyn Service).open_with(options).await.unwrap();
    let unknown = faults::survive(&*engine, async {
        let family = postgres.family();
        signal("STOP", &family);
        sleep(Duration::from_secs(4)).await;
        signal("CONT", &family);
        sleep(Duration::from_secs(1)).await;
    })
    .await;
    assert!(unknown > 0);
}

/// A commit that waits for a standby is not confirmed when the wait is cut short, though the
/// primary has it.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_a_standby_that_is_cancelled_is_unknown() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let engine = (&postgres as &dyn Service).wait("standby").await;
    append(&*engine, 0, 0, &"first".into()).await;
    let client = postgres.client().await;
    client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let sql = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let was_cancelled = AtomicBool::new(false);
    let cancels = async {
        loop {
            let cancelled = client.query(sql, &[]).await.unwrap();
            was_cancelled.fetch_or(!cancelled.is_empty(), Ordering::Relaxed);
            sleep(Duration::from_millis(20)).await;
        }
    };
    let mut last = 1;
    let appends = async {
        // The server takes the setting a moment later.
        while let Appended::Stored(sequence) = engine.append(0, last, "second".into()).await {
            last = sequence;
            assert!(!was_cancelled.load(Ordering::Relaxed), "{sequence} was confirmed");
        }
    };
    tokio::select! {
        () = appends => {}
        () = cancels => {}
    }
    client.batch_execute("ALTER SYSTEM RESET synchronous_standby_names").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    assert_eq!(append(&*engine, 0, last, &"second".into()).await.0, last + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_tells_whether_it_syncs() {
    let Some(postgres) = Postgres::start(&["cluster_name=first"]) else { return };
    let engine = (&postgres as &dyn Service).wait("sync").await;
    let found = engine.durability().await.unwrap();
    assert_eq!((found.copies, found.servers.len()), (1, 1), "{found:?}");
    assert_eq!((&*found.servers[0].name, &found.servers[0].syncs), ("first", &Syncs::Always));

    let Some(postgres) = Postgres::start(&["fsync=off"]) else { return };
    let engine = (&postgres as &dyn Service).wait("sync").await;
    let client = postgres.client().await;
    let standbys = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 2 (a, b, c)'";
    client.batch_execute(standbys).await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    for _ in 0..100 {
        let found = engine.durability().await.unwrap();
        assert!(matches!(found.servers[0].syncs, Syncs::Lazily(_)), "{found:?}");
        if found.copies == 3 {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("the standbys were not counted");
}
