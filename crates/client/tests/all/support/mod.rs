//! A server in this process, and a proxy before it that can break and delay connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groupwire_client::{Event, Events, Options, Room, Trust};
use groupwire_server::{Config, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// A time limit that no test reaches, detection of dead peers included.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The transport of a test's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Ws,
    Tcp,
    Https,
}

/// Runs each of the named tests over each transport.
macro_rules! over_every_transport {
    ($($test:ident)*) => {
        over_every_transport!(@ ws Ws $($test)*);
        over_every_transport!(@ tcp Tcp $($test)*);
        over_every_transport!(@ https Https $($test)*);
    };
    (@ $module:ident $over:ident $($test:ident)*) => {
        mod $module {
            use crate::support::Over;
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    super::$test(Over::$over).await;
                }
            )*
        }
    };
}
pub(crate) use over_every_transport;

/// The addresses of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerAddresses {
    pub(crate) address: SocketAddr,
    udp: Option<SocketAddr>,
    tcp: Option<SocketAddr>,
}

impl ServerAddresses {
    pub(crate) fn url(&self, over: Over) -> String {
        match over {
            Over::Ws => format!("ws://{}", self.address),
            Over::Tcp => format!("tcp://{}", self.tcp.unwrap()),
            // The client asks the server for its UDP port.
            Over::Https => format!("https://{}", self.address),
        }
    }

    pub(crate) fn connect(&self, over: Over, room: &str) -> (Room, Events) {
        Room::connect(&self.url(over), Options::new(room)).unwrap()
    }

    /// Starts a server without state at the addresses of one that stopped.
    pub(crate) async fn start_again(self) -> Running {
        if let Some(udp) = self.udp {
            // The task that has the port frees it a moment after the server has stopped.
            let is_free = || std::net::UdpSocket::bind(udp).is_ok();
            until_true("the UDP port is free again", is_free).await;
        }
        let mut config = Config { listen: self.address, socket: self.tcp, ..Config::default() };
        if let Some(webtransport) = &mut config.webtransport {
            webtransport.listen = self.udp;
        }
        Running::start(config).await
    }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) place: ServerAddresses,
    pub(crate) hashes: Vec<[u8; 32]>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let address = server.local_addr();
        let udp = server.webtransport_port().map(|port| SocketAddr::new(address.ip(), port));
        let hashes = server.certificate_hash().into_iter().collect();
        let place = ServerAddresses { address, udp, tcp: server.socket_addr() };
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            server.run(stopped).await.unwrap();
        });
        Running { place, hashes, stop, task }
    }

    pub(crate) async fn stop(self) -> ServerAddresses {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        self.place
    }

    pub(crate) fn connect(&self, over: Over, room: &str) -> (Room, Events) {
        self.place.connect(over, room)
    }

    pub(crate) fn udp(&self) -> SocketAddr {
        self.place.udp.unwrap()
    }
}

pub(crate) fn any_port() -> Config {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    Config { listen, socket: Some(listen), ..Config::default() }
}

/// Reads events until `wanted` returns a value for one.
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

/// Waits until a condition is true that no event announces.
pub(crate) async fn until_true(what: &str, is_true: impl Fn() -> bool) {
    let waiting = async {
        while !is_true() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{what}: it did not come to that"));
}

/// The texts of the next `count` messages, own ones included.
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

/// A proxy between clients and a server.
pub(crate) struct Proxy {
    over: Over,
    address: SocketAddr,
    /// Certificate hashes of the server.
    hashes: Vec<[u8; 32]>,
    breaks: watch::Sender<u32>,
}

impl Proxy {
    /// Forwards to `server` and back, with a delay in each direction.
    pub(crate) async fn start(server: &Running, over: Over, delay: Duration) -> Self {
        let breaks = watch::Sender::new(0);
        let hashes = server.hashes.clone();
        let address = match over {
            Over::Ws => tcp_proxy(server.place.address, delay, breaks.clone()).await,
            Over::Tcp => tcp_proxy(server.place.tcp.unwrap(), delay, breaks.clone()).await,
            Over::Https => udp_proxy(server.udp(), delay, breaks.clone()).await,
        };
        Proxy { over, address, hashes, breaks }
    }

    pub(crate) fn connect(&self, room: &str) -> (Room, Events) {
        let scheme = match self.over {
            Over::Ws => "ws",
            Over::Tcp => "tcp",
            Over::Https => "https",
        };
        let url = format!("{scheme}://{}", self.address);
        let trust = Trust::Hashes(self.hashes.clone());
        Room::connect_trusting(&url, trust, Options::new(room)).unwrap()
    }

    /// Breaks all connections and drops everything in flight: TCP connections are closed, QUIC
    /// packets are dropped from then on.
    pub(crate) fn cut(&self) {
        self.breaks.send_modify(|breaks| *breaks += 1);
    }
}

async fn tcp_proxy(server: SocketAddr, delay: Duration, breaks: watch::Sender<u32>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(server).await else { continue };
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            let mut broken = breaks.subscribe();
            tokio::spawn(async move {
                tokio::select! {
                    () = forward(from_client, to_server, delay) => {}
                    () = forward(from_server, to_client, delay) => {}
                    _ = broken.changed() => {}
                }
            });
        }
    });
    address
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

async fn udp_proxy(server: SocketAddr, delay: Duration, breaks: watch::Sender<u32>) -> SocketAddr {
    let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let address = front.local_addr().unwrap();
    tokio::spawn(async move {
        // The sockets towards the server, by client address. Broken ones stay in the map, so that
        // their packets are dropped.
        let mut clients: HashMap<SocketAddr, (Arc<UdpSocket>, watch::Receiver<u32>)> =
            HashMap::new();
        let mut buffer = [0; 2048];
        while let Ok((size, client)) = front.recv_from(&mut buffer).await {
            let (back, broken) = match clients.entry(client) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                    back.connect(server).await.unwrap();
                    let broken = breaks.subscribe();
                    let ends = (Arc::clone(&front), client, Arc::clone(&back));
                    tokio::spawn(answer(ends, delay, broken.clone()));
                    new.insert((back, broken))
                }
            };
            if broken.has_changed().unwrap() {
                continue;
            }
            let (back, packet) = (Arc::clone(back), buffer[..size].to_vec());
            tokio::spawn(async move {
                sleep(delay).await;
                let _ = back.send(&packet).await;
            });
        }
    });
    address
}

/// Forwards the packets of the server to one client.
async fn answer(
    (front, client, back): (Arc<UdpSocket>, SocketAddr, Arc<UdpSocket>),
    delay: Duration,
    broken: watch::Receiver<u32>,
) {
    let mut buffer = [0; 2048];
    while let Ok(size) = back.recv(&mut buffer).await {
        if broken.has_changed().unwrap_or(true) {
            return;
        }
        let (front, packet) = (Arc::clone(&front), buffer[..size].to_vec());
        tokio::spawn(async move {
            sleep(delay).await;
            let _ = front.send_to(&packet, client).await;
        });
    }
}
