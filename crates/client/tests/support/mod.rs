//! A server in this process, and a TCP proxy before it that can break and slow down connections.

use std::net::SocketAddr;
use std::time::Duration;

use groupwire_client::{Event, Events, Options, Room};
use groupwire_server::{Config, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// More than anything here takes, dead-peer detection included.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            server.run(stopped).await.unwrap();
        });
        Running { address, stop, task }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

pub(crate) fn any_port() -> Config {
    Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() }
}

pub(crate) fn connect(address: SocketAddr, room: &str) -> (Room, Events) {
    Room::connect(&format!("ws://{address}"), Options::new(room)).unwrap()
}

/// Reads on until an event that `wanted` answers.
pub(crate) async fn until<T>(events: &mut Events, wanted: impl Fn(&Event) -> Option<T>) -> T {
    let reading = async {
        while let Some(event) = events.next().await {
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
        panic!("the session ended");
    };
    timeout(PATIENCE, reading).await.expect("it did not come")
}

/// Waits for what no event tells.
pub(crate) async fn until_true(what: &str, is_true: impl Fn() -> bool) {
    let waiting = async {
        while !is_true() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{what}: it did not come to that"));
}

/// The texts of the next so many messages, own ones included.
pub(crate) async fn texts(events: &mut Events, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        let text = |event: &Event| match event {
            Event::Message(message) => Some(String::from_utf8(message.bytes.clone()).unwrap()),
            _ => None,
        };
        texts.push(until(events, text).await);
    }
    texts
}

pub(crate) async fn synced(events: &mut Events) {
    until(events, |event| matches!(event, Event::Synced { channel: None }).then_some(())).await;
}

/// A proxy.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    breaks: watch::Sender<u32>,
}

impl Proxy {
    /// Forwards to `server` after `delay` each way.
    pub(crate) async fn start(server: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let breaks = watch::Sender::new(0);
        let observed = breaks.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(server).await else { continue };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let mut broken = observed.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = forward(from_client, to_server, delay) => {}
                        () = forward(from_server, to_client, delay) => {}
                        _ = broken.changed() => {}
                    }
                });
            }
        });
        Proxy { address, breaks }
    }

    /// Breaks all connections, whatever was under way.
    pub(crate) fn cut(&self) {
        self.breaks.send_modify(|breaks| *breaks += 1);
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay: Duration) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        sleep(delay).await;
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
