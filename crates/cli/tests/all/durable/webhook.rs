//! The webhook's receiver gets an event for every confirmed transaction, in order, while the server
//! is killed and the receiver fails.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::people::People;
use super::server::Server;
use super::visitor::{FOREVER, Visitor};

const KILLS: u64 = 5;

/// The receiver refuses every tenth request. The server waits for a second after each refusal.
const REFUSED: usize = 10;

/// The number of confirmations between two kills.
const CONFIRMED: usize = 100;

/// The application's server: takes a while for each request, and refuses some of them.
#[derive(Clone, Default)]
struct Receiver(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    requests: usize,
    /// The ids of the events that were taken.
    ids: BTreeSet<String>,
    repeated: usize,
    /// For each room, the position and text of each transaction, in the order in which they were
    /// first delivered.
    rooms: BTreeMap<String, Vec<(u64, String)>>,
    /// The type and the content of all events.
    events: Vec<(String, Value)>,
    gaps: Vec<Value>,
}

impl Receiver {
    fn listen(&self, address: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let it = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let it = it.clone();
                thread::spawn(move || drop(it.serve(stream.unwrap())));
            }
        });
        address
    }

    /// Serves requests until the connection ends, which it does without notice when the server is
    /// killed.
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line)? > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            if body.is_empty() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
            let is_taken = self.take(&body);
            let status = if is_taken { "200 OK" } else { "503 Service Unavailable" };
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?;
        }
    }

    fn take(&self, body: &[u8]) -> bool {
        let mut told = self.0.lock().unwrap();
        told.requests += 1;
        if told.requests.is_multiple_of(REFUSED) {
            return false;
        }
        let body: Value = serde_json::from_slice(body).unwrap();
        for event in body["data"]["events"].as_array().unwrap() {
            if !told.ids.insert(event["id"].as_str().unwrap().to_owned()) {
                told.repeated += 1;
                continue;
            }
            let (kind, data) = (event["type"].as_str().unwrap(), &event["data"]);
            told.events.push((kind.to_owned(), data.clone()));
            match kind {
                "room.transaction" => {
                    let line = data["text"].as_str().unwrap().trim_end().to_owned();
                    let room = data["room"].as_str().unwrap().to_owned();
                    let position = data["position"].as_u64().unwrap();
                    told.rooms.entry(room).or_default().push((position, line));
                }
                "gap" => told.gaps.push(data.clone()),
                _ => {}
            }
        }
        true
    }

    fn transactions(&self) -> usize {
        self.0.lock().unwrap().rooms.values().map(Vec::len).sum()
    }
}

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Starts a server that tells this address of transactions, and of who joins.
fn start(name: &str, address: SocketAddr) -> Server {
    let mut server = Server::start(name);
    let secret = server.folder.join("webhook-secret");
    std::fs::write(&secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
    let options = [
        format!("--webhook=http://{address}/events"),
        format!("--webhook-secret-file={}", secret.display()),
        "--webhook-events=room.opened,room.transaction,participant.joined".to_owned(),
    ];
    server.options = options.map(|option| &*option.leak()).to_vec();
    server.kill();
    server.restart();
    server
}

#[tokio::test]
async fn what_waits_is_told_after_a_restart_and_who_comes_back_has_joined_again() {
    let address = TcpListener::bind(ANY).unwrap().local_addr().unwrap();
    let mut server = start("webhook-restart", address);
    let mut ada = Visitor::join(&server.url(), "board").await;
    ada.say("one");
    ada.hear(1).await;
    server.kill();
    let receiver = Receiver::default();
    receiver.listen(address);
    server.restart();
    ada.come_back().await;
    ada.say("two");
    ada.hear(2).await;
    let all = async {
        while receiver.transactions() < 2 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(FOREVER, all).await.expect("both transactions are told");
    let told = receiver.0.lock().unwrap();
    let kinds: Vec<_> = told.events.iter().map(|(kind, _)| kind.as_str()).collect();
    let of_one = ["server.started", "room.opened", "participant.joined", "room.transaction"];
    assert_eq!(kinds, [of_one, of_one].concat());
    let resumed = |at: usize| told.events[at].1["resumed"].as_bool().unwrap();
    assert_eq!([resumed(2), resumed(6)], [false, true]);
}

#[tokio::test]
async fn whenever_the_server_is_killed_the_webhook_is_told_of_all_that_was_confirmed_in_order() {
    let receiver = Receiver::default();
    let address = receiver.listen(ANY);
    let mut server = start("webhook", address);
    let people = People::join(&server.url());
    for kill in 0..KILLS {
        people.progress(CONFIRMED).await;
        // Each kill is at another moment of the tick and of the commit.
        sleep(Duration::from_micros(kill * 1977 % 10_000)).await;
        server.kill();
        server.restart();
    }
    let outcome = people.finish().await;
    let stored = server.stored();
    let all = async {
        while receiver.transactions() < stored {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let is_told = timeout(FOREVER / 4, all).await;
    let told = receiver.0.lock().unwrap();
    let (count, repeated) = (told.ids.len(), told.repeated);
    println!(
        "{outcome}; {count} events told, {repeated} more than once, in {} requests",
        told.requests
    );
    let transactions: usize = told.rooms.values().map(Vec::len).sum();
    assert!(is_told.is_ok(), "{transactions} of {stored} transactions were told");
    assert_eq!(transactions, stored, "transactions were told that nobody confirmed");
    let starts = told.events.iter().filter(|(kind, _)| kind == "server.started").count();
    assert_eq!((starts as u64, &told.gaps), (KILLS + 1, &Vec::new()));
    for lines in told.rooms.values() {
        let mut next: BTreeMap<&str, usize> = BTreeMap::new();
        for ((position, line), expected) in lines.iter().zip(1..) {
            assert_eq!(*position, expected, "out of order: {line}");
            let (name, number) = line.split_once(' ').unwrap();
            let next = next.entry(name).or_default();
            assert_eq!(number.parse::<usize>().unwrap(), *next, "lost, repeated or out of order");
            *next += 1;
        }
    }
}
