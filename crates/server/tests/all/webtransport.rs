//! WebTransport of a real server: renewal of certificates, and clients that break the rules. The
//! native client's tests cover those that keep them.

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use groupwire_server::session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_server::session::{Limits, Qos};
use groupwire_server::{
    AddressLimits, CertificateConfig, Config, Error, Server, WebTransportConfig,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use wtransport::endpoint::ConnectOptions;
use wtransport::error::{ConnectingError, ConnectionError};
use wtransport::quinn::TransportConfig;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig as QuicConfig, Connection, Endpoint, Identity, RecvStream};

use crate::support::certificate::{CHECK_INTERVAL, DAY, Files, identity};
use crate::support::person::Person;
use crate::support::wire;

/// A time limit that no test reaches, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
struct Running {
    http: SocketAddr,
    udp: Option<SocketAddr>,
}

impl Running {
    async fn start(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let http = server.plain_addr().unwrap_or(server.local_addr());
        let udp = server.webtransport_port().map(|port| SocketAddr::new(http.ip(), port));
        tokio::spawn(server.run(std::future::pending()));
        Running { http, udp }
    }

    /// What `GET /transports` answers.
    async fn transports(&self) -> serde_json::Value {
        self.get("/transports").await
    }

    /// What a GET request for this path answers.
    async fn get(&self, path: &str) -> serde_json::Value {
        let mut stream = TcpStream::connect(self.http).await.unwrap();
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// T4: the hash to pin.
    async fn hash(&self) -> String {
        let transports = self.transports().await;
        transports["webtransport"]["hashes"][0].as_str().unwrap().to_owned()
    }

    async fn offers_webtransport(&self) -> bool {
        let transports = self.transports().await;
        let named = transports["transports"].as_array().unwrap().contains(&"webtransport".into());
        assert_eq!(named, transports["webtransport"]["port"].is_u64(), "{transports}");
        named
    }

    async fn connect(&self, pin: &Pin) -> Result<Connection, ConnectingError> {
        self.request(pin, "/wt", None).await
    }

    async fn request(
        &self,
        pin: &Pin,
        path: &str,
        origin: Option<&str>,
    ) -> Result<Connection, ConnectingError> {
        let url = format!("https://{}{path}", self.udp.unwrap());
        let mut request = ConnectOptions::builder(url);
        if let Some(origin) = origin {
            request = request.add_header("origin", origin);
        }
        client(pin).connect(request).await
    }

    /// Connects with the certificate hash that the server answers.
    async fn connected(&self) -> Connection {
        let pin = Pin(self.hash().await);
        self.connect(&pin).await.unwrap()
    }
}

/// The hash of a certificate to pin: 64 hexadecimal digits.
#[derive(Clone, PartialEq, Debug)]
struct Pin(String);

impl Pin {
    fn of(identity: &Identity) -> Self {
        let hash = identity.certificate_chain().as_slice()[0].hash();
        Pin(hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn digest(&self) -> Sha256Digest {
        let bytes: Vec<u8> = (0..32)
            .map(|at| u8::from_str_radix(&self.0[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        Sha256Digest::new(bytes.try_into().unwrap())
    }
}

fn client(pin: &Pin) -> Endpoint<wtransport::endpoint::endpoint_side::Client> {
    let builder = QuicConfig::builder().with_bind_address(SocketAddr::from(([127, 0, 0, 1], 0)));
    Endpoint::client(builder.with_server_certificate_hashes([pin.digest()]).build()).unwrap()
}

fn config() -> Config {
    Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() }
}

fn with(certificate: CertificateConfig) -> Config {
    Config { certificate, ..config() }
}

/// A server whose certificate is from files. Its HTTP is reached without TLS.
fn config_of(files: &Files) -> Config {
    let plain_listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Config { plain_listen, ..with(files.config()) }
}

/// Waits until a client that pins this certificate can connect.
async fn until_it_serves(server: &Running, pin: &Pin) -> Connection {
    let start = Instant::now();
    loop {
        match server.connect(pin).await {
            Ok(connection) => return connection,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// A session's first packet, length-prefixed.
fn hello(room: &str) -> Vec<u8> {
    let mut client = Client::new(Duration::ZERO, ClientConfig::new(room)).unwrap();
    client.channel("draw", Qos::transaction()).unwrap();
    loop {
        match client.poll_output(Duration::ZERO) {
            Output::Dial => client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 }),
            Output::Send(packet) => {
                assert!(packet.len() < 128);
                return [vec![packet.len() as u8], packet].concat();
            }
            Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Sends the first packet and waits for the answer.
async fn join(connection: &Connection) -> (wtransport::SendStream, RecvStream) {
    let (mut send, mut receive) = connection.open_bi().await.unwrap().await.unwrap();
    send.write_all(&hello("room")).await.unwrap();
    let mut byte = [0];
    timeout(PATIENCE, receive.read_exact(&mut byte)).await.unwrap().unwrap();
    (send, receive)
}

/// How the server ended a connection: the number of the error, and its text.
async fn end(connection: &Connection) -> (u64, String) {
    match timeout(PATIENCE, connection.closed()).await.expect("the connection was not closed") {
        ConnectionError::ApplicationClosed(close) => {
            let words = String::from_utf8(close.reason().to_vec()).unwrap();
            (close.code().into_inner(), words)
        }
        other => panic!("{other:?}"),
    }
}

const MALFORMED: u64 = 2;
const TOO_LARGE: u64 = 4;
const SILENT: u64 = 12;
const NO_REASON: u64 = 0;

#[tokio::test(flavor = "multi_thread")]
async fn t7_the_servers_own_certificate_is_renewed_while_it_runs() {
    let now = SystemTime::now();
    // Clients judge by the real time, so the server starts in the past.
    let today = Arc::new(Mutex::new(now - 10 * DAY));
    let clock = Arc::clone(&today);
    let server = Running::start(with(CertificateConfig {
        check_interval: CHECK_INTERVAL,
        clock: Arc::new(move || *clock.lock().unwrap()),
        ..CertificateConfig::default()
    }))
    .await;
    let first = Pin(server.hash().await);
    let old = server.connect(&first).await.unwrap();
    let (mut send, _receive) = join(&old).await;

    *today.lock().unwrap() = now - DAY;
    sleep(5 * CHECK_INTERVAL).await;
    assert_eq!(Pin(server.hash().await), first, "nine days are less than ten");

    *today.lock().unwrap() = now;
    let start = Instant::now();
    while Pin(server.hash().await) == first {
        assert!(start.elapsed() < PATIENCE, "the certificate was not renewed");
        sleep(CHECK_INTERVAL).await;
    }
    let second = Pin(server.hash().await);
    until_it_serves(&server, &second).await;
    assert!(server.connect(&first).await.is_err(), "the old certificate is no longer served");
    // Open connections stay open: malformed bytes are still answered with an error.
    send.write_all(&[0xff; 10]).await.unwrap();
    assert_eq!(end(&old).await.0, MALFORMED);
}

#[tokio::test(flavor = "multi_thread")]
async fn t7_changed_files_are_read_again_and_broken_ones_are_ignored() {
    let files = Files::new("change");
    let one = identity(DAY);
    files.write(&one);
    let server = Running::start(config_of(&files)).await;
    assert!(server.offers_webtransport().await);
    assert_eq!(server.transports().await["webtransport"]["hashes"], serde_json::json!([]));
    let old = server.connect(&Pin::of(&one)).await.unwrap();
    let (mut send, _receive) = join(&old).await;

    let two = identity(DAY);
    files.write(&two);
    until_it_serves(&server, &Pin::of(&two)).await;
    assert!(server.connect(&Pin::of(&one)).await.is_err());

    for broken in ["", "not a certificate", &one.certificate_chain().as_slice()[0].to_pem()] {
        std::fs::write(&files.cert, broken).unwrap();
        sleep(5 * CHECK_INTERVAL).await;
        let fine = server.connect(&Pin::of(&two)).await;
        assert!(fine.is_ok(), "{broken:?}: {:?}", fine.err());
    }
    std::fs::remove_file(&files.cert).unwrap();
    sleep(5 * CHECK_INTERVAL).await;
    assert!(server.connect(&Pin::of(&two)).await.is_ok());

    let three = identity(DAY);
    files.write(&three);
    until_it_serves(&server, &Pin::of(&three)).await;
    send.write_all(&[0xff; 10]).await.unwrap();
    assert_eq!(end(&old).await.0, MALFORMED, "the open connection stayed open");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_is_not_offered_until_it_is_renewed() {
    let files = Files::new("expired");
    let expired = identity(20 * DAY);
    files.write(&expired);
    let server = Running::start(config_of(&files)).await;
    assert!(!server.offers_webtransport().await);
    let error = server.connect(&Pin::of(&expired)).await.unwrap_err();
    assert!(error.to_string().contains("Expired"), "{error}");

    let fresh = identity(DAY);
    files.write(&fresh);
    until_it_serves(&server, &Pin::of(&fresh)).await;
    assert!(server.offers_webtransport().await);
}

#[tokio::test]
async fn a_server_does_not_start_with_unusable_files() {
    let files = Files::new("unusable");
    let (one, two) = (identity(DAY), identity(DAY));
    let refused = async || match Server::bind(config_of(&files)).await {
        Err(Error::Certificate(error)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it started"),
    };
    let _ = std::fs::remove_file(&files.cert);
    assert!(refused().await.contains("cannot read"));
    files.write(&one);
    std::fs::write(&files.key, two.private_key().to_secret_pem()).unwrap();
    assert!(refused().await.contains("it is that of another certificate"));
    std::fs::write(&files.key, "no key").unwrap();
    assert!(refused().await.contains("contains no private key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_udp_port_runs_without_webtransport() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let listen = Some(taken.local_addr().unwrap());
    let webtransport = Some(WebTransportConfig { listen });
    let server = Running::start(Config { webtransport, ..config() }).await;
    assert_eq!(server.udp, None);
    assert!(!server.offers_webtransport().await);
    let server = Running::start(Config { webtransport: None, ..config() }).await;
    assert!(!server.offers_webtransport().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_t5_foreign_origins_and_other_paths_are_refused() {
    let server = Running::start(config()).await;
    let pin = Pin(server.hash().await);
    for (origin, path, gets_in) in [
        (None, "/wt", true),
        (None, "/wt?x=1", true),
        (Some("http://127.0.0.1:1"), "/wt", true),
        (Some("https://example.org"), "/wt", false),
        (Some("http://127.0.0.1.example.org"), "/wt", false),
        (Some("null"), "/wt", false),
        (None, "/", false),
        (None, "/wtx", false),
    ] {
        let outcome = server.request(&pin, path, origin).await;
        assert_eq!(outcome.is_ok(), gets_in, "{origin:?} {path}: {:?}", outcome.err());
    }
}

/// T3 at each stage: a connection without a request, a request without a stream, a stream without a
/// first packet.
#[tokio::test(flavor = "multi_thread")]
async fn t3_silent_connections_are_closed() {
    let server = Running::start(config()).await;
    let pin = Pin(server.hash().await);
    let half_open = async {
        let endpoint = wtransport::quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let quic = QuicConfig::builder()
            .with_bind_address("127.0.0.1:0".parse().unwrap())
            .with_server_certificate_hashes([pin.digest()])
            .build()
            .quic_config()
            .clone();
        let quic = endpoint.connect_with(quic, server.udp.unwrap(), "localhost").unwrap();
        let quic = quic.await.unwrap();
        timeout(PATIENCE, quic.closed()).await.expect("the connection was not closed");
    };
    let no_stream = async {
        let connection = server.connect(&pin).await.unwrap();
        timeout(PATIENCE, connection.closed()).await.expect("the connection was not closed");
    };
    let no_hello = async {
        let connection = server.connect(&pin).await.unwrap();
        let (mut send, _receive) = connection.open_bi().await.unwrap().await.unwrap();
        // The length of a packet that never arrives.
        send.write_all(&[100, 1]).await.unwrap();
        assert_eq!(end(&connection).await.0, SILENT);
    };
    tokio::join!(half_open, no_stream, no_hello);
    join(&server.connected().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t1_malformed_bytes_on_the_stream_end_the_session_with_a_reason() {
    let limits = Limits { max_message: 6000, max_packet: 8192, ..Limits::default() };
    let mut config = config();
    config.room.limits = limits;
    let server = Running::start(config).await;
    for (bytes, code) in [
        (&[0xff; 100][..], MALFORMED),
        // An empty packet is not an opening.
        (&[0], MALFORMED),
        // A length of 1 MiB.
        (&[0x80, 0x80, 0x40], TOO_LARGE),
    ] {
        let connection = server.connected().await;
        let (mut send, mut receive) = connection.open_bi().await.unwrap().await.unwrap();
        send.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, receive.read_to_end(&mut answer)).await;
        assert!(answer.len() > 2, "{bytes:?}: the client was not told why: {answer:?}");
        let (found, words) = end(&connection).await;
        assert_eq!(found, code, "{bytes:?}: {words}");
    }
    // The same after joining, and while the client sends all of a large message (T30).
    let connection = server.connected().await;
    let (mut send, _receive) = join(&connection).await;
    send.write_all(&[0x80, 0x80, 0x40]).await.unwrap();
    let (_, (code, words)) = tokio::join!(send.write_all(&[0; 1 << 20]), end(&connection));
    assert_eq!((code, &*words), (TOO_LARGE, "packet of 1048576 bytes is over the limit of 8192"));
}

#[tokio::test(flavor = "multi_thread")]
async fn t5_a_second_stream_ends_the_session() {
    let server = Running::start(config()).await;
    let connection = server.connected().await;
    let (_send, _receive) = join(&connection).await;
    let (mut second, _) = connection.open_bi().await.unwrap().await.unwrap();
    let _ = second.write_all(&hello("room")).await;
    let (code, words) = end(&connection).await;
    assert_eq!(code, MALFORMED);
    assert!(words.contains("second stream"), "{words}");

    let connection = server.connected().await;
    let (_send, _receive) = join(&connection).await;
    let mut one_way = connection.open_uni().await.unwrap().await.unwrap();
    // The connection may be closed already.
    let _ = one_way.write_all(b"x").await;
    assert_eq!(end(&connection).await.0, MALFORMED);
}

#[tokio::test(flavor = "multi_thread")]
async fn w120_datagrams_before_hello_are_dropped() {
    let server = Running::start(config()).await;
    let connection = server.connected().await;
    let (mut send, mut receive) = connection.open_bi().await.unwrap().await.unwrap();
    let hello = hello("room");
    // The server sees the stream once a byte arrives on it.
    send.write_all(&hello[..1]).await.unwrap();
    // A question, what no datagram begins with, and HELLO itself, which belongs on the stream.
    for datagram in [&[0x41, 0, 0, 0][..], &[0xff; 50], &hello[1..]] {
        connection.send_datagram(datagram).unwrap();
    }
    sleep(CHECK_INTERVAL).await;
    assert_eq!(server.get("/status").await["participants"], 0);
    send.write_all(&hello[1..]).await.unwrap();
    timeout(PATIENCE, receive.read_exact(&mut [0])).await.unwrap().unwrap();
    assert_eq!(server.get("/status").await["participants"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_datagram_that_cannot_be_decoded_is_counted_in_status() {
    let server = Running::start(config()).await;
    let connection = server.connected().await;
    let mut client = Client::new(Duration::ZERO, ClientConfig::new("room")).unwrap();
    client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 1000 });
    let opening = loop {
        match client.poll_output(Duration::ZERO) {
            Output::Send(packet) => break packet,
            Output::Timeout(_) => panic!("the client sends no first packet"),
            _ => {}
        }
    };
    let (mut send, mut receive) = connection.open_bi().await.unwrap().await.unwrap();
    send.write_all(&[&[opening.len() as u8], &opening[..]].concat()).await.unwrap();
    timeout(PATIENCE, receive.read_exact(&mut [0])).await.unwrap().unwrap();
    assert_eq!(server.get("/status").await["datagrams_unread"], 0);
    connection.send_datagram([0xff; 50]).unwrap();
    let start = Instant::now();
    while server.get("/status").await["datagrams_unread"] != 1 {
        assert!(start.elapsed() < PATIENCE, "the datagram is not counted");
        sleep(CHECK_INTERVAL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_udp_packets_and_too_many_connections_are_survived() {
    let server = Running::start(Config { max_connections: 1, ..config() }).await;
    let noise = UdpSocket::bind("127.0.0.1:0").unwrap();
    for size in 0..300 {
        noise.send_to(&vec![size as u8; 5 * size], server.udp.unwrap()).unwrap();
    }
    let first = server.connected().await;
    let (_send, _receive) = join(&first).await;
    let pin = Pin(server.hash().await);
    assert!(server.connect(&pin).await.is_err(), "the second connection is refused");
    first.close(0u32.into(), b"");
    let start = Instant::now();
    while server.connect(&pin).await.is_err() {
        assert!(start.elapsed() < PATIENCE, "no client can connect any more");
        sleep(CHECK_INTERVAL).await;
    }
}

/// An address that has used up its handshakes has to prove itself (QUIC Retry), and is refused
/// then. Others are served.
#[tokio::test]
async fn an_address_has_so_many_handshakes_in_a_second() {
    let addresses = AddressLimits { handshakes_per_second: 1, ..AddressLimits::default() };
    let server = Running::start(Config { addresses, ..config() }).await;
    let pin = Pin(server.hash().await);
    let mut kept = Vec::new();
    let refused = loop {
        match server.connect(&pin).await {
            Ok(connection) => kept.push(connection),
            Err(error) => break error,
        }
        // Ten seconds' handshakes at once, and those of the time that this takes.
        assert!(kept.len() < 40, "it is never refused");
    };
    assert!(kept.len() >= 8, "{refused} after {}", kept.len());
    let elsewhere = QuicConfig::builder().with_bind_address(SocketAddr::from(([127, 0, 0, 2], 0)));
    let elsewhere = elsewhere.with_server_certificate_hashes([pin.digest()]).build();
    let url = format!("https://{}/wt", server.udp.unwrap());
    let other = Endpoint::client(elsewhere).unwrap().connect(url).await.unwrap();
    join(&other).await;
}

/// After joining, a client that never ends a packet counts as silent, and one that does not read as
/// stalled. Others talk meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn slow_writers_and_readers_are_disconnected_and_slow_nobody() {
    let socket = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let server = Server::bind(Config { socket, ..config() }).await.unwrap();
    let (http, tcp) = (server.local_addr(), server.socket_addr().unwrap());
    let udp = server.webtransport_port().map(|port| SocketAddr::new(http.ip(), port));
    tokio::spawn(server.run(std::future::pending()));
    let server = Running { http, udp };
    let mut ann = Person::join(wire::socket(tcp).await, "room").await;
    let mut bob = Person::join(wire::socket(tcp).await, "room").await;
    let writer = async {
        let connection = server.connected().await;
        let (mut send, mut receive) = join(&connection).await;
        let reading =
            tokio::spawn(async move { receive.read_to_end(&mut Vec::new()).await.is_ok() });
        // A packet of 228 bytes, of which one comes in 50 ms.
        let _ = send.write_all(&[0xe4, 1]).await;
        while send.write_all(&[0]).await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(end(&connection).await.0, SILENT);
        reading.abort();
    };
    let reader = async {
        let pin = Pin(server.hash().await);
        let mut quic = QuicConfig::builder()
            .with_bind_address("127.0.0.1:0".parse().unwrap())
            .with_server_certificate_hashes([pin.digest()])
            .build();
        // The client takes few bytes that it has not read.
        let mut transport = TransportConfig::default();
        transport.stream_receive_window(16_384u32.into());
        quic.quic_config_mut().transport_config(Arc::new(transport));
        let endpoint = Endpoint::client(quic).unwrap();
        let connection = endpoint.connect(format!("https://{}/wt", server.udp.unwrap())).await;
        let connection = connection.unwrap();
        let (mut send, _receive) = join(&connection).await;
        // The client sends PING, so that it does not count as silent.
        while send.write_all(&[3, 0x0e, 1, 5]).await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
        // The stream takes no ERROR any more, so the connection is closed without a reason.
        assert_eq!(end(&connection).await.0, NO_REASON);
    };
    let attacks = async { tokio::join!(writer, reader) };
    tokio::pin!(attacks);
    // Each line has other letters, so that they hardly compress.
    let mut said = 0;
    let line = |said: usize| -> String {
        (0..20_000)
            .map(|at: usize| char::from(b'0' + (at.wrapping_mul(at ^ said) >> 3) as u8 % 64))
            .collect()
    };
    loop {
        ann.send(&line(said)).await;
        said += 1;
        tokio::select! {
            _ = &mut attacks => break,
            () = async { tokio::join!(ann.receive(said), bob.receive(said)); } => {}
        }
    }
    tokio::join!(ann.receive(said), bob.receive(said));
}

/// The first datagram that the server sends to a client that connects, and whether the client was
/// let in.
async fn first_answer(server: &Running, pin: &Pin) -> (Vec<u8>, bool) {
    let relay = Arc::new(tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let udp = Some(relay.local_addr().unwrap());
    let (to, first) = (server.udp.unwrap(), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&first);
    let relaying = tokio::spawn(async move {
        let (mut client, mut buffer) = (None, [0; 2000]);
        while let Ok((size, from)) = relay.recv_from(&mut buffer).await {
            let packet = &buffer[..size];
            if from != to {
                client = Some(from);
                let _ = relay.send_to(packet, to).await;
            } else if let Some(client) = client {
                {
                    let mut first = seen.lock().unwrap();
                    if first.is_empty() {
                        *first = packet.to_vec();
                    }
                }
                let _ = relay.send_to(packet, client).await;
            }
        }
    });
    let got_in = Running { http: server.http, udp }.connect(pin).await.is_ok();
    relaying.abort();
    let first = first.lock().unwrap().clone();
    (first, got_in)
}

/// A long header of type 3 (RFC 9000, section 17.2.5).
fn is_retry(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first & 0xf0 == 0xf0)
}

#[tokio::test(flavor = "multi_thread")]
async fn with_many_handshakes_under_way_an_address_is_proved_by_retry_and_clients_get_in() {
    let server = Running::start(config()).await;
    let pin = Pin(server.hash().await);
    let (first, got_in) = first_answer(&server, &pin).await;
    assert!(got_in && !is_retry(&first), "alone: {first:?}");
    // Connections on which no session is requested count as handshakes, for 5 s at most.
    let quic = QuicConfig::builder()
        .with_bind_address("127.0.0.1:0".parse().unwrap())
        .with_server_certificate_hashes([pin.digest()])
        .build()
        .quic_config()
        .clone();
    let endpoint = wtransport::quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let started = Instant::now();
    loop {
        let mut held = Vec::new();
        for _ in 0..60 {
            let attempt = endpoint.connect_with(quic.clone(), server.udp.unwrap(), "localhost");
            held.push(attempt.unwrap().await.unwrap());
        }
        let (first, got_in) = first_answer(&server, &pin).await;
        assert!(got_in, "a client gets in during the flood");
        if is_retry(&first) {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "no client is asked for a proof");
        drop(held);
    }
}
