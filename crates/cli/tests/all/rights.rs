//! Everything that the program writes is for its own user alone, whatever the umask is.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_client::{Event, Options, Qos, Room, SendOptions};

/// A time limit that no test reaches, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process, which is killed when this is dropped, and the rest of what it prints.
struct Process(
    Child,
    #[expect(dead_code, reason = "it can go on printing")] BufReader<ChildStdout>,
);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An empty folder, which is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("written")).unwrap();
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `groupwire` with this umask.
fn groupwire(umask: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("umask {umask} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_groupwire")]);
    command
}

/// Starts a process that goes on, and returns what it prints first.
fn start(mut command: Command, log: &Path, lines: usize) -> (Process, Vec<String>) {
    let log = File::create(log).unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    let said = printed.by_ref().lines().take(lines).map(Result::unwrap).collect();
    (Process(child, printed), said)
}

fn run(umask: &str, arguments: &[&str]) {
    let output = groupwire(umask).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Sends a request of the administration, and returns the answer.
fn ask(admin: &str, path: &str, body: &str) -> String {
    let (address, token) = admin.split_once("/inspector/#token=").unwrap();
    let address = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// All that is below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let inner = if path.is_dir() { below(&path) } else { Vec::new() };
            [path].into_iter().chain(inner)
        })
        .collect()
}

fn assert_private(folder: &Path, umask: &str) {
    for path in below(folder) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "umask {umask}: {}", path.display());
    }
}

/// Sends a transaction to a room, so that it is stored.
async fn write(address: &str) {
    let (room, mut events) = Room::connect(address, Options::new("room")).unwrap();
    let channel = room.channel("lines", Qos::transaction()).unwrap();
    channel.send("kept", SendOptions::default()).unwrap();
    while !matches!(events.next().await, Some(Event::Message(_))) {}
}

/// The address that a server prints first, and that of its administration.
fn addresses(said: &[String]) -> (String, String) {
    let port = said[0].split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
    let admin = said[1].split(' ').next_back().unwrap().to_owned();
    (format!("ws://127.0.0.1:{}", port.unwrap()), admin)
}

fn serve(umask: &str, folder: &Path) -> Command {
    let mut command = groupwire(umask);
    command.args(["serve", "--log", "warn", "--listen", "127.0.0.1:0", "--no-webtransport"]);
    command.arg("--data").arg(folder.join("parent/rooms"));
    command.arg("--record-dir").arg(folder.join("recordings"));
    command
}

#[tokio::test]
async fn what_is_written_is_for_its_user_alone_under_every_umask() {
    for umask in ["000", "022", "027", "077", "377"] {
        let scratch = Scratch::new(&format!("umask-{umask}"));
        let (folder, logs) = (scratch.0.join("written"), scratch.0.join("log"));
        let (_server, said) = start(serve(umask, &folder), &logs, 2);
        let (address, admin) = addresses(&said);
        assert!(ask(&admin, "/inspect/record?room=room", "{\"on\":true}").contains(" 404 "));
        write(&address).await;
        let recorded = ask(&admin, "/inspect/record?room=room", "{\"on\":true}");
        assert!(recorded.starts_with("HTTP/1.1 200 "), "{recorded}");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        run(umask, &["store", "export", &path("parent/rooms"), &path("one.export")]);
        run(umask, &["admin", "--server", &admin, "export", &path("two.export")]);
        run(umask, &["admin", "--server", &admin, "ban", "--user", "somebody"]);
        run(umask, &["token", "--keys", &path("keys.json"), "--sub", "ann", "--room", "*"]);
        let mut tunnel = groupwire(umask);
        tunnel.args(["tunnel", "listen", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
        tunnel.args(["--identity", &path("made/identity.pem"), "--status-file", &path("status")]);
        tunnel.env("GROUPWIRE_TUNNEL_TOKEN", "0123456789abcdef0123456789abcdef");
        let (_tunnel, _) = start(tunnel, &logs, 1);
        let began = Instant::now();
        while !folder.join("status").exists() {
            assert!(began.elapsed() < PATIENCE, "no status is written");
            sleep(Duration::from_millis(5));
        }
        let names: Vec<_> = below(&folder).iter().map(|path| path.display().to_string()).collect();
        for name in
            ["rooms.db", "rooms.db-wal", "/lock", "/keys", "bans", ".tsv", "identity.pem", "status"]
        {
            assert!(names.iter().any(|path| path.contains(name)), "{name}: {names:?}");
        }
        assert_private(&folder, umask);
    }
}

#[tokio::test]
async fn what_earlier_versions_left_open_is_closed_with_a_line_in_the_log() {
    let scratch = Scratch::new("left-open");
    let (folder, log) = (scratch.0.join("written"), scratch.0.join("log"));
    let recordings = folder.join("recordings");
    fs::create_dir(&recordings).unwrap();
    let (server, said) = start(serve("022", &folder), &log, 2);
    write(&addresses(&said).0).await;
    drop(server);
    let rooms = folder.join("parent/rooms");
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for path in below(&rooms).iter().filter(|path| !path.ends_with("keys")) {
        open(path, 0o644);
    }
    open(&rooms, 0o755);
    open(&recordings, 0o755);
    let (_server, _) = start(serve("022", &folder), &log, 2);
    assert_private(&folder, "022");
    let log = fs::read_to_string(&log).unwrap();
    for path in [rooms.clone(), rooms.join("rooms.db"), rooms.join("lock"), recordings] {
        let line = log.lines().find(|line| line.contains(&format!("path={} ", path.display())));
        let line = line.unwrap_or_else(|| panic!("{}: {log}", path.display()));
        assert!(line.contains("it is closed to them now"), "{line}");
    }
}
