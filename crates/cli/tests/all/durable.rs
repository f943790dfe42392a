//! Kills the real server at random times under load: what was confirmed is neither lost, repeated nor moved.
//!
//! `KILLS=1000` kills it so often. The default is 20.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use groupwire_client::{Durability, Event, Options, Qos, Room, SendOptions};
use tokio::time::{sleep, timeout};

const ROOMS: usize = 3;
const PEOPLE: usize = 4;
/// So many confirmations come between two kills.
const CONFIRMED: usize = 100;
/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
const FOREVER: Duration = Duration::from_secs(120);

/// A server with a folder of its own, which is removed in the end.
struct Server {
    child: Option<Child>,
    folder: PathBuf,
    port: u16,
}

impl Server {
    fn start(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let mut server = Server { child: None, folder, port: 0 };
        server.restart();
        server
    }

    fn restart(&mut self) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_groupwire"))
            .args(["serve", "--log", "warn", "--no-webtransport", "--tick", "5"])
            .args(["--listen", &format!("127.0.0.1:{}", self.port), "--data"])
            .arg(&self.folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        self.child = Some(child);
        let address = said.split("127.0.0.1:").nth(1).unwrap_or_else(|| panic!("it said {said:?}"));
        self.port = address.split('/').next().unwrap().parse().unwrap();
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn url(&self) -> String {
        format!("ws://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What the test sees of all people.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    confirmed: AtomicUsize,
}

/// What one person was told: all texts by their positions, and which were confirmed as its own.
#[derive(Default)]
struct Told {
    texts: BTreeMap<u64, String>,
    confirmed: BTreeSet<u64>,
    sent: usize,
}

/// Writes numbered lines, a few at a time, until the test is over and everything is confirmed.
async fn person(url: String, room: String, name: String, shared: Arc<Shared>) -> Told {
    let (room, mut events) = Room::connect(&url, Options::new(&room)).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    let mut told = Told::default();
    while !shared.is_over.load(Ordering::Relaxed) || told.confirmed.len() < told.sent {
        while told.sent - told.confirmed.len() < 5 && !shared.is_over.load(Ordering::Relaxed) {
            lines.send(&*format!("{name} {}", told.sent), SendOptions::default()).unwrap();
            told.sent += 1;
        }
        let Ok(event) = timeout(Duration::from_millis(20), events.next()).await else { continue };
        note(event.unwrap(), &mut told, &shared);
    }
    // The others may still be waiting for a server: their last lines come, too.
    while let Ok(Some(event)) = timeout(Duration::from_secs(3), events.next()).await {
        note(event, &mut told, &shared);
    }
    told
}

fn note(event: Event, told: &mut Told, shared: &Shared) {
    match event {
        Event::Message(message) => {
            let position = message.position.get();
            let text = String::from_utf8(message.bytes).unwrap();
            let before = told.texts.insert(position, text.clone());
            assert_eq!(before, None, "position {position} came twice: {text}");
            if message.own {
                told.confirmed.insert(position);
                shared.confirmed.fetch_add(1, Ordering::Relaxed);
            }
        }
        Event::Gap { reason, .. } => panic!("gap: {reason:?}"),
        Event::Error { error, fatal: true, .. } => panic!("{error}"),
        _ => {}
    }
}

#[tokio::test]
async fn whenever_the_server_is_killed_nothing_confirmed_is_lost_repeated_or_moved() {
    let kills = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20usize);
    let mut server = Server::start("killed");
    let shared = Arc::new(Shared::default());
    let mut people = Vec::new();
    for at in 0..ROOMS * PEOPLE {
        let (room, name) = (format!("room {}", at % ROOMS), format!("{at}"));
        let task = person(server.url(), room, name, Arc::clone(&shared));
        people.push((at % ROOMS, tokio::spawn(task)));
    }
    for kill in 0..kills {
        let before = shared.confirmed.load(Ordering::Relaxed);
        let progress = async {
            while shared.confirmed.load(Ordering::Relaxed) < before + CONFIRMED {
                assert!(people.iter().all(|(_, task)| !task.is_finished()), "somebody gave up");
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(FOREVER, progress).await.expect("confirmations after a restart");
        // At another moment of the tick and of the commit each time.
        sleep(Duration::from_micros(kill as u64 * 977 % 10_000)).await;
        server.kill();
        server.restart();
    }
    shared.is_over.store(true, Ordering::Relaxed);
    let mut rooms: BTreeMap<usize, Vec<Told>> = BTreeMap::new();
    for (room, task) in people {
        let told = timeout(FOREVER, task).await.expect("everything is confirmed").unwrap();
        rooms.entry(room).or_default().push(told);
    }
    for told in rooms.values() {
        let all = &told[0].texts;
        let dense = all.keys().copied().eq(1..=all.len() as u64);
        assert!(dense, "the order has holes");
        for one in told {
            assert_eq!(&one.texts, all, "two people were told different orders");
            assert_eq!(one.confirmed.len(), one.sent);
        }
        let mut next: BTreeMap<&str, usize> = BTreeMap::new();
        for text in all.values() {
            let (name, number) = text.split_once(' ').unwrap();
            let next = next.entry(name).or_default();
            assert_eq!(number.parse::<usize>().unwrap(), *next, "lost, repeated or out of order");
            *next += 1;
        }
        let sent: usize = told.iter().map(|one| one.sent).sum();
        assert_eq!(all.len(), sent);
    }
    let confirmed = shared.confirmed.load(Ordering::Relaxed);
    println!("{kills} kills, {confirmed} confirmed, none lost, repeated or moved");
}

/// Waits until the application is told that the room began anew, and then for this text.
#[cfg(unix)]
async fn gap_and(events: &mut groupwire_client::Events, text: &str) {
    let mut has_gap = false;
    let wanted = async {
        loop {
            match events.next().await.expect("the session goes on") {
                Event::Gap { .. } => has_gap = true,
                Event::Message(message) if has_gap && message.bytes == text.as_bytes() => return,
                _ => {}
            }
        }
    };
    timeout(FOREVER, wanted).await.unwrap_or_else(|_| panic!("no gap, or no {text:?}"));
}

#[cfg(unix)]
#[tokio::test]
async fn an_operator_lists_deletes_and_imports_rooms_in_use_while_the_server_runs() {
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    let mut server = Server::start("administered");
    let folder = server.folder.to_str().unwrap().to_owned();
    let socket = server.folder.join("admin.sock");
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (room, mut events) = Room::connect(&server.url(), Options::new("in use")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("old", SendOptions::default()).unwrap();
    while !matches!(events.next().await, Some(Event::Message(_))) {}
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains("in use") && said.contains(" 1 "), "{said}");
    let file = format!("{folder}.export");
    let _ = std::fs::remove_file(&file);
    assert!(store(&["export", &folder, &file]).0);

    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    stream.write_all(b"no request\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("the request cannot be read"), "{reply}");

    let (is_fine, said) = store(&["delete", &folder, "no such"]);
    assert!(!is_fine && said.contains("no such room"), "{said}");
    let (is_fine, said) = store(&["delete", &folder, "in use", "--now"]);
    assert!(is_fine, "{said}");
    lines.send("new", SendOptions::default()).unwrap();
    gap_and(&mut events, "new").await;
    assert_eq!(room.position().get(), 1, "the room is a new one");

    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(!is_fine && said.contains("replac"), "{said}");
    let (is_fine, said) = store(&["import", &folder, &file, "--replace"]);
    assert!(is_fine && said.contains("imported rooms: 1"), "{said}");
    gap_and(&mut events, "old").await;

    // A server that was killed leaves its socket behind. The next one listens again, and removes it when it ends.
    server.kill();
    assert!(socket.exists());
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains("in use"), "{said}");
    server.restart();
    assert!(store(&["list", &folder]).0);
    let mut child = server.child.take().unwrap();
    let ended = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(ended.success() && child.wait().unwrap().success());
    assert!(!socket.exists());
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_process_that_is_no_server_is_named_if_it_uses_the_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("taken");
    let _ = std::fs::remove_dir_all(&folder);
    let options = groupwire_server::store::Options::default();
    let taken = groupwire_server::store::Store::open(&folder, options).unwrap();
    let (is_fine, said) = store(&["list", folder.to_str().unwrap()]);
    let process = format!("in use by process {}", std::process::id());
    assert!(!is_fine && said.contains(&process) && said.contains("could not be asked"), "{said}");
    drop(taken);
    assert!(store(&["list", folder.to_str().unwrap()]).0);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Runs `groupwire store`, and returns whether it succeeded and what it said.
fn store(arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    let output = command.arg("store").args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[tokio::test]
async fn an_operator_exports_while_the_server_runs_and_imports_into_another_folder() {
    let mut server = Server::start("operated");
    let (room, mut events) = Room::connect(&server.url(), Options::new("..")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("kept", SendOptions::default()).unwrap();
    while !matches!(events.next().await, Some(Event::Message(_))) {}
    let folder = server.folder.to_str().unwrap().to_owned();
    let file = format!("{folder}.export");
    let _ = std::fs::remove_file(&file);
    let (is_fine, said) = store(&["export", &folder, &file]);
    assert!(is_fine && said.contains("rooms: 1, transactions: 1"), "{said}");
    server.kill();
    let (is_fine, said) = store(&["list", &folder]);
    assert!(is_fine && said.contains(".."), "{said}");
    let (is_fine, said) = store(&["delete", &folder, "..", "--now"]);
    assert!(is_fine, "{said}");
    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(is_fine && said.contains("imported rooms: 1"), "{said}");
    let (is_fine, said) = store(&["import", &folder, &file]);
    assert!(!is_fine && said.contains("replac"), "{said}");
    server.restart();
    // The imported room has another incarnation: whoever was ahead is told, and gets what is there.
    let mut has_gap = false;
    loop {
        match events.next().await {
            Some(Event::Gap { .. }) => has_gap = true,
            Some(Event::Message(message)) if message.bytes == b"kept" => break,
            Some(_) => {}
            None => panic!("the session ended"),
        }
    }
    assert!(has_gap);
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn an_application_is_told_what_is_saved() {
    let server = Server::start("saved");
    let (room, mut events) = Room::connect(&server.url(), Options::new("saved")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    lines.send("one", SendOptions::default()).unwrap();
    assert_eq!((room.pending(), room.durability()), (1, None));
    let mut told = Vec::new();
    while told.last() != Some(&0) {
        let event = timeout(FOREVER, events.next()).await.expect("it is saved");
        if let Some(Event::Pending { count }) = event {
            told.push(count);
        }
    }
    assert_eq!(told, [1, 0]);
    assert_eq!((room.pending(), room.durability()), (0, Some(Durability::Local)));
}
